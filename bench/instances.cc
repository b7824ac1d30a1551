#include "bench/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/result.h"
#include "evenkeel/base/rng.h"

namespace evenkeel::bench {

namespace {

// splitmix64 and nothing else, one stream a purpose.
class Dice {
 public:
  Dice(std::uint64_t seed, std::string_view purpose) : state_(mix64(seed, hash64(purpose))) {}

  // The high word of a product: biased by less than bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return static_cast<std::uint64_t>(UInt128{splitmix64(state_)} * bound >> 64); }
  // In (0, 1]: fit for a logarithm.
  double unit() { return (static_cast<double>(splitmix64(state_) >> 11) + 1) * 0x1.0p-53; }
  // Box and Muller's; the second value is thrown away, so that a draw is always two words.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }
  // So many different numbers below `bound`, in rising order.
  std::vector<std::uint32_t> some(std::uint32_t count, std::uint32_t bound) {
    std::vector<std::uint32_t> all(bound);
    std::iota(all.begin(), all.end(), 0);
    for (std::uint32_t i = 0; i < count; ++i) std::swap(all[i], all[i + below(bound - i)]);
    all.resize(count);
    std::ranges::sort(all);
    return all;
  }

 private:
  std::uint64_t state_;
};

using Loads = std::vector<double>;  // by shard, in any unit

Loads zipf(std::uint32_t shards, double exponent) {
  Loads loads(shards);
  for (std::uint32_t i = 0; i < shards; ++i) loads[i] = std::pow(i + 1, -exponent);
  return loads;
}

Loads shuffled(Loads loads, Dice dice) {
  dice.shuffle(std::span(loads));
  return loads;
}

// Cuts loads so that no replica is above 1/20 of the mean node: cut to c, the mean node is Σ copies · min(load, c) / nodes, and c is a
// twentieth of that. From above, the steps towards that c only go down.
void cut(Loads& loads, const std::function<double(std::size_t)>& copies, double largest_copy, std::size_t nodes) {
  constexpr double part = 20;
  double limit = *std::ranges::max_element(loads);
  for (int round = 0; round < 1000; ++round) {
    double sum = 0;
    for (std::size_t i = 0; i < loads.size(); ++i) sum += copies(i) * std::min(loads[i], limit);
    const double next = sum / static_cast<double>(nodes) / part / largest_copy;
    if (next >= limit * (1 - 1e-9)) break;
    limit = next;
  }
  for (double& load : loads) load = std::min(load, limit * (1 - 1e-6));  // rounding to whole units must not lift it over
}

struct Resource {
  ResourceId id;
  std::int64_t node;  // capacity of a node of kind 1
  Quantity unit;      // what loads are rounded to
};
const Quantity millionth = Quantity::from_nano(1000);
Resource cpu() { return {ResourceId("cpu"), 64, millionth}; }
Resource disk() { return {ResourceId("disk"), std::int64_t{8} << 40, Quantity(1 << 20)}; }
Resource net() { return {ResourceId("net"), 25, millionth}; }

Quantity times(const Resource& resource, double units) {
  return Quantity::from_nano(resource.unit.nano() * std::max<std::int64_t>(1, std::llround(units)));
}

double total_capacity(const Cluster& cluster, const ResourceId& resource) {
  double sum = 0;
  for (const Node& node : cluster.nodes) sum += node.capacity.at(resource).to_double();
  return sum;
}

// Loads in units of the resource, so that all copies together fill this much of the cluster.
void fill(Loads& loads, const std::function<double(std::size_t)>& copies, const Cluster& cluster, const Resource& resource,
          double full) {
  double sum = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) sum += copies(i) * loads[i];
  const double scale = full * total_capacity(cluster, resource.id) / sum / resource.unit.to_double();
  for (double& load : loads) load *= scale;
}

// A workload of shards first … first + shards - 1 of the tables, which are in units of their resources. Resources are in order of name.
Workload workload_of(std::string name, std::uint32_t first, std::uint32_t shards, std::uint32_t replicas,
                     const std::vector<std::pair<Resource, const Loads*>>& columns) {
  Workload workload{.name = WorkloadId(std::move(name)), .shards = shards, .replicas = replicas};
  ShardLoads& table = workload.shard_loads;
  for (const auto& [resource, loads] : columns) table.resources.push_back(resource.id);
  table.shards.reserve(shards);
  table.values.reserve(shards * columns.size());
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    table.shards.emplace_back(shard);
    for (const auto& [resource, loads] : columns) table.values.push_back(times(resource, (*loads)[first + shard]));
  }
  return workload;
}

