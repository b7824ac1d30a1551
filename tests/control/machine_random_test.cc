// Random lives of a toy cluster: whatever happens in whatever order, two never lead at once, what was acknowledged is kept, and when the
// faults are over everything comes to rest where it should.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/control/toy.h"

namespace evenkeel::control::test {
namespace {

struct Life {
  std::string violation;
  std::string unsettled;
  std::string shown;
};

Life live(std::uint64_t seed) {
  Toy toy(seed, Broken::nothing);
  Rng rng = Rng(seed).split("life");
  ConfigDocument config;
  config.settings.control.rebalance_delay = rng.chance(1, 2) ? 5s : 60s;
  config.settings.control.max_offline = 2;
  toy.configure(config);
  const std::uint32_t nodes = 3 + static_cast<std::uint32_t>(rng.below(4));
  toy.nodes.reserve(nodes);
  for (std::uint32_t n = 1; n <= nodes; ++n) toy.add_node(fmt::format("n{}", n), fmt::format("z{}", n % 3));
  Workload workload{.name = WorkloadId("t"),
                    .shards = 1 + static_cast<std::uint32_t>(rng.below(4)),
                    .replicas = 1 + static_cast<std::uint32_t>(rng.below(3))};
  workload.control.acks = workload.replicas >= 2 && rng.chance(2, 3) ? 2 : 0;
  workload.control.linger = 1s;
  toy.create(workload);
  bool disk_lost = false;
  const int steps = 200 + static_cast<int>(rng.below(1500));
  for (int i = 0; i < steps && toy.violation().empty(); ++i) {
    toy.act();
    if (!rng.chance(1, 25)) continue;
    ToyNode& node = toy.nodes[rng.below(toy.nodes.size())];
    switch (rng.below(6)) {
      case 0:
        if (node.up) toy.crash(node);
        break;
      case 1:
        if (node.session) toy.lose_session(node);
        break;
      case 2:
        if (!node.up || !node.session) toy.end_session(node);
        break;
      case 3:
        if (const bool new_disk = !node.up && rng.chance(1, 10); !node.session) {
          disk_lost = disk_lost || new_disk;
          toy.join(node, new_disk);
        }
        break;
      case 4:
        if (rng.chance(1, 4)) toy.replace_controller();
        break;
      case 5:
        toy.now += Duration(rng.below(10'000) * 1'000'000);
        break;
    }
  }
  for (ToyNode& node : toy.nodes) {
    if (node.up && node.session) continue;
    toy.end_session(node);
    toy.join(node, false);
  }
  bool settled = !toy.violation().empty() || toy.settle();
  if (!settled && disk_lost) {
    toy.accept_losses();
    settled = toy.settle();
  }
  return {toy.violation(), settled ? "" : toy.unsettled(), toy.show()};
}

// EVENKEEL_LIVES: how many; EVENKEEL_SEED: only that one.
std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

TEST(MachineRandom, LivesKeepTheirPromises) {
  const std::uint64_t lives = number_of("EVENKEEL_LIVES", 500);
  const std::uint64_t first = number_of("EVENKEEL_SEED", 0);
  const std::uint64_t end = std::getenv("EVENKEEL_SEED") != nullptr ? first + 1 : lives;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const Life life = live(seed);
    ASSERT_EQ(life.violation, "") << "EVENKEEL_SEED=" << seed << "\n" << life.shown;
    ASSERT_EQ(life.unsettled, "") << "EVENKEEL_SEED=" << seed << "\n" << life.shown;
  }
}

}  // namespace
}  // namespace evenkeel::control::test
