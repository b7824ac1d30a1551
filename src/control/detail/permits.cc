// Who may stop, and who may be removed: only whom every shard can do without.

#include <algorithm>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::NodeInfo;
using detail::Unit;
using detail::WorkloadInfo;
using PermitStage = PermitDocument::Stage;

namespace {

constexpr std::string_view no_permits_now = "the cluster is in maintenance or frozen";

bool is_given(const PermitDocument& permit) { return permit.stage == PermitStage::granted || permit.stage == PermitStage::go; }

bool is_held(const ShardRecord& record, const NodeId& by) {
  const auto own = std::ranges::find(record.holders, by, &Holder::node);
  return own != record.holders.end() && !own->leaving && own->told.str() != state_dropped;
}

bool is_shown(const ShardView& view, const NodeId& node) {
  return view.leader == node || std::ranges::find(view.others, node, &Peer::node) != view.others.end();
}

}  // namespace

// It may be gone at any moment. A permit that is being written is as good as given; one whose node is back counts until it is taken away.
bool Machine::Work::has_leave(const NodeId& name) const {
  if (options_.broken == Broken::permits_apart) return false;
  const NodeInfo* node = world_.find_node(name);
  return node != nullptr && (node->granting || (node->permit && is_given(*node->permit)));
}

// Why a shard cannot do without these, and without all that have a permit: enough must serve, and one of them may lead. What is being written
// counts beside what is. Empty: it can.
std::string Machine::Work::why_not_without(const Unit& unit, std::uint32_t slot, const std::set<NodeId>& without) const {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const ShardView* next = unit.written(slot).second;
  std::uint32_t serving = 0;
  bool led = !workload.spec.lead;
  const auto add = [&](const NodeId& name) {
    const NodeInfo* node = world_.find_node(name);
    if (node == nullptr || !node->facts.joined || without.contains(name) || has_leave(name) ||
        (next != nullptr && !is_shown(*next, name)))
      return;
    ++serving;
    led = led || node->facts.may_lead;
  };
  const ShardView& view = unit.views[slot];
  if (view.leader) add(*view.leader);
  for (const Peer& peer : view.others) add(peer.node);
  if (serving >= workload.spec.min_active && led) return {};
  const std::string shard = fmt::format("{}/{}", workload.name, unit.shards[slot]);
  const auto refusal = workload.refusals.find(unit.shards[slot]);
  std::string why = serving < workload.spec.min_active
                        ? fmt::format("{} would have {} serving, and needs {}", shard, serving, workload.spec.min_active)
                        : fmt::format("{} would have nobody who may lead", shard);
  if (workload.spec.replicas <= workload.spec.min_active)
    why += refusal == workload.refusals.end() ? ": another copy is made first" : ", and there is " + refusal->second;
  return why;
}

// Shards that it holds and that cannot do without it and those that stop together with it, in words: the first `most`, and how many more there are.
std::vector<std::string> Machine::Work::why_not_stop(std::uint32_t n, const std::set<NodeId>& together, std::size_t most) const {
  const NodeId& name = world_.nodes[n].name;
  std::vector<std::string> reasons;
  std::size_t more = 0;
  for (const auto& [u, named] : world_.nodes[n].units) {
    const Unit& unit = world_.units[u];
    const WorkloadInfo& workload = world_.workloads[unit.workload];
    if (!workload.usable || workload.spec.deleted) continue;
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const ShardRecord* written = unit.written(slot).first;
      if (!is_held(unit.records[slot], name) && (written == nullptr || !is_held(*written, name))) continue;
      std::string why = why_not_without(unit, slot, together);
      if (why.empty()) continue;
      if (reasons.size() < most) {
        reasons.push_back(std::move(why));
        if (most == 1) return reasons;
      } else {
        ++more;
      }
    }
  }
  if (more > 0) reasons.push_back(fmt::format("and {} more shards", more));
  return reasons;
}

bool Machine::Work::may_stop(std::uint32_t n, std::string& why) const {
  std::vector<std::string> reasons = why_not_stop(n, {world_.nodes[n].name}, 1);
  if (reasons.empty()) return true;
  why = std::move(reasons.front());
  return false;
}

