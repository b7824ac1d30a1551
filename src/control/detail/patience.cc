// Time: who is gone and for how long, who is suspect, when it is better to keep still.
//
// Nodes are looked at one by one, when something about them has changed or is due; what depends on all of them is counted as they change.

#include <algorithm>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::NodeInfo;

void Machine::Work::take(Pulsed pulsed) {
  // Of a name that no document has named nothing is kept.
  if (!active_ || world_.find_node(pulsed.pulse.node) == nullptr) return;
  const std::uint32_t n = world_.node(pulsed.pulse.node);
  NodeInfo& node = world_.nodes[n];
  // By what was seen last: it may have come together with this.
  if (pulsed.pulse.incarnation != (node.beat ? node.beat->incarnation : node.facts.incarnation)) {
    if (node.facts.joined && std::exchange(node.twin, pulsed.pulse.incarnation) != pulsed.pulse.incarnation)
      say(Event::Kind::node, std::nullopt, node.name,
          fmt::format("another process calls itself so, as {}: only {} counts", pulsed.pulse.incarnation,
                      node.facts.incarnation));
    return;
  }
  const bool is_first = node.pulse_every == Duration{} || node.pulse_incarnation != pulsed.pulse.incarnation;
  if (!is_first && pulsed.pulse.count <= node.pulse_count && !node.pulse_broken) return;
  if (is_first || node.suspected || node.pulse_broken) world_.nodes_touched.insert(n);
  node.pulse_incarnation = pulsed.pulse.incarnation;
  node.pulse_count = pulsed.pulse.count;
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
    if (take_load(u, *slot, n, replica.load)) measure(u, *slot);
    detail::PulsedProgress& known = unit.progress[n * static_cast<std::uint32_t>(unit.shards.size()) + *slot];
    const detail::PulsedProgress now{pulsed.pulse.incarnation, {replica.last, replica.progress}};
    if (known == now) continue;
    known = now;
    if (progress_matters(unit, *slot, node.name)) world_.touch(u, *slot);
  }
}

// Only who may lead next, or helps somebody to leave, changes anything by what it has.
bool Machine::Work::progress_matters(const detail::Unit& unit, std::uint32_t slot, const NodeId& of) const {
  const ShardRecord& record = unit.records[slot];
  if (record.hand_over || record.split || record.rebuilt || unit.orders.contains(unit.shards[slot])) return true;
  if (detail::is_unsplit(world_.workloads[unit.workload].spec, record)) return true;  // it waits for those that are near
  // The preferred one, unless it leads already.
  if (!record.placement.empty() && record.placement.front() == of && unit.views[slot].leader != of) return true;
  return std::ranges::any_of(record.holders, [&](const Holder& holder) {
    const NodeInfo* node = holder.may_be.str().empty() ? nullptr : world_.find_node(holder.node);
    return holder.leaving || (node != nullptr && (!node->facts.may_lead || node->facts.stopping));
  });
}

void Machine::Work::take(PulseBroken broken) {
  if (world_.find_node(broken.node) == nullptr) return;
  const std::uint32_t n = world_.node(broken.node);
  NodeInfo& node = world_.nodes[n];
  if (node.pulse_every == Duration{}) return;
  node.pulse_broken = true;
  world_.nodes_touched.insert(n);
}

void Machine::Work::wake_node(std::uint32_t n, Instant at) {
  NodeInfo& node = world_.nodes[n];
  if (at >= node.wake) return;
  node.wake = at;
  node_wakes_.emplace(at, n);
}

void Machine::Work::look_around() {
  while (!node_wakes_.empty() && node_wakes_.begin()->first <= now_) {
    const auto [at, n] = *node_wakes_.begin();
    node_wakes_.erase(node_wakes_.begin());
    if (at != world_.nodes[n].wake) continue;
    world_.nodes[n].wake = Instant::max();
    world_.nodes_touched.insert(n);
  }
  // All are counted before any suspicion is acted on.
  for (const std::uint32_t n : world_.nodes_touched) look_at_pulse(n);
  weigh_suspects();
  for (const std::uint32_t n : std::exchange(world_.nodes_touched, {})) look_at_node(n);
  look_at_maintenance();
  look_at_permits();
  look_at_loads();
  save_waits();
  if (!node_wakes_.empty()) wake_at(node_wakes_.begin()->first);
}

