#pragma once
// ReportBook: which replica is in which report document, what was read of the target documents beside them, and which reports changed.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "evenkeel/model/exchange.h"
#include "evenkeel/node/broken.h"
#include "evenkeel/node/detail/replica.h"

namespace evenkeel::node::detail {

class ReportBook {
 public:
  ReportBook(NodeId node, DataId data, Broken broken) : node_(std::move(node)), data_(std::move(data)), broken_(broken) {}

  // A new incarnation, which has read and said nothing.
  void begin(Incarnation incarnation);
  // Whether this document is to be obeyed: of this incarnation, and newer than the one before it.
  bool read(const Target& target);
  std::vector<ShardIndex> shards(const WorkloadId& workload, Bucket bucket) const;

  void put(const Replica& replica);
  void move(Replica& replica, Bucket to);
  void touch(const WorkloadId& workload, Bucket bucket) { touched_.emplace(workload, bucket); }

  // The documents that say something else than before. Replicas that are dropped, and that no document names any more, go.
  std::vector<Report> take(std::map<ShardId, Replica>& items, const std::function<void(const Replica&)>& forget);

 private:
  using Place = std::pair<WorkloadId, Bucket>;
  struct Document {
    std::set<ShardIndex> shards;
    std::optional<TargetNumber> obeyed;
    std::optional<Report> said;
  };
  Report report_on(const Place& place, const Document& document, const std::map<ShardId, Replica>& items) const;

  NodeId node_;
  DataId data_;
  Broken broken_;
  Incarnation incarnation_;
  std::map<Place, Document> documents_;
  std::set<Place> touched_;
};

}  // namespace evenkeel::node::detail