Cluster empty_cluster(std::string_view name) {
  Cluster cluster;
  cluster.name = ClusterId(std::string(name));
  cluster.settings.moves_max = 0;  // what is measured is the whole answer, not its first fifty moves
  return cluster;
}

// Kinds are multiples of a resource's node; quarters are exact.
Node node_of(std::uint32_t number, std::string zone, const std::vector<std::pair<Resource, double>>& kinds) {
  Node node{.name = NodeId(fmt::format("n{:05}", number)), .zone = std::move(zone)};
  for (const auto& [resource, kind] : kinds)
    node.capacity[resource.id] = Quantity::from_nano(Quantity(resource.node).nano() / 4 * static_cast<std::int64_t>(kind * 4));
  return node;
}

constexpr double usual_fill = 0.6;

// 20 workloads of 500 shards of one replica; the resource is "weight", as the shorthand of cluster files has it.
Cluster p1(std::uint64_t seed) {
  Cluster cluster = empty_cluster("P1");
  Dice dice(seed, "P1 weights");
  const ResourceId weight("weight");
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto load = static_cast<std::int64_t>(1 + dice.below(10));
    sum += 500 * load;
    cluster.workloads.push_back({.name = WorkloadId(fmt::format("class{:02}", i)), .shards = 500, .replicas = 1});
    cluster.workloads.back().load[weight] = Quantity(load);
  }
  const auto capacity = static_cast<std::int64_t>(std::ceil(static_cast<double>(sum) / 1000 / usual_fill));
  for (std::uint32_t i = 0; i < 1000; ++i) {
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{:05}", i)), .zone = fmt::format("z{}", i % 3)});
    cluster.nodes.back().capacity[weight] = Quantity(capacity);
  }
  return cluster;
}

Cluster p2(std::uint64_t seed) {
  Cluster cluster = empty_cluster("P2");
  for (std::uint32_t i = 0; i < 20; ++i) cluster.nodes.push_back(node_of(i, fmt::format("z{}", i % 3), {{cpu(), 1}}));
  const auto copies = [](std::size_t) { return 3.0; };
  Loads loads = shuffled(zipf(300, 0.9), Dice(seed, "P2"));
  fill(loads, copies, cluster, cpu(), usual_fill);
  cluster.workloads.push_back(workload_of("w", 0, 300, 3, {{cpu(), &loads}}));
  return cluster;
}

