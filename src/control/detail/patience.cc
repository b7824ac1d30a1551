// Time: who is gone and for how long, who is suspect, when it is better to keep still, who may stop.

#include <algorithm>
#include <map>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::NodeInfo;

void Machine::Work::take(Pulsed pulsed) {
  const std::uint32_t n = world_.node(pulsed.pulse.node);
  NodeInfo& node = world_.nodes[n];
  if (pulsed.pulse.incarnation != node.facts.incarnation || pulsed.pulse.count <= node.pulse_count) {
    if (pulsed.pulse.incarnation != node.facts.incarnation || !node.pulse_broken) return;
  }
  node.pulse_count = pulsed.pulse.count;
  nodes_due_ = nodes_due_ || node.facts.suspect || node.pulse_every == Duration{};
  node.pulse_every = pulsed.every;
  node.pulsed = now_;
  node.pulse_broken = false;
  for (const ReplicaPulse& replica : pulsed.pulse.replicas) {
    const detail::WorkloadInfo* workload = world_.find_workload(replica.shard.workload);
    if (workload == nullptr || workload->units.empty()) continue;
    const std::uint32_t u = workload->units[bucket_of(replica.shard, static_cast<std::uint32_t>(workload->units.size())).value()];
    detail::Unit& unit = world_.units[u];
    const auto slot = unit.slot(replica.shard.shard);
    if (!slot) continue;
    detail::Progress& progress = unit.progress[n * static_cast<std::uint32_t>(unit.shards.size()) + *slot];
    const detail::Progress now{replica.last, replica.progress};
    if (now <= progress) continue;
    progress = now;
    const ShardRecord& record = unit.records[*slot];
    const bool preferred = !record.placement.empty() && record.placement.front() == node.name;
    if (record.hand_over || preferred) world_.touch(u, *slot);
  }
}

void Machine::Work::take(PulseBroken broken) {
  NodeInfo& node = world_.nodes[world_.node(broken.node)];
  if (node.pulse_every == Duration{}) return;
  node.pulse_broken = true;
  nodes_due_ = true;
}

// Those whose waiting is over, or whose end is proved by time alone.
void Machine::Work::look_at_nodes() {
  for (std::uint32_t n = 0; n < world_.nodes.size(); ++n) {
    NodeInfo& node = world_.nodes[n];
    if (node.facts.joined && !node.steady_since) continue;
    if (node.steady_since && now_ >= *node.steady_since + world_.config.settings.control.steady) node.steady_since.reset();
    if (node.steady_since) wake_at(*node.steady_since + world_.config.settings.control.steady);
    if (world_.refresh(n, now_)) world_.touch_node(n);
    if (node.facts.unknown && !node.facts.over && node.beatless_since) {
      const Duration ttl = world_.config.settings.control.session_ttl;
      wake_at(*node.beatless_since + ttl + ttl / 50);
    }
    const auto gone = detail::gone_for(node, now_);
    if (!gone || node.facts.removed) continue;
    const Duration delay = detail::delay_of(world_, node);
    if (*gone < delay) {
      node.waited_out = false;
      wake_at(now_ + (delay - *gone));
    } else if (!std::exchange(node.waited_out, true)) {
      world_.plan_due = true;
      if (!node.units.empty()) say(Event::Kind::node, std::nullopt, node.name, "is not waited for any longer");
    }
  }
}

void Machine::Work::look_at_pulses() {
  const Duration ttl = world_.config.settings.control.session_ttl;
  std::uint32_t pulsing = 0;
  for (std::uint32_t n = 0; n < world_.nodes.size(); ++n) {
    NodeInfo& node = world_.nodes[n];
    if (node.pulse_every == Duration{} || !node.facts.joined) continue;
    ++pulsing;
    const Instant end = node.pulsed + node.pulse_every * options_.pulses_missed;
    const bool suspect = node.pulse_broken || now_ >= end;
    if (!suspect) wake_at(end);
    if (suspect == node.facts.suspect) continue;
    node.facts.suspect = suspect;
    if (suspect) {
      turned_suspect_.push_back(now_);
    } else {
      node.steady_since = now_;
    }
    world_.refresh(n, now_);
    world_.touch_node(n);
    say(Event::Kind::node, std::nullopt, node.name, suspect ? "is suspect" : "is heard of again");
  }
  std::erase_if(turned_suspect_, [&](Instant at) { return at + ttl <= now_; });
  const bool distrusts = turned_suspect_.size() > std::max(1u, pulsing / 10);
  if (distrusts == distrusts_itself_) return;
  distrusts_itself_ = distrusts;
  if (distrusts) say(Event::Kind::node, std::nullopt, std::nullopt, "too many are suspect at once: only sessions count");
}

