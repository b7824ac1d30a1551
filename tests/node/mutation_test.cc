// Rules of a node that no story of the simulator makes matter: each is kept, and with that rule switched off it is not. The others are in
// tests/sim/mutation_test.cc.

#include <gtest/gtest.h>

#include <algorithm>

#include "evenkeel/node/reconciler.h"

namespace evenkeel::node {
namespace {

const ShardId the_shard{WorkloadId("t"), ShardIndex(0)};
constexpr Incarnation own(7);

Target target_of(std::uint64_t number, std::string_view state, Version version) {
  return {.node = NodeId("n1"),
          .workload = the_shard.workload,
          .bucket = Bucket(0),
          .incarnation = own,
          .number = {ControllerEpoch(1), number},
          .model = find_built_in("leader-follower")->spec(),
          .replicas = {{.shard = the_shard.shard, .state = StateId(std::string(state)), .version = version}}};
}

// A node that has joined, and whose handler is done at once unless it is told to wait.
class Joined1 {
 public:
  explicit Joined1(Broken broken) : reconciler_({.name = NodeId("n1"), .data = DataId("d1"), .broken = broken}, {}) {
    reconciler_.step(Joined{own, {}}, {});
  }
  Output read(Target target, bool waits = false) {
    Output first = reconciler_.step(TargetRead{std::move(target)}, {});
    for (Output last = first; !waits;) {
      const auto start = std::ranges::find_if(last.effects, [](const Effect& one) { return std::holds_alternative<Start>(one); });
      if (start == last.effects.end()) break;
      last = reconciler_.step(Transitioned{the_shard, std::get<Start>(*start).run, {}, Epoch(1), 0}, {});
    }
    return first;
  }
  Output fails(const Output& started) {
    const std::uint64_t run = std::get<Start>(started.effects.front()).run;
    return reconciler_.step(Transitioned{the_shard, run, fail(Code::unavailable, "no"), Epoch(), 0}, {});
  }
  std::string state() const { return reconciler_.replicas().empty() ? "" : reconciler_.replicas().front().state.str(); }
  bool leads(Epoch epoch) const { return reconciler_.may_lead(the_shard, epoch); }

 private:
  Reconciler reconciler_;
};

// What is wrong, in words; empty: nothing.

std::string obeys_old(Broken broken) {
  Joined1 node(broken);
  node.read(target_of(2, "follower", {Epoch(1), Change(1)}));
  node.read(target_of(1, "dropped", {Epoch(1), Change(1)}));
  return node.state() == "follower" ? "" : fmt::format("n1 is {} by an older document", node.state());
}

std::string leads_too_long(Broken broken) {
  Joined1 node(broken);
  node.read(target_of(1, "leader", {Epoch(1), Change(0)}));
  if (!node.leads(Epoch(1))) return "n1 does not lead at all";
  node.read(target_of(2, "follower", {Epoch(1), Change(1)}), true);
  return node.leads(Epoch(1)) ? "n1 has read that it does not lead, and leads until its handler is done" : "";
}

std::string tries_at_once(Broken broken) {
  Joined1 node(broken);
  const Output first = node.read(target_of(1, "follower", {Epoch(1), Change(0)}), true);
  return node.fails(first).effects.empty() ? "" : "n1 tries again in the same moment";
}

struct Mutation {
  Broken broken;
  std::string_view name;
  std::string (*play)(Broken);
};
constexpr Mutation mutations[] = {
    {Broken::obey_old, "obey old documents", obeys_old},
    {Broken::lead_until_done, "lead until stepped down", leads_too_long},
    {Broken::try_again_at_once, "try again at once", tries_at_once},
};

TEST(Mutations, AreNoticed) {
  for (const auto& [broken, name, play] : mutations) {
    EXPECT_EQ(play(Broken::nothing), "") << name << ", with all rules";
    const std::string noticed = play(broken);
    EXPECT_NE(noticed, "") << name << ": nobody notices";
    fmt::print("{:32} {}\n", name, noticed);
  }
}

}  // namespace
}  // namespace evenkeel::node