// A leader's part is a workload's, not a shard's, so shards of about the same load (within a quarter) are a workload, and its leaders carry
// twice the mean on top.
Cluster p3(std::uint64_t seed) {
  Cluster cluster = empty_cluster("P3");
  constexpr std::array kinds = {0.5, 1.0, 1.0, 2.0};
  for (std::uint32_t i = 0; i < 1000; ++i)
    cluster.nodes.push_back(node_of(i, fmt::format("z{}", i % 5), {{cpu(), kinds[i / 5 % 4]}}));
  const auto copies = [](std::size_t) { return 5.0; };
  Loads loads = zipf(100'000, 0.9);
  cut(loads, copies, 3, cluster.nodes.size());
  fill(loads, copies, cluster, cpu(), usual_fill);
  for (std::uint32_t first = 0; first < loads.size();) {
    std::uint32_t end = first;
    double sum = 0;
    while (end < loads.size() && loads[end] * 1.25 >= loads[first]) sum += loads[end++];
    Loads part(loads.begin() + first, loads.begin() + end);
    const std::string name = fmt::format("w{:02}", cluster.workloads.size());
    part = shuffled(std::move(part), Dice(seed, "P3 " + name));
    cluster.workloads.push_back(workload_of(name, 0, end - first, 3, {{cpu(), &part}}));
    cluster.workloads.back().leader_load[cpu().id] = times(cpu(), 2 * sum / (end - first));
    first = end;
  }
  return cluster;
}

Cluster p4(std::uint64_t seed) {
  Cluster cluster = empty_cluster("P4");
  cluster.settings.soft_limit = Ratio::percent(95);
  cluster.settings.hard_limit = Ratio::percent(100);
  struct Kind {
    double cpu, disk, net;
  };
  constexpr std::array<Kind, 4> kinds = {{{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {0.5, 0.5, 0.5}}};
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const std::uint32_t in_zone = i / 3;
    const Kind& kind = kinds[(in_zone + in_zone / 40) % 4];
    cluster.nodes.push_back(
        node_of(i, fmt::format("z{}/r{:02}", i % 3, in_zone % 40), {{cpu(), kind.cpu}, {disk(), kind.disk}, {net(), kind.net}}));
  }
  constexpr std::uint32_t shards = 100'000;
  Loads cpus = shuffled(zipf(shards, 1.1), Dice(seed, "P4 cpu"));
  Loads disks(shards), nets(shards);
  Dice dice(seed, "P4 disk and net");
  for (double& load : disks) load = std::exp(dice.normal());
  for (std::uint32_t i = 0; i < shards; ++i) nets[i] = std::pow(cpus[i], 0.7) * std::exp(0.5 * dice.normal());
  const auto copies = [](std::size_t) { return 3.0; };
  for (const auto& [loads, resource] : {std::pair(&cpus, cpu()), std::pair(&disks, disk()), std::pair(&nets, net())}) {
    cut(*loads, copies, 1, cluster.nodes.size());
    fill(*loads, copies, cluster, resource, 0.85);
  }
  cluster.workloads.push_back(workload_of("w", 0, shards, 3, {{cpu(), &cpus}, {disk(), &disks}, {net(), &nets}}));
  return cluster;
}

void add_p5_nodes(Cluster& cluster, std::uint64_t seed) {
  constexpr std::array sizes = {1250, 1000, 750, 650, 550, 450, 350};
  constexpr std::array<std::pair<double, double>, 6> kinds = {{{0.5, 0.5}, {1, 1}, {2, 2}, {1, 2}, {2, 1}, {4, 4}}};
  Dice dice(seed, "P5 labels");
  std::uint32_t number = 0;
  for (std::size_t zone = 0; zone < sizes.size(); ++zone) {
    for (int i = 0; i < sizes[zone]; ++i, ++number) {
      const auto& [cpus, disks] = kinds[number % 6];
      Node node = node_of(number, fmt::format("z{}", zone), {{cpu(), cpus}, {disk(), disks}});
      for (int label = 0; label < 12; ++label)
        if (dice.below(4) == 0) node.labels[fmt::format("l{:02}", label)] = "yes";
      cluster.nodes.push_back(std::move(node));
    }
  }
}

// 12 workloads of 1667 shards that need a label each, 30 large ones, and 8 small ones in pairs that want to be apart.
Cluster p5(std::uint64_t seed) {
  Cluster cluster = empty_cluster("P5");
  add_p5_nodes(cluster, seed);
  constexpr std::uint32_t shards = 200'000, labelled = 20'000, small = 250;
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t i = 0; i < 12; ++i) sizes.push_back(labelled / 12 + (i < labelled % 12 ? 1 : 0));
  constexpr std::uint32_t large = shards - labelled - 8 * small;
  for (std::uint32_t i = 0; i < 30; ++i) sizes.push_back(large / 30 + (i < large % 30 ? 1 : 0));
  sizes.insert(sizes.end(), 8, small);
  std::vector<double> replicas;
  for (std::uint32_t i = 0; i < sizes.size(); ++i) replicas.insert(replicas.end(), sizes[i], 2 + i % 4);
  const auto copies = [&](std::size_t shard) { return replicas[shard]; };
  Loads cpus(shards), disks(shards);
  Dice dice(seed, "P5 loads");
  for (Loads* loads : {&cpus, &disks})
    for (double& load : *loads) load = std::pow(dice.unit(), -1 / 1.5);
  for (const auto& [loads, resource] : {std::pair(&cpus, cpu()), std::pair(&disks, disk())}) {
    cut(*loads, copies, 1, cluster.nodes.size());
    fill(*loads, copies, cluster, resource, usual_fill);
  }
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < sizes.size(); first += sizes[i++]) {
    Workload workload = workload_of(fmt::format("w{:02}", i), first, sizes[i], 2 + i % 4, {{cpu(), &cpus}, {disk(), &disks}});
    if (i < 12) workload.require[fmt::format("l{:02}", i)] = "yes";
    if (i >= 42) workload.apart_from.emplace_back(fmt::format("w{:02}", i ^ 1));
    cluster.workloads.push_back(std::move(workload));
  }
  return cluster;
}

