// What operators ask, on the documents of a cluster that lives on the bench; and that the controller then does it.

#include "evenkeel/control/operate.h"

#include <gtest/gtest.h>

#include "evenkeel/model/cluster_file.h"
#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

const NodeId node1("n1"), node2("n2"), node3("n3"), node9("n9");

Document parsed(const Write& write) {
  switch (write.key.kind) {
    case Key::Kind::config:
      return *parse_config(write.text, "");
    case Key::Kind::node:
      return *parse_node(write.text, "");
    case Key::Kind::workload:
      return *parse_workload(write.text, write.key.workload, "");
    case Key::Kind::permit:
      return *parse_permit(write.text, "");
    default:
      return *parse_order(write.text, "");
  }
}

// Writes what was decided, or says why it was refused.
std::string carry_out(Bench& bench, const Result<Changes>& changes) {
  if (!changes) return fmt::format("{}", changes.error());
  for (const Write& write : changes->writes)
    bench.put(write.key, write.text.empty() ? std::nullopt : std::optional(parsed(write)));
  bench.run(1s);
  return fmt::format("{} written; {}", changes->writes.size(), fmt::join(changes->notes, "; "));
}

class Operate : public testing::Test {
 protected:
  void SetUp() override {
    bench.configure();
    for (const char* name : {"n1", "n2", "n3"}) bench.join(name, name);
    bench.create(workload_of(2, 2));
    bench.run(1s);
  }
  std::string operate(const NodeId& node, Operation operation, const std::string& reason = "") {
    return carry_out(bench, control::operate(snapshot_of(bench), node, operation, reason));
  }
  std::string undo(const NodeId& node, std::vector<Operation> which = {}) {
    return carry_out(bench, control::undo(snapshot_of(bench), node, which));
  }
  NodeDocument document(const NodeId& node) {
    return bench.stored<NodeDocument>({.kind = Key::Kind::node, .node = node}).value_or(NodeDocument{});
  }
  std::string apply(const std::string& file, FileParts parts = {}) {
    const auto cluster = parse_cluster(file, "file.yaml");
    EXPECT_TRUE(cluster) << cluster.error().format();
    return carry_out(bench, apply_file(snapshot_of(bench), *cluster, parts));
  }
  Bench bench;
};

TEST_F(Operate, APermitIsAskedForOnBehalfOfANode) {
  const auto ask = [&](const NodeId& node, const PermitWish& wish = {}) {
    return carry_out(bench, ask_permit(snapshot_of(bench), node, wish));
  };
  const auto revoke = [&](const NodeId& node) { return carry_out(bench, revoke_permit(snapshot_of(bench), node)); };
  EXPECT_EQ(ask(node9), "there is no node \"n9\": known: n1, n2, n3 (not_found)");
  EXPECT_EQ(revoke(node1), "0 written; n1 has no permit");
  EXPECT_EQ(ask(node1, {.timeout = 3min}), "1 written; ");
  EXPECT_EQ(bench.permit("n1")->stage, PermitDocument::Stage::go);
  EXPECT_EQ(bench.permit("n1")->timeout, 3min);
  EXPECT_EQ(ask(node1), "0 written; n1 may stop already");
  EXPECT_EQ(revoke(node1), "1 written; n1 may stop already: make sure that nobody stops it now");
  EXPECT_FALSE(bench.permit("n1"));
  bench.run(10s);
  EXPECT_EQ(bench.shard(0).view.others.size() + bench.shard(1).view.others.size(), 2u) << "it serves again";
  bench.end("n3");
  EXPECT_EQ(ask(node3), "n3 is not there, so there is nothing to stop (refused)");
}

TEST_F(Operate, APermitThatWaitsIsAskedForOnce) {
  bench.config.maintenance = Maintenance{.reason = "disks"};
  bench.configure();
  const auto ask = [&](const PermitWish& wish) { return carry_out(bench, ask_permit(snapshot_of(bench), node1, wish)); };
  EXPECT_EQ(ask({}), "1 written; ");
  EXPECT_EQ(bench.permit("n1")->stage, PermitDocument::Stage::asked);
  EXPECT_EQ(ask({}), "0 written; n1 has asked already");
  EXPECT_EQ(ask({.timeout = 1min}), "1 written; ") << "for another time";
  EXPECT_EQ(carry_out(bench, revoke_permit(snapshot_of(bench), node1)), "1 written; ");
  EXPECT_FALSE(bench.permit("n1"));
}

