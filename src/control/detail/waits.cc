// Waits: how long was waited for what, written down now and then so that a successor goes on from there.

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::NodeInfo;
using detail::Unit;

namespace {

// Of each kind that may be many. With names as long as they may be, four kinds of 48 KB leave a quarter of a document for the rest.
constexpr std::size_t kept_max = 1000;
constexpr std::size_t kept_bytes_max = 48 << 10;

std::size_t bytes_of(const Ban& ban) { return ban.shard.workload.str().size() + ban.node.str().size() + 64; }
std::size_t bytes_of(const ShardWait& wait) { return wait.shard.workload.str().size() + 64; }
struct NodeWait {
  NodeId node;
  Duration waited = {};
};
std::size_t bytes_of(const NodeWait& wait) { return wait.node.str().size() + 64; }

auto place_of(const Ban& ban) { return std::tie(ban.shard, ban.node); }
auto place_of(const ShardWait& wait) { return std::tie(wait.shard); }
auto place_of(const NodeWait& wait) { return std::tie(wait.node); }

// Those of one kind that end last, as many as there is room for, in order.
template <class Wait>
void keep_last(std::vector<Wait>& waits) {
  std::ranges::sort(waits, [](const Wait& one, const Wait& other) {
    return std::pair(one.waited, place_of(one)) < std::pair(other.waited, place_of(other));
  });
  std::size_t kept = 0;
  for (std::size_t bytes = 0; kept < std::min(waits.size(), kept_max); ++kept) {
    bytes += bytes_of(waits[kept]);
    if (bytes > kept_bytes_max) break;
  }
  waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(kept), waits.end());
  std::ranges::sort(waits, [](const Wait& one, const Wait& other) { return place_of(one) < place_of(other); });
}

// Past the last delay nothing is decided by it any more: people are told by the minute, so that little is written.
Duration gone_to_save(Duration gone, Duration delay) {
  return gone <= delay ? gone : std::max<Duration>(delay, std::chrono::floor<std::chrono::minutes>(gone));
}

}  // namespace

// A ban that is over is kept while its node still says that it gave up, or a successor would begin it anew.
void Machine::Work::add_bans(WaitsDocument& waits) {
  for (auto at = world_.barring.begin(); at != world_.barring.end();) {
    Unit& unit = world_.units[*at];
    std::erase_if(unit.gave_up, [&](const auto& ban) {
      const auto& [slot, n] = ban.first;
      const auto held = std::ranges::find(unit.reports[slot], n, &detail::HeldReport::node);
      const bool says_so = held != unit.reports[slot].end() && held->report.gave_up;
      return !says_so && now_ >= ban.second.since + detail::failed_for;
    });
    for (const auto& [where, failure] : unit.gave_up)
      waits.bans.push_back({{world_.workloads[unit.workload].name, unit.shards[where.first]},
                            world_.nodes[where.second].name,
                            std::min(now_ - failure.since, detail::failed_for)});
    at = unit.gave_up.empty() ? world_.barring.erase(at) : std::next(at);
  }
  keep_last(waits.bans);
}

void Machine::Work::add_pauses(WaitsDocument& waits) {
  std::erase_if(pausing_, [&](const auto& where) {
    const Unit& unit = world_.units[where.first];
    const auto slot = unit.slot(where.second);
    if (!slot) return true;
    const ShardId shard{world_.workloads[unit.workload].name, where.second};
    bool is_over = true;
    const auto add = [&](const std::optional<Instant>& since, std::vector<ShardWait>& to) {
      if (!since || now_ >= *since + detail::hand_over_pause) return;
      to.push_back({shard, now_ - *since});
      is_over = false;
    };
    add(unit.timers[*slot].given_up, waits.given_up);
    add(unit.timers[*slot].timed_out, waits.timed_out);
    return is_over;
  });
  keep_last(waits.given_up);
  keep_last(waits.timed_out);
}

// Who is suspect has not begun to be steady. If it is this controller that does not hear, nobody is.
void Machine::Work::add_unsteady(WaitsDocument& waits) {
  std::vector<NodeWait> unsteady;
  std::erase_if(unsteady_, [&](std::uint32_t n) {
    const NodeInfo& node = world_.nodes[n];
    if (node.suspected && !world_.distrusts_itself) unsteady.push_back({node.name, Duration{}});
    if (node.steady_since) unsteady.push_back({node.name, now_ - *node.steady_since});
    return !node.suspected && !node.steady_since;
  });
  keep_last(unsteady);
  for (const NodeWait& wait : unsteady) waits.steady.emplace(wait.node, wait.waited);
}

