// Benchmarks of route: 100k shards of three replicas on 300 nodes. One JSON line a case: what it costs, what a plain alternative costs in the same
// run, and the ratio of the two (above 1: ours is faster). Seeds are fixed; each figure is the best of three.
//
// The plain alternative is what one would write first: a hash map from shard to its replicas, addresses and all, under a shared mutex. Picks are
// made by threads of their own, while another swaps tables (writes the map), one bucket of 32 shards each millisecond.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/route/shell/router.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::route {
namespace {

constexpr std::uint64_t seed = 20261115;
constexpr std::uint32_t shards = 100'000;
constexpr std::uint32_t nodes = 300;
const WorkloadId workload("pages");
const std::string zone = "dc1/r1";
std::atomic<std::uint64_t> result_sink = 0;  // results go here, so that no loop is optimised away

// Of this thread on the processor: what else runs on the machine counts little.
double seconds(const std::function<void()>& run) {
  const auto now = [] {
    timespec time = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double start = now();
  run();
  return now() - start;
}
double best_of_three(const std::function<double()>& run) { return std::min({run(), run(), run()}); }

void report(std::string_view name, double ns_each, std::string_view baseline, double baseline_ns_each) {
  fmt::print(
      R"({{"bench":"route","case":"{}","ns_each":{:.1f},"per_second":{:.0f},"baseline":"{}","baseline_ns_each":{:.1f},"ratio":{:.2f}}})"
      "\n",
      name, ns_each, 1e9 / ns_each, baseline, baseline_ns_each, baseline_ns_each / ns_each);
}

// 1. The cluster.

LiveDocument live(std::uint32_t node) {
  return {.node = NodeId(fmt::format("node-{}", node)),
          .data = DataId("d"),
          .address = fmt::format("10.0.{}.{}:90", node / 250, node % 250),
          .version = "1",
          .zone = fmt::format("dc{}/r{}", node % 3, node % 12)};
}

ShardView view(Rng& rng, std::uint32_t shard, std::uint64_t epoch) {
  const auto first = static_cast<std::uint32_t>(rng.below(nodes));
  ShardView made{.shard = ShardIndex(shard), .version = {Epoch(epoch), Change(0)}, .leader = live(first).node};
  for (std::uint32_t i = 1; i < 3; ++i) made.others.push_back({live((first + i) % nodes).node, StateId("follower")});
  return made;
}

std::vector<ViewBucket> buckets(std::uint64_t epoch) {
  Rng rng(seed + epoch);
  std::vector<ViewBucket> made(buckets_for(shards));
  for (std::uint32_t b = 0; b < made.size(); ++b) made[b] = {.workload = workload, .bucket = Bucket(b), .shards_in_all = shards};
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    const Bucket bucket = bucket_of({workload, ShardIndex(shard)}, static_cast<std::uint32_t>(made.size()));
    made[bucket.value()].shards.push_back(view(rng, shard, epoch));
  }
  return made;
}

// 2. The plain alternative.

class PlainMap {
 public:
  struct Replica {
    NodeId node;
    std::string address;
    std::string zone;
    StateId state;
  };
  struct Shard {
    Version version;
    std::vector<Replica> replicas;
  };

  explicit PlainMap(const std::vector<LiveDocument>& live) {
    for (const LiveDocument& node : live) nodes_[node.node] = node;
  }

  void put(const ViewBucket& bucket) {
    const std::unique_lock lock(mutex_);
    for (const ShardView& view : bucket.shards) {
      Shard shard{.version = view.version};
      if (view.leader) shard.replicas.push_back(replica(*view.leader, StateId("leader")));
      for (const Peer& peer : view.others) shard.replicas.push_back(replica(peer.node, peer.state));
      shards_[view.shard] = std::move(shard);
    }
  }

  std::optional<Picked> pick(std::string_view key, std::string_view near, std::uint64_t salt) const {
    const ShardIndex id(static_cast<std::uint32_t>(hash64(key) % shards));
    const std::shared_lock lock(mutex_);
    const auto found = shards_.find(id);
    if (found == shards_.end()) return std::nullopt;
    const Replica* best = nullptr;
    std::pair<std::size_t, std::uint64_t> best_rank;
    for (const Replica& one : found->second.replicas) {
      const auto differs = std::mismatch(near.begin(), near.end(), one.zone.begin(), one.zone.end()).first;
      const std::pair<std::size_t, std::uint64_t> rank(differs - near.begin(), mix64(salt, hash64(one.node.str())));
      if (best == nullptr || rank > best_rank) best = &one, best_rank = rank;
    }
    return Picked{id, found->second.version, best->state, best->node, best->address};
  }

 private:
  Replica replica(const NodeId& node, StateId state) const {
    const LiveDocument& live = nodes_.at(node);
    return {node, live.address, live.zone, std::move(state)};
  }

