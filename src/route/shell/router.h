#pragma once
// Router: the latest table, kept from a store's watch of view/ and live/. The table is swapped atomically and read without waiting, by any thread.
// Staleness is visible: age() is how long ago the store was last heard of.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "evenkeel/base/log.h"
#include "evenkeel/route/table.h"
#include "evenkeel/store/store.h"

namespace evenkeel::route {

struct RouterOptions {
  std::string zone;  // of this client: nearest first
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
  std::optional<Picked> pick(const WorkloadId& workload, std::string_view key, Role role) const;
  // The view has been read wholly at least once.
  bool ready() const;
  // Called on the loop with each new table and the shards that changed, after it can be read.
  void on_change(std::function<void(const std::shared_ptr<const Table>&, const std::vector<ShardId>&)> handler);

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace evenkeel::route