WaitsDocument Machine::Work::waits_now() {
  WaitsDocument waits;
  for (const std::uint32_t n : waiting_) {
    const NodeInfo& node = world_.nodes[n];
    const auto gone = detail::gone_for(node, now_);
    if (gone && !detail::is_on_permit(node))
      waits.gone.emplace(node.name, gone_to_save(*gone, detail::delays_of(world_, node).back()));
    if (node.permit_since) waits.permits.emplace(node.name, node.permit_before + (now_ - *node.permit_since));
  }
  waits.entered = maintenance_.has_value();
  if (maintenance_) waits.maintenance = maintenance_before_ + (now_ - *maintenance_since_);
  // Also once their time is over, or a successor would begin them anew.
  const auto waited = [&](const Hold& hold, const std::optional<Duration>& timeout) {
    return timeout ? std::min(hold.waited(now_), *timeout) : hold.waited(now_);
  };
  if (world_.config.maintenance) waits.maintenance = waited(manual_, world_.config.maintenance->timeout);
  if (world_.config.freeze) waits.freeze = waited(freeze_, world_.config.freeze->timeout);
  add_unsteady(waits);
  add_bans(waits);
  add_pauses(waits);
  waits.measured = loads_believed_ || loads_awaited_;
  waits.epochs_above = epochs_above();
  waits.lost = lost_;
  return waits;
}

// There is something to save, and nothing that is to be known before its time. O(nodes that are waited for).
bool Machine::Work::may_save_later() const {
  if (now_ >= saved_ + options_.waits_saved || waits_.epochs_above != epochs_above() || waits_.lost != lost_) return false;
  if (waiting_.empty()) {
    const bool some = !unsteady_.empty() || !pausing_.empty() || !world_.barring.empty();
    return some && saved_waits_.gone.empty() && saved_waits_.permits.empty() &&
           saved_waits_.entered == maintenance_.has_value() &&
           saved_waits_.freeze.has_value() == world_.config.freeze.has_value();
  }
  return std::ranges::all_of(waiting_, [&](std::uint32_t n) {
    return saved_waits_.gone.contains(world_.nodes[n].name) || saved_waits_.permits.contains(world_.nodes[n].name);
  });
}

// Written down as time that was waited, now and then.
void Machine::Work::save_waits() {
  if (may_save_later()) return wake_at(saved_ + options_.waits_saved);
  WaitsDocument waits = waits_now();
  const bool idle = waits == WaitsDocument{.measured = waits.measured, .epochs_above = waits.epochs_above, .lost = waits.lost};
  const bool unseen = waits_.epochs_above < waits.epochs_above || waits_.lost != waits.lost;
  const bool lost = unseen && now_ >= saved_ + options_.put_again;  // it was put, and is not seen
  if (unseen) wake_at(now_ + options_.put_again);
  if (waits == saved_waits_ && !lost) return idle ? void() : wake_at(std::max(saved_ + options_.waits_saved, now_ + 1s));
  const bool news = waits.epochs_above != saved_waits_.epochs_above || waits.lost != saved_waits_.lost ||
                    waits.measured != saved_waits_.measured || waits.entered != saved_waits_.entered ||
                    waits.gone.size() != saved_waits_.gone.size() || waits.permits.size() != saved_waits_.permits.size() ||
                    waits.freeze.has_value() != saved_waits_.freeze.has_value() ||
                    waits.maintenance.has_value() != saved_waits_.maintenance.has_value();
  if (!idle && !news && !lost && now_ < saved_ + options_.waits_saved) return wake_at(saved_ + options_.waits_saved);
  saved_ = now_;
  saved_waits_ = waits;
  out_.puts.push_back({{.kind = Key::Kind::waits}, std::move(waits)});
  if (!idle) wake_at(saved_ + options_.waits_saved);
}

// What was waited before counts, on this clock from now on.
void Machine::Work::take_up_shard_waits() {
  const auto since = [&](Duration waited, Duration most) { return now_ - std::clamp(waited, Duration{}, most); };
  const auto find = [&](const ShardId& shard) -> std::optional<std::pair<std::uint32_t, std::uint32_t>> {
    const detail::WorkloadInfo* workload = world_.find_workload(shard.workload);
    if (workload == nullptr || workload->units.empty()) return std::nullopt;
    const std::uint32_t u = workload->units[bucket_of(shard, static_cast<std::uint32_t>(workload->units.size())).value()];
    const auto slot = world_.units[u].slot(shard.shard);
    return slot ? std::optional(std::pair(u, *slot)) : std::nullopt;
  };
  for (const Ban& ban : waits_.bans) {
    const auto where = find(ban.shard);
    const NodeInfo* node = world_.find_node(ban.node);
    if (where && node != nullptr)
      world_.bar(where->first, where->second, static_cast<std::uint32_t>(node - world_.nodes.data()),
                 since(ban.waited, detail::failed_for), node->facts.incarnation);
  }
  const auto pause = [&](const std::vector<ShardWait>& waits, std::optional<Instant> detail::ShardTimers::*timer) {
    for (const ShardWait& wait : waits) {
      const auto where = find(wait.shard);
      if (!where) continue;
      world_.units[where->first].timers[where->second].*timer = since(wait.waited, detail::hand_over_pause);
      pausing_.emplace(where->first, wait.shard.shard);
    }
  };
  pause(waits_.given_up, &detail::ShardTimers::given_up);
  pause(waits_.timed_out, &detail::ShardTimers::timed_out);
}

}  // namespace evenkeel::control
