#include "evenkeel/store/session.h"

#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "evenkeel/base/text.h"
#include "evenkeel/store/detail/driver.h"
#include "evenkeel/store/detail/hub.h"
#include "evenkeel/store/detail/opener.h"

namespace evenkeel::store {
namespace {

// From the system and not from an Rng: it must differ between hosts and runs that know nothing of each other.
Identity random_identity() {
  std::uint64_t words[2] = {};
  ensure(::getentropy(words, sizeof(words)) == 0, "the system has random bytes");
  return Identity(fmt::format("{:016x}{:016x}", words[0], words[1]));
}

// With a margin; an identity is chosen later, where none is given.
Result<SessionOptions> checked(SessionOptions options) {
  const auto wrong = [](std::string_view text, std::size_t most) { return text.size() > most || find_invalid_utf8(text); };
  if (auto good = check_key(options.key); !good) return fail(std::move(good).error());
  if (options.ttl < detail::ttl_min)
    return fail(Code::invalid, "a session's ttl is at least {}, and {} was given", format(detail::ttl_min), format(options.ttl));
  if (options.margin < Duration{} || options.margin > options.ttl / 2)
    return fail(Code::invalid, "a session's margin is between 0 and half of its ttl, and {} was given", format(options.margin));
  if (wrong(options.meta, detail::meta_bytes_max))
    return fail(Code::invalid, "a session's meta is UTF-8 of at most {} bytes", detail::meta_bytes_max);
  if (wrong(options.identity.str(), detail::identity_bytes_max))
    return fail(Code::invalid, "an identity is UTF-8 of at most {} bytes", detail::identity_bytes_max);
  if (options.margin == Duration{}) options.margin = options.ttl / 10;
  return options;
}

// ------------------------------------------------------------------------------------------------------------- session

class Keeping final : public detail::Driver<detail::Holder> {
 public:
  Keeping(Store& store, std::string key, detail::Holder holder) : Driver(store, std::move(key), std::move(holder)) {}

  void on_event(std::function<void(Session::Event)> handler) {
    if (machine().lost()) {
      loop().post([self = shared_from_this(), handler = std::move(handler)] {
        if (!self->closed()) handler(Session::Event::lost);
      });
    } else {
      handlers_.push_back(std::make_shared<const Handler>(std::move(handler)));
    }
  }

  // Any thread.
  Instant deadline() const { return Instant(Duration(deadline_.load(std::memory_order_acquire))); }

  void end(Answer<Revision> answer) {
    // Before it is written: whoever reads that it is over must find no thread here that takes it for valid.
    deadline_.store(std::min(deadline(), loop().now()).time_since_epoch().count(), std::memory_order_seq_cst);
    ends_.push_back(std::move(answer));
    if (ends_.size() == 1) feed(detail::End{});
  }

  void close() override {
    Driver::close();
    handlers_.clear();
    ends_.clear();
  }

 protected:
  void perform(detail::Holder::Effects& effects) override {
    deadline_.store(machine().deadline().time_since_epoch().count(), std::memory_order_release);
    for (const Session::Event event : effects.events) announce(event);
    if (!effects.ended) return;
    // Posted, since what is known may be answered inside the call that asks for it.
    for (auto& answer : std::exchange(ends_, {})) {
      loop().post([self = shared_from_this(), answer = std::move(answer), ended = *effects.ended]() mutable {
        if (!self->closed()) answer(std::move(ended));
      });
    }
  }

 private:
  using Handler = std::function<void(Session::Event)>;

  // On the loop and not inside end(). A handler may destroy the session.
  void announce(Session::Event event) {
    loop().post([self = shared_from_this(), handlers = handlers_, event] {
      for (const auto& handler : handlers) {
        if (!self->closed()) (*handler)(event);
      }
    });
  }