Cluster p6(std::uint64_t seed) {
  Cluster cluster = empty_cluster("P6");
  constexpr std::array kinds = {0.5, 1.0, 2.0};
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const double kind = kinds[i / 10 % 3];
    cluster.nodes.push_back(node_of(i, fmt::format("z{}/r{:02}", i % 10, i / 10 % 40), {{cpu(), kind}, {disk(), kind}}));
  }
  constexpr std::uint32_t shards = 1'000'000;
  const auto copies = [](std::size_t) { return 3.0; };
  Loads cpus = zipf(shards, 0.8);
  cut(cpus, copies, 1, cluster.nodes.size());
  Loads disks = shuffled(cpus, Dice(seed, "P6 disk"));
  cpus = shuffled(std::move(cpus), Dice(seed, "P6 cpu"));
  fill(cpus, copies, cluster, cpu(), usual_fill);
  fill(disks, copies, cluster, disk(), usual_fill);
  cluster.workloads.push_back(workload_of("w", 0, shards, 3, {{cpu(), &cpus}, {disk(), &disks}}));
  return cluster;
}

// Loads that are a workload's become its shards', so that single ones can change.
void give_shards_loads(Workload& workload) {
  if (!workload.shard_loads.empty() || workload.load.empty()) return;
  ShardLoads& table = workload.shard_loads;
  for (const auto& [resource, load] : workload.load) table.resources.push_back(resource);
  for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
    table.shards.emplace_back(shard);
    for (const auto& [resource, load] : workload.load) table.values.push_back(load);
  }
}

// Rounded to whole millionths or, if it is as large as bytes are, to whole ones; never to nothing.
Quantity scaled(Quantity load, double factor) {
  if (load == Quantity{}) return load;
  constexpr std::int64_t bytes_from = 1'000'000;
  constexpr std::int64_t fine = 1 << 30;
  const Quantity unit = load < Quantity(bytes_from) ? millionth : Quantity(1);
  const auto times = static_cast<std::int64_t>(std::llround(factor * fine));
  return Quantity::from_nano(std::max<Int128>(1, load.nano() * times / fine / unit.nano()) * unit.nano());
}

void set_status(Cluster& cluster, const std::vector<std::uint32_t>& nodes, NodeStatus status) {
  for (const std::uint32_t node : nodes) cluster.nodes[node].status = status;
}

std::uint32_t part_of(const Cluster& cluster, std::uint32_t percent) {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(cluster.nodes.size() * percent / 100));
}

std::vector<std::uint32_t> nodes_in_zone_of(const Cluster& cluster, std::uint32_t node) {
  const auto zone = [](const Node& of) { return of.zone.substr(0, of.zone.find('/')); };
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < cluster.nodes.size(); ++i)
    if (zone(cluster.nodes[i]) == zone(cluster.nodes[node])) nodes.push_back(i);
  return nodes;
}

// Like nodes that are there: copies of some, drawn at random.
void add_nodes(Cluster& cluster, std::uint32_t count, Dice& dice) {
  for (const std::uint32_t like : dice.some(count, static_cast<std::uint32_t>(cluster.nodes.size()))) {
    Node node = cluster.nodes[like];
    node.name = NodeId(fmt::format("n{:05}", cluster.nodes.size()));
    cluster.nodes.push_back(std::move(node));
  }
}

void grow_loads(Cluster& cluster, Dice& dice) {
  for (Workload& workload : cluster.workloads) {
    give_shards_loads(workload);
    const std::size_t width = workload.shard_loads.resources.size();
    for (const std::uint32_t shard : dice.some((workload.shards + 99) / 100, workload.shards)) {
      const double factor = 2 + 6 * dice.unit();
      for (std::size_t i = 0; i < width; ++i) {
        Quantity& load = workload.shard_loads.values[shard * width + i];
        load = scaled(load, factor);
      }
    }
  }
}

