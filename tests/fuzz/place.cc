// Any bytes as a cluster file, and any cluster as a problem: the planner answers, twice the same, and what it answers can be carried out.

#include "evenkeel/place/place.h"

#include <cstdint>

#include "evenkeel/model/cluster_file.h"
#include "tests/fuzz/bounds.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (names_many(text)) return 0;
  const auto cluster = parse_cluster(text, "fuzz");
  if (!cluster) return 0;
  // What is placed costs memory and time: a fuzzer that writes six digits learns no more than one that writes two.
  std::uint64_t replicas = 0;
  for (const Workload& workload : cluster->workloads) replicas += std::uint64_t{workload.shards} * workload.replicas;
  if (cluster->nodes.size() > 64) return 0;
  if (replicas > 2000 && replicas < (std::uint64_t{1} << 27)) return 0;
  place::PlanOptions options{.seed = size, .budget = 500};
  options.force = size % 2 == 0;
  options.all = size % 3 == 0;
  options.cores = size % 5 == 0;
  const place::Plan plan = place::plan(*cluster, options);
  ensure(plan == place::plan(*cluster, options), "the same problem has the same plan");
  ensure(plan.stats.moves == plan.moves.size(), "every move is counted");
  for (const Workload& workload : cluster->workloads) {
    const auto rows = plan.placement.find(workload.name);
    ensure(rows != plan.placement.end() || !cluster->placement.contains(workload.name), "what was placed stays placed");
    ensure(rows == plan.placement.end() || rows->second.size() <= workload.shards, "no more rows than shards");
  }
  const Cluster next = apply(*cluster, plan);
  ensure(check(next).empty(), "the next problem is whole");
  for (const Syntax syntax : {Syntax::yaml, Syntax::json})
    ensure(!format_plan(*cluster, plan, syntax, options.cores).empty(), "a plan can be written");
  return 0;
}