// Suspect is only who has pulsed to this controller, in its present session.
void Machine::Work::look_at_pulse(std::uint32_t n) {
  NodeInfo& node = world_.nodes[n];
  const bool there = node.beat && !node.beat->ended && node.pulse_incarnation == node.beat->incarnation;
  if (node.pulse_every > Duration{} && !there) node.pulse_every = {};
  const bool pulses = node.pulse_every > Duration{};
  const Instant end = node.pulsed + node.pulse_every * options_.pulses_missed;
  const bool suspected = pulses && (node.pulse_broken || now_ >= end);
  if (pulses) {
    pulsing_.insert(n);
    if (!suspected) wake_node(n, end);
  } else {
    pulsing_.erase(n);
  }
  if (suspected == node.suspected) return;
  node.suspected = suspected;
  if (suspected) {
    suspects_.insert(n);
    unsteady_.insert(n);
    turned_suspect_.push_back(now_);
    node.steady_since.reset();
  } else {
    suspects_.erase(n);
    // If it was this controller that did not hear, nobody was unsteady.
    if (pulses && !world_.distrusts_itself) node.steady_since = now_;
  }
  if (suspected || pulses) say(Event::Kind::node, std::nullopt, node.name, suspected ? "is suspect" : "is heard of again");
}

// If many are not heard of at once, it is this controller that does not hear.
void Machine::Work::weigh_suspects() {
  const Duration ttl = world_.config.settings.control.session_ttl;
  std::erase_if(turned_suspect_, [&](Instant at) { return at + ttl <= now_; });
  const std::size_t most = std::max(std::size_t{1}, pulsing_.size() / 10);
  const bool distrusts = turned_suspect_.size() > most || (world_.distrusts_itself && suspects_.size() > most);
  if (distrusts == world_.distrusts_itself || options_.broken == Broken::believe_all_suspects) return;
  world_.distrusts_itself = distrusts;
  world_.nodes_touched.insert(suspects_.begin(), suspects_.end());
  if (!distrusts) hear_the_rest_out();
  say(Event::Kind::node, std::nullopt, std::nullopt,
      distrusts ? "too many are suspect at once: only sessions count" : "who is suspect counts again");
}

// Pulses come again. Those of the nodes that are still missed may be on their way: they have as much time for it as any.
void Machine::Work::hear_the_rest_out() {
  for (const std::uint32_t n : std::exchange(suspects_, {})) {
    NodeInfo& node = world_.nodes[n];
    node.suspected = node.pulse_broken = false;
    node.pulsed = now_;
    wake_node(n, now_ + node.pulse_every * options_.pulses_missed);
  }
}

void Machine::Work::look_at_node(std::uint32_t n) {
  NodeInfo& node = world_.nodes[n];
  const ControlSettings& settings = world_.config.settings.control;
  if (node.steady_since && now_ >= *node.steady_since + settings.steady) node.steady_since.reset();
  if (node.steady_since) wake_node(n, *node.steady_since + settings.steady);
  const std::string trouble = node.trouble;
  if (world_.refresh(n, now_)) {
    world_.touch_node(n);
    touch_loads(n);
    for (const auto& [u, named] : node.units) count_copies(u);
    world_.plan_due = true;
    permits_due_ = permits_;
  }
  if (node.facts.unknown && !node.facts.over && node.beatless_since && !node.units.empty())
    wake_node(n, *node.beatless_since + settings.session_ttl + settings.session_ttl / 50);
  if (node.order.operation == Operation::swap && detail::swaps_with(world_, node) == nullptr && node.order.swap_with)
    node.trouble = fmt::format("waits for {} to take its place, which is not there", *node.order.swap_with);
  if (node.order.operation == Operation::remove && !node.order.data) try_to_remove(n);
  if (!node.trouble.empty() && node.trouble != trouble) say(Event::Kind::node, std::nullopt, node.name, node.trouble);
  if (node.permit) permits_due_.insert(n);
  // What nobody asks for is not kept: nodes come and go for ever, under ever new names.
  if (node.remembered && node.facts.over && node.units.empty()) {
    put_until_seen({.kind = Key::Kind::member, .node = node.name}, Erased{});
    wake_node(n, now_ + options_.put_again);
  }
  count_node(n);
  const auto gone = detail::gone_for(node, now_);
  if ((gone && !node.units.empty() && !node.facts.removed) || node.permit_since) {
    waiting_.insert(n);
  } else {
    waiting_.erase(n);
  }
  if (!gone || node.facts.removed || detail::is_on_permit(node)) return;
  wait_for(n, *gone);
}