// What documents say is what the controller says.
TEST_F(Operate, WhoCouldStopIsKnownFromDocuments) {
  for (const std::vector<NodeId>& set : {std::vector{node1}, std::vector{node1, node2}, std::vector{node1, node2, node3}}) {
    const Stoppable by_documents = stoppable(snapshot_of(bench), set), by_machine = bench.machine->stoppable(set);
    EXPECT_EQ(by_documents.all, by_machine.all);
    ASSERT_EQ(by_documents.nodes.size(), by_machine.nodes.size());
    for (std::size_t i = 0; i < set.size(); ++i) EXPECT_EQ(by_documents.nodes[i].why_not, by_machine.nodes[i].why_not);
  }
  EXPECT_TRUE(stoppable(snapshot_of(bench), {node1}).all);
  EXPECT_FALSE(stoppable(snapshot_of(bench), {node1, node2, node3}).all);
}

TEST_F(Operate, ADrainedNodeIsEmptied) {
  EXPECT_EQ(operate(node1, Operation::drain, "old disk"), "1 written; ");
  bench.run(1min);
  EXPECT_EQ(bench.holders(0).find("n1"), std::string::npos) << bench.holders(0);
  EXPECT_EQ(bench.holders(1).find("n1"), std::string::npos) << bench.holders(1);
  EXPECT_EQ(document(node1).reason, "old disk");
  EXPECT_EQ(operate(node1, Operation::drain), "0 written; n1 is being drained already");
  EXPECT_EQ(undo(node1, {Operation::drain, Operation::swap}), "1 written; ");
  EXPECT_EQ(document(node1), NodeDocument{});
  EXPECT_EQ(undo(node1, {Operation::drain, Operation::swap}), "0 written; n1 is not being drained");
}

TEST_F(Operate, AStrongerOperationTakesTheWeakersPlaceAndNotTheOtherWayRound) {
  operate(node1, Operation::cordon);
  EXPECT_EQ(operate(node1, Operation::drain), "1 written; n1 was cordoned, and is not any more");
  EXPECT_EQ(operate(node1, Operation::cordon), "n1 is being drained, which is more; `evenkeel node undrain n1` first (refused)");
  EXPECT_EQ(undo(node1, {Operation::cordon}),
            "n1 is being drained, not cordoned; `evenkeel node undrain n1` ends that (refused)");
  EXPECT_EQ(undo(node1), "1 written; ");
  EXPECT_EQ(undo(node1), "0 written; no operation is in force on n1");
}

TEST_F(Operate, WhatNobodyKnowsIsNotFound) {
  EXPECT_EQ(operate(NodeId("n11"), Operation::drain), "there is no node \"n11\": did you mean \"n1\"? (not_found)");
  EXPECT_EQ(operate(NodeId("elephant"), Operation::drain), "there is no node \"elephant\": known: n1, n2, n3 (not_found)");
  EXPECT_EQ(carry_out(bench, delete_workload(snapshot_of(bench), WorkloadId("tt"))),
            "there is no workload \"tt\": known: t (not_found)");
  EXPECT_EQ(carry_out(bench, lead(snapshot_of(bench), {WorkloadId("t"), ShardIndex(7)}, node1, false)),
            "there is no shard 7: t has 2, counted from 0 (not_found)");
}

TEST_F(Operate, OneThatIsThereIsNeitherForgottenNorRemoved) {
  EXPECT_NE(operate(node1, Operation::forget).find("its session is not over"), std::string::npos);
  EXPECT_NE(operate(node1, Operation::remove).find("its session is not over"), std::string::npos);
  bench.end("n1");
  EXPECT_EQ(operate(node1, Operation::forget), "1 written; ");
  EXPECT_EQ(document(node1).since, bench.node("n1").incarnation);
  // A later join is another: the order is about the earlier one.
  bench.restart("n1");
  EXPECT_EQ(operation_of(snapshot_of(bench), node1), Operation::none);
  EXPECT_EQ(operate(node1, Operation::cordon), "1 written; ");
  EXPECT_FALSE(document(node1).since);
}

