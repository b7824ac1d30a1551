// The placement benchmark: six instances (instances.h) planned from nothing, and what can happen to each once it is balanced.
// One JSON line for every instance and event: how long it took, how level the result is beside its floor, what moved, what is broken.
//
//   build/bench/place [--instance P1,P6] [--event none|all|E1,E3] [--seed N] [--all]
//
// Without arguments all instances and all events run, of E8's hundred steps the first five; --all runs them all. Each instance has a
// process of its own, so that one's memory does not count as another's.

#include "evenkeel/place/place.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/greedy.h"
#include "bench/instances.h"

#include "evenkeel/base/result.h"

namespace {

using namespace evenkeel;

struct Arguments {
  std::vector<std::string> instances;
  std::vector<std::string> events;
  std::uint64_t seed = 1;
  bool all = false;
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

template <class Known>
bool all_known(const std::vector<std::string>& asked, const std::vector<Known>& known) {
  return std::ranges::all_of(asked, [&](const std::string& id) {
    if (std::ranges::find(known, id, &Known::id) != known.end()) return true;
    fmt::print(stderr, "place: there is no {}\n", id);
    return false;
  });
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (const auto& instance : bench::instances()) arguments.instances.push_back(instance.id);
  for (const auto& event : bench::events()) arguments.events.push_back(event.id);
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--all") {
      arguments.all = true;
      continue;
    }
    ++i;
    if (flag == "--instance" && !value.empty()) {
      arguments.instances = split(value);
    } else if (flag == "--event" && !value.empty()) {
      if (value == "none") arguments.events.clear();
      if (value != "none" && value != "all") arguments.events = split(value);
    } else if (flag == "--seed" && !value.empty()) {
      if (std::from_chars(value.data(), value.data() + value.size(), arguments.seed).ec != std::errc()) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (!all_known(arguments.instances, bench::instances()) || !all_known(arguments.events, bench::events())) return std::nullopt;
  return arguments;
}

// Linux forgets the peak so far when 5 is written there; where it may not be written the peak is the process's.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

long peak_mib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long kib = 0;
  while (status >> word)
    if (word == "VmHWM:") status >> kib;
  return kib / 1024;
}

struct Watch {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::clock_t cpu_start = std::clock();
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
  double cpu_seconds() const { return static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC; }
};

// Loads as the cluster file says them: computed apart from the planner, so that its own figures can be doubted.
class Ledger {
 public:
  explicit Ledger(const Cluster& cluster) : cluster_(cluster) {
    for (const Workload& workload : cluster.workloads) workloads_[workload.name] = &workload;
    for (const Node& node : cluster.nodes)
      for (const auto& [resource, capacity] : node.capacity) resources_[resource];
    for (auto& [resource, column] : resources_) fill(resource, column);
  }

  // The largest replica among those that change nodes, over what the mean node holds, in whichever resource that is most.
  double largest_moved(const place::Plan& plan) const {
    double largest = 0;
    for (const place::Move& move : plan.moves)
      for (const auto& [resource, column] : resources_)
        if (column.mean_node > 0)
          largest = std::max(largest, load(*workloads_.at(move.workload), move.shard, resource) / column.mean_node);
    return largest;
  }

  double max_over_mean(const ResourceId& resource) const { return resources_.at(resource).max_over_mean; }

 private:
  struct Column {
    double mean_node = 0;
    double max_over_mean = 1;
  };

  static bool takes_part(const Node& node) { return node.status == NodeStatus::up || node.status == NodeStatus::no_leaders; }

  static double load(const Workload& workload, ShardIndex shard, const ResourceId& resource) {
    if (const auto own = workload.shard_loads.find(shard)) {
      const auto& names = workload.shard_loads.resources;
      const auto found = std::ranges::find(names, resource);
      return found == names.end() ? 0 : (*own)[static_cast<std::size_t>(found - names.begin())].to_double();
    }
    const auto found = workload.load.find(resource);
    return found == workload.load.end() ? 0 : found->second.to_double();
  }