// Each workload has its own patience.
void Machine::Work::wait_for(std::uint32_t n, Duration gone) {
  NodeInfo& node = world_.nodes[n];
  const std::vector<Duration> delays = detail::delays_of(world_, node);
  const auto next = std::ranges::upper_bound(delays, gone);
  if (next != delays.end()) wake_node(n, now_ + (*next - gone));
  const auto over = next == delays.begin() ? std::nullopt : std::optional(*std::prev(next));
  if (std::exchange(node.waited_out, over) == over || !over) return;
  world_.plan_due = true;
  if (node.units.empty()) return;
  say(Event::Kind::node, std::nullopt, node.name,
      next == delays.end() ? "is not waited for any longer" : "is not waited for any longer by some workloads");
}

// Those that hold something count; who may be gone does not count as gone.
void Machine::Work::count_node(std::uint32_t n) {
  NodeInfo& node = world_.nodes[n];
  const bool forgotten = node.order.operation == Operation::forget && !node.facts.joined;
  const bool counted = !node.facts.removed && !forgotten && !node.units.empty();
  const bool gone = counted && (!node.facts.joined || node.facts.suspect) && !detail::is_on_permit(node);
  const std::string zone = node.live ? node.live->zone.substr(0, node.live->zone.find('/')) : node.last_zone;
  if (counted == node.counted && gone == node.counted_gone && zone == node.counted_zone) return;
  counts_changed_ = true;
  if (node.counted) {
    Zone& before = zones_[node.counted_zone];
    --before.all;
    before.gone -= node.counted_gone ? 1 : 0;
    --held_;
    if (before.all == 0) zones_.erase(node.counted_zone);
  }
  if (counted) {
    Zone& now = zones_[zone];
    ++now.all;
    now.gone += gone ? 1 : 0;
    ++held_;
  }
  node.counted = counted;
  node.counted_gone = gone;
  node.counted_zone = zone;
}

// A whole zone that is gone counts as one, and so does a node.
std::uint32_t Machine::Work::count_offline() const {
  std::uint32_t offline = 0;
  // The only zone that there is does not count as one: then a loss of all would count less than a loss of some.
  for (const auto& [name, zone] : zones_) {
    const bool whole = !name.empty() && zone.gone == zone.all && zone.all > 1 && zones_.size() > 1;
    offline += whole ? 1 : zone.gone;
  }
  return offline;
}

void Machine::Work::enter_or_leave() {
  const ControlSettings& settings = world_.config.settings.control;
  const std::uint32_t most = settings.max_offline.value_or(std::max(1u, held_ / 10));
  const std::uint32_t few = settings.resume_offline.value_or(most / 2);
  const std::uint32_t offline = count_offline();
  if (!maintenance_ && offline > most) {
    maintenance_ = fmt::format("{} nodes are gone, and {} may be", offline, most);
    maintenance_since_ = now_;
    maintenance_before_ = {};
    say(Event::Kind::maintenance, std::nullopt, std::nullopt, fmt::format("begins: {}", *maintenance_));
  } else if (maintenance_ && offline <= few && options_.broken != Broken::stay_in_maintenance) {
    maintenance_.reset();
    world_.plan_due = true;
    world_.touch_all();
    permits_due_ = permits_;
    say(Event::Kind::maintenance, std::nullopt, std::nullopt, "ends");
  }
}

void Machine::Work::look_at_maintenance() {
  if (options_.broken == Broken::no_maintenance) return;
  if (std::exchange(counts_changed_, false)) enter_or_leave();
  const auto& [by_hand, freeze] = std::tie(world_.config.maintenance, world_.config.freeze);
  if (by_hand) look_at_hold(manual_, by_hand->timeout, "maintenance");
  if (freeze) look_at_hold(freeze_, freeze->timeout, "freeze");
  // What was planned and has not begun is planned again when something may move, as things are then.
  if (std::exchange(could_move_, may_move()) && !may_move()) {
    world_.want_nothing();
    world_.plan_due = true;
    plan_outdated_ = planning_;
  }
}

void Machine::Work::look_at_hold(Hold& hold, const std::optional<Duration>& timeout, std::string_view what) {
  if (!hold.since) hold.since = now_;
  if (!timeout || hold.over) return;
  const Instant end = later(*hold.since, *timeout - hold.before);
  if (now_ < end) return wake_at(end);
  hold.over = true;
  world_.touch_all();
  world_.plan_due = true;
  permits_due_ = permits_;
  say(Event::Kind::maintenance, std::nullopt, std::nullopt, fmt::format("the time of the {} is over", what));
}

}  // namespace evenkeel::control
