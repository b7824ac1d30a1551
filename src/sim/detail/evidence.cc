#include "evenkeel/sim/detail/evidence.h"

#include <algorithm>

namespace evenkeel::sim::detail {

bool counts(const Holder& holder) { return holder.told.str() != state_dropped; }

const Holder* find_holder(const ShardRecord& record, const NodeId& node) {
  const auto found = std::ranges::find(record.holders, node, &Holder::node);
  return found == record.holders.end() ? nullptr : &*found;
}

bool is_voter(const ShardRecord& record, const Holder& holder) {
  if (!counts(holder)) return false;
  return holder.arrived ||
         std::ranges::none_of(record.holders, [](const Holder& other) { return counts(other) && other.arrived; });
}

const NodeEvidence* Evidence::node(const NodeId& name) const {
  const auto found = nodes.find(name);
  return found == nodes.end() ? nullptr : &found->second;
}

const Recent<Spec>* Evidence::workload(const WorkloadId& name) const {
  const auto found = workloads.find(name);
  return found == workloads.end() ? nullptr : &found->second;
}

// Without a beat a session is over once that has lasted for a ttl, by whatever clock.
bool Evidence::is_over(const NodeId& name, Incarnation incarnation) const {
  const NodeEvidence* known = node(name);
  if (known == nullptr) return false;
  if (known->over.contains(incarnation)) return true;
  return !known->beat && !config.empty() && now - known->beatless_since >= config.latest().settings.control.session_ttl;
}

const Said* Evidence::said(const ShardId& shard, const NodeId& node, Incarnation incarnation) const {
  const auto found = shards.find(shard);
  if (found == shards.end()) return nullptr;
  const auto by = found->second.said.find(node);
  if (by == found->second.said.end()) return nullptr;
  const auto as = by->second.find(incarnation);
  return as == by->second.end() ? nullptr : &as->second;
}

bool Evidence::is_lost(const Holder& holder) const {
  const NodeEvidence* known = node(holder.node);
  if (known == nullptr) return false;
  if (known->order.any(now, [](const NodeDocument& order) { return order.operation == Operation::remove; })) return true;
  return known->disk.any(now, [&](const DataId& disk) { return disk != holder.data; });
}

bool Evidence::served_lately(const ShardId& shard, const NodeId& name) const {
  const auto found = shards.find(shard);
  const NodeEvidence* known = node(name);
  const Recent<Spec>* specs = workload(shard.workload);
  if (found == shards.end() || known == nullptr || specs == nullptr) return false;
  const auto by = found->second.said.find(name);
  if (by == found->second.said.end()) return false;
  const StateModel& model = *specs->latest().model;
  return std::ranges::any_of(by->second, [&](const auto& said) {
    const auto over = known->over.find(said.first);
    if (over != known->over.end() && over->second + grace < now) return false;
    if (model.serves(said.second.latest.state)) return true;
    return std::ranges::any_of(said.second.left,
                               [&](const auto& left) { return model.serves(left.first) && left.second + grace >= now; });
  });
}

bool Evidence::surely_there(const NodeId& name) const {
  const NodeEvidence* known = node(name);
  return known != nullptr && known->joined && known->joined_since + grace <= now;
}

// As a controller must count at least: nodes that hold something, a whole zone as one, those that may stop not at all.
std::uint32_t Evidence::offline() const {
  std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> zones;
  std::uint32_t offline = 0;
  for (const auto& [name, known] : nodes) {
    const auto excused = [](const NodeDocument& order) {
      return order.operation == Operation::remove || order.operation == Operation::forget;
    };
    if (known.holds.empty() || known.order.any(now, excused)) continue;
    const bool gone = !known.joined && !known.permit;
    const std::string path = known.live ? known.live->zone : known.last_zone;
    const std::string zone = path.substr(0, path.find('/'));
    if (zone.empty()) {
      offline += gone ? 1 : 0;
      continue;
    }
    ++zones[zone].second;
    zones[zone].first += gone ? 1 : 0;
  }
  // Who of a zone is suspect only its controller knows, and then the zone may be gone as a whole.
  for (const auto& [name, zone] : zones) offline += zones.size() > 1 ? std::min(zone.first, 1u) : zone.first;
  return offline;
}

// ------------------------------------------------------------------------------------------------------------- documents

void Evidence::take_live(const NodeId& name, LiveDocument live) {
  NodeEvidence& known = nodes[name];
  known.disks[live.incarnation] = live.data;
  if (known.disk.empty() || known.disk.latest() != live.data) known.disk.put(live.data, now);
  known.live = std::move(live);
  look_at(name);
}

void Evidence::take_beat(const NodeId& name, std::optional<store::Entry> entry) {
  NodeEvidence& known = nodes[name];
  const auto before = known.incarnation;
  known.beat.reset();
  known.incarnation.reset();
  if (entry) {
    if (const auto beat = store::parse_session_beat(*entry)) known.beat = *beat;
  }
  if (known.beat) {
    if (const auto incarnation = parse_incarnation(known.beat->identity.str())) known.incarnation = *incarnation;
  } else {
    known.beatless_since = now;
  }
  if (known.incarnation && before && before != known.incarnation) known.over.try_emplace(*before, now);
  if (known.incarnation && known.beat->ended) known.over.try_emplace(*known.incarnation, now);
  look_at(name);
}

bool Evidence::is_joined(NodeEvidence& node) const {
  if (!node.live || !node.beat || node.beat->ended || node.incarnation != node.live->incarnation) return false;
  if (node.doubted == node.incarnation) return false;
  if (node.inventoried == node.incarnation) return true;
  const auto written = node.report_documents.find(*node.incarnation);
  if ((written == node.report_documents.end() ? 0 : written->second) < node.live->inventory) return false;
  node.inventoried = node.incarnation;
  return true;
}

// A return that was too short to be noticed was none.
void Evidence::look_at(const NodeId& name) {
  NodeEvidence& known = nodes[name];
  const bool joined = is_joined(known);
  if (joined == known.joined) return;
  known.joined = joined;
  if (joined) {
    known.joined_since = now;
  } else if (std::max(known.joined_since, steady_since) + grace <= now) {
    known.gone_since = now;
  }
  look_at_calm();
}

void Evidence::look_at_calm() {
  if (config.empty()) return;
  const ControlSettings& settings = config.latest().settings.control;
  const std::uint32_t most = settings.max_offline.value_or(std::max(1u, static_cast<std::uint32_t>(nodes.size()) / 10));
  if (offline() <= most) {
    too_many_gone.reset();
  } else if (!too_many_gone) {
    too_many_gone = now;
  }
}

void Evidence::take_report(const Key& key, std::optional<Report> report) {
  NodeEvidence& known = nodes[key.node];
  if (const auto old = known.reports.extract({key.workload, key.bucket})) {
    const auto count = known.report_documents.find(old.mapped().incarnation);
    if (--count->second == 0) known.report_documents.erase(count);
  }
  if (report) {
    ReportEvidence& document = known.reports[{key.workload, key.bucket}];
    document.incarnation = report->incarnation;
    ++known.report_documents[report->incarnation];
    for (const ReplicaReport& replica : report->replicas) document.shards.push_back(replica.shard);
    known.disks[report->incarnation] = report->data;
    for (const ReplicaReport& replica : report->replicas) {
      Said& said = shards[{key.workload, replica.shard}].said[key.node][report->incarnation];
      if (said.latest.state != replica.state && !said.latest.state.empty()) said.left[said.latest.state] = now;
      said.data = report->data;
      said.latest = replica;
      said.at = now;
      Version& version = said.in[replica.state];
      version = std::max(version, replica.version);
      if (replica.sealed && (!said.sealed || said.sealed->against < replica.sealed->against)) {
        said.sealed = replica.sealed;
        said.sealed_at = now;
      }
      const bool failed = replica.gave_up || replica.state.str() == state_error;
      if (failed && !said.failed_since) said.failed_since = now;
      if (!failed) said.failed_since.reset();
      if (failed) said.failed_last = now;
    }
  }
  look_at(key.node);
}

void Evidence::take_workload(const WorkloadId& name, const WorkloadDocument& document) {
  Spec spec{.workload = document.spec, .deleted = document.deleted};
  if (!config.empty()) {
    const auto& own = config.latest().state_models;
    const auto found = std::ranges::find(own, document.spec.state_model, &StateModel::name);
    if (found != own.end()) spec.model = std::make_shared<StateModel>(*found);
  }
  if (const StateModel* built_in = find_built_in(document.spec.state_model.str()); !spec.model && built_in != nullptr)
    spec.model = std::make_shared<StateModel>(*built_in);
  if (!spec.model) return;
  spec.min_active = document.spec.control.min_active.value_or(std::max(document.spec.replicas, 2u) - 1);
  for (const State& state : spec.model->states()) {
    const bool bounded = state.count.kind == StateCount::Kind::number;
    if (bounded && state.count.number == 1 && !spec.lead) spec.lead = state.name;
    if (bounded || state.count.kind == StateCount::Kind::none) continue;
    spec.seals = spec.lead.has_value() && state.data;
    break;
  }
  workloads[name].put(std::move(spec), now);
}

void Evidence::take_config(ConfigDocument document) {
  if (document.freeze.has_value() != frozen_since.has_value()) frozen_since = document.freeze ? std::optional(now) : std::nullopt;
  config.put(std::move(document), now);
  look_at_calm();
}

void Evidence::take_order(const ShardId& shard, std::optional<OrderDocument> order) {
  ShardEvidence& known = shards[shard];
  if (!order) {
    known.order_gone = now;
    return;
  }
  known.order = std::move(order);
  known.order_gone.reset();
}

void Evidence::take_record(const ShardId& shard, ShardRecord record) {
  ShardEvidence& known = shards[shard];
  bool nodes_change = false;  // one that held nothing does, or the other way round
  for (const Holder& holder : known.record.holders) {
    if (find_holder(record, holder.node) != nullptr) continue;
    std::set<ShardId>& holds = nodes[holder.node].holds;
    if (holds.erase(shard) > 0 && holds.empty()) nodes_change = true;
  }
  for (const Holder& holder : record.holders) {
    std::set<ShardId>& holds = nodes[holder.node].holds;
    if (holds.insert(shard).second && holds.size() == 1) nodes_change = true;
  }
  known.record = std::move(record);
  const bool copies = known.record.has_data && std::ranges::any_of(known.record.holders, [](const Holder& holder) {
                        return counts(holder) && !holder.arrived;
                      });
  if (copies) {
    copying.insert(shard);
  } else {
    copying.erase(shard);
  }
  if (nodes_change) look_at_calm();
}

void Evidence::take_view(const ShardId& shard, ShardView view) {
  ShardEvidence& known = shards[shard];
  const auto nodes_of = [](const ShardView& of) {
    std::set<NodeId> all;
    if (of.leader) all.insert(*of.leader);
    for (const Peer& peer : of.others) all.insert(peer.node);
    return all;
  };
  const std::set<NodeId> after = nodes_of(view);
  for (const NodeId& name : nodes_of(known.view)) {
    const Holder* holder = find_holder(known.record, name);
    if (!after.contains(name) && holder != nullptr) known.left_view[name] = {holder->incarnation, now};
  }
  for (const NodeId& name : after) known.left_view.erase(name);
  known.view = std::move(view);
}

}  // namespace evenkeel::sim::detail
