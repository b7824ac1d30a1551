#pragma once
// What requests mean: reads on a View, and the changes of a group of requests, evaluated one after the other as etcd would. It touches no
// disk but through `Fetch`, and changes nothing but its overlay.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "evenkeel/store/backends/embedded/detail/index.h"

namespace evenkeel::store::embedded::detail {

// What was put at a stamp, from the disk.
using Fetch = std::function<Result<KeyValue>(Stamp)>;

// A read in three steps, so that only the first needs the engine's lock: what there is, what of it is on disk, and the answer.
class Reading {
 public:
  explicit Reading(const Range& range) : range_(range) {}
  void collect(const View& view, std::int64_t revision);
  Result<Found> finish(const Fetch& fetch) &&;

 private:
  void keep_if_asked();
  void sort();

  const Range& range_;
  Found found_;
  std::vector<std::pair<std::size_t, Stamp>> on_disk_;  // which entries are to be fetched
};

// Whether the store at (compacted, revision) can answer for `wanted`.
Result<> check_revision(std::int64_t wanted, std::int64_t compacted, std::int64_t revision);

class Group {
 public:
  // Leases as they are apart from what this group does.
  struct LeasesBefore {
    std::function<bool(LeaseId)> has;
    std::function<std::vector<std::string>(LeaseId)> keys;
  };
  Group(const Index& index, std::int64_t revision, std::int64_t compacted, LeasesBefore leases_before, Fetch fetch);

  Result<Outcome> run(const Request& request, const LeaseGuard& guard);
  // Erases a lease's keys at one revision; gives the revision after it.
  std::int64_t erase_keys(const std::vector<std::string>& keys);

  void grant(LeaseId id, Duration ttl) { leases_[id] = ttl; }
  void revoke(LeaseId id) { leases_[id] = {}; }
  bool has_lease(LeaseId id) const;
  // With those that the overlay attaches to it, and without those that it takes from it.
  std::vector<std::string> keys_of(LeaseId id) const;

  std::int64_t revision() const { return revision_; }
  Overlay& overlay() { return overlay_; }
  const Overlay& overlay() const { return overlay_; }
  const std::map<LeaseId, std::optional<Duration>>& leases() const { return leases_; }  // none: it is gone
  bool empty() const { return overlay_.changes().empty() && leases_.empty(); }

 private:
  using Branch = std::vector<bool>;  // which branch each txn takes, outer ones first

  void choose(const Request& request, Branch& path) const;
  bool holds(const Condition& condition) const;
  Result<> check_taken(const Request& request, const LeaseGuard& guard, const Branch& path, std::size_t& at) const;
  Result<> check_operation(const Operation& operation, const LeaseGuard& guard, const Branch& path, std::size_t& at) const;
  Result<> check_put(const Put& put, const LeaseGuard& guard) const;
  Result<Outcome> execute(const Request& request, const Branch& path, std::size_t& at);
  Result<Done> execute(const Operation& operation, const Branch& path, std::size_t& at);
  Result<Found> range(const Range& range) const;
  PutDone put(const Put& put);
  EraseDone erase(const Erase& erase);
  void change(KeyValue entry, bool erased);
  std::int64_t current() const { return revision_ + (sub_ > 0 ? 1 : 0); }
  KeyValue entry_of(const Seen& seen) const;

  View view_;
  Overlay overlay_;
  std::int64_t revision_;  // after the requests that were run
  const std::int64_t compacted_;
  std::uint32_t sub_ = 0;  // changes of the request being run
  LeasesBefore leases_before_;
  Fetch fetch_;
  std::map<LeaseId, std::optional<Duration>> leases_;
};

}  // namespace evenkeel::store::embedded::detail
