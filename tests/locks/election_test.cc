// Elections: one leads, all know who; and under faults, on many seeds, never two.

#include "evenkeel/locks/election.h"

#include <gtest/gtest.h>

#include "tests/locks/ledger.h"
#include "tests/store/life.h"
#include "tests/story/slow_build.h"

namespace evenkeel::locks {
namespace {

const std::string office = "/c1/controller";

// A process that stands, from a session of its own on.
struct Candidate {
  Candidate(store::World& world, Loop& loop, std::string id, Duration time)
      : name(std::move(id)), ttl(time), store(world.connect(name, loop)) {}

  void open(std::function<void()> then) {
    store::Session::open(*store, {.key = "/beats/" + name, .ttl = ttl}, Duration::max(),
                         [this, then = std::move(then)](Result<std::unique_ptr<store::Session>> opened) {
                           ASSERT_TRUE(opened) << opened.error().message;
                           session = *std::move(opened);
                           locks.emplace(*store, session.get());
                           election.emplace(*store, *locks, office, ElectionOptions{.meta = name, .fair = false});
                           then();
                         });
  }
  bool leading() const { return election && election->leading(); }
  void die() {
    election.reset();
    locks.reset();
    session.reset();
  }

  std::string name;
  Duration ttl;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<store::Session> session;
  std::optional<Locks> locks;
  std::optional<Election> election;
};

class ElectionTest : public testing::Test {
 protected:
  std::unique_ptr<Candidate> candidate(const std::string& name) {
    auto made = std::make_unique<Candidate>(world, loop, name, 10s);
    made->open([&views = views[name], raw = made.get()] {
      raw->election->on_change([&views](const Election::View& view) { views.push_back(view); });
    });
    loop.run_for(1s);
    return made;
  }

  VirtualLoop loop;
  store::World world{loop, {.seed = 1, .delay_min = 1ms, .delay_max = 1ms}};
  std::map<std::string, std::vector<Election::View>> views;
};

TEST_F(ElectionTest, OneLeadsAndTheOthersKnowWho) {
  const auto a = candidate("a");
  const auto b = candidate("b");
  EXPECT_TRUE(a->election->leading());
  EXPECT_FALSE(b->election->leading());
  const Election::View& view = b->election->view();
  EXPECT_FALSE(view.leading);
  EXPECT_EQ(view.leader, "a");
  EXPECT_EQ(view.epoch, a->election->view().epoch);
  EXPECT_FALSE(view.guard);
  EXPECT_EQ(a->election->view().guard, store::unchanged(office, store::Revision(view.epoch.value())));
  EXPECT_EQ(views["b"].back().leader, "a");
  EXPECT_TRUE(views["a"].back().leading);
}

TEST_F(ElectionTest, WhoResignsStandsAgainOnlyIfToldTo) {
  const auto a = candidate("a");
  const auto b = candidate("b");
  const Token first = a->election->view().epoch;
  bool resigned = false;
  a->election->resign([&](Result<> done) { resigned = done.has_value(); });
  EXPECT_FALSE(a->election->leading()) << "from the call on";
  loop.run_for(1s);
  EXPECT_TRUE(resigned);
  EXPECT_TRUE(b->election->leading());
  EXPECT_GT(b->election->view().epoch, first);
  EXPECT_EQ(a->election->view().leader, "b");
  b->election->resign([](Result<>) {});
  loop.run_for(1min);
  EXPECT_FALSE(a->election->leading());
  EXPECT_EQ(a->election->view().leader, "");
  a->election->stand();
  loop.run_for(1s);
  EXPECT_TRUE(a->election->leading());
  EXPECT_EQ(b->election->view().leader, "a");
}

TEST_F(ElectionTest, WhoWaitsMayResignToo) {
  const auto a = candidate("a");
  const auto b = candidate("b");
  bool resigned = false;
  b->election->resign([&](Result<> done) { resigned = done.has_value(); });
  loop.run_for(1s);
  EXPECT_TRUE(resigned);
  a->election->resign([](Result<>) {});
  loop.run_for(1min);
  EXPECT_FALSE(b->election->leading());
  b->election->stand();
  loop.run_for(1s);
  EXPECT_TRUE(b->election->leading());
}

TEST_F(ElectionTest, ALostSessionIsToldBeforeAnotherIsElected) {
  const auto a = candidate("a");
  const auto b = candidate("b");
  std::vector<std::string> order;
  a->election->on_change([&](const Election::View& view) {
    if (!view.leading && !view.trouble) order.push_back("a steps down");
  });
  b->election->on_change([&](const Election::View& view) {
    if (view.leading) order.push_back("b leads");
  });
  loop.run_for(1ms);
  world.cut_off("a");
  loop.run_for(1min);
  EXPECT_EQ(order, (std::vector<std::string>{"a steps down", "b leads"})) << "and once each";
  ASSERT_TRUE(a->election->view().trouble);
  EXPECT_EQ(a->election->view().trouble->code, Code::refused);
}

TEST_F(ElectionTest, WhoseLockIsBrokenStandsAgain) {
  const auto a = candidate("a");
  const Token first = a->election->view().epoch;
  a->locks->break_lock(office, [](Result<LockState>) {});
  loop.run_for(5s);
  EXPECT_TRUE(a->election->leading());
  EXPECT_GT(a->election->view().epoch, first);
}

TEST_F(ElectionTest, WithoutASessionThereIsTrouble) {
  const auto store = world.connect("x");
  Locks locks(*store, nullptr);
  Election election(*store, locks, office, {.meta = "x"});
  loop.run_for(1s);
  ASSERT_TRUE(election.view().trouble);
  EXPECT_EQ(election.view().trouble->code, Code::invalid);
  EXPECT_FALSE(election.leading());
}

// A newer version wrote it. It is said, and as soon as it can be read again it is followed, whoever has it.
TEST_F(ElectionTest, ALockThatCannotBeReadIsTrouble) {
  const auto operators = world.connect("operator");
  const auto put = [&](const std::string& value) {
    operators->put(office, value, [](Result<store::Committed>) {});
    loop.run_for(3s);
  };
  put(R"({"format":99})");
  const auto a = candidate("a");
  const auto b = candidate("b");
  ASSERT_TRUE(a->election->view().trouble);
  EXPECT_EQ(a->election->view().trouble->code, Code::invalid);
  EXPECT_NE(a->election->view().trouble->message.find("format 99"), std::string::npos);
  const std::size_t told = views["a"].size();
  loop.run_for(1min);
  EXPECT_EQ(views["a"].size(), told) << "once";
  a->election->resign([](Result<>) {});
  put(R"({"format":1,"owner":"","token":1})");
  EXPECT_FALSE(a->election->leading());
  EXPECT_TRUE(b->election->leading());
  EXPECT_FALSE(b->election->view().trouble);
  a->election->stand();
  loop.run_for(3s);
  EXPECT_FALSE(a->election->view().trouble) << "it waits like everybody";
}

// ------------------------------------------------------------------------------------------------------------- faults

constexpr std::uint64_t seeds = seeds_of(800);
constexpr int hosts_count = 4;

struct Host : store::HostBase {
  using HostBase::HostBase;
  std::unique_ptr<Candidate> candidate;
};

class Life final : public store::LifeBase<Host> {
 public:
  Life(std::uint64_t seed, std::uint64_t& elected) : LifeBase(seed, "election", hosts_count), elected_(elected) {
    ledger_.follow(office);
    world_.on_commit([this](const std::string& client, const store::Txn& txn, const store::Committed& done) {
      if (const std::string wrong = ledger_.on_commit(client, txn, done); !wrong.empty()) complain("{}", wrong);
    });
    for (const auto& host : hosts_) start(*host);
  }