// The mean of the factors is one.
void drift(Cluster& cluster, Dice& dice) {
  constexpr double sigma = 0.05;
  for (Workload& workload : cluster.workloads) {
    give_shards_loads(workload);
    for (Quantity& load : workload.shard_loads.values) load = scaled(load, std::exp(sigma * dice.normal() - sigma * sigma / 2));
  }
}

// A tenth more shards of every workload, each with the loads of one that is there, drawn at random.
void add_shards(Cluster& cluster, Dice& dice) {
  for (Workload& workload : cluster.workloads) {
    const std::uint32_t before = workload.shards;
    workload.shards += (before + 9) / 10;
    ShardLoads& table = workload.shard_loads;
    if (table.empty()) continue;
    const std::size_t width = table.resources.size();
    for (std::uint32_t shard = before; shard < workload.shards; ++shard) {
      const std::size_t like = dice.below(before) * width;
      table.shards.emplace_back(shard);
      for (std::size_t i = 0; i < width; ++i) table.values.push_back(Quantity(table.values[like + i]));
    }
  }
}

void halve(Node& node) {
  for (auto& [resource, capacity] : node.capacity) capacity = Quantity::from_nano(capacity.nano() / 2);
}

}  // namespace

const std::vector<Instance>& instances() {
  static const std::vector<Instance> all = {{"P1", true}, {"P2"}, {"P3"}, {"P4"}, {"P5"}, {"P6"}};
  return all;
}

Cluster make_instance(std::string_view id, std::uint64_t seed) {
  constexpr std::array makers = {p1, p2, p3, p4, p5, p6};
  for (std::size_t i = 0; i < makers.size(); ++i)
    if (instances()[i].id == id) return makers[i](seed);
  stop_on_bug("the instance is one of instances()");
}

std::uint64_t fingerprint(const Cluster& cluster) {
  std::uint64_t hash = 0;
  const auto add = [&](Quantity quantity) { hash = mix64(hash, static_cast<std::uint64_t>(quantity.nano())); };
  for (const Node& node : cluster.nodes) {
    hash = mix64(hash, hash64(node.zone));
    for (const auto& [resource, capacity] : node.capacity) add(capacity);
    for (const auto& [key, value] : node.labels) hash = mix64(hash, hash64(key));
  }
  for (const Workload& workload : cluster.workloads) {
    for (const auto& [resource, load] : workload.load) add(load);
    for (const auto& [resource, load] : workload.leader_load) add(load);
    for (const Quantity load : workload.shard_loads.values) add(load);
  }
  return hash;
}

const std::vector<Event>& events() {
  static const std::vector<Event> all = {{"E1"}, {"E2"}, {"E3"},      {"E4"},  {"E5", 2},
                                         {"E6"}, {"E7"}, {"E8", 100}, {"E10"}, {"E11"}};
  return all;
}

void happen(std::string_view id, std::uint32_t step, Cluster& cluster, std::uint64_t seed) {
  Dice dice(seed, fmt::format("{} {}", id, id == "E8" ? step : 0));
  const auto nodes = static_cast<std::uint32_t>(cluster.nodes.size());
  if (id == "E1") set_status(cluster, dice.some(1, nodes), NodeStatus::down);
  if (id == "E2") set_status(cluster, dice.some(part_of(cluster, 1), nodes), NodeStatus::down);
  if (id == "E3") add_nodes(cluster, 1, dice);
  if (id == "E4") add_nodes(cluster, part_of(cluster, 10), dice);
  if (id == "E5")
    set_status(cluster, nodes_in_zone_of(cluster, dice.some(1, nodes)[0]), step == 0 ? NodeStatus::down : NodeStatus::up);
  if (id == "E6") set_status(cluster, dice.some(part_of(cluster, 5), nodes), NodeStatus::draining);
  if (id == "E7") grow_loads(cluster, dice);
  if (id == "E8") drift(cluster, dice);
  if (id == "E10") add_shards(cluster, dice);
  if (id == "E11") halve(cluster.nodes[dice.some(1, nodes)[0]]);
}

}  // namespace evenkeel::bench
