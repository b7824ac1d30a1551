#pragma once
// Router: the latest table, kept from a store's watch of view/ and live/. The table is swapped atomically and read by any thread.
//
//   Router router(store, ClusterId("pages"), {.zone = "dc1/r1", .salt = rng.next()});
//   router.on_change([](const auto& table, const std::vector<ShardId>& changed) { … });
//   if (const auto to = router.pick(WorkloadId("t1"), "user-17", Role::any)) call(to->address, to->shard, to->version.epoch);
//
// What cannot be read is logged, and what was known before it counts on; a router that has once known who serves never knows nobody because of
// a bad document or a store that is away. A fresh list of the watch takes away what is gone from it, but lowers no shard's version.
// Staleness is visible: age() is how long ago the store was last heard of. The table may be older than what clients hear from those they call;
// then the epoch tells who is right.
//
// Threads: it is made, destroyed and calls back on the store's loop; table, pick, ready and age are for any thread. Readers wait for
// nobody, and keep the table that they took as long as they like.
// Cost: one change of one bucket is O(buckets of its workload); pick as in table.h.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/log.h"
#include "evenkeel/route/table.h"
#include "evenkeel/store/store.h"

namespace evenkeel::route {

struct RouterOptions {
  std::string zone;            // of this client: nearest first
  std::uint64_t salt = 0;      // of this client: among equally near ones, clients with different salts pick different ones
  Duration ask_every = 10s;    // the store is asked whether it is there so often, for age()
  Duration watch_again = 10s;  // after the store refused a watch
  Log* log = nullptr;
};

class Router {
 public:
  // On the store's loop; the store outlives it.
  Router(store::Store& store, const ClusterId& cluster, RouterOptions options = {});
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Any thread. Never null; empty until the first view has come.
  std::shared_ptr<const Table> table() const;
  // Of the latest table, for this client's zone; one key always goes to the same of several that are equally near.
  std::optional<Picked> pick(const WorkloadId& workload, std::string_view key, Role role) const;
  // View and addresses have been read wholly at least once.
  bool ready() const;
  // How long ago the store was last heard of; nothing if it never was. With a healthy store at most about `ask_every`.
  std::optional<Duration> age() const;
  // Called on the loop with each new table and the shards that changed or went, after it can be read, and once when it becomes ready. No shard
  // is named if only addresses changed. It replaces the handler before it.
  void on_change(std::function<void(const std::shared_ptr<const Table>&, const std::vector<ShardId>&)> handler);

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace evenkeel::route
