// A machine that has lived through everything does what a fresh one does that was handed the documents; and one that is replaced after every
// document comes to the same end.

#include <gtest/gtest.h>

#include "tests/control/bench.h"
#include "tests/control/toy.h"

namespace evenkeel::control::test {
namespace {

void disturb(Toy& toy, Rng& rng) {
  ToyNode& node = toy.nodes[rng.below(toy.nodes.size())];
  switch (rng.below(4)) {
    case 0:
      if (node.up) toy.crash(node);
      break;
    case 1:
      if (!node.up || !node.session) toy.end_session(node);
      break;
    case 2:
      if (!node.session) toy.join(node, false);
      break;
    case 3:
      toy.now += Duration(rng.below(5'000) * 1'000'000);
      break;
  }
}

std::string compare(std::uint64_t seed) {
  Toy toy(seed, Broken::nothing);
  Rng rng = Rng(seed).split("equal");
  ConfigDocument config;
  config.settings.control.rebalance_delay = rng.chance(1, 2) ? 5s : 60s;
  config.settings.control.max_offline = 2;
  if (Rng(seed).split("openings").chance(1, 3)) config.settings.control.openings_per_node.copies = 1;
  toy.configure(config);
  toy.nodes.reserve(5);
  for (std::uint32_t n = 1; n <= 5; ++n) toy.add_node(fmt::format("n{}", n), fmt::format("z{}", n % 3));
  Workload workload{.name = WorkloadId("t"), .shards = 1 + static_cast<std::uint32_t>(rng.below(4)), .replicas = 3};
  workload.control.acks = rng.chance(1, 2) ? 2 : 0;
  toy.create(workload);
  for (int i = 0; i < 1200 && toy.violation().empty(); ++i) {
    toy.act();
    if (rng.chance(1, 40)) disturb(toy, rng);
    if (rng.chance(1, 150)) toy.compare_with_fresh();
  }
  return toy.violation();
}

TEST(MachineEqual, AFreshOneDoesTheSame) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) ASSERT_EQ(compare(seed), "") << "seed " << seed;
}

// Where everybody is in the end, and who leads.
std::string live(bool restarts) {
  Bench bench(restarts);
  bench.configure();
  for (int n = 1; n <= 4; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
  Workload workload = workload_of(6, 3);
  workload.control.acks = 2;
  bench.create(workload);
  bench.run(10s);
  bench.end("n1");
  bench.run(10s);
  bench.join("n1");
  bench.run(10s);
  bench.order("n2", {.operation = Operation::drain});
  bench.run(5min);
  std::string text;
  for (std::uint32_t s = 0; s < 6; ++s) text += bench.holders(s) + "\n";
  return text;
}

TEST(MachineEqual, ReplacedAfterEveryDocumentItComesToTheSameEnd) {
  const std::string once = live(false);
  EXPECT_EQ(once.find("n2"), std::string::npos) << once;
  EXPECT_EQ(live(true), once);
}

}  // namespace
}  // namespace evenkeel::control::test
