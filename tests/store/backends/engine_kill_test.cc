// What was acknowledged is there after the process was killed at any moment. This program starts itself again as a child that writes as fast
// as it can and tells through a pipe what was acknowledged; the parent kills it, spoils the end of its log at times, and looks.
//
// Some leases are short enough to end while the child lives. One that was granted or kept alive is there for its whole time by the host's
// clock, and after an open for all of it again; and a lease and its keys go together or not at all.
//
// EVENKEEL_KILL_ROUNDS says how often; EVENKEEL_KILL_SEED repeats a run's choices.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <semaphore>

#include "evenkeel/base/rng.h"
#include "tests/store/backends/engine_fixture.h"
#include "tests/store/backends/engine_spoil.h"

namespace evenkeel::store::embedded {
namespace {

using namespace test;

constexpr std::string_view child_variable = "EVENKEEL_ENGINE_CHILD";  // "FOLDER|SEED", and acknowledgements go to file 1
constexpr int in_flight = 16;
constexpr int keys_count = 40;

struct Acknowledged {
  char kind = 0;            // put, erase, grant, revoke, compact, brief lease: by their first letters
  std::int64_t number = 0;  // of a key or a lease
  std::int64_t value = 0;
  std::int64_t revision = 0;
  std::int64_t until = 0;  // so long, in nanoseconds of the boot clock, a brief lease must be there
};

std::string key_of(std::int64_t number) { return fmt::format("/k/{:03}", number); }
std::string value_of(std::int64_t value) {
  return fmt::format("{}{}", value, std::string(static_cast<std::size_t>(value % 700), 'x'));
}
constexpr LeaseId brief_from = LeaseId{1} << 40;
constexpr Duration brief_max = 200ms;
bool is_brief(LeaseId id) { return id >= brief_from; }
// Odd, and not the same for all.
Duration ttl_of(LeaseId id) { return is_brief(id) ? 1ms + Duration(id % (brief_max - 1ms).count()) : 1h + Duration(id); }

void tell(const Acknowledged& what) {
  if (::write(1, &what, sizeof what) != sizeof what) ::_exit(3);
}

// Writes until it is killed.
class Child {
 public:
  Child(std::unique_ptr<Engine> engine, std::uint64_t seed) : engine_(std::move(engine)), rng_(seed) {}

  [[noreturn]] void run() {
    for (std::int64_t value = static_cast<std::int64_t>(rng_.below(1 << 30)) + 1;; ++value) {
      room_.acquire();
      step(value);
    }
  }

 private:
  void step(std::int64_t value) {
    const auto key = rng_.between(0, keys_count - 1);
    switch (rng_.below(14)) {
      case 0:
        return erase(key);
      case 1:
        return grant(value);
      case 2:
        return revoke();
      case 3:
        return three(value);
      case 4:
        room_.release();
        if (rng_.chance(1, 20)) compact();
        return;
      case 5:
        return grant_brief(brief_from + value * 1'000'003);
      case 6:
        room_.release();
        return keep_brief();
      default:
        return put(key, value);
    }
  }
  void put(std::int64_t key, std::int64_t value) {
    Request request;
    request.then = {Put{.key = key_of(key), .value = value_of(value), .lease = rng_.chance(1, 3) ? brief_ : lease_}};
    engine_->submit(std::move(request), [=, this](Result<Outcome> done) {
      if (done) tell({'p', key, value, done->revision});
      room_.release();
    });
  }
  void three(std::int64_t value) {
    Request request;
    for (std::int64_t key = 0; key < 3; ++key)
      request.then.emplace_back(Put{.key = key_of(keys_count + key), .value = value_of(value)});
    engine_->submit(std::move(request), [=, this](Result<Outcome> done) {
      for (std::int64_t key = 0; key < 3; ++key) tell({'p', keys_count + key, value, done.value().revision});
      room_.release();
    });
  }
  void erase(std::int64_t key) {
    Request request;
    request.then = {Erase{.span = {key_of(key), {}}}};
    engine_->submit(std::move(request), [=, this](Result<Outcome> done) {
      tell({'e', key, 0, done.value().revision});
      room_.release();
    });
  }
  void grant(LeaseId id) {
    engine_->grant(id, ttl_of(id), [=, this](Result<Lease> done) {
      if (done) tell({'g', id, 0, 0});
      room_.release();
    });
    lease_ = id;
  }
  std::int64_t until_of(LeaseId id) const { return (clock_.now() + ttl_of(id)).time_since_epoch().count(); }
  void grant_brief(LeaseId id) {
    engine_->grant(id, ttl_of(id), [id, until = until_of(id), this](Result<Lease> done) {
      if (done) tell({'b', id, 0, 0, until});
      room_.release();
    });
    brief_ = id;
  }
  void keep_brief() {
    const auto until = until_of(brief_);
    if (engine_->keep_alive(brief_)) tell({'b', brief_, 0, 0, until});
  }
  void revoke() {
    const auto id = std::exchange(lease_, 0);
    // While its end may be written or not, nothing can be said of it.
    tell({'?', id, 0, 0});
    engine_->revoke(id, [=, this](Result<std::int64_t> done) {
      if (done) tell({'r', id, 0, *done});
      room_.release();
    });
  }
  void compact() {
    const auto revision = engine_->status().revision - 20;
    if (engine_->compact(revision, rng_.chance(1, 2))) tell({'c', 0, 0, revision});
  }