// A whole zone that is gone counts as one, and so does a node; those that may be gone do not count.
std::uint32_t Machine::Work::count_offline() const {
  struct Zone {
    std::uint32_t gone = 0;
    std::uint32_t all = 0;
  };
  std::map<std::string, Zone> zones;
  std::uint32_t offline = 0;
  for (const NodeInfo& node : world_.nodes) {
    if (node.facts.removed || node.order.operation == Operation::forget || node.units.empty()) continue;
    const bool permitted = node.permit && node.permit->stage == PermitDocument::Stage::go && !node.permit_over;
    const bool gone = (!node.facts.joined || (node.facts.suspect && !distrusts_itself_)) && !permitted;
    const std::string zone = node.live ? node.live->zone.substr(0, node.live->zone.find('/')) : node.last_zone;
    if (zone.empty()) {
      offline += gone ? 1 : 0;
      continue;
    }
    ++zones[zone].all;
    zones[zone].gone += gone ? 1 : 0;
  }
  // The only zone that there is does not count as one: then a loss of all would count less than a loss of some.
  for (const auto& [name, zone] : zones) offline += zone.gone == zone.all && zone.all > 1 && zones.size() > 1 ? 1 : zone.gone;
  return offline;
}

void Machine::Work::look_at_maintenance() {
  if (options_.broken == Broken::no_maintenance) return;
  const ControlSettings& settings = world_.config.settings.control;
  const auto held =
      std::ranges::count_if(world_.nodes, [](const NodeInfo& node) { return !node.units.empty() && !node.facts.removed; });
  const std::uint32_t most = settings.max_offline.value_or(std::max(1u, static_cast<std::uint32_t>(held) / 10));
  const std::uint32_t few = settings.resume_offline.value_or(most / 2);
  const std::uint32_t offline = count_offline();
  if (!maintenance_ && offline > most) {
    maintenance_ = fmt::format("{} nodes are gone, and {} may be", offline, most);
    maintenance_since_ = now_;
    say(Event::Kind::maintenance, std::nullopt, std::nullopt, fmt::format("begins: {}", *maintenance_));
  } else if (maintenance_ && offline <= few) {
    maintenance_.reset();
    world_.plan_due = true;
    world_.touch_all();
    say(Event::Kind::maintenance, std::nullopt, std::nullopt, "ends");
  }
  if (world_.config.freeze && world_.config.freeze->timeout) {
    if (!freeze_since_) freeze_since_ = now_;
    const Instant end = *freeze_since_ + (*world_.config.freeze->timeout - waits_.freeze.value_or(Duration{}));
    if (!freeze_over_ && now_ >= end) {
      freeze_over_ = true;
      world_.touch_all();
      world_.plan_due = true;
    }
    if (!freeze_over_) wake_at(end);
  } else {
    freeze_since_.reset();
    freeze_over_ = false;
  }
}

// Whether every shard that it holds can do without it, and without all others that have a permit.
bool Machine::Work::may_stop(std::uint32_t n, std::string& why) const {
  const NodeId& name = world_.nodes[n].name;
  const auto out = [&](const NodeId& other) {
    const NodeInfo* node = world_.find_node(other);
    const bool permitted =
        node != nullptr && node->permit &&
        (node->permit->stage == PermitDocument::Stage::granted || node->permit->stage == PermitDocument::Stage::go);
    return other == name || permitted;
  };
  for (const std::uint32_t u : world_.nodes[n].units) {
    const detail::Unit& unit = world_.units[u];
    const detail::WorkloadInfo& workload = world_.workloads[unit.workload];
    if (!workload.usable) continue;
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const ShardRecord& record = unit.records[slot];
      if (std::ranges::find(record.holders, name, &Holder::node) == record.holders.end()) continue;
      const ShardView& view = unit.views[slot];
      std::uint32_t serving = view.leader && !out(*view.leader) ? 1 : 0;
      for (const Peer& peer : view.others) serving += out(peer.node) ? 0 : 1;
      if (serving >= workload.spec.min_active) continue;
      why = fmt::format("{}/{} would have {} serving, and needs {}", workload.name, unit.shards[slot], serving,
                        workload.spec.min_active);
      return false;
    }
  }
  return true;
}

