#include "tests/locks/real/contender.h"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>

#include "evenkeel/base/real_loop.h"
#include "evenkeel/locks/election.h"
#include "evenkeel/store/backends/open.h"

namespace evenkeel::locks {
namespace {

constexpr Duration look_every = 20ms;
constexpr Duration renew_every = 250ms;
constexpr Duration try_again_after = 100ms;

void say(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(1, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) ::_exit(1);  // in one piece, or not at all
}

std::int64_t nanoseconds(Instant at) { return at.time_since_epoch().count(); }

class Contender {
 public:
  Contender(Loop& loop, store::Store& store, const ContenderOptions& options) : loop_(loop), store_(store), options_(options) {}

  void start() {
    stand();
    look();
  }

 private:
  void stand() {
    if (options_.mode == "expiring") {
      locks_ = std::make_unique<Locks>(store_, nullptr);
      return ask(Kind::expiring);
    }
    store::SessionOptions session{.key = fmt::format("/beats/{}", options_.name), .ttl = options_.ttl};
    store::Session::open(store_, std::move(session), Duration::max(), [this](Result<std::unique_ptr<store::Session>> opened) {
      if (!opened) return begin_anew(opened.error());
      session_ = *std::move(opened);
      locks_ = std::make_unique<Locks>(store_, session_.get());
      options_.mode == "office" ? run_for_office() : ask(Kind::session);
    });
  }

  void ask(Kind kind) {
    const AcquireOptions how{.kind = kind, .ttl = options_.ttl, .wait = Duration::max(), .meta = options_.name};
    locks_->acquire(options_.path, how, {}, [this](Result<std::unique_ptr<Held>> held) {
      if (!held) return begin_anew(held.error());
      held_ = *std::move(held);
      token_ = held_->token();
      guard_ = held_->guard();
    });
  }

  void run_for_office() {
    election_ = std::make_unique<Election>(store_, *locks_, options_.path, ElectionOptions{.meta = options_.name, .fair = false});
    election_->on_change([this](const Election::View& view) {
      if (view.leading && !token_) {
        token_ = view.epoch;
        guard_ = *view.guard;
      }
      if (view.trouble && !token_) begin_anew(*view.trouble);
    });
  }

  bool valid() const { return election_ ? election_->leading() : held_->valid(); }
  Instant deadline() const { return election_ ? session_->deadline() : held_->deadline(); }

  void look() {
    loop_.post_after(look_every, [this] { look(); });
    if (!token_ || lost_) return;
    // The time first: good now is good then, as it never comes back.
    const Instant at = loop_.now();
    if (!valid()) {
      say(fmt::format("lost {} {} 0", *token_, nanoseconds(at)));
      lost_ = true;
      if (!writing_) add_late();
      return;
    }
    say(fmt::format("valid {} {} {}", *token_, nanoseconds(at), nanoseconds(deadline())));
    if (!writing_) known_ ? add() : read();
    if (options_.mode == "expiring" && at >= renew_at_) renew();
  }

  void renew() {
    renew_at_ = Instant::max();
    held_->renew([this](const Result<Instant>&) { renew_at_ = later(loop_.now(), renew_every); });
  }

  void read() {
    writing_ = true;
    store_.get(counter_of(options_.path), [this](Result<store::Read> read) {
      if (read) {
        count_ = read->entry ? std::stoll(read->entry->value) : 0;
        counter_ = read->entry ? store::unchanged(*read->entry) : store::absent(counter_of(options_.path));
        known_ = counted_ = true;
      }
      written();
    });
  }

  store::Txn one_more() const {
    store::Txn txn;
    txn.compare(guard_).put(counter_of(options_.path), fmt::format("{} {}", count_ + 1, *token_));
    return txn;
  }

  // An earlier write of its own that is still under way must not count twice, so what the counter was is compared too.
  void add() {
    writing_ = true;
    store::Txn txn = one_more();
    txn.compare(counter_);
    store_.txn(std::move(txn), [this](Result<store::Committed> done) {
      known_ = done && done->succeeded;
      if (known_) {
        say(fmt::format("wrote {} {} 0", *token_, ++count_));
        counter_ = store::unchanged(counter_of(options_.path), done->revision);
      }
      written();
    });
  }

  void written() {
    writing_ = false;
    if (lost_) add_late();
  }

  // Until the store says yes or no.
  void add_late() {
    if (!counted_) return begin_anew({Code::refused, "lost before it was of any use"});
    store_.txn(one_more(), [this](Result<store::Committed> done) {
      if (!done) {
        loop_.post_after(try_again_after, [this] { add_late(); });
        return;
      }
      if (valid()) say(fmt::format("again {} {} 0", *token_, nanoseconds(loop_.now())));
      say(fmt::format("{} {} {} 0", done->succeeded ? "late" : "refused", *token_, count_ + 1));
      begin_anew({Code::refused, "lost"});
    });
  }

  // Not inside a call of what this destroys. What it leaves ends by itself, as after a crash.
  void begin_anew(const Error& why) {
    say(fmt::format("# {}", why.message));
    loop_.post_after(try_again_after, [this] {
      election_.reset();
      held_.reset();
      locks_.reset();
      session_.reset();
      token_.reset();
      lost_ = known_ = counted_ = false;
      renew_at_ = Instant::min();
      stand();
    });
  }

  Loop& loop_;
  store::Store& store_;
  const ContenderOptions& options_;
  std::unique_ptr<store::Session> session_;
  std::unique_ptr<Locks> locks_;
  std::unique_ptr<Held> held_;          // one of these two
  std::unique_ptr<Election> election_;  //
  std::optional<Token> token_;          // since it got the lock
  store::Compare guard_;
  bool lost_ = false;
  Instant renew_at_ = Instant::min();
  bool writing_ = false;
  bool known_ = false;    // counter_ is what the counter was last
  bool counted_ = false;  // count_ is, or was
  std::int64_t count_ = 0;
  store::Compare counter_;
};

}  // namespace

std::string counter_of(const std::string& path) { return "/counters" + path; }

std::vector<std::string> contender_words(const ContenderOptions& options) {
  return {"contend", options.url, options.mode, options.path, options.name, format(options.ttl)};
}

ContenderOptions parse_contender(std::span<char*> words) {
  if (words.size() != 6) throw std::invalid_argument("contend URL MODE PATH NAME TTL");
  return {.url = words[1], .mode = words[2], .path = words[3], .name = words[4], .ttl = parse_duration(words[5]).value()};
}

int contend(const ContenderOptions& options) {
  RealLoop loop;
  const auto store = store::open(loop, options.url, {.timeout = 2s});
  if (!store) {
    say(fmt::format("# {}", store.error().message));
    return 1;
  }
  Contender contender(loop, **store, options);
  loop.post([&] { contender.start(); });
  loop.run();
  return 0;
}

}  // namespace evenkeel::locks