TEST_F(Operate, ARemovedNodeLeavesATombstoneUnlessItHasALastCopy) {
  bench.end("n1");
  EXPECT_EQ(operate(node1, Operation::remove), "1 written; ");
  EXPECT_EQ(document(node1).data, bench.node("n1").data);  // the controller's
  EXPECT_NE(operate(node1, Operation::forget).find("removed"), std::string::npos);
  bench.run(1min);
  bench.end("n2");
  bench.end("n3");
  bench.run(1s);
  EXPECT_EQ(operate(node2, Operation::remove), "1 written; ");
  const std::string last = operate(node3, Operation::remove);
  EXPECT_NE(last.find("n3 has the last copy of t/"), std::string::npos) << last;
  EXPECT_NE(last.find("(refused)"), std::string::npos) << last;
}

TEST_F(Operate, SwapGivesThePlaceToAnother) {
  const auto try_swap = [&](const NodeId& from, const NodeId& to) {
    return carry_out(bench, swap_nodes(snapshot_of(bench), from, to, ""));
  };
  EXPECT_EQ(try_swap(node1, node9), "there is no node \"n9\": known: n1, n2, n3 (not_found)");
  EXPECT_NE(try_swap(node1, node1).find("its own place"), std::string::npos);
  bench.join("n9", "n9");
  EXPECT_EQ(try_swap(node1, node9), "1 written; ");
  EXPECT_EQ(try_swap(node1, node9), "0 written; n9 takes the place of n1 already");
  EXPECT_NE(try_swap(node2, node9).find("takes the place of n1 already; `evenkeel node undrain n1`"), std::string::npos);
  EXPECT_NE(try_swap(node2, node1).find("n1 is being swapped"), std::string::npos);
  bench.run(1min);
  EXPECT_EQ((bench.holders(0) + bench.holders(1)).find("n1"), std::string::npos) << bench.holders(0) << bench.holders(1);
  bench.end("n9");
  EXPECT_NE(try_swap(node2, node9).find("n9 is not there"), std::string::npos);
}

TEST_F(Operate, WhatIsInTheWayOfADrainIsKnownBeforehand) {
  EXPECT_TRUE(obstacles(snapshot_of(bench), node1).empty());
  bench.end("n3");
  bench.run(1s);
  operate(node1, Operation::drain);
  const auto found = obstacles(snapshot_of(bench), node1);
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found.front().starts_with("t/")) << found.front();
  carry_out(bench, freeze(snapshot_of(bench), {.reason = "new switch"}));
  EXPECT_EQ(obstacles(snapshot_of(bench), node1),
            std::vector<std::string>{"the cluster is frozen (new switch): `evenkeel cluster unfreeze`, or wait for its end"});
}

TEST_F(Operate, AStandstillSaysWhatEndsIt) {
  EXPECT_EQ(standstill(snapshot_of(bench)), std::nullopt);
  carry_out(bench, maintain(snapshot_of(bench), Maintenance{.reason = "moving house"}));
  EXPECT_EQ(
      standstill(snapshot_of(bench)),
      "the cluster is in maintenance (moving house), so nothing moves: `evenkeel cluster maintenance off`, or wait for its end");
  bench.config.settings.control.max_offline = 1;
  bench.configure();
  bench.end("n2");
  bench.end("n3");
  bench.run(1s);
  ASSERT_TRUE(bench.machine->overview().maintenance);
  const std::string said = standstill(snapshot_of(bench)).value_or("");
  EXPECT_TRUE(said.ends_with("so nothing moves: bring nodes back")) << said;
}

TEST_F(Operate, AShardIsForbiddenOnANode) {
  EXPECT_EQ(carry_out(bench, bar(snapshot_of(bench), node1, s0, true)), "1 written; ");
  EXPECT_EQ(carry_out(bench, bar(snapshot_of(bench), node1, s0, true)), "0 written; t/0 is disabled on n1 already");
  bench.run(1min);
  EXPECT_EQ(bench.holders(0).find("n1"), std::string::npos);
  EXPECT_EQ(carry_out(bench, bar(snapshot_of(bench), node1, s0, false)), "1 written; ");
  EXPECT_EQ(carry_out(bench, bar(snapshot_of(bench), node1, s0, false)), "0 written; t/0 is enabled on n1 already");
}