Stoppable Machine::Work::stoppable(const std::vector<NodeId>& nodes) const {
  constexpr std::size_t reasons_max = 10;
  const std::set<NodeId> together(nodes.begin(), nodes.end());
  Stoppable answer;
  for (const NodeId& name : together) {
    Stoppable::Node& one = answer.nodes.emplace_back(Stoppable::Node{name, {}});
    const NodeInfo* node = world_.find_node(name);
    if (!active_) {
      one.why_not.emplace_back("this controller is not the active one");
    } else if (node == nullptr) {
      one.why_not.emplace_back("no node of this name is known");
    } else if (!may_move()) {
      one.why_not.emplace_back(no_permits_now);
    } else {
      one.why_not = why_not_stop(static_cast<std::uint32_t>(node - world_.nodes.data()), together, reasons_max);
    }
    answer.all = answer.all && one.why_not.empty();
  }
  return answer;
}

void Machine::Work::answer_permit(std::uint32_t n) {
  NodeInfo& node = world_.nodes[n];
  PermitDocument next = *node.permit;
  std::string why;
  if (!may_move() && options_.broken != Broken::permit_in_maintenance) {
    next.reason = no_permits_now;
  } else if (next.allow_outage || may_stop(n, why) || options_.broken == Broken::permit_below_min_active) {
    next.stage = PermitStage::granted;
    next.reason.clear();
  } else {
    // What can never be met waits for another copy, unless there is no place for one.
    const bool never = why.find(", and there is no place") != std::string::npos;
    next.stage = never && !planning_ && !world_.plan_due ? PermitStage::refused : PermitStage::asked;
    next.reason = why;
  }
  if (next == *node.permit) return;
  if (!put_until_seen({.kind = Key::Kind::permit, .node = node.name}, next)) return;
  if (next.stage == PermitStage::granted) {
    node.granting = node.facts.stopping = true;
    world_.nodes_touched.insert(n);
    world_.touch_node(n);
    return say(Event::Kind::permit, std::nullopt, node.name, "is being relieved");
  }
  say(Event::Kind::permit, std::nullopt, node.name, fmt::format("may not stop: {}", next.reason));
}

void Machine::Work::look_at_permit(std::uint32_t n) {
  NodeInfo& node = world_.nodes[n];
  const Key key{.kind = Key::Kind::permit, .node = node.name};
  PermitDocument next = *node.permit;
  if (next.stage == PermitStage::refused) return;
  if (next.incarnation != node.facts.incarnation) {
    // It is back; until all is as it was nobody else may rely on it. That may never be, if a replica is given up: then the others wait for its time.
    if (node.facts.joined && is_whole_again(n)) {
      if (put_until_seen(key, Erased{})) say(Event::Kind::permit, std::nullopt, node.name, "is back");
    } else if (is_given(next) && options_.broken != Broken::permit_until_whole) {
      end_permit_in_time(n);
    }
    return;
  }
  if (next.stage == PermitStage::asked) return answer_permit(n);
  if (!node.facts.stopping) {
    node.facts.stopping = true;
    world_.touch_node(n);
  }
  if (next.stage == PermitStage::granted) {
    if (leads_or_is_shown(n) && options_.broken != Broken::go_while_leading) return;
    next.stage = PermitStage::go;
    if (put_until_seen(key, next)) say(Event::Kind::permit, std::nullopt, node.name, "may stop");
    return;
  }
  end_permit_in_time(n);
}

void Machine::Work::end_permit_in_time(std::uint32_t n) {
  NodeInfo& node = world_.nodes[n];
  if (!node.permit_since) {
    node.permit_since = now_;
    waiting_.insert(n);
  }
  const Duration timeout = node.permit->timeout.value_or(world_.config.settings.control.permit);
  const Instant end = later(*node.permit_since, timeout - node.permit_before);
  if (now_ < end || options_.broken == Broken::permit_for_ever) return wake_node(n, end);
  if (!std::exchange(node.permit_over, true)) {
    say(Event::Kind::permit, std::nullopt, node.name, "its time is over");
    world_.nodes_touched.insert(n);
  }
  put_until_seen({.kind = Key::Kind::permit, .node = node.name}, Erased{});
}

void Machine::Work::look_at_permits() {
  for (const std::uint32_t n : std::exchange(permits_due_, {})) {
    if (world_.nodes[n].permit) look_at_permit(n);
  }
  for (const std::uint32_t n : std::exchange(world_.nodes_touched, {})) look_at_node(n);
  // What was put and is not seen is put again.
  for (const auto& [key, put] : puts_) {
    if (std::get<Key::Kind>(key) == Key::Kind::permit) permits_due_.insert(world_.node(std::get<NodeId>(key)));
  }
}

