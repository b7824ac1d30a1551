// What was acknowledged is there after the process was killed at any moment. This program starts itself again as a child that writes as fast
// as it can and tells through a pipe what was acknowledged; the parent kills it, spoils the end of its log at times, and looks.
//
// EVENKEEL_KILL_ROUNDS says how often; EVENKEEL_KILL_SEED repeats a run's choices.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <semaphore>

#include "evenkeel/base/rng.h"
#include "tests/store/backends/engine_fixture.h"

namespace evenkeel::store::embedded {
namespace {

using namespace test;

constexpr std::string_view child_variable = "EVENKEEL_ENGINE_CHILD";  // "FOLDER|SEED", and acknowledgements go to file 1
constexpr int in_flight = 16;
constexpr int keys = 40;

struct Acknowledged {
  char kind = 0;            // put, erase, grant, revoke, compact: by their first letters
  std::int64_t number = 0;  // of a key or a lease
  std::int64_t value = 0;
  std::int64_t revision = 0;
};

std::string key_of(std::int64_t number) { return fmt::format("/k/{:03}", number); }
std::string value_of(std::int64_t value) {
  return fmt::format("{}{}", value, std::string(static_cast<std::size_t>(value % 700), 'x'));
}
// Odd, and not the same for all.
Duration ttl_of(LeaseId id) { return 1h + Duration(id); }

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
    const auto key = rng_.between(0, keys - 1);
    switch (rng_.below(12)) {
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
      default:
        return put(key, value);
    }
  }
  void put(std::int64_t key, std::int64_t value) {
    Request request;
    request.then = {Put{.key = key_of(key), .value = value_of(value), .lease = lease_}};
    engine_->submit(std::move(request), [=, this](Result<Outcome> done) {
      if (done) tell({'p', key, value, done->revision});
      room_.release();
    });
  }
  void three(std::int64_t value) {
    Request request;
    for (std::int64_t key = 0; key < 3; ++key) request.then.push_back(Put{.key = key_of(keys + key), .value = value_of(value)});
    engine_->submit(std::move(request), [=, this](Result<Outcome> done) {
      for (std::int64_t key = 0; key < 3; ++key) tell({'p', keys + key, value, done.value().revision});
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
  LeaseId lease_ = 0;
  std::counting_semaphore<> room_{in_flight};
};

// Runs instead of the tests where the variable is set. RocksDB has threads, so a child by fork() alone would lack them.
const bool is_child = [] {
  const char* told = std::getenv(child_variable.data());
  if (told == nullptr) return false;
  const std::string_view what(told);
  const auto bar = what.find('|');
  auto engine = Engine::open(std::string(what.substr(0, bar)), {});
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

// What a torn write could leave: bytes of any kind after the last that were written.
void spoil_log(const std::string& folder, Rng& rng) {
  std::filesystem::path newest;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".log" && entry.path() > newest) newest = entry.path();
  if (newest.empty()) return;
  std::fstream log(newest, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(log)), {});
  std::string garbage;
  const auto length = rng.between(1, 300);
  for (std::int64_t i = 0; i < length; ++i) garbage.push_back(static_cast<char>(rng.next()));
  const auto end = bytes.find_last_not_of('\0') + 1;
  log.clear();
  // A record may end in zeros, at most so many.
  log.seekp(static_cast<std::streamoff>(rng.chance(1, 2) ? bytes.size() : end + 16));
  log << garbage;
}

// What must be there: all that was ever acknowledged, as far as it is not compacted.
class Expected {
 public:
  void add(const std::vector<Acknowledged>& acknowledged) {
    for (const auto& one : acknowledged) {
      if (one.kind == 'g') leases_.insert(one.number);
      if (one.kind == '?') unsure_.insert(one.number);
      if (one.kind == 'r') gone_.insert(one.number);
      if (one.kind == 'c') compacted_ = std::max(compacted_, one.revision);
      if (one.kind == 'p' || one.kind == 'e') writes_.push_back(one);
      revision_ = std::max(revision_, one.revision);
    }
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
    for (const auto id : leases_) EXPECT_TRUE(unsure_.contains(id) || engine.lease(id).value().left == ttl_of(id)) << id;
    for (const auto id : gone_) EXPECT_FALSE(engine.lease(id));
    check_history(engine, status);
  }

 private:
  // Every revision has events.
  static void check_history(Engine& engine, const EngineStatus& status) {
    if (status.revision <= status.compacted + 1) return;
    Collector seen;
    auto next = std::max<std::int64_t>(status.compacted + 1, 2);
    const std::string first(1, '\0');
    engine.watch({.span = {first, first}, .start = next}, seen.sink()).value();
    while (next <= status.revision) {
      for (const auto& event : seen.take().events) {
        ASSERT_LE(event.entry.mod_revision, next);
        next = std::max(next, event.entry.mod_revision + 1);
      }
    }
    EXPECT_EQ(next, status.revision + 1);
  }

  std::int64_t revision_ = 1;
  std::int64_t compacted_ = 0;
  std::vector<Acknowledged> writes_;
  std::set<LeaseId> leases_;
  std::set<LeaseId> unsure_;
  std::set<LeaseId> gone_;
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
    const HandClock clock;
    for (int on_this = 0; on_this < 15 && round < rounds && !testing::Test::HasFailure(); ++on_this, ++round) {
      const auto child = start_child(folder.path(), rng.next());
      const bool early = rng.chance(1, 5);
      const auto got = kill_after(child, early ? 0 : rng.below(300), std::chrono::microseconds(rng.below(early ? 60'000 : 500)));
      acknowledged += got.size();
      expected.add(got);
      if (rng.chance(1, 3) && std::filesystem::exists(folder.path())) spoil_log(folder.path(), rng);
      // At times the next child recovers what this one left.
      if (rng.chance(1, 4)) continue;
      auto engine = Engine::open(folder.path(), {.clock = &clock});
      ASSERT_TRUE(engine) << engine.error().message;
      expected.check(**engine);
    }
  }
  EXPECT_GT(acknowledged, rounds * 10) << "too few to say anything";
}

}  // namespace
}  // namespace evenkeel::store::embedded
