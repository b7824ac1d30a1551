// Sessions (session.h): the same code on every backend, so the same cases.

#include <fmt/format.h>

#include <algorithm>

#include "evenkeel/store/session.h"
#include "tests/store/backends/conformance.h"

namespace evenkeel::test {
namespace {

using store::Answer;
using store::Ended;
using store::Identity;
using store::Observer;
using store::Session;
using store::Store;

// A session and its events; it lives on its client's loop.
class Holder {
 public:
  Holder(Client& client, std::unique_ptr<Session> session) : client_(client), session_(std::move(session)) {
    client_.on_loop([&] {
      identity_ = session_->identity();
      session_->on_event([events = events_](Session::Event event) {
        const std::lock_guard lock(events->mutex);
        events->all.push_back(event);
        events->changed.notify_all();
      });
    });
  }
  ~Holder() {
    client_.on_loop([&] { session_.reset(); });
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  const Identity& identity() const { return identity_; }
  bool valid() {
    bool is = false;
    client_.on_loop([&] { is = session_->valid(); });
    return is;
  }
  Instant deadline() {
    Instant is;
    client_.on_loop([&] { is = session_->deadline(); });
    return is;
  }
  Result<Revision> end() {
    return client_.call<Revision>([&](Store&, Answer<Revision> answer) { session_->end(std::move(answer)); });
  }
  bool was_lost() const {
    const std::lock_guard lock(events_->mutex);
    return std::ranges::find(events_->all, Session::Event::lost) != events_->all.end();
  }
  void wait_lost() {
    wait_until("the event `lost`", patience, [&] { return was_lost(); });
  }

 private:
  struct Events {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Session::Event> all;
  };
  Client& client_;
  std::unique_ptr<Session> session_;
  Identity identity_;
  std::shared_ptr<Events> events_ = std::make_shared<Events>();
};

Result<std::unique_ptr<Session>> open_session(Client& client, const std::string& key, Duration ttl, Duration wait) {
  return client.call<std::unique_ptr<Session>>([&](Store& store, Answer<std::unique_ptr<Session>> answer) {
    Session::open(store, {.key = key, .ttl = ttl}, wait, std::move(answer));
  });
}

std::unique_ptr<Holder> hold(Client& client, const std::string& key, Duration ttl, Duration wait = patience / 2) {
  auto session = open_session(client, key, ttl, wait);
  if (!session) throw std::runtime_error(fmt::format("no session: {}", session.error().message));
  return std::make_unique<Holder>(client, *std::move(session));
}

// An observer, and what it was told.
class Looker {
 public:
  Looker(Client& client, const std::string& key, Observer::Mode mode) : client_(client), told_(std::make_shared<Told>()) {
    client_.on_loop([&] {
      observer_ = std::make_unique<Observer>(client_.store(), key, mode, [told = told_](Result<Ended> ended) {
        const std::lock_guard lock(told->mutex);
        EXPECT_FALSE(told->ended) << "told twice";
        told->ended = std::move(ended);
      });
    });
  }
  ~Looker() {
    client_.on_loop([&] { observer_.reset(); });
  }
  Looker(const Looker&) = delete;
  Looker& operator=(const Looker&) = delete;

  std::optional<Result<Ended>> told() const {
    const std::lock_guard lock(told_->mutex);
    return told_->ended;
  }
  Ended wait() const {
    wait_until("the end of a session", patience, [&] { return told().has_value(); });
    return told()->value();
  }