void Machine::Work::look_at_permits() {
  using Stage = PermitDocument::Stage;
  permits_wait_ = false;
  for (std::uint32_t n = 0; n < world_.nodes.size(); ++n) {
    NodeInfo& node = world_.nodes[n];
    if (!node.permit) {
      node.permit_since.reset();
      node.permit_over = false;
      node.facts.stopping = false;
      continue;
    }
    PermitDocument next = *node.permit;
    permits_wait_ = permits_wait_ || next.stage == Stage::asked || next.stage == Stage::granted;
    if (next.stage == Stage::asked) {
      std::string why;
      const bool still = !may_move() && !next.allow_outage;
      const bool may = !still && (next.allow_outage || may_stop(n, why));
      next.stage = may ? Stage::granted : Stage::asked;
      next.reason = still ? "the cluster is in maintenance or frozen" : why;
    } else if (next.stage == Stage::granted) {
      node.facts.stopping = true;
      if (!leads_or_is_shown(n)) next.stage = Stage::go;
    }
    if (next.stage == Stage::go && !node.permit_since) node.permit_since = now_;
    if (node.permit_since) {
      const Duration timeout = next.timeout.value_or(world_.config.settings.control.permit);
      const Instant end = *node.permit_since + (timeout - node.permit_before);
      const bool back = node.facts.joined && next.incarnation != node.facts.incarnation;
      if (!back && now_ < end) wake_at(end);
      if (!back && now_ >= end && !std::exchange(node.permit_over, true)) world_.plan_due = true;
    }
    if (next == *node.permit) continue;
    node.permit = next;
    if (world_.refresh(n, now_)) world_.touch_node(n);
    out_.puts.push_back({{.kind = Key::Kind::permit, .node = node.name}, next});
    say(Event::Kind::permit, std::nullopt, node.name,
        next.stage == Stage::go        ? "may stop"
        : next.stage == Stage::granted ? "is being relieved"
                                       : next.reason);
  }
}

// Whether anything still points at it: a leadership that it has, or the view.
bool Machine::Work::leads_or_is_shown(std::uint32_t n) const {
  const NodeId& name = world_.nodes[n].name;
  for (const std::uint32_t u : world_.nodes[n].units) {
    const detail::Unit& unit = world_.units[u];
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const auto holder = std::ranges::find(unit.records[slot].holders, name, &Holder::node);
      if (holder != unit.records[slot].holders.end() && !holder->may_be.str().empty()) return true;
      const ShardView& view = unit.views[slot];
      if (view.leader == name || std::ranges::find(view.others, name, &Peer::node) != view.others.end()) return true;
    }
  }
  return false;
}

void Machine::Work::save_waits() {
  WaitsDocument waits;
  for (const NodeInfo& node : world_.nodes) {
    const auto gone = detail::gone_for(node, now_);
    if (gone && !node.units.empty() && !node.facts.removed) waits.gone.emplace(node.name, *gone);
    if (node.permit_since) waits.permits.emplace(node.name, node.permit_before + (now_ - *node.permit_since));
  }
  if (maintenance_) waits.maintenance = now_ - *maintenance_since_, waits.entered = true;
  if (freeze_since_) waits.freeze = waits_.freeze.value_or(Duration{}) + (now_ - *freeze_since_);
  if (waits.gone.empty() && waits.permits.empty() && !waits.entered && !waits.freeze) {
    if (saved_something_) out_.puts.push_back({{.kind = Key::Kind::waits}, WaitsDocument{}});
    saved_something_ = false;
    return;
  }
  if (saved_something_ && now_ < saved_ + options_.waits_saved) return wake_at(saved_ + options_.waits_saved);
  saved_ = now_;
  saved_something_ = true;
  out_.puts.push_back({{.kind = Key::Kind::waits}, std::move(waits)});
  wake_at(saved_ + options_.waits_saved);
}

}  // namespace evenkeel::control