TEST_F(Operate, OverridesLeaveTheOperationAlone) {
  operate(node1, Operation::cordon, "why not");
  EXPECT_EQ(carry_out(bench, override_node(snapshot_of(bench), node1, {.power = Quantity(2)})), "1 written; ");
  EXPECT_EQ(document(node1), (NodeDocument{.operation = Operation::cordon, .reason = "why not", .power = Quantity(2)}));
  const auto wrong = override_node(snapshot_of(bench), node1, {.labels = Labels{{"a b", "c"}}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::invalid);
}

TEST_F(Operate, FreezeAndMaintenanceAreTold) {
  EXPECT_EQ(freeze(snapshot_of(bench), {}).error().code, Code::invalid);
  EXPECT_EQ(freeze({.cluster = ClusterId("none")}, {.reason = "x"}).error().code, Code::not_found);
  EXPECT_EQ(carry_out(bench, freeze(snapshot_of(bench), {.keep_leaders = true, .reason = "x", .timeout = 1h})), "1 written; ");
  EXPECT_EQ(bench.machine->overview().freeze, "x");
  Snapshot seen = snapshot_of(bench);
  RecordBucket& bucket = seen.records.begin()->second;
  bucket.shards.at(0).split = Split{.from = NodeId("n1"), .at = {}, .ready = {}};
  const auto frozen = freeze(seen, {.reason = "y", .timeout = 1h});
  ASSERT_TRUE(frozen);
  EXPECT_EQ(frozen->notes.back(),
            fmt::format("{}/{} is being split: nobody leads it until the freeze ends; --keep-leaders would go on",
                        bucket.workload, bucket.shards.at(0).shard));
  EXPECT_EQ(carry_out(bench, unfreeze(snapshot_of(bench))), "1 written; ");
  EXPECT_EQ(carry_out(bench, unfreeze(snapshot_of(bench))), "0 written; the cluster is not frozen");
  EXPECT_EQ(carry_out(bench, maintain(snapshot_of(bench), Maintenance{.reason = "y"})), "1 written; ");
  EXPECT_EQ(bench.machine->overview().maintenance, "y");
  EXPECT_EQ(carry_out(bench, maintain(snapshot_of(bench), std::nullopt)), "1 written; ");
  EXPECT_FALSE(bench.machine->overview().maintenance);
}

TEST_F(Operate, AFreezeWhoseTimeIsOverIsNotInForce) {
  const Freeze two_minutes{.keep_leaders = true, .reason = "x", .timeout = 2min};
  const Maintenance three_minutes{.reason = "y", .timeout = 3min};
  carry_out(bench, freeze(snapshot_of(bench), two_minutes));
  carry_out(bench, maintain(snapshot_of(bench), three_minutes));
  const NodeId other = bench.shard().view.others.front().node;
  const auto notes = [&] { return lead(snapshot_of(bench), s0, other, false)->notes; };
  bench.run(1min);
  EXPECT_NE(freeze_in_force(snapshot_of(bench)), nullptr);
  EXPECT_NE(maintenance_in_force(snapshot_of(bench)), nullptr);
  EXPECT_EQ(notes(), std::vector<std::string>{"the cluster is frozen: it is carried out after that"});
  bench.run(5min);
  EXPECT_FALSE(bench.machine->overview().freeze);
  EXPECT_EQ(freeze_in_force(snapshot_of(bench)), nullptr);
  EXPECT_EQ(maintenance_in_force(snapshot_of(bench)), nullptr);
  EXPECT_TRUE(notes().empty());
  EXPECT_NE(carry_out(bench, freeze(snapshot_of(bench), two_minutes)).find("is over: `evenkeel cluster unfreeze`"),
            std::string::npos);
  EXPECT_NE(carry_out(bench, maintain(snapshot_of(bench), three_minutes)).find("maintenance off` first"), std::string::npos);
  EXPECT_EQ(carry_out(bench, unfreeze(snapshot_of(bench))), "1 written; ");
  EXPECT_EQ(carry_out(bench, freeze(snapshot_of(bench), two_minutes)), "1 written; ");
  EXPECT_EQ(bench.machine->overview().freeze, "x");
}

TEST_F(Operate, LeadIsForThoseThatHoldItAndMayLead) {
  const auto try_lead = [&](const NodeId& node) { return carry_out(bench, lead(snapshot_of(bench), s0, node, false)); };
  const NodeId leader = *bench.shard().view.leader, other = bench.shard().view.others.front().node;
  EXPECT_EQ(try_lead(leader), fmt::format("0 written; {} leads t/0 already", leader));
  NodeId stranger;
  for (const NodeId& node : {node1, node2, node3}) {
    if (node != leader && node != other) stranger = node;
  }
  EXPECT_TRUE(try_lead(stranger).starts_with(fmt::format("{} does not hold t/0; those that do: ", stranger)));
  operate(other, Operation::no_leaders);
  EXPECT_TRUE(try_lead(other).starts_with(fmt::format("{} may not lead", other)));
  undo(other);
  EXPECT_EQ(try_lead(other), "1 written; ");
  EXPECT_EQ(bench.shard().view.leader, other);
  EXPECT_EQ(lead(snapshot_of(bench), s0, std::nullopt, false).error().code, Code::invalid);
}

TEST_F(Operate, ResetIsForWhatWasGivenUp) {
  const NodeId leader = *bench.shard().view.leader;
  const std::string said = carry_out(bench, reset(snapshot_of(bench), s0, std::vector{leader}));
  EXPECT_EQ(said, fmt::format("{} has not given t/0 up, so there is nothing to reset; it says leader (refused)", leader));
}

TEST_F(Operate, ADeletedWorkloadComesBackAboveItsEpochs) {
  EXPECT_EQ(carry_out(bench, delete_workload(snapshot_of(bench), WorkloadId("t"))), "1 written; ");
  EXPECT_EQ(carry_out(bench, delete_workload(snapshot_of(bench), WorkloadId("t"))), "0 written; t is deleted already");
  bench.run(1min);
  EXPECT_EQ(apply("workloads: [{name: t, shards: 100, replicas: 1}]", {.settings = false, .only_new = true}), "1 written; ");
  const auto document = bench.stored<WorkloadDocument>({.kind = Key::Kind::workload, .workload = WorkloadId("t")});
  EXPECT_EQ(document->buckets, buckets_for(100));
  EXPECT_GT(document->highest, Epoch(0));
  EXPECT_FALSE(document->deleted);
}

TEST_F(Operate, AFileIsAppliedAndItsAbsencesMeanNothing) {
  const std::string file =
      "settings: {rebalance_delay: 7m}\n"
      "nodes: [{name: n1, labels: {disk: ssd}}, {name: n2, status: cordoned}, {name: n3}]\n"
      "workloads: [{name: t, shards: 2, replicas: 1}]\n"
      "placement: {t: [[n1], [n1]]}\n";
  const std::string said = apply(file);
  EXPECT_TRUE(said.starts_with("4 written; where replicas are is the controller's")) << said;
  EXPECT_EQ(document(node1).labels, (Labels{{"disk", "ssd"}}));
  EXPECT_EQ(document(node2).operation, Operation::cordon);
  EXPECT_EQ(document(node3), NodeDocument{});
  EXPECT_EQ(bench.stored<ConfigDocument>({.kind = Key::Kind::config})->settings.control.rebalance_delay, 7min);
  EXPECT_TRUE(apply(file).starts_with("0 written; ")) << "twice is once";
  EXPECT_TRUE(apply("nodes: [{name: n2}]", {.settings = false}).starts_with("0 written; ")) << "what is not said stays";
  EXPECT_FALSE(bench.stored<WorkloadDocument>({.kind = Key::Kind::workload, .workload = WorkloadId("t")})->deleted);
}

TEST_F(Operate, ANewWorkloadGetsItsBuckets) {
  const auto file = parse_cluster("workloads: [{name: u, shards: 200, pinned: {3: [n1]}}]\nnodes: [{name: n1}]", "file.yaml");
  const auto changes = apply_file(snapshot_of(bench), *file, {.settings = false});
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes->writes.size(), 1u);
  const auto document = parse_workload(changes->writes[0].text, WorkloadId("u"), "");
  EXPECT_EQ(document->buckets, buckets_for(200));
  EXPECT_EQ(document->pinned, (std::map<ShardIndex, std::vector<NodeId>>{{ShardIndex(3), {node1}}}));
}