  void fill(const ResourceId& resource, Column& column) {
    std::vector<double> usage(cluster_.nodes.size());
    for (const auto& [name, rows] : cluster_.placement) {
      const Workload& workload = *workloads_.at(name);
      const auto lead = workload.leader_load.find(resource);
      for (std::uint32_t shard = 0; shard < rows.size(); ++shard) {
        const double each = load(workload, ShardIndex(shard), resource);
        for (const NodeIndex node : rows[shard]) usage[node.value()] += each;
        if (lead != workload.leader_load.end() && !rows[shard].empty()) usage[rows[shard][0].value()] += lead->second.to_double();
      }
    }
    double used = 0, capacity = 0, highest = 0, nodes = 0;
    for (std::size_t i = 0; i < usage.size(); ++i) {
      if (!takes_part(cluster_.nodes[i])) continue;
      const double size = cluster_.nodes[i].capacity.at(resource).to_double();
      used += usage[i];
      capacity += size;
      highest = std::max(highest, usage[i] / size);
      ++nodes;
    }
    if (used <= 0) return;
    column.mean_node = used / nodes;
    column.max_over_mean = highest / (used / capacity);
  }

  const Cluster& cluster_;
  std::map<WorkloadId, const Workload*> workloads_;
  std::map<ResourceId, Column> resources_;
};

std::string format_balance(const place::Plan& plan, const Ledger& after) {
  std::string text;
  for (const auto& [resource, balance] : plan.stats.balance) {
    text += fmt::format(R"({}"{}":{{"max_over_mean":{:.6f},"floor":{:.6f},"stddev_over_mean":{:.6f})", text.empty() ? "" : ",",
                        resource, balance.max_over_mean, balance.floor, balance.stddev_over_mean);
    if (balance.max_over_mean_without_giants)
      text += fmt::format(R"(,"without_giants":{:.6f})", *balance.max_over_mean_without_giants);
    text += fmt::format(R"(,"recomputed":{:.6f}}})", after.max_over_mean(resource));
  }
  return text;
}

// Names and how often.
std::string format_counts(const std::map<std::string, std::size_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format(R"({}"{}":{})", text.empty() ? "" : ",", name, count);
  return text;
}

std::string violations_of(const place::Plan& plan) {
  std::map<std::string, std::size_t> counts;
  for (const place::Violation& violation : plan.violations)
    ++counts[fmt::format("{} {}{}{}", violation.hard ? "hard" : "soft", name(violation.rule), violation.reason.empty() ? "" : " ",
                         violation.reason)];
  return format_counts(counts);
}

std::string refused_of(const place::Plan& plan) {
  std::map<std::string, std::size_t> counts;
  for (const place::Refusal& refusal : plan.refused) ++counts[std::string(name(refusal.reason))];
  return format_counts(counts);
}

std::string moves_of(const place::Plan& plan) {
  std::map<std::string, std::size_t> counts;
  for (const place::Move& move : plan.moves) ++counts[std::string(name(move.reason))];
  return format_counts(counts);
}

// Plans, prints, carries out; then plans again, which should find nothing to do.
Cluster run(const Cluster& cluster, const place::PlanOptions& options, const std::string& instance, const std::string& event) {
  forget_peak();
  const Watch loading;
  place::Planner planner(cluster, options);
  const double load_seconds = loading.seconds();
  const Watch planning;
  const place::Plan plan = planner.plan();
  const double seconds = planning.seconds(), cpu_seconds = planning.cpu_seconds();
  const long peak = peak_mib();
  Cluster next = place::apply(cluster, plan);
  const Watch again;
  const place::Plan second = place::plan(next, options);
  const double second_seconds = again.seconds();
  const Ledger after(next);
  const place::Stats& stats = plan.stats;
  fmt::print(
      "{}\n",
      fmt::format(R"({{"bench":"place","instance":"{}","event":"{}","load_seconds":{:.3f},"seconds":{:.3f},)"
                  R"("cpu_seconds":{:.3f},"peak_mib":{},"evaluated_moves":{},"evaluated_per_second":{:.0f},"balance":{{{}}},)"
                  R"("moves":{},"moves_floor":{},"moves_by_reason":{{{}}},"leaders":{},"largest_moved_over_mean_node":{:.5f},)"
                  R"("violations":{{{}}},"refused":{{{}}},"cut_short":{},"second_run_moves":{},"second_run_leaders":{},)"
                  R"("second_run_seconds":{:.3f}}})",
                  instance, event, load_seconds, seconds, cpu_seconds, peak, stats.evaluated_moves,
                  static_cast<double>(stats.evaluated_moves) / std::max(seconds, 1e-9), format_balance(plan, after), stats.moves,
                  stats.moves_floor, moves_of(plan), plan.leaders.size(), after.largest_moved(plan), violations_of(plan),
                  refused_of(plan), stats.cut_short, second.moves.size(), second.leaders.size(), second_seconds));
  std::fflush(stdout);
  return next;
}

// What the plain alternative makes of it, beside which a plan from nothing is to be read.
void run_greedy(const Cluster& cluster, const std::string& instance) {
  const Watch watch;
  const Cluster placed = bench::place_greedily(cluster);
  const double seconds = watch.seconds(), cpu_seconds = watch.cpu_seconds();
  const Ledger after(placed);
  std::string balance;
  for (const auto& [resource, capacity] : cluster.nodes[0].capacity)
    balance +=
        fmt::format(R"({}"{}":{{"recomputed":{:.6f}}})", balance.empty() ? "" : ",", resource, after.max_over_mean(resource));
  fmt::print("{}\n",
             fmt::format(R"({{"bench":"place","instance":"{}","event":"baseline_greedy","seconds":{:.3f},"cpu_seconds":{:.3f},)"
                         R"("balance":{{{}}}}})",
                         instance, seconds, cpu_seconds, balance));
  std::fflush(stdout);
}

// What events start from: a plan's result that a further plan does not change.
Cluster settled(Cluster cluster, const place::PlanOptions& options) {
  constexpr int rounds_max = 5;
  for (int round = 0; round < rounds_max; ++round) {
    const place::Plan plan = place::plan(cluster, options);
    if (plan.moves.empty() && plan.leaders.empty()) break;
    cluster = place::apply(cluster, plan);
  }
  return cluster;
}

void run_instance(const bench::Instance& instance, const Arguments& arguments) {
  place::PlanOptions options;
  options.seed = arguments.seed;
  options.force = instance.force;
  Cluster balanced;
  {
    const Cluster cluster = bench::make_instance(instance.id, arguments.seed);
    for (const Problem& problem : check(cluster, 1)) stop_on_bug(problem.message);
    fmt::print("{}\n", fmt::format(R"({{"bench":"place","instance":"{}","seed":{},"fingerprint":"{:016x}"}})", instance.id,
                                   arguments.seed, bench::fingerprint(cluster)));
    run_greedy(cluster, instance.id);
    balanced = run(cluster, options, instance.id, "new");
  }
  if (arguments.events.empty()) return;
  balanced = settled(std::move(balanced), options);
  for (const bench::Event& event : bench::events()) {
    if (std::ranges::find(arguments.events, event.id) == arguments.events.end()) continue;
    constexpr std::uint32_t few = 5;
    const std::uint32_t steps = arguments.all ? event.steps : std::min(event.steps, few);
    Cluster cluster = balanced;
    for (std::uint32_t step = 0; step < steps; ++step) {
      bench::happen(event.id, step, cluster, arguments.seed);
      cluster = run(cluster, options, instance.id, steps == 1 ? event.id : fmt::format("{}.{}", event.id, step + 1));
    }
  }
}

bool in_own_process(const auto& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    fmt::print(stderr, "usage: place [--instance P1,P6] [--event none|all|E1,E3] [--seed N] [--all]\n");
    return 2;
  }
  bool fine = true;
  for (const bench::Instance& instance : bench::instances())
    if (std::ranges::find(arguments->instances, instance.id) != arguments->instances.end())
      fine &= in_own_process([&] { run_instance(instance, *arguments); });
  return fine ? 0 : 1;
}