  std::string run() {
    for (int action = 0; action < 120 && good(); ++action) {
      run_for(Duration(rng_.between(0, ttl_.count() / 3)));
      act(some_host());
    }
    if (good()) check_that_one_leads();
    return wrong();
  }

 private:
  void start(Host& host) {
    host.candidate = std::make_unique<Candidate>(world_, host.loop, host.name, ttl_);
    host.candidate->open([this, &host] {
      host.candidate->election->on_change([this, &host](const Election::View& view) {
        if (!view.leading) return;
        ++elected_;
        if (view.epoch <= latest_) complain("{} leads with epoch {} after {}", host.name, view.epoch, latest_);
        latest_ = view.epoch;
      });
    });
  }
  void restart(Host& host) {
    host.candidate->die();
    host.candidate.reset();
    host.loop.go_on();
    start(host);
  }

  void write_guarded(const Host& host) {
    const Election::View& view = host.candidate->election->view();
    if (!view.guard) return;
    store::Txn txn;
    txn.compare(*view.guard).put(Ledger::data_key(office), fmt::to_string(view.epoch.value()));
    host.candidate->store->txn(std::move(txn), [](Result<store::Committed>) {});
  }

  void act(Host& host) {
    const std::uint64_t dice = rng_.below(100);
    auto& election = host.candidate->election;
    if (host.loop.paused() && dice < 55) return;
    if (dice < 15) {
      if (host.candidate->session && !host.candidate->session->valid()) restart(host);
    } else if (dice < 20) {
      restart(host);
    } else if (dice < 30) {
      if (election) election->resign([](Result<>) {});
    } else if (dice < 45) {
      if (election) election->stand();
    } else if (dice < 55) {
      if (election) write_guarded(host);
    } else if (dice < 65) {
      pause(host);
    } else if (dice < 75) {
      cut_or_heal(host);
    } else if (dice < 78) {
      stop_store_for_a_while();
    }
  }

  void check() override {
    const Host* leader = nullptr;
    for (const auto& host : hosts_) {
      if (host->loop.paused() || !host->candidate->leading()) continue;
      if (leader != nullptr) complain("{} and {} both lead", leader->name, host->name);
      leader = host.get();
    }
  }

  // When the faults have stopped, and all stand that can, one leads, stays, and is known to all.
  void check_that_one_leads() {
    stop_faults(ttl_ * 4);
    for (const auto& host : hosts_) {
      if (!host->candidate->session || !host->candidate->session->valid()) restart(*host);
      if (host->candidate->election) host->candidate->election->stand();
    }
    run_for(ttl_ * 4);
    const Token settled = latest_;
    run_for(ttl_ * 8);
    int leaders = 0;
    std::string leader;
    for (const auto& host : hosts_) {
      leaders += host->candidate->leading() ? 1 : 0;
      if (host->candidate->leading()) leader = host->name;
    }
    if (leaders != 1) return complain("{} lead when the faults have stopped", leaders);
    if (latest_ != settled) complain("without faults the leader changed");
    for (const auto& host : hosts_) {
      if (host->candidate->election->view().leader != leader)
        complain("{} takes {} for the leader, and not {}", host->name, host->candidate->election->view().leader, leader);
    }
  }

  std::uint64_t& elected_;
  Ledger ledger_;
  Token latest_;
};

TEST(ElectionFaults, NeverTwoLead) {
  std::uint64_t elected = 0;
  const bool all = store::on_seeds(seeds, [&](std::uint64_t seed) { return Life(seed, elected).run(); });
  EXPECT_GT(elected, all ? seeds * 3 : 0);
}

}  // namespace
}  // namespace evenkeel::locks
