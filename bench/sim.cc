// Benchmarks of the simulator: how much of a cluster's life fits into a second. One JSON line a case. Times are the process's own on the processor.
//
//   build/bench/sim               the small and the middle case
//   build/bench/sim big           1000 nodes, 100k shards of three replicas, a day
//   build/bench/sim 200 20000 6   so many nodes, shards and hours
//
// All nodes join, all shards are placed, led and settled; then the hours pass, with clients that write, and in each hour one node dies and is
// started again two minutes later. The checkers run. What is simulated are the real controllers, nodes and sessions.

#include "evenkeel/sim/sim.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/base/result.h"

namespace evenkeel::sim {
namespace {

struct Case {
  std::string_view name;
  std::uint32_t nodes = 0;
  std::uint32_t shards = 0;
  std::uint32_t hours = 0;
};
constexpr Case small{"small", 20, 400, 24};
constexpr Case middle{"middle", 100, 10'000, 6};
constexpr Case big{"big", 1000, 100'000, 24};

double cpu_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double memory_mb() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

void report(const Case& what, std::string_view name, const std::vector<std::pair<std::string_view, double>>& figures) {
  std::string line =
      fmt::format(R"({{"bench":"sim","case":"{}: {}","nodes":{},"shards":{})", what.name, name, what.nodes, what.shards);
  for (const auto& [figure, value] : figures) line += fmt::format(R"(,"{}":{:.6g})", figure, value);
  fmt::print("{}}}\n", line);
  std::fflush(stdout);
}

NodeId name_of(std::uint32_t node) { return NodeId(fmt::format("n{}", node)); }

Cluster cluster_of(const Case& what) {
  Cluster cluster{.name = ClusterId("bench")};
  for (std::uint32_t node = 0; node < what.nodes; ++node)
    cluster.nodes.push_back({.name = name_of(node), .zone = fmt::format("z{}", node % 3)});
  Workload pages{.name = WorkloadId("pages"), .shards = what.shards, .replicas = 3};
  pages.control.acks = 2;
  cluster.workloads.push_back(std::move(pages));
  // Many come at once only in the beginning, and that is not what is asked here.
  cluster.settings.control.rebalance_delay = 10min;
  return cluster;
}

void hold(const Simulation& simulation) {
  const auto broken = simulation.violation();
  if (broken) fmt::print(stderr, "{}\n", *broken);
  ensure(!broken, "every promise holds");
}

void run(const Case& what) {
  double start = cpu_seconds();
  Simulation simulation({.seed = 1, .cluster = cluster_of(what)});
  const bool settled = simulation.run_until_holds({Condition::Kind::settled}, 30min);
  hold(simulation);
  ensure(settled, "a new cluster settles");
  report(what, "start",
         {{"seconds", cpu_seconds() - start},
          {"simulated_seconds", std::chrono::duration<double>(simulation.elapsed()).count()},
          {"memory_mb", memory_mb()}});

  start = cpu_seconds();
  double worst = 0;
  for (std::uint32_t hour = 0; hour < what.hours; ++hour) {
    const double begun = cpu_seconds();
    const NodeId lost = name_of(hour * 7 % what.nodes);
    simulation.run_for(10min);
    ensure(simulation.perform({Action::Kind::kill, {.node = lost}}).has_value(), "it runs");
    simulation.run_for(2min);
    ensure(simulation.perform({Action::Kind::start, {.node = lost}}).has_value(), "it does not run");
    simulation.run_for(48min);
    hold(simulation);
    ensure(simulation.holds({Condition::Kind::settled}), "a node that came back is all that was missing");
    worst = std::max(worst, cpu_seconds() - begun);
  }
  const double seconds = cpu_seconds() - start;
  const Calm calm = simulation.calm();
  report(what, "life",
         {{"hours", what.hours},
          {"seconds", seconds},
          {"node_hours_per_second", what.nodes * what.hours / seconds},
          {"seconds_of_the_slowest_hour", worst},
          {"writes", static_cast<double>(calm.writes)},
          {"leader_changes", static_cast<double>(calm.leader_changes)},
          {"store_mb", static_cast<double>(calm.bytes_written) / 1e6},
          {"memory_mb", memory_mb()}});
}

}  // namespace
}  // namespace evenkeel::sim

int main(int argc, char** argv) {
  using namespace evenkeel::sim;
  const auto number = [&](int at) { return static_cast<std::uint32_t>(std::strtoul(argv[at], nullptr, 10)); };
  if (argc == 4) {
    run({"own", number(1), number(2), number(3)});
  } else if (argc == 2 && std::string_view(argv[1]) == "big") {
    run(big);
  } else {
    run(small);
    run(middle);
  }
}
