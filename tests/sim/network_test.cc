#include "evenkeel/sim/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace evenkeel::sim {
namespace {

struct NetworkTest : ::testing::Test {
  VirtualLoop loop;
  Network network{loop, Rng(7), 10ms};
  std::shared_ptr<int> process = std::make_shared<int>();
  std::vector<int> got;

  Address address(const std::string& host) { return {.host = host, .loop = &loop, .alive = process}; }
  void send(const std::string& from, const std::string& to, int what) {
    network.send(from, address(to), [this, what] { got.push_back(what); });
  }
};

TEST_F(NetworkTest, DeliversLaterAndInAnyOrder) {
  std::vector<int> all;
  for (int i = 0; i < 50; ++i) {
    send("n1", "n2", i);
    all.push_back(i);
  }
  EXPECT_TRUE(got.empty());
  loop.run_for(10ms);
  EXPECT_FALSE(std::ranges::is_sorted(got));
  std::ranges::sort(got);
  EXPECT_EQ(got, all);
}

TEST_F(NetworkTest, LosesWhatIsCutOffWhenSentOrWhenItArrives) {
  network.cut("n2");
  send("n1", "n2", 1);
  send("n2", "n1", 2);
  send("n1", "n3", 3);
  loop.run_for(1s);
  network.heal("n2");
  loop.run_for(1s);
  EXPECT_EQ(got, std::vector{3});

  send("n1", "n2", 4);
  network.cut("n2");
  loop.run_for(1s);
  network.heal("n2");
  send("n1", "n2", 5);
  loop.run_for(1s);
  EXPECT_EQ(got, (std::vector{3, 5}));
  EXPECT_EQ(network.lost(), 3U);
}

TEST_F(NetworkTest, CutsPairsAndGroups) {
  network.join_group("c1", "controllers");
  network.join_group("c2", "controllers");
  network.cut("n1", "controllers");
  network.cut("n2", "n3");
  EXPECT_FALSE(network.passes("n1", "c1"));
  EXPECT_FALSE(network.passes("c2", "n1"));
  EXPECT_FALSE(network.passes("n3", "n2"));
  EXPECT_TRUE(network.passes("n2", "c1"));
  EXPECT_TRUE(network.passes("n1", "n2"));
  EXPECT_TRUE(network.passes("c1", "c2"));
  network.heal("controllers", "n1");
  EXPECT_TRUE(network.passes("n1", "c1"));
}

TEST_F(NetworkTest, WhatIsCutTwiceIsHealedTwice) {
  network.cut("n1");
  network.cut("n1");
  network.heal("n1");
  EXPECT_FALSE(network.passes("n1", "n2"));
  network.heal("n1");
  EXPECT_TRUE(network.passes("n1", "n2"));
  network.heal("n1");
  network.cut("n1");
  EXPECT_FALSE(network.passes("n1", "n2"));
}

TEST_F(NetworkTest, NothingReachesAProcessThatIsGone) {
  send("n1", "n2", 1);
  process.reset();
  loop.run_for(1s);
  EXPECT_TRUE(got.empty());
  EXPECT_EQ(network.lost(), 1U);
}

// A host that stands still: its loop is another one, which does not run.
TEST_F(NetworkTest, WaitsForAHostThatStandsStill) {
  VirtualLoop host;
  network.send("n1", {.host = "n2", .loop = &host, .alive = process}, [this] { got.push_back(1); });
  network.send("n1", {.host = "clients", .always = true}, [this] { got.push_back(2); });
  loop.run_for(1s);
  EXPECT_EQ(got, std::vector{2});
  host.run_for(1s);
  EXPECT_EQ(got, (std::vector{2, 1}));

  network.send("n1", {.host = "n2", .loop = &host, .alive = process}, [this] { got.push_back(3); });
  loop.run_for(1s);
  process.reset();  // while it stood still
  host.run_for(1s);
  EXPECT_EQ(got, (std::vector{2, 1}));
}

TEST(Network, IsTheSameForTheSameSeed) {
  const auto order = [](std::uint64_t seed) {
    VirtualLoop loop;
    Network network(loop, Rng(seed), 10ms);
    std::vector<int> got;
    for (int i = 0; i < 50; ++i) network.send("a", {.host = "b", .always = true}, [&got, i] { got.push_back(i); });
    loop.run_for(1s);
    return got;
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

}  // namespace
}  // namespace evenkeel::sim
