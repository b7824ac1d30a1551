#pragma once
// Leases: who has how long to live, and which keys go with it. It locks for itself.

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evenkeel/store/backends/embedded/engine.h"

namespace evenkeel::store::embedded::detail {

class Leases {
 public:
  void add(LeaseId id, Duration ttl, Instant now);
  void remove(LeaseId id);
  // A key's lease changed; 0: none.
  void move_key(const std::string& key, LeaseId from, LeaseId to);

  bool has(LeaseId id) const;
  Result<Lease> get(LeaseId id, Instant now) const;
  std::vector<LeaseId> all() const;
  std::size_t count() const;
  std::vector<std::string> keys(LeaseId id) const;

  // Its full time again, unless it is over.
  Result<Lease> keep_alive(LeaseId id, Instant now);
  // Those whose time is over. From now on they cannot be kept alive: their end is being written.
  std::vector<LeaseId> take_over(Instant now);
  // Their end could not be written: they are due again.
  void give_back(LeaseId id);
  std::optional<Instant> next() const;

 private:
  struct Held {
    Duration ttl = {};
    Instant deadline;
    bool ending = false;  // then it is not in due_
    std::set<std::string> keys;
  };

  mutable std::mutex mutex_;
  std::map<LeaseId, Held> held_;
  std::set<std::pair<Instant, LeaseId>> due_;
};

}  // namespace evenkeel::store::embedded::detail