TEST_F(Operate, WhatAFileCannotChangeIsRefused) {
  EXPECT_TRUE(apply("workloads: [{name: t, shards: 1, replicas: 2}]").starts_with("t has 2 shards and cannot have 1"));
  EXPECT_TRUE(apply("workloads: [{name: t, shards: 2, state_model: online-offline}]").starts_with("t is a leader-follower"));
  EXPECT_TRUE(apply("workloads: [{name: t, shards: 2}]", {.only_new = true}).ends_with("changes it (conflict)"));
  EXPECT_TRUE(apply("workloads: [{name: t, shards: 3, replicas: 2}]", {.settings = false}).find("keys belong to other shards") !=
              std::string::npos);
  operate(node2, Operation::drain);
  EXPECT_TRUE(apply("nodes: [{name: n2, status: cordoned}]").find("`evenkeel node undo n2` first") != std::string::npos);
}

TEST_F(Operate, AWorkloadIsNotCreatedWithoutItsStateModel) {
  const std::string file =
      "state_models:\n"
      "  - name: pair\n"
      "    states: [{name: up, count: replicas}, {name: down, data: false}]\n"
      "    initial: down\n"
      "    transitions: [[down, up], [up, down]]\n"
      "workloads: [{name: u, shards: 1, state_model: pair}]\n";
  Snapshot seen = snapshot_of(bench);
  const auto try_to = [&](const std::string& text, bool only_new) {
    const auto changes = apply_file(seen, *parse_cluster(text, "file.yaml"), {.settings = false, .only_new = only_new});
    if (!changes) return fmt::format("{}", changes.error());
    for (const Write& write : changes->writes) seen.take(write.key, parsed(write));
    return fmt::format("{} written", changes->writes.size());
  };
  EXPECT_EQ(try_to(file, true), "u is a pair, which the cluster has no state model for: `evenkeel apply -f` adds it (refused)");
  EXPECT_EQ(try_to(file, false), "2 written");
  seen.workloads.erase(WorkloadId("u"));
  EXPECT_EQ(try_to(file, true), "1 written") << "the cluster has the model now";
  EXPECT_EQ(try_to("workloads: [{name: v, shards: 1, state_model: MasterSlave}]", true), "1 written") << "it is built in";
}

