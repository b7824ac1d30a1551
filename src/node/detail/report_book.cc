#include "evenkeel/node/detail/report_book.h"

namespace evenkeel::node::detail {

void ReportBook::begin(Incarnation incarnation) {
  incarnation_ = incarnation;
  documents_.clear();
  touched_.clear();
}

bool ReportBook::read(const Target& target) {
  if (target.incarnation != incarnation_ && broken_ != Broken::obey_others) return false;
  const Place place{target.workload, target.bucket};
  Document& document = documents_[place];
  if (document.obeyed && target.number <= *document.obeyed && broken_ != Broken::obey_old) return false;
  document.obeyed = target.number;
  touched_.insert(place);
  return true;
}

std::vector<ShardIndex> ReportBook::shards(const WorkloadId& workload, Bucket bucket) const {
  const auto found = documents_.find({workload, bucket});
  return found == documents_.end() ? std::vector<ShardIndex>()
                                   : std::vector(found->second.shards.begin(), found->second.shards.end());
}

void ReportBook::put(const Replica& replica) {
  const Place place{replica.shard.workload, replica.bucket};
  documents_[place].shards.insert(replica.shard.shard);
  touched_.insert(place);
}

// The workload has more buckets than when it was last heard of, or it is new here.
void ReportBook::move(Replica& replica, Bucket to) {
  if (replica.bucket != to) {
    const auto old = documents_.find({replica.shard.workload, replica.bucket});
    if (old != documents_.end() && old->second.shards.erase(replica.shard.shard) > 0) touched_.insert(old->first);
    replica.bucket = to;
  }
  put(replica);
}

Report ReportBook::report_on(const Place& place, const Document& document, const std::map<ShardId, Replica>& items) const {
  Report report{.node = node_,
                .workload = place.first,
                .bucket = place.second,
                .incarnation = incarnation_,
                .data = data_,
                .obeyed = document.obeyed.value_or(TargetNumber())};
  for (const ShardIndex shard : document.shards) report.replicas.push_back(report_of(items.at({place.first, shard})));
  return report;
}

std::vector<Report> ReportBook::take(std::map<ShardId, Replica>& items, const std::function<void(const Replica&)>& forget) {
  std::vector<Report> out;
  for (const Place& place : std::exchange(touched_, {})) {
    Document& document = documents_[place];
    std::erase_if(document.shards, [&](ShardIndex shard) {
      const auto found = items.find({place.first, shard});
      Replica& replica = found->second;
      if (!is_nothing(replica) || replica.named) return false;
      forget(replica);
      items.erase(found);
      return true;
    });
    if (document.shards.empty() && !document.said) continue;
    Report report = report_on(place, document, items);
    if (document.said == report) continue;
    document.said = report;
    if (report.replicas.empty()) document.said.reset();
    out.push_back(std::move(report));
  }
  return out;
}

}  // namespace evenkeel::node::detail