 private:
  struct Told {
    std::mutex mutex;
    std::optional<Result<Ended>> ended;
  };
  Client& client_;
  std::shared_ptr<Told> told_;
  std::unique_ptr<Observer> observer_;
};

void one_holds_at_a_time(Bed& bed) {
  const auto other = bed.connect();
  const auto one = hold(bed.client(), bed.key("/beat"), 1s);
  EXPECT_TRUE(one->valid());
  // For more than two of its times another one waits for it in vain.
  EXPECT_TRUE(failed(open_session(*other, bed.key("/beat"), 1s, 2500ms), Code::conflict));
  EXPECT_TRUE(one->valid());
  EXPECT_FALSE(one->was_lost());
  const auto beat = other->get(bed.key("/beat")).value().entry;
  ASSERT_TRUE(beat);
  EXPECT_FALSE(beat->ephemeral);
  EXPECT_NE(beat->value.find(one->identity().str()), std::string::npos) << beat->value;
}

void a_proper_end_lets_the_next_one_in(Bed& bed) {
  const auto other = bed.connect();
  const auto one = hold(bed.client(), bed.key("/beat"), 60s);
  const Looker looker(*other, bed.key("/beat"), Observer::Mode::only_watch);
  ASSERT_TRUE(good(one->end()));
  EXPECT_FALSE(one->valid());
  EXPECT_EQ(looker.wait().identity, one->identity());
  const auto two = hold(*other, bed.key("/beat"), 60s);  // far sooner than in 60s, or `hold` gives up
  EXPECT_TRUE(two->valid());
  EXPECT_NE(two->identity(), one->identity());
}

void a_silent_one_is_ended_by_others(Bed& bed) {
  const auto other = bed.connect();
  auto one = hold(bed.client(), bed.key("/beat"), 1s);
  const Looker ends(*other, bed.key("/beat"), Observer::Mode::end_it);
  const Looker watches(bed.client(), bed.key("/beat"), Observer::Mode::only_watch);
  const Instant deadline = one->deadline();
  const Identity identity = one->identity();
  one.reset();  // as in a crash: the beat just stops
  const Ended ended = ends.wait();
  EXPECT_GT(other->loop().now(), deadline);
  EXPECT_EQ(ended.identity, identity);
  EXPECT_EQ(watches.wait().identity, identity);
  const auto two = hold(*other, bed.key("/beat"), 1s);
  EXPECT_NE(two->identity(), identity);
}

void the_next_one_waits_for_a_silent_one(Bed& bed) {
  const auto other = bed.connect();
  auto one = hold(bed.client(), bed.key("/beat"), 1s);
  const Instant deadline = one->deadline();
  one.reset();
  const auto two = hold(*other, bed.key("/beat"), 1s);
  EXPECT_GT(other->loop().now(), deadline);
  EXPECT_TRUE(two->valid());
}

void a_beat_that_was_taken_away_is_lost(Bed& bed) {
  const auto other = bed.connect();
  const auto one = hold(bed.client(), bed.key("/beat"), 1s);
  const Looker looker(*other, bed.key("/beat"), Observer::Mode::only_watch);
  ASSERT_TRUE(good(other->erase(bed.key("/beat"))));
  one->wait_lost();
  EXPECT_FALSE(one->valid());
  const auto two = hold(*other, bed.key("/beat"), 1s);
  EXPECT_NE(two->identity(), one->identity());
}

void nobody_there_is_told_at_once(Bed& bed) {
  const Looker looker(bed.client(), bed.key("/beat"), Observer::Mode::end_it);
  EXPECT_EQ(looker.wait().identity, Identity());
}

void a_session_outlives_a_restart_of_servers(Bed& bed) {
  const auto one = hold(bed.client(), bed.key("/beat"), 15s);
  const Revision before = bed.client().get(bed.key("/beat")).value().entry.value().modified;
  bed.deployment().bounce();
  const Instant deadline = one->deadline();
  wait_until("a renewal after the restart", patience, [&] { return one->was_lost() || one->deadline() > deadline; });
  EXPECT_FALSE(one->was_lost());
  EXPECT_TRUE(one->valid());
  EXPECT_GT(bed.client().get(bed.key("/beat")).value().entry.value().modified, before);
}

constexpr Case session_table[] = {
    {"SessionOneHoldsAtATime", one_holds_at_a_time},
    {"SessionAProperEndLetsTheNextOneIn", a_proper_end_lets_the_next_one_in},
    {"SessionASilentOneIsEndedByOthers", a_silent_one_is_ended_by_others},
    {"SessionTheNextOneWaitsForASilentOne", the_next_one_waits_for_a_silent_one},
    {"SessionABeatThatWasTakenAwayIsLost", a_beat_that_was_taken_away_is_lost},
    {"SessionNobodyThereIsToldAtOnce", nobody_there_is_told_at_once},
    {"SessionOutlivesARestartOfServers", a_session_outlives_a_restart_of_servers},
};

}  // namespace

std::span<const Case> session_cases() { return session_table; }

}  // namespace evenkeel::test