  std::unordered_map<NodeId, LiveDocument> nodes_;
  std::unordered_map<ShardIndex, Shard> shards_;
  mutable std::shared_mutex mutex_;
};

// 3. The cases.

// Nanoseconds of one thread's pick, while so many threads pick and `change` is called each millisecond.
double picking(std::size_t threads, const std::vector<std::string>& keys, const std::function<void()>& change,
               const std::function<std::optional<Picked>(const std::string&)>& pick) {
  constexpr std::uint64_t rounds = 20;
  std::atomic<std::size_t> running = threads;
  std::vector<double> took(threads);
  {
    std::vector<std::jthread> readers;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      readers.emplace_back([&, thread] {
        took[thread] = seconds([&] {
          std::uint64_t sum = 0;
          for (std::uint64_t round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < keys.size(); ++i) sum += pick(keys[(i + thread * 7919) % keys.size()])->address.size();
          }
          result_sink += sum;
        });
        --running;
      });
    }
    while (running > 0) {
      change();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return *std::ranges::max_element(took) * 1e9 / static_cast<double>(rounds * keys.size());
}

void run() {
  std::vector<LiveDocument> lives;
  for (std::uint32_t node = 0; node < nodes; ++node) lives.push_back(live(node));
  const std::vector<ViewBucket> first = buckets(1);
  std::vector<std::string> keys;
  Rng rng(seed);
  for (int i = 0; i < 50'000; ++i) keys.push_back(fmt::format("user-{}", rng.next()));

  const TableUpdate all{.buckets = first, .live = lives};
  PlainMap plain(lives);
  const double load = best_of_three([&] { return seconds([&] { result_sink += Table().with(all).shards(workload); }); });
  const double plain_load = best_of_three([&] {
    return seconds([&] {
      for (const ViewBucket& bucket : first) plain.put(bucket);
    });
  });
  report("load, a shard", load * 1e9 / shards, "hash map", plain_load * 1e9 / shards);

  // Documents of later epochs, each bucket in turn.
  std::vector<ViewBucket> later;
  for (std::uint64_t epoch = 2; epoch < 5; ++epoch) std::ranges::move(buckets(epoch), std::back_inserter(later));
  std::size_t at = 0;
  Table table = Table().with(all);
  constexpr std::size_t applied = 1000;
  const auto apply = [&](const std::function<void(const ViewBucket&)>& put) {
    return seconds([&] {
      for (std::size_t i = 0; i < applied; ++i) put(later[at++]);
    });
  };
  const double with = best_of_three([&] { return apply([&](const ViewBucket& bucket) { table = table.with(bucket); }); });
  at = 0;
  const double plain_with = best_of_three([&] { return apply([&](const ViewBucket& bucket) { plain.put(bucket); }); });
  report("apply a bucket of 32", with * 1e9 / applied, "hash map, in place", plain_with * 1e9 / applied);

  VirtualLoop loop;
  store::World world(loop);
  const auto store = world.connect();
  const Keys names(ClusterId("bench"));
  for (const LiveDocument& one : lives) store->put(names.live(one.node), format(one), [](const auto&) {});
  for (const ViewBucket& bucket : first) store->put(names.view(workload, bucket.bucket), format(bucket), [](const auto&) {});
  Router router(*store, ClusterId("bench"), {.zone = zone});
  loop.run_for(1s);
  std::size_t next = 0;
  const auto swap = [&] {
    const ViewBucket& bucket = later[next++ % later.size()];
    store->put(names.view(workload, bucket.bucket), format(bucket), [](const auto&) {});
    loop.run_for(1ms);
  };
  std::size_t plain_next = 0;
  for (const std::size_t threads : {1, 2}) {
    const double ours = best_of_three([&] {
      return picking(threads, keys, swap, [&](const std::string& key) { return router.pick(workload, key, Role::any); });
    });
    const double theirs = best_of_three([&] {
      return picking(
          threads, keys, [&] { plain.put(later[plain_next++ % later.size()]); },
          [&](const std::string& key) { return plain.pick(key, zone, hash64(key)); });
    });
    report(fmt::format("pick, {} thread{}, each", threads, threads == 1 ? "" : "s"), ours, "hash map under a shared mutex",
           theirs);
    // As a program does that asks many keys: it takes the table once.
    const double held = best_of_three([&] {
      return picking(threads, keys, swap, [&](const std::string& key) {
        thread_local std::shared_ptr<const Table> taken;
        thread_local int uses = 0;
        if (uses++ % 100 == 0) taken = router.table();
        return taken->pick(workload, key, Role::any, zone, hash64(key));
      });
    });
    report(fmt::format("pick from a table taken for 100 picks, {} thread{}, each", threads, threads == 1 ? "" : "s"), held,
           "hash map under a shared mutex", theirs);
  }
}

}  // namespace
}  // namespace evenkeel::route

int main() { evenkeel::route::run(); }
