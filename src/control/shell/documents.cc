#include "evenkeel/control/shell/documents.h"

#include <algorithm>

#include "evenkeel/store/session.h"

namespace evenkeel::control {
namespace {

template <class T>
Result<Document> as_document(Result<T> result) {
  if (!result) return fail(std::move(result.error()));
  return Document(std::move(*result));
}

Result<Document> beat_of(const store::Entry& entry) {
  const Result<store::Beat> beat = store::parse_session_beat(entry);
  if (!beat) return fail(beat.error());
  const auto incarnation = parse_incarnation(beat->identity.str());
  if (!incarnation) return fail(incarnation.error().in(entry.key));
  return Document(BeatSeen{*incarnation, beat->ttl, beat->ended});
}

}  // namespace

Result<Document> parse_document(const Key& key, const store::Entry& entry) {
  const std::string& text = entry.value;
  switch (key.kind) {
    case Key::Kind::config:
      return as_document(parse_config(text, entry.key));
    case Key::Kind::node:
      return as_document(parse_node(text, entry.key));
    case Key::Kind::workload:
      return as_document(parse_workload(text, key.workload, entry.key));
    case Key::Kind::live:
    case Key::Kind::member:
      return as_document(parse_live(text, key.node, entry.key));
    case Key::Kind::beat:
      return beat_of(entry);
    case Key::Kind::report:
      return as_document(parse_report(text, key, entry.key));
    case Key::Kind::shards:
      return as_document(parse_records(text, key.workload, key.bucket, entry.key));
    case Key::Kind::view:
      return as_document(parse_view(text, key.workload, key.bucket, entry.key));
    case Key::Kind::waits:
      return as_document(parse_waits(text, entry.key));
    case Key::Kind::permit:
      return as_document(parse_permit(text, entry.key));
    case Key::Kind::order:
      return as_document(parse_order(text, entry.key));
    case Key::Kind::target:
    case Key::Kind::controller_epoch:
      break;
  }
  return fail(Code::invalid, "{}: no document that a controller reads", entry.key);
}

std::string key_of(const Keys& keys, const Key& key) {
  switch (key.kind) {
    case Key::Kind::permit:
      return keys.permit(key.node);
    case Key::Kind::member:
      return keys.member(key.node);
    case Key::Kind::workload:
      return keys.workload(key.workload);
    case Key::Kind::node:
      return keys.node(key.node);
    default:
      return keys.waits();
  }
}

void put_in_order(store::Changes& fresh, const Keys& keys, std::set<std::string>& known) {
  for (const store::Change& change : fresh.changes) known.erase(change.key);
  std::ranges::stable_partition(fresh.changes, [&keys](const store::Change& change) {
    const auto key = keys.parse(change.key);
    return key && key->kind == Key::Kind::workload;
  });
}

void put_documents(store::Txn& txn, const Keys& keys, const Commit& commit) {
  const WorkloadId& workload = commit.records.workload;
  const Bucket bucket = commit.records.bucket;
  if (commit.erases) {
    txn.erase(keys.shards(workload, bucket)).erase(keys.view(workload, bucket));
  } else {
    txn.put(keys.shards(workload, bucket), format(commit.records)).put(keys.view(workload, bucket), format(commit.view));
  }
  for (const Target& target : commit.targets) txn.put(keys.target(target.node, workload, bucket), format(target));
  for (const NodeId& node : commit.untargeted) txn.erase(keys.target(node, workload, bucket));
}

}  // namespace evenkeel::control