TEST(OperateOrphans, AreShownAdoptedAndDropped) {
  Bench bench;
  bench.configure();
  bench.join("n1", "a");
  bench.join("n2", "b");
  const auto hold = [&](const char* name) {
    bench.node(name).held[s0] = {
        .shard = s0.shard, .state = StateId("offline"), .version = {Epoch(5), Change(7)}, .last = Epoch(5), .progress = 10};
    bench.restart(name);
  };
  hold("n1");
  hold("n2");
  bench.create(workload_of(1, 2));
  bench.run(1s);
  EXPECT_EQ(orphans_of(snapshot_of(bench)), (std::vector<OrphanState>{{s0, node1, Epoch(5)}, {s0, node2, Epoch(5)}}));
  EXPECT_EQ(orphans_of(snapshot_of(bench)), bench.machine->overview().orphans);
  EXPECT_EQ(carry_out(bench, settle_orphans(snapshot_of(bench), s0, std::vector{node2}, Fate::drop)), "1 written; ");
  bench.run(1min);
  EXPECT_EQ(carry_out(bench, adopt_all(snapshot_of(bench))), "1 written; ");
  bench.run(1min);
  EXPECT_EQ(bench.shard().view.leader, node1);
  EXPECT_TRUE(carry_out(bench, adopt_all(snapshot_of(bench))).find("nothing to adopt") != std::string::npos);
  const auto known = settle_orphans(snapshot_of(bench), s0, std::vector{node1}, Fate::drop);
  ASSERT_FALSE(known);
  EXPECT_NE(known.error().message.find("no orphan"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::control::test
