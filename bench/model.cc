// Reading and writing a cluster of a million shards, beside nlohmann's node tree on the same JSON in the same run.
// One JSON line a case: seconds, MB/s of text, and the ratio to the baseline (above 1: ours is faster, though it also checks); last, the
// peak memory of the process before the baseline's tree was built, and with it.

#include "evenkeel/model/model.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "evenkeel/base/rng.h"

namespace {

using namespace evenkeel;

Cluster million_shards() {
  Rng rng(1);
  Cluster cluster;
  cluster.name = ClusterId("million");
  for (int i = 0; i < 10'000; ++i)
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .zone = fmt::format("z{}/r{}", i % 10, i / 10 % 40)});
  Workload workload{.name = WorkloadId("t"), .shards = 1'000'000, .replicas = 3};
  workload.shard_loads.resources = {ResourceId("cpu"), ResourceId("disk")};
  Placement& rows = cluster.placement[workload.name];
  for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
    const auto first = static_cast<std::uint32_t>(rng.below(10'000));
    for (const std::uint32_t step : {0u, 3u, 1007u}) rows.add(NodeIndex((first + step) % 10'000));
    rows.end_row();
    workload.shard_loads.shards.emplace_back(shard);
    workload.shard_loads.values.push_back(Quantity::from_nano(static_cast<Int128>(1 + rng.below(1000)) * 1'000'000));
    workload.shard_loads.values.push_back(Quantity(static_cast<std::int64_t>(1 + rng.below(100)) << 20));
  }
  cluster.workloads.push_back(std::move(workload));
  return cluster;
}

// The best of three: what else the machine does only ever adds.
template <class Work>
double seconds(const Work& work) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void print(std::string_view name, double taken, std::size_t bytes, double baseline) {
  fmt::print("{}\n", fmt::format(R"({{"bench":"model","case":"{}","seconds":{:.3f},"mb_per_s":{:.1f},"ratio":{:.2f}}})", name,
                                 taken, static_cast<double>(bytes) / 1e6 / taken, baseline / taken));
  std::fflush(stdout);
}

long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void parse_all(const std::string& text, const char* file) {
  ensure(parse_cluster(text, file).has_value(), "the instance is valid");
}

}  // namespace

int main() {
  std::string yaml, json;
  {
    const Cluster cluster = million_shards();
    yaml = format_cluster(cluster, Syntax::yaml);
    json = format_cluster(cluster, Syntax::json);
  }
  const double parse_yaml = seconds([&] { parse_all(yaml, "m.yaml"); });
  const double parse_json = seconds([&] { parse_all(json, "m.json"); });
  const auto peak = peak_mib();
  const Cluster cluster = *parse_cluster(json, "m.json");
  const double write_yaml = seconds([&] { ensure(format_cluster(cluster, Syntax::yaml) == yaml, "writing is exact"); });
  const double write_json = seconds([&] { ensure(format_cluster(cluster, Syntax::json) == json, "writing is exact"); });
  const double checking = seconds([&] { ensure(check(cluster).empty(), "the instance is whole"); });

  nlohmann::json tree;
  const double tree_parse = seconds([&] { tree = nlohmann::json::parse(json); });
  const double tree_write = seconds([&] { ensure(!tree.dump(1).empty(), "the tree is written"); });

  print("parse_yaml", parse_yaml, yaml.size(), tree_parse);
  print("parse_json", parse_json, json.size(), tree_parse);
  print("format_yaml", write_yaml, yaml.size(), tree_write);
  print("format_json", write_json, json.size(), tree_write);
  print("check", checking, json.size(), tree_parse);
  print("baseline_tree_parse_json", tree_parse, json.size(), tree_parse);
  print("baseline_tree_write_json", tree_write, json.size(), tree_write);
  fmt::print("{}\n", fmt::format(R"({{"bench":"model","case":"peak_memory","mib":{},"text_mib":{},"with_baseline_tree_mib":{}}})",
                                 peak, (yaml.size() + json.size()) >> 20, peak_mib()));
}