// Whether a record or its view points at it: a leadership that it has, or that clients are sent there. Where an outage is allowed, and nobody else
// could lead, it leads until it stops.
bool Machine::Work::points_at(const NodeInfo& node, const ShardRecord& record, const ShardView& view) const {
  if (record.hand_over && record.hand_over->from == node.name)
    return true;  // the next one gets from it what it had, or it leads on
  const auto own = std::ranges::find(record.holders, node.name, &Holder::node);
  const bool bounded = own != record.holders.end() && !own->may_be.str().empty();
  const bool alone = node.permit->allow_outage && std::ranges::none_of(view.others, [&](const Peer& peer) {
                       const NodeInfo* other = world_.find_node(peer.node);
                       return peer.node != node.name && other != nullptr && other->facts.may_lead;
                     });
  if ((bounded || view.leader == node.name) && !alone) return true;
  return std::ranges::find(view.others, node.name, &Peer::node) != view.others.end();
}

// By what is written, or is being written.
bool Machine::Work::leads_or_is_shown(std::uint32_t n) const {
  const NodeInfo& node = world_.nodes[n];
  for (const auto& [u, named] : node.units) {
    const Unit& unit = world_.units[u];
    if (!world_.workloads[unit.workload].usable) continue;
    if (unit.status == Unit::Status::unread) return true;
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const auto [record, view] = unit.written(slot);
      if (points_at(node, unit.records[slot], unit.views[slot])) return true;
      if (record != nullptr && points_at(node, *record, view != nullptr ? *view : unit.views[slot])) return true;
    }
  }
  return false;
}

// Every replica that it has is in the view.
bool Machine::Work::is_whole_again(std::uint32_t n) const {
  const NodeId& name = world_.nodes[n].name;
  for (const auto& [u, named] : world_.nodes[n].units) {
    const Unit& unit = world_.units[u];
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const auto& holders = unit.records[slot].holders;
      const auto own = std::ranges::find(holders, name, &Holder::node);
      if (own == holders.end() || own->leaving || own->told.str() == state_dropped) continue;
      const ShardView& view = unit.views[slot];
      if (view.leader != name && std::ranges::find(view.others, name, &Peer::node) == view.others.end()) return false;
    }
  }
  return true;
}

// A shard of which it has the only copy that there is.
std::optional<ShardId> Machine::Work::last_copy_on(std::uint32_t n) const {
  const NodeId& name = world_.nodes[n].name;
  for (const auto& [u, named] : world_.nodes[n].units) {
    const Unit& unit = world_.units[u];
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const ShardRecord& record = unit.records[slot];
      const auto own = std::ranges::find(record.holders, name, &Holder::node);
      if (!record.has_data || own == record.holders.end() || !own->arrived || own->told.str() == state_dropped) continue;
      const bool others = std::ranges::any_of(record.holders, [&](const Holder& other) {
        const NodeInfo* node = world_.find_node(other.node);
        const bool going = puts_.contains({Key::Kind::node, other.node, WorkloadId()});  // its tombstone is being written
        const bool lost =
            node != nullptr && (node->facts.removed || going || (node->facts.joined && node->facts.data != other.data));
        return other.node != name && other.arrived && other.told.str() != state_dropped && !lost;
      });
      if (!others) return ShardId{world_.workloads[unit.workload].name, unit.shards[slot]};
    }
  }
  return std::nullopt;
}

// The operator wants it out. Where that is safe a tombstone is written, and from then on its disk counts as gone.
void Machine::Work::try_to_remove(std::uint32_t n) {
  NodeInfo& node = world_.nodes[n];
  if (node.facts.removed) return;
  const auto last = options_.broken == Broken::remove_last_copy ? std::nullopt : last_copy_on(n);
  const bool live = options_.broken != Broken::remove_while_live;
  if (live && node.beat && !node.beat->ended) {
    node.trouble = "is not removed: it is live";
  } else if (detail::is_on_permit(node)) {
    node.trouble = "is not removed: it has leave to be gone";
  } else if (live && !node.facts.over) {
    node.trouble = "is not removed: its session is not over";
  } else if (last) {
    node.trouble = fmt::format("is not removed: it has the last copy of {}", format(*last));
  }
  if (!node.trouble.empty()) return;
  NodeDocument document = node.order;
  document.data = node.facts.data;
  for (const auto& [u, named] : node.units) {
    for (const ShardRecord& record : world_.units[u].records) {
      const auto own = std::ranges::find(record.holders, node.name, &Holder::node);
      if (own != record.holders.end() && document.data->str().empty()) document.data = own->data;
    }
  }
  put_until_seen({.kind = Key::Kind::node, .node = node.name}, std::move(document));
  wake_node(n, now_ + options_.put_again);
}

}  // namespace evenkeel::control
