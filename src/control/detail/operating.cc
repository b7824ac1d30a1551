#include "evenkeel/control/detail/operating.h"

namespace evenkeel::control::detail {
namespace {

// For messages only: what a key is called below its cluster.
std::string name_of(const Key& key) {
  switch (key.kind) {
    case Key::Kind::node:
      return fmt::format("nodes/{}", key.node);
    case Key::Kind::workload:
      return fmt::format("workloads/{}", key.workload);
    case Key::Kind::order:
      return fmt::format("orders/{}/{}", key.workload, key.shard);
    case Key::Kind::permit:
      return fmt::format("permits/{}", key.node);
    default:
      return "config";
  }
}

template <class T>
Result<Write> checked(const Key& key, std::string text, const Result<T>& read) {
  if (!read) return fail(read.error());
  if (text.size() > document_bytes_max) {
    return fail(Code::too_large, "{} would have {} bytes, and a document has at most {}: name less in it", name_of(key),
                text.size(), document_bytes_max);
  }
  return Write{key, std::move(text)};
}

}  // namespace

Result<Write> write_of(const Key& key, const ConfigDocument& document) {
  const std::string text = format(document);
  return checked(key, text, parse_config(text, name_of(key)));
}
Result<Write> write_of(const Key& key, const NodeDocument& document) {
  const std::string text = format(document);
  return checked(key, text, parse_node(text, name_of(key)));
}
Result<Write> write_of(const Key& key, const WorkloadDocument& document) {
  const std::string text = format(document);
  return checked(key, text, parse_workload(text, key.workload, name_of(key)));
}
Result<Write> write_of(const Key& key, const OrderDocument& document) {
  const std::string text = format(document);
  return checked(key, text, parse_order(text, name_of(key)));
}
Result<Write> write_of(const Key& key, const PermitDocument& document) {
  const std::string text = format(document);
  return checked(key, text, parse_permit(text, name_of(key)));
}

Result<const WorkloadDocument*> find_workload(const Snapshot& seen, const WorkloadId& workload) {
  const auto found = seen.workloads.find(workload);
  if (found != seen.workloads.end() && !found->second.deleted) return &found->second;
  if (found != seen.workloads.end()) return fail(Code::not_found, "the workload {} is deleted", quote(workload.str()));
  std::vector<WorkloadId> known;
  for (const auto& [name, document] : seen.workloads) {
    if (!document.deleted) known.push_back(name);
  }
  return fail(unknown("workload", workload.str(), known));
}

Output feed(Machine& machine, const Snapshot& seen, Instant now) {
  using Kind = Key::Kind;
  const auto see = [&](Key key, Document document) { machine.step(Saw{std::move(key), std::move(document)}, now); };
  if (seen.config) see({.kind = Kind::config}, *seen.config);
  if (seen.waits) see({.kind = Kind::waits}, *seen.waits);
  for (const auto& [workload, document] : seen.workloads) see({.kind = Kind::workload, .workload = workload}, document);
  for (const auto& [node, document] : seen.nodes) see({.kind = Kind::node, .node = node}, document);
  // Sessions first: by them it tells which of the next two is of the present join.
  for (const auto& [node, beat] : seen.beats) see({.kind = Kind::beat, .node = node}, beat);
  for (const auto& [node, document] : seen.members) see({.kind = Kind::member, .node = node}, document);
  for (const auto& [node, document] : seen.live) see({.kind = Kind::live, .node = node}, document);
  for (const auto& [node, permit] : seen.permits) see({.kind = Kind::permit, .node = node}, permit);
  for (const auto& [key, bucket] : seen.records) see({.kind = Kind::shards, .workload = key.first, .bucket = key.second}, bucket);
  for (const auto& [key, bucket] : seen.views) see({.kind = Kind::view, .workload = key.first, .bucket = key.second}, bucket);
  for (const Report& report : seen.reports)
    see({.kind = Kind::report, .node = report.node, .workload = report.workload, .bucket = report.bucket}, report);
  for (const auto& [shard, order] : seen.orders)
    see({.kind = Kind::order, .workload = shard.workload, .shard = shard.shard}, order);
  return machine.step(Elected{ControllerEpoch(1)}, now);
}

}  // namespace evenkeel::control::detail