  std::atomic<Duration::rep> deadline_ = Duration::rep{};  // the machine's
  std::vector<std::shared_ptr<const Handler>> handlers_;
  std::vector<Answer<Revision>> ends_;
};

class Live final : public Session {
 public:
  Live(Store& store, const std::string& key, detail::Holder holder)
      : keeping_(std::make_shared<Keeping>(store, key, std::move(holder))) {
    keeping_->feed(detail::Tick{});
  }
  ~Live() override { keeping_->close(); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  const Identity& identity() const override { return keeping_->machine().identity(); }
  Instant deadline() const override { return keeping_->deadline(); }
  const Clock& clock() const override { return keeping_->loop(); }
  void on_event(std::function<void(Event)> handler) override { keeping_->on_event(std::move(handler)); }
  const std::string& key() const override { return keeping_->key(); }
  void end(Answer<Revision> answer) override { keeping_->end(std::move(answer)); }

 private:
  std::shared_ptr<Keeping> keeping_;
};

}  // namespace

// ------------------------------------------------------------------------------------------------------------- observer

Beats::Beats(Store& store, std::string prefix) : hub_(std::make_shared<detail::Hub>(store, std::move(prefix))) {
  hub_->start({});
}
Beats::~Beats() = default;

class Observer::Work final : public detail::WatchingDriver<detail::Witness> {
 public:
  using Over = std::function<void(Result<Ended>)>;

  Work(Store& store, const std::string& key, Mode mode, Over over)
      : WatchingDriver(store, key, detail::Witness(key, mode)), over_(std::move(over)) {}

  void start(std::shared_ptr<detail::Hub> hub) {
    if (hub) follow(std::move(hub));
    feed(detail::Tick{});
  }

  void close() override {
    WatchingDriver::close();
    over_ = nullptr;
  }

 protected:
  void perform(detail::Witness::Effects& effects) override {
    watch(effects.watch);
    if (effects.over) finish(effects.over->map([](const detail::Witness::Over& over) { return over.ended; }));
  }
  void broken(Error error) override { finish(fail(std::move(error))); }

 private:
  void finish(Result<Ended> ended) {
    const Over over = std::exchange(over_, nullptr);
    close();
    over(std::move(ended));
  }

  Over over_;
};

Observer::Observer(Store& store, std::string key, Mode mode, std::function<void(Result<Ended>)> over)
    : work_(std::make_shared<Work>(store, key, mode, std::move(over))) {
  work_->start(nullptr);
}

Observer::Observer(Beats& beats, std::string key, Mode mode, std::function<void(Result<Ended>)> over)
    : work_(std::make_shared<Work>(beats.hub_->store(), key, mode, std::move(over))) {
  ensure(key.starts_with(beats.hub_->prefix()), "an observer's key is below the prefix of its Beats");
  work_->start(beats.hub_);
}

Observer::~Observer() { work_->close(); }

// ------------------------------------------------------------------------------------------------------------- open

namespace {

// Owns itself, by what it has under way.
class Opening final : public detail::WatchingDriver<detail::Opener> {
 public:
  Opening(Store& store, const SessionOptions& options, Instant until, Answer<std::unique_ptr<Session>> answer)
      : WatchingDriver(store, options.key, detail::Opener(with_identity(options), until)),
        options_(options),
        until_(until),
        answer_(std::move(answer)) {}

 protected:
  void perform(detail::Opener::Effects& effects) override {
    watch(effects.watch);
    if (!effects.done) return;
    if (effects.used_up && options_.identity.empty()) return begin_anew();
    if (!*effects.done) return finish(fail(std::move(*effects.done).error()));
    finish(std::make_unique<Live>(store(), key(), **std::move(effects.done)));
  }
  void broken(Error error) override { finish(fail(std::move(error))); }

 private:
  static SessionOptions with_identity(SessionOptions options) {
    if (options.identity.empty()) options.identity = random_identity();
    return options;
  }

  // With another identity.
  void begin_anew() {
    auto answer = std::move(answer_);
    close();
    std::make_shared<Opening>(store(), options_, until_, std::move(answer))->feed(detail::Tick{});
  }

  void finish(Result<std::unique_ptr<Session>> session) {
    auto answer = std::move(answer_);
    close();
    answer(std::move(session));
  }

  SessionOptions options_;
  Instant until_;
  Answer<std::unique_ptr<Session>> answer_;
};

}  // namespace

void Session::open(Store& store, SessionOptions options, Duration wait, Answer<std::unique_ptr<Session>> answer) {
  auto good = checked(std::move(options));
  if (!good) {
    store.loop().post(
        [answer = std::move(answer), error = std::move(good).error()]() mutable { answer(fail(std::move(error))); });
    return;
  }
  std::make_shared<Opening>(store, *good, later(store.loop().now(), wait), std::move(answer))->feed(detail::Tick{});
}

}  // namespace evenkeel::store
