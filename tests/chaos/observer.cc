// A client that only looks: a router, and the ends of nodes' sessions, each with the time at which this process knew. For bench/failover.py, and for
// rollout.py, which wants to know of every moment how many served.
//
//   observer --store URL --cluster NAME [--min-active 2]
//
//   r TIME SHARD EPOCH LEADER     the router knows so; `-`: nobody leads
//   s TIME NODE                   the end of that node's session is proved and written down
//
// With --min-active also the view, revision by revision as far as the store tells them all (ZooKeeper tells the latest of several):
//
//   f TIME REVISION                     the view was read as a whole, first of all, or again: what was between is not known
//   v TIME REVISION LEAST SHARDS        as of that revision none of so many shards is served by fewer than LEAST
//   b TIME REVISION SHARD SERVING       written at that revision, this shard is served by fewer than min_active
//
// Times as in ledger.cc. It ends with its standard output.

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/base/text.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/model/exchange.h"
#include "evenkeel/route/shell/router.h"
#include "evenkeel/store/backends/open.h"
#include "evenkeel/store/blocking.h"
#include "tests/chaos/clock.h"

namespace evenkeel {
namespace {

void say(const std::string& lines) {
  std::fputs(lines.c_str(), stdout);
  std::fflush(stdout);
}

void say_routes(const route::Table& table, const std::vector<ShardId>& changed) {
  const std::int64_t at = now();
  std::string lines;
  for (const ShardId& shard : changed)
    if (const ShardView* view = table.find(shard))
      lines += fmt::format("r {} {} {} {}\n", at, shard.shard, view->version.epoch, view->leader ? view->leader->str() : "-");
  say(lines);
}

void say_ends(const Keys& keys, const store::Changes& changes) {
  const std::int64_t at = now();
  for (const store::Change& change : changes.changes) {
    const std::string text = change.entry ? change.entry->value : "";
    const std::size_t ended = text.find("\"ended\"");
    if (ended != std::string::npos && text.find("true", ended) < text.find_first_of(",}", ended))
      say(fmt::format("s {} {}\n", at, change.key.substr(keys.beat(NodeId("n")).size() - 1)));
  }
}

// How many serve each shard. A document of the view is judged each time it is written, not only as it is in the end.
class Serving {
 public:
  Serving(Keys keys, std::uint64_t min_active) : keys_(std::move(keys)), min_active_(min_active) {}

  void take(const store::Changes& seen) {
    at_ = now();
    if (seen.fresh) {
      buckets_.clear();
      lines_ += fmt::format("f {} {}\n", at_, seen.revision);
    }
    for (std::size_t i = 0; i < seen.changes.size(); ++i) {
      const auto& entry = seen.changes[i].entry;
      take(seen.changes[i]);
      const auto* next = i + 1 < seen.changes.size() ? &seen.changes[i + 1] : nullptr;
      const bool goes_on = next != nullptr && entry && next->entry && next->entry->modified == entry->modified;
      if (!seen.fresh && entry && !goes_on) sum_up(entry->modified);
    }
    if (seen.fresh) sum_up(seen.revision);
    say(std::exchange(lines_, {}));
  }

 private:
  struct Bucketful {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t shards = 0;
  };

  void take(const store::Change& change) {
    const auto key = keys_.parse(change.key);
    if (!key || key->kind != Key::Kind::view) return;
    const std::pair id(key->workload, key->bucket);
    buckets_.erase(id);
    if (!change.entry) return;
    const auto bucket = parse_view(change.entry->value, key->workload, key->bucket, change.key);
    if (!bucket) return fmt::print(stderr, "observer: {}\n", bucket.error().message);
    Bucketful& all = buckets_[id];
    all.shards = bucket->shards.size();
    for (const ShardView& shard : bucket->shards) {
      const std::uint64_t serving = count(shard, bucket->idle);
      all.least = std::min(all.least, serving);
      if (serving < min_active_) lines_ += fmt::format("b {} {} {} {}\n", at_, change.entry->modified, shard.shard, serving);
    }
  }
  static std::uint64_t count(const ShardView& shard, const std::vector<StateId>& idle) {
    const auto serves = [&](const Peer& peer) { return std::ranges::find(idle, peer.state) == idle.end(); };
    return static_cast<std::uint64_t>(std::ranges::count_if(shard.others, serves)) + (shard.leader ? 1 : 0);
  }

  void sum_up(store::Revision revision) {
    Bucketful all;
    for (const auto& [id, bucket] : buckets_) {
      all.least = std::min(all.least, bucket.least);
      all.shards += bucket.shards;
    }
    lines_ += fmt::format("v {} {} {} {}\n", at_, revision, all.shards == 0 ? 0 : all.least, all.shards);
  }

  const Keys keys_;
  const std::uint64_t min_active_;
  std::map<std::pair<WorkloadId, Bucket>, Bucketful> buckets_;
  std::int64_t at_ = 0;
  std::string lines_;
};

int run(std::map<std::string, std::string> flags) {
  const auto min_active = parse_unsigned(flags["min-active"]);
  if (!min_active) return fmt::print(stderr, "observer: --min-active is a number\n"), 2;
  const ClusterId cluster(flags["cluster"]);
  const Keys keys(cluster);
  const auto store = store::Blocking::open([&](Loop& loop) { return store::open(loop, flags["store"], {}); });
  if (!store) return fmt::print(stderr, "observer: {}\n", store.error().message), 1;
  std::unique_ptr<route::Router> router;
  std::unique_ptr<store::Watching> watching, watching_view;
  Serving serving(keys, *min_active);
  (void)(*store)->run<bool>([&](store::Store& on, store::Answer<bool> answer) {
    router = std::make_unique<route::Router>(on, cluster);
    router->on_change([](const auto& table, const std::vector<ShardId>& changed) { say_routes(*table, changed); });
    const std::string prefix = keys.beat(NodeId("n"));
    watching = on.watch(prefix.substr(0, prefix.size() - 1), {}, [&](const Result<store::Changes>& changes) {
      if (changes) say_ends(keys, *changes);
    });
    if (*min_active > 0)
      watching_view = on.watch(keys.view_prefix(), {}, [&](const Result<store::Changes>& changes) {
        if (changes) return serving.take(*changes);
        fmt::print(stderr, "observer: the view is not watched any more: {}\n", changes.error().message);
      });
    answer(true);
  });
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  int signal = 0;
  sigwait(&signals, &signal);
  (void)(*store)->run<bool>([&](store::Store&, store::Answer<bool> answer) {
    router.reset();
    watching.reset();
    watching_view.reset();
    answer(true);
  });
  return 0;
}

}  // namespace
}  // namespace evenkeel

int main(int count, char** arguments) {
  std::map<std::string, std::string> flags{{"store", ""}, {"cluster", "default"}, {"min-active", "0"}};
  for (int i = 1; i + 1 < count; i += 2) {
    const auto flag = flags.find(std::string(arguments[i]).substr(2));
    if (flag == flags.end()) return fmt::print(stderr, "observer: what is {}?\n", arguments[i]), 2;
    flag->second = arguments[i + 1];
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return evenkeel::run(std::move(flags));
}
