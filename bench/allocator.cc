// Allocating workloads one by one on 10, 1000 and 10 000 nodes, beside a linear scan for the least full node in the same run.
// One JSON line a case: replicas per second, and the ratio to the scan (above 1: ours is faster, though it also keeps cores, labels,
// leaders and exact limits). `small`: requests of one shard; `large`: one request of as many shards.

#include "evenkeel/place/allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace evenkeel;
using namespace evenkeel::place;

constexpr std::uint32_t zones = 5;
constexpr std::uint32_t replicas = 3;

Cluster cluster_of(std::uint32_t nodes) {
  Cluster cluster{.name = ClusterId("bench")};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)),
                             .zone = fmt::format("z{}/r{}", i % zones, i / zones % 40),
                             .cores = 16,
                             .capacity = {{ResourceId("disk"), Quantity(1'000'000)}}});
  }
  return cluster;
}

Workload request(std::string name, std::uint32_t shards) {
  return {.name = WorkloadId(std::move(name)),
          .shards = shards,
          .replicas = replicas,
          .load = {{ResourceId("disk"), Quantity(1)}},
          .spread = Spread{"zone", true}};
}

// What one would write first: for every replica all nodes are looked at.
class Scan {
 public:
  explicit Scan(std::uint32_t nodes) : load_(nodes) {}

  void place(std::uint32_t shards) {
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      bool used[zones] = {};
      for (std::uint32_t replica = 0; replica < replicas; ++replica) {
        std::size_t best = load_.size();
        for (std::size_t i = 0; i < load_.size(); ++i) {
          if (used[i % zones] || load_[i] + 1 > 950'000) continue;
          if (best == load_.size() || load_[i] < load_[best]) best = i;
        }
        ensure(best < load_.size(), "the instance has room");
        used[best % zones] = true;
        ++load_[best];
      }
    }
  }
  std::int64_t most() const { return std::ranges::max(load_); }

 private:
  std::vector<std::int64_t> load_;
};

// Of the processor: nothing here waits, and what else the machine does shall not count.
template <class Work>
double seconds(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void print(std::string_view name, std::uint32_t nodes, std::uint32_t shards, double taken, double scanned, std::uint64_t spread) {
  const double count = static_cast<double>(shards) * replicas;
  fmt::print("{}\n",
             fmt::format(R"({{"bench":"allocator","case":"{}","nodes":{},"shards":{},"seconds":{:.4f},"replicas_per_s":{:.0f},)"
                         R"("scan_replicas_per_s":{:.0f},"ratio":{:.3f},"most_minus_least":{}}})",
                         name, nodes, shards, taken, count / taken, count / scanned, scanned / taken, spread));
  std::fflush(stdout);
}

std::uint64_t unevenness(const Allocator& allocator) {
  const auto usage = allocator.usage();
  const auto [least, most] = std::ranges::minmax(usage, {}, &NodeUsage::replicas);
  return most.replicas - least.replicas;
}

void run(std::uint32_t nodes, std::uint32_t shards) {
  Scan scan(nodes);
  const double scanned = seconds([&] { scan.place(shards); });
  ensure(scan.most() > 0, "the scan placed something");
  {
    Allocator allocator(cluster_of(nodes));
    const double taken = seconds([&] {
      for (std::uint32_t i = 0; i < shards; ++i) {
        auto reserved = allocator.allocate(request(fmt::format("t{}", i), 1));
        ensure(reserved && reserved->commit(), "the instance has room");
      }
    });
    print("small", nodes, shards, taken, scanned, unevenness(allocator));
  }
  Allocator allocator(cluster_of(nodes));
  const double taken = seconds([&] {
    auto reserved = allocator.allocate(request("t", shards));
    ensure(reserved && reserved->commit(), "the instance has room");
  });
  print("large", nodes, shards, taken, scanned, unevenness(allocator));
}

}  // namespace

int main() {
  run(10, 20'000);
  run(1000, 20'000);
  run(10'000, 20'000);
}
