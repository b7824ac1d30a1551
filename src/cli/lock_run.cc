// evenkeel lock run: waits for a lock, and runs a command while it holds it.

#include <sys/random.h>
#include <unistd.h>

#include <array>

#include "evenkeel/base/clock.h"
#include "evenkeel/base/text.h"
#include "evenkeel/cli/lock_keeper.h"
#include "evenkeel/cli/store_access.h"

namespace evenkeel::cli {
namespace {

constexpr int status_lost = 7;  // the one status that only this command has
// As shells have them, for a command that could not be started.
constexpr int status_no_program = 126;
constexpr int status_not_found = 127;
// A lock that was lost is worth no waiting for a store that does not answer.
constexpr Duration farewell_max = 1s;

struct LockRunOptions {
  StoreReach reach;
  std::string path;
  Duration ttl = 30s;
  Duration wait = Duration::max();
  Duration grace = {};
  std::string meta;
  bool of_session = false;
  bool fair = false;
  std::vector<std::string> words;
};

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// Two processes may have one number, on hosts of one name: containers do.
std::string session_name() {
  std::uint64_t word = 0;
  ensure(getentropy(&word, sizeof word) == 0, "the system has random bytes");
  return fmt::format("{}-{}-{:016x}", host_name(), getpid(), word);
}

// Of the beats there, those of sessions that are over: this one's, and what the killed have left to whoever took the lock from them.
store::Txn erase_ended(const store::Listing& beats) {
  store::Txn txn;
  for (const store::Entry& beat : beats.entries) {
    if (!beat.value.ends_with(R"("ended":true})") || txn.then.size() == store::operations_max / 2) continue;
    txn.compare(store::unchanged(beat.key, beat.modified)).erase(beat.key);
  }
  return txn;
}

// All that lives on the store's loop, made, used and destroyed there.
struct OnLoop {
  std::unique_ptr<std::stop_callback<std::function<void()>>> stopping;
  std::unique_ptr<store::Session> session;
  std::unique_ptr<locks::Locks> locks;
  std::unique_ptr<locks::Held> held;
  std::shared_ptr<Keeper> keeper;
};

class Run {
 public:
  Run(Session& session, Outside& outside, Interrupt& interrupt, store::Blocking& store, const LockRunOptions& options)
      : session_(session), outside_(outside), store_(store), options_(options), until_(later(clock_.now(), options.wait)) {
    // The lock is told on its own loop.
    interrupted_.emplace(interrupt.token(), [this] { store_.loop().post([this] { stop_.request_stop(); }); });
  }
  ~Run() {
    interrupted_.reset();
    on_loop([this](store::Store&, store::Answer<bool> answer) {
      on_ = {};
      answer(true);
    });
  }

  void run() {
    if (options_.of_session && !open_session()) return;
    if (acquire()) run_held();
    if (on_.session) end_session();
  }

 private:
  using Stopping = std::stop_callback<std::function<void()>>;
  // Of the time to wait.
  Duration left() const { return until_ == Instant::max() ? Duration::max() : std::max(until_ - clock_.now(), Duration{}); }

  using Work = std::function<void(store::Store&, store::Answer<bool>)>;
  Result<bool> on_loop(Work work) { return store_.run<bool>(std::move(work)); }

  // What failed is told to the session.
  bool good(const Result<bool>& result) {
    if (!result) fail_store(session_, result.error());
    return result.has_value();
  }

  std::string sessions() const { return options_.path + ".sessions/"; }

  // One key for each process, so that nobody waits for another's session; its beat is deleted at its end.
  bool open_session() {
    const store::SessionOptions session{.key = sessions() + session_name(), .ttl = options_.ttl, .meta = options_.meta};
    return good(on_loop([this, session](store::Store& store, store::Answer<bool> answer) {
      const auto asked = std::make_shared<store::Answer<bool>>(std::move(answer));
      on_.stopping = std::make_unique<Stopping>(stop_.get_token(), [this, asked] {
        if (*asked) std::exchange(*asked, nullptr)(fail(Code::cancelled, "waiting for {} was stopped", options_.path));
      });
      if (!*asked) return;  // it was stopped before
      store::Session::open(store, session, left(), [this, asked](Result<std::unique_ptr<store::Session>> opened) {
        if (!*asked) return;
        if (opened) on_.session = *std::move(opened);
        auto tell = std::exchange(*asked, nullptr);
        opened ? tell(true) : tell(fail(opened.error().in("its session")));
      });
    }));
  }

  bool acquire() {
    const locks::AcquireOptions how{.kind = options_.of_session ? locks::Kind::session : locks::Kind::expiring,
                                    .ttl = options_.ttl,
                                    .wait = left(),
                                    .meta = options_.meta,
                                    .fair = options_.fair};
    return good(on_loop([this, how](store::Store& store, store::Answer<bool> answer) {
      on_.locks = std::make_unique<locks::Locks>(store, on_.session.get());
      on_.locks->acquire(options_.path, how, stop_.get_token(),
                         [this, answer = std::move(answer)](Result<std::unique_ptr<locks::Held>> held) mutable {
                           if (!held) return answer(fail(held.error()));
                           on_.held = *std::move(held);
                           token_ = on_.held->token();
                           answer(true);
                         });
    }));
  }

