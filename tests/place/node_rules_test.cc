#include "evenkeel/place/detail/node_rules.h"

#include <gtest/gtest.h>

namespace evenkeel::place::detail {
namespace {

TEST(NodeRules, LabelsAndTaintsSayWhyNot) {
  Workload workload{.name = WorkloadId("t"), .require = {{"disk", "ssd"}}};
  Node node{.name = NodeId("n1")};
  const auto why = [&] {
    EXPECT_EQ(is_able(node, workload), why_not_able(node, workload).empty());
    EXPECT_EQ(why_takes_none(node, workload), why_not_able(node, workload));
    return why_not_able(node, workload);
  };
  EXPECT_EQ(why(), "has no label disk=ssd");
  node.labels["disk"] = "hdd";
  EXPECT_EQ(why(), "has label disk=hdd, not ssd");
  node.labels["disk"] = "ssd";
  EXPECT_EQ(why(), "");
  node.taints = {{.key = "old", .value = "", .effect = Taint::Effect::refuse}};
  EXPECT_EQ(why(), "has taint old, which is not tolerated");
  node.taints[0].value = "very";
  EXPECT_EQ(why(), "has taint old=very, which is not tolerated");
  workload.tolerate = {{.key = "old", .value = "a little"}};
  EXPECT_EQ(why(), "has taint old=very, which is not tolerated");
  workload.tolerate = {{.key = "old", .value = std::nullopt}};
  EXPECT_EQ(why(), "");
  workload.tolerate.clear();
  node.taints[0].effect = Taint::Effect::avoid;
  EXPECT_EQ(why(), "");
  EXPECT_TRUE(is_avoided(node, workload));
}

TEST(NodeRules, StatusComesFirst) {
  const Workload workload{.name = WorkloadId("t"), .require = {{"disk", "ssd"}}};
  Node node{.name = NodeId("n1"), .status = NodeStatus::draining};
  EXPECT_EQ(why_takes_none(node, workload), "draining");
  node.status = NodeStatus::no_leaders;
  EXPECT_EQ(why_takes_none(node, workload), "has no label disk=ssd");
}

TEST(NodeRules, DomainsAreNamedByTheirPath) {
  Settings settings;
  settings.levels = {"zone", "rack"};
  Workload workload{.name = WorkloadId("t"), .spread = Spread{.level = "rack", .hard = true}};
  EXPECT_EQ(domain_name(settings, workload, {.name = NodeId("n1"), .zone = "dc1/r1/u3"}), "dc1/r1");
  EXPECT_EQ(domain_name(settings, workload, {.name = NodeId("n1"), .zone = "dc1"}), "dc1");
  EXPECT_EQ(domain_name(settings, workload, {.name = NodeId("n1")}), "n1");
}

}  // namespace
}  // namespace evenkeel::place::detail