  std::unique_ptr<Engine> engine_;
  Rng rng_;
  BootClock clock_;
  LeaseId lease_ = 0;
  LeaseId brief_ = 0;
  std::counting_semaphore<> room_{in_flight};
};

// Runs instead of the tests where the variable is set. RocksDB has threads, so a child by fork() alone would lack them.
const bool is_child = [] {
  const char* told = std::getenv(child_variable.data());
  if (told == nullptr) return false;
  const std::string_view what(told);
  const auto bar = what.find('|');
  auto engine = Engine::open(std::string(what.substr(0, bar)), {.lease_ttl_min = 1ms});
  if (!engine) {
    fmt::print(stderr, "{}\n", engine.error().message);
    ::_exit(2);
  }
  Child(*std::move(engine), std::stoull(std::string(what.substr(bar + 1)))).run();
}();

struct Running {
  pid_t process = 0;
  int acknowledgements = -1;
};

Running start_child(const std::string& folder, std::uint64_t seed) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const auto variable = fmt::format("{}={}|{}", child_variable, folder, seed);
  const std::array<const char*, 2> arguments{"engine_child", nullptr};
  const std::array<const char*, 2> environment{variable.c_str(), nullptr};
  const pid_t process = ::fork();
  if (process == 0) {
    ::dup2(ends[1], 1);
    ::execve("/proc/self/exe", const_cast<char* const*>(arguments.data()), const_cast<char* const*>(environment.data()));
    ::_exit(4);
  }
  ::close(ends[1]);
  return {process, ends[0]};
}

// Reads acknowledgements: at least `wanted`, then kills, then the rest.
std::vector<Acknowledged> kill_after(const Running& child, std::size_t wanted, std::chrono::microseconds more) {
  std::vector<Acknowledged> all;
  Acknowledged one;
  while (all.size() < wanted && ::read(child.acknowledgements, &one, sizeof one) == sizeof one) all.push_back(one);
  // Killed at any moment: so much later, or with the next acknowledgement.
  pollfd next{child.acknowledgements, POLLIN, 0};
  const timespec rest{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(more).count() % 1'000'000'000};
  ::ppoll(&next, 1, &rest, nullptr);
  ::kill(child.process, SIGKILL);
  int status = 0;
  ::waitpid(child.process, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
  while (::read(child.acknowledgements, &one, sizeof one) == sizeof one) all.push_back(one);
  ::close(child.acknowledgements);
  return all;
}

// What must be there: all that was ever acknowledged, as far as it is not compacted.
class Expected {
 public:
  void add(const std::vector<Acknowledged>& acknowledged) {
    for (const auto& one : acknowledged) {
      if (one.kind == 'g') leases_.insert(one.number);
      if (one.kind == 'b') brief_[one.number] = std::max(brief_[one.number], one.until);
      if (one.kind == '?') unsure_.insert(one.number);
      if (one.kind == 'r') gone_.insert(one.number);
      if (one.kind == 'c') compacted_ = std::max(compacted_, one.revision);
      if (one.kind == 'p' || one.kind == 'e') writes_.push_back(one);
      revision_ = std::max(revision_, one.revision);
    }
  }
  // A child opens the folder now or later, so all leases have their full time from then on.
  void begin(Instant now) {
    for (auto& [id, until] : brief_) until = (now + ttl_of(id)).time_since_epoch().count();
  }
  // It is dead by now. Leases that may have ended before are no longer expected.
  void end(Instant now) {
    std::erase_if(brief_, [&](const auto& one) { return one.second <= now.time_since_epoch().count(); });
  }
  std::int64_t revision() const { return revision_; }

  // All brief leases end when their time is over, not before, and take their keys with them.
  void let_go(Engine& engine, HandClock& clock) {
    auto least = brief_max;
    for (const auto id : engine.leases()) least = std::min(least, is_brief(id) ? ttl_of(id) : brief_max);
    clock.advance(least - 1ns);
    engine.tick();
    check_leases(engine, least - 1ns);
    clock.advance(brief_max);
    engine.tick();
    brief_.clear();
    check_leases(engine, least - 1ns + brief_max);
    for (const auto id : engine.leases()) EXPECT_FALSE(is_brief(id)) << id;
  }
  void check(Engine& engine) {
    const auto status = engine.status();
    EXPECT_GE(status.revision, revision_);
    EXPECT_GE(status.compacted, compacted_);
    std::erase_if(writes_, [&](const Acknowledged& one) { return one.revision < status.compacted; });
    for (const auto& one : writes_) {
      const auto found = engine.range({.span = {key_of(one.number), {}}, .revision = one.revision}).value();
      ASSERT_EQ(found.entries.size(), one.kind == 'p' ? 1U : 0U) << one.kind << ' ' << one.number << " at " << one.revision;
      if (one.kind == 'p') {
        ASSERT_EQ(found.entries[0].value, value_of(one.value)) << one.number << " at " << one.revision;
      }
    }
    check_leases(engine, Duration{});
    check_history(engine, status);
  }

 private:
  // So long after it was opened.
  void check_leases(Engine& engine, Duration after) const {
    const auto check_left = [&](LeaseId id) {
      const auto lease = engine.lease(id);
      ASSERT_TRUE(lease) << id << " ended early";
      EXPECT_EQ(lease->left, ttl_of(id) - after) << id;
    };
    for (const auto id : leases_)
      if (!unsure_.contains(id)) check_left(id);
    for (const auto& [id, until] : brief_) check_left(id);
    for (const auto id : gone_) EXPECT_FALSE(engine.lease(id));
    std::map<LeaseId, std::vector<std::string>> keys_of;
    for (const auto id : engine.leases()) keys_of[id];
    const std::string first(1, '\0');
    const auto found = engine.range({.span = {first, first}}).value();
    for (const auto& entry : found.entries) {
      if (entry.lease == 0) continue;
      ASSERT_TRUE(keys_of.contains(entry.lease)) << entry.key << " is there without its lease";
      keys_of[entry.lease].push_back(entry.key);
    }
    for (const auto& [id, names] : keys_of) EXPECT_EQ(engine.lease(id).value().keys, names) << id;
  }
  // Every revision has events.
  static void check_history(Engine& engine, const EngineStatus& status) {
    if (status.revision <= status.compacted + 1) return;
    const auto seen = std::make_shared<Collector>();  // a call that has begun may outlive the watch
    auto next = std::max<std::int64_t>(status.compacted + 1, 2);
    const std::string first(1, '\0');
    const auto token = engine.watch({.span = {first, first}, .start = next},
                                    [seen, sink = seen->sink()](const Events& events) { return sink(events); });
    while (next <= status.revision) {
      for (const auto& event : seen->take().events) {
        ASSERT_LE(event.entry.mod_revision, next);
        next = std::max(next, event.entry.mod_revision + 1);
      }
    }
    EXPECT_EQ(next, status.revision + 1);
    engine.unwatch(token.value());
  }

  std::int64_t revision_ = 1;
  std::int64_t compacted_ = 0;
  std::vector<Acknowledged> writes_;
  std::set<LeaseId> leases_;
  std::set<LeaseId> unsure_;
  std::set<LeaseId> gone_;
  std::map<LeaseId, std::int64_t> brief_;  // until when each is there for sure
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* told = std::getenv(variable);
  return told != nullptr ? std::stoull(told) : otherwise;
}

TEST(EngineKill, WhatWasAcknowledgedIsThere) {
  const auto rounds = number_from("EVENKEEL_KILL_ROUNDS", 150);
  const auto seed = number_from("EVENKEEL_KILL_SEED", static_cast<std::uint64_t>(::getpid()));
  SCOPED_TRACE(fmt::format("EVENKEEL_KILL_SEED={}", seed));
  Rng rng(seed);
  std::uint64_t acknowledged = 0;
  for (std::uint64_t round = 0; round < rounds && !testing::Test::HasFailure();) {
    const Folder folder;
    Expected expected;
    const BootClock host;
    HandClock clock;
    for (int on_this = 0; on_this < 15 && round < rounds && !testing::Test::HasFailure(); ++on_this, ++round) {
      expected.begin(host.now());
      const auto child = start_child(folder.path(), rng.next());
      const bool early = rng.chance(1, 5);
      const auto got = kill_after(child, early ? 0 : rng.below(300), std::chrono::microseconds(rng.below(early ? 60'000 : 500)));
      acknowledged += got.size();
      expected.add(got);
      expected.end(host.now());
      if (rng.chance(1, 2) && std::filesystem::exists(folder.path())) spoil_log(folder.path(), expected.revision(), rng);
      // At times the next child recovers what this one left.
      if (rng.chance(1, 4)) continue;
      auto engine = Engine::open(folder.path(), {.clock = &clock});
      ASSERT_TRUE(engine) << engine.error().message;
      expected.check(**engine);
      if (rng.chance(1, 3)) expected.let_go(**engine, clock);
    }
  }
  EXPECT_GT(acknowledged, rounds * 10) << "too few to say anything";
}

}  // namespace
}  // namespace evenkeel::store::embedded