  void run_held() {
    on_loop([this](store::Store& store, store::Answer<bool> answer) {
      on_.keeper = std::make_shared<Keeper>(store.loop(), *on_.held, Keeper::Options{options_.ttl, options_.grace},
                                            [this](Outside::End how) { outside_.end_command(how); });
      on_.keeper->start();
      answer(true);
    });
    const auto ended = outside_.run(
        {.words = options_.words,
         .variables = {{"EVENKEEL_LOCK_PATH", options_.path}, {"EVENKEEL_LOCK_TOKEN", fmt::format("{}", token_.value())}},
         .adopt = true});
    const auto lost = on_.keeper->lost();
    if (lost) outside_.end_command(Outside::End::at_once);  // what the command left behind
    release();
    if (lost) {
      session_.say(fmt::format("{}: {}; the command was ended", options_.path, *lost));
      session_.status = static_cast<Exit>(status_lost);
      return;
    }
    if (!ended) {
      session_.fail(ended.error());
      session_.status = static_cast<Exit>(ended.error().code == Code::not_found ? status_not_found : status_no_program);
      return;
    }
    session_.status = static_cast<Exit>(ended->killed ? 128 + ended->status : ended->status);
  }

  // The same, but once the lock is lost for a moment only.
  Result<bool> say_farewell(Work work) {
    if (!on_.keeper || !on_.keeper->lost()) return on_loop(std::move(work));
    return on_loop([work = std::move(work)](store::Store& store, store::Answer<bool> answer) {
      const auto asked = std::make_shared<store::Answer<bool>>(std::move(answer));
      const auto tell = [asked](Result<bool> result) {
        if (*asked) std::exchange(*asked, nullptr)(std::move(result));
      };
      store.loop().post_after(farewell_max, [tell] { tell(fail(Code::unavailable, "the store does not answer")); });
      work(store, tell);
    });
  }

  // The command is over either way, so what goes wrong here is only said.
  void release() {
    const auto released = say_farewell([this](store::Store&, store::Answer<bool> answer) {
      on_.keeper->stop();
      on_.held->release([answer = std::move(answer)](Result<> done) mutable {
        if (!done) return answer(fail(done.error()));
        answer(true);
      });
    });
    if (!released)
      session_.say(
          fmt::format("{} could not be released, and stands until it expires: {}", options_.path, released.error().message));
  }

  void end_session() {
    const auto ended = say_farewell([this](store::Store& store, store::Answer<bool> answer) {
      on_.session->end([this, &store, answer = std::move(answer)](Result<store::Revision> revision) mutable {
        if (!revision) return answer(fail(revision.error()));
        store.list(sessions(), [&store, answer = std::move(answer)](const Result<store::Listing>& all) mutable {
          if (!all) return answer(true);
          store.txn(erase_ended(*all), [answer = std::move(answer)](const Result<store::Committed>&) mutable { answer(true); });
        });
      });
    });
    if (!ended) session_.say(fmt::format("its session could not be ended: {}", ended.error().message));
  }

  Session& session_;
  Outside& outside_;
  store::Blocking& store_;
  const LockRunOptions& options_;
  const BootClock clock_;
  const Instant until_;
  OnLoop on_;
  locks::Token token_;
  std::stop_source stop_;
  std::optional<Stopping> interrupted_;
};

void run(Session& session, LockRunOptions options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  if (const auto good = store::check_key(options.path); !good) return session.fail(good.error());
  if (options.meta.empty()) options.meta = fmt::format("{}:{}", host_name(), getpid());
  Interrupt interrupt(*outside);
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  // Waiting for a lock goes on while the store is away, which is not what one wants of a wrong address.
  if (const auto there = store->status(); !there) return fail_store(session, there.error());
  Run(session, *outside, interrupt, *store, options).run();
}

void read_wait(const std::string& word, Duration& wait) {
  const auto parsed = parse_duration(word);
  if (!parsed) throw CLI::ValidationError("--wait", parsed.error().message);
  if (*parsed < Duration(0)) throw CLI::ValidationError("--wait", "must not be negative; 0s tries once");
  wait = *parsed;
}

}  // namespace

void add_lock_run(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("run", "Run a command while holding a lock");
  command->footer(
      "The command finds EVENKEEL_LOCK_PATH and EVENKEEL_LOCK_TOKEN in its environment; tokens grow with every acquisition.\n"
      "The lock is renewed every third of --ttl. If it cannot be kept, the command gets SIGTERM --grace before the deadline and, "
      "with all\n"
      "that it started, SIGKILL before others may have the lock.\n"
      "Exit status: the command's own, 128 and the signal's number if one killed it; 4 not acquired in --wait; 5 store "
      "unreachable;\n"
      "7 the lock was lost, and the command was ended; 126 the command cannot be run; 127 there is no such command.\n\n"
      "Examples:\n"
      "  evenkeel lock run /locks/nightly -- ./nightly.sh\n"
      "  evenkeel lock run /locks/nightly --ttl 30m --wait 5s -- ./nightly.sh --all");
  auto options = std::make_shared<LockRunOptions>();
  command->add_option("PATH", options->path, "The lock")->required()->type_name("");
  add_duration(*command, "--ttl", options->ttl, "How long it stands without renewal; 30s");
  command
      ->add_option_function<std::string>(
          "--wait", [options](const std::string& word) { read_wait(word, options->wait); },
          "How long to wait for it, 0s not at all; else without end")
      ->type_name("DURATION");
  add_duration(*command, "--grace", options->grace, "Between SIGTERM and the deadline; a quarter of --ttl, at most 10s");
  command->add_flag("--session", options->of_session, "Hold it by a session of this process, which others see end");
  command->add_flag("--fair", options->fair, "Wait in the order of coming");
  command->add_option("--meta", options->meta, "What others see of who holds it; HOST:PID")->type_name("TEXT");
  add_store_reach(*command, session, options->reach);
  command->add_option("COMMAND", options->words, "What to run, after --")->required()->type_name("");
  command->callback([&session, options] {
    if (options->grace > options->ttl / 2) throw CLI::ValidationError("--grace", "must be at most half of --ttl");
    run(session, *options);
  });
}

}  // namespace evenkeel::cli
