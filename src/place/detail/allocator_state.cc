#include "evenkeel/place/detail/allocator_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "evenkeel/base/text.h"
#include "evenkeel/place/detail/allocator_placing.h"
#include "evenkeel/place/detail/node_rules.h"

namespace evenkeel::place::detail {
namespace {

constexpr std::uint64_t cells_max = 1ull << 27;  // replicas in one problem

tl::unexpected<NotAllocated> no(Code code, std::string detail) {
  return tl::unexpected(NotAllocated{.code = code, .detail = std::move(detail)});
}

bool on_one_of(const Spot& spot, std::span<const Spot> spots) {
  return std::ranges::any_of(spots, [&](const Spot& other) { return other.node == spot.node; });
}

}  // namespace

void SpotTable::widen(std::size_t stride) {
  if (stride <= stride_) return;
  std::vector<Spot> wider(stride * lengths_.size());
  for (std::size_t row = 0; row < lengths_.size(); ++row)
    std::ranges::copy((*this)[row], wider.begin() + static_cast<std::ptrdiff_t>(row * stride));
  spots_ = std::move(wider);
  stride_ = stride;
}

void SpotTable::push_back(std::span<const Spot> row) {
  widen(row.size());
  lengths_.push_back(static_cast<std::uint32_t>(row.size()));
  spots_.insert(spots_.end(), row.begin(), row.end());
  spots_.resize(lengths_.size() * stride_);
}

void SpotTable::set(std::size_t row, std::span<const Spot> spots) {
  widen(spots.size());
  std::ranges::copy(spots, spots_.begin() + static_cast<std::ptrdiff_t>(row * stride_));
  lengths_[row] = static_cast<std::uint32_t>(spots.size());
}

std::span<const std::uint32_t> OwnCores::on(NodeIndex node) const {
  const auto found = cores_by_node_.find(node.value());
  return found != cores_by_node_.end() ? std::span<const std::uint32_t>(found->second) : std::span<const std::uint32_t>();
}

void OwnCores::add(Spot spot, int times) {
  auto& cores = cores_by_node_[spot.node.value()];
  if (cores.size() <= spot.core.value()) cores.resize(spot.core.value() + std::size_t{1});
  cores[spot.core.value()] += static_cast<std::uint32_t>(times);
}

Load Loads::of(const Workload& workload, ShardIndex shard) const {
  const auto own = workload.shard_loads.find(shard);
  if (!own) return load;
  Load found;
  for (std::size_t i = 0; i < own->size(); ++i) {
    if ((*own)[i] != Quantity()) found.emplace_back(columns[i], (*own)[i]);
  }
  return found;
}

AllocatorState::AllocatorState(const Cluster& cluster, AllocatorOptions options)
    : name_(cluster.name),
      state_models_(cluster.state_models),
      recent_(cluster.recent),
      options_(options),
      nodes_(cluster.settings) {
  nodes_.add_all(cluster.nodes);
  take_over(cluster);
  for (const Moving& moving : cluster.moving) take_over_moving(moving);
}

void AllocatorState::take_over(const Cluster& cluster) {
  for (const Workload& workload : cluster.workloads) {
    const auto placed = cluster.placement.find(workload.name);
    arrivals_.emplace(workload.name, ++last_number_);
    if (placed == cluster.placement.end()) {
      unplaced_.emplace(workload.name, workload);
      continue;
    }
    Held& held = held_.emplace(workload.name, Held{workload, numbered(workload), {}, {}}).first->second;
    const auto cores = cluster.cores.find(workload.name);
    OwnCores own;
    for (std::uint32_t shard = 0; shard < placed->second.size(); ++shard) {
      const Load load = held.loads.of(workload, ShardIndex(shard));
      std::vector<Spot> row;
      for (const NodeIndex node : placed->second[shard]) {
        const Core core = cores != cluster.cores.end() ? cores->second[shard][row.size()]
                                                       : nodes_.choose_core(node, workload.system, own.on(node));
        row.push_back({node, core});
        own.add(row.back(), 1);
        nodes_.add_replica(node, core, load, workload.system, 1);
      }
      if (!row.empty()) nodes_.add_leader(row.front().node, held.loads.leader, 1);
      held.rows.push_back(row);
    }
  }
}

void AllocatorState::take_over_moving(const Moving& moving) {
  Held& held = held_.at(moving.workload);
  const auto row = held.rows[moving.shard.value()];
  Pending move{.kind = Pending::Kind::move, .workload = moving.workload, .first = moving.shard};
  if (moving.from) move.leaving.push_back(*std::ranges::find(row, *moving.from, &Spot::node));
  if (moving.to) {
    OwnCores& own = own_cores(held);
    const Core core = nodes_.choose_core(*moving.to, held.spec.system, own.on(*moving.to));
    move.coming.push_back({*moving.to, core});
    own.add(move.coming.back(), 1);
    add_replica(move.coming.back(), held.loads.of(held.spec, moving.shard), held.spec.system, 1);
  }
  const auto next = next_row(row, move);
  if (moving.from && row.front().node == *moving.from && !next.empty()) {
    move.old_leader = *moving.from;
    move.new_leader = next.front().node;
    add_leader(*move.new_leader, held.loads.leader, 1);
  }
  touched_.clear();  // there are no views yet
  moving_.push_back(add_pending(std::move(move)));
}

Loads AllocatorState::numbered(const Workload& workload) {
  Loads loads{nodes_.numbered(workload.load), nodes_.numbered(workload.leader_load), {}};
  for (const ResourceId& resource : workload.shard_loads.resources)
    loads.columns.push_back(nodes_.numbered({{resource, Quantity(1)}}).front().first);
  return loads;
}

// A workload without a common load is ranked by the first of its shards' loads, else by what leading takes.
View& AllocatorState::view_for(const Workload& workload, const Loads& loads) {
  Load load = loads.load;
  if (load.empty() && !workload.shard_loads.empty()) load = loads.of(workload, workload.shard_loads.shards.front());
  Kind kind = kind_of(workload, load.empty() ? loads.leader : load);
  const auto found = std::ranges::find(views_, kind, &View::kind);
  if (found != views_.end()) {
    views_.splice(views_.begin(), views_, found);
    return views_.front();
  }
  if (views_.size() >= views_max) views_.pop_back();
  views_.emplace_front(nodes_, std::move(kind), workload);
  return views_.front();
}

void AllocatorState::add_replica(Spot spot, const Load& load, bool system, int times) {
  nodes_.add_replica(spot.node, spot.core, load, system, times);
  touched_.push_back(spot.node);
}

void AllocatorState::add_leader(NodeIndex node, const Load& leader_load, int times) {
  nodes_.add_leader(node, leader_load, times);
  touched_.push_back(node);
}

void AllocatorState::take_row(const Workload& spec, const Loads& loads, ShardIndex shard, std::span<const Spot> row, int times) {
  const Load load = loads.of(spec, shard);
  for (const Spot& spot : row) add_replica(spot, load, spec.system, times);
  if (!row.empty()) add_leader(row.front().node, loads.leader, times);
}

void AllocatorState::follow() {
  std::ranges::sort(touched_);
  const auto repeated = std::ranges::unique(touched_);
  touched_.erase(repeated.begin(), repeated.end());
  for (View& view : views_) {
    for (const NodeIndex node : touched_) view.refresh(node);
  }
  touched_.clear();
}

OwnCores& AllocatorState::own_cores(Held& held) {
  if (!held.own) {
    held.own.emplace();
    for (std::size_t shard = 0; shard < held.rows.size(); ++shard) {
      for (const Spot& spot : held.rows[shard]) held.own->add(spot, 1);
    }
  }
  return *held.own;
}

std::optional<NotAllocated> AllocatorState::why_invalid(const Workload& request) const {
  if (held_.contains(request.name) || is_pending(request.name, Pending::Kind::allocate))
    return NotAllocated{.code = Code::conflict,
                        .detail = fmt::format("a workload {} is there already", quote(request.name.str()))};
  if (!request.pinned.shards.empty())
    return NotAllocated{.code = Code::invalid, .detail = "an allocator places freely: pins are for plans"};
  // Relations are soft and not looked at here, so what they name need not be there.
  Cluster alone{
      .name = ClusterId("request"), .settings = nodes_.settings(), .state_models = state_models_, .workloads = {request}};
  alone.workloads.front().apart_from.clear();
  alone.workloads.front().close_to.clear();
  for (const evenkeel::Problem& problem : check(alone, 1))
    return NotAllocated{.code = Code::invalid, .detail = fmt::format("{}: {}", fmt::join(problem.path, "."), problem.message)};
  return std::nullopt;
}

AllocatorState::Answer AllocatorState::allocate(Workload request) {
  if (auto invalid = why_invalid(request)) return tl::unexpected(*std::move(invalid));
  Pending pending{.kind = Pending::Kind::allocate, .workload = request.name};
  const std::uint32_t shards = request.shards;
  pending.made.loads = numbered(request);
  pending.made.spec = std::move(request);
  OwnCores own;
  return place(std::move(pending), shards, own);
}

AllocatorState::Answer AllocatorState::grow(const WorkloadId& workload, std::uint32_t shards) {
  const auto found = held_.find(workload);
  if (found == held_.end()) return no(Code::not_found, fmt::format("there is no workload {}", quote(workload.str())));
  Held& held = found->second;
  const auto now = static_cast<std::uint32_t>(held.rows.size());
  if (is_pending(workload, Pending::Kind::grow, ShardIndex(now)))
    return no(Code::conflict, fmt::format("{} is growing already", workload));
  if (shards > shards_max - now) return no(Code::invalid, fmt::format("{} shards more are too many", shards));
  Pending pending{.kind = Pending::Kind::grow, .workload = workload, .first = ShardIndex(now)};
  pending.made.spec = held.spec;
  pending.made.loads = held.loads;
  return place(std::move(pending), shards, own_cores(held));
}

AllocatorState::Answer AllocatorState::place(Pending pending, std::uint32_t shards, OwnCores& own) {
  Held& made = pending.made;
  if (shards > 0 && (made.spec.replicas > cells_max || std::uint64_t{shards} * made.spec.replicas > cells_max)) {
    return tl::unexpected(NotAllocated{.code = Code::too_large,
                                       .reason = RefusalReason::too_large,
                                       .detail = fmt::format("{} shards of {} replicas; at most {} replicas fit in one request",
                                                             shards, made.spec.replicas, cells_max)});
  }
  {
    Placing placing(*this, made.spec, made.loads, own);
    if (auto refused = placing.place(pending.first, shards, made.rows)) return tl::unexpected(*std::move(refused));
  }
  return *reserved(add_pending(std::move(pending)));
}

std::optional<Reserved> AllocatorState::reserved(std::uint64_t number) const {
  const auto found = pending_.find(number);
  if (found == pending_.end()) return std::nullopt;
  const Pending& pending = found->second;
  Reserved reserved{.number = number, .first = pending.first};
  if (pending.kind == Pending::Kind::move) {
    reserved.rows.push_back(next_row(held_.at(pending.workload).rows[pending.first.value()], pending));
    return reserved;
  }
  const SpotTable& rows = pending.made.rows;
  reserved.rows.reserve(rows.size(), rows.size() * pending.made.spec.replicas);
  for (std::size_t i = 0; i < rows.size(); ++i) reserved.rows.push_back(rows[i]);
  return reserved;
}

AllocatorState::Answer AllocatorState::reallocate(const ShardId& shard, std::span<const NodeId> leaving) {
  const auto found = held_.find(shard.workload);
  if (found == held_.end() || shard.shard.value() >= found->second.rows.size())
    return no(Code::not_found, fmt::format("there is no shard {}", format(shard)));
  Held& held = found->second;
  const auto row = held.rows[shard.shard.value()];
  if (is_pending(shard.workload, Pending::Kind::move, shard.shard))
    return no(Code::conflict, fmt::format("{} is being moved already", format(shard)));
  Pending move{.kind = Pending::Kind::move, .workload = shard.workload, .first = shard.shard};
  Placing::More more{.shard = shard.shard};
  for (const NodeId& name : leaving) {
    const auto index = nodes_.find(name);
    const auto spot = index ? std::ranges::find(row, *index, &Spot::node) : row.end();
    if (spot == row.end()) return no(Code::not_found, fmt::format("{} has no replica on {}", format(shard), name));
    if (!on_one_of(*spot, move.leaving)) move.leaving.push_back(*spot);
  }
  if (move.leaving.empty()) return no(Code::invalid, "no replica is to leave");
  for (const Spot& spot : move.leaving) more.leaving.push_back(spot.node);
  for (const Spot& spot : row) {
    if (!on_one_of(spot, move.leaving)) more.kept.push_back(spot.node);
  }
  more.replicas = static_cast<std::uint32_t>(move.leaving.size());
  std::optional<NodeIndex> heir;  // the replica that stays and leads from now on
  if (on_one_of(row.front(), move.leaving)) {
    for (const NodeIndex node : more.kept) {
      const NodeState& state = nodes_[node];
      if (!may_lead(state.node) || !takes(state.node.status) || !nodes_.fits_on_top(node, {}, held.loads.leader)) continue;
      if (!heir || std::pair(state.leaders, state.node.name) < std::pair(nodes_[*heir].leaders, nodes_[*heir].node.name))
        heir = node;
    }
    more.leader = !heir;
  }
  {
    Placing placing(*this, held.spec, held.loads, own_cores(held));
    auto spots = placing.place_more(more);
    if (!spots) return tl::unexpected(std::move(spots.error()));
    move.coming = *std::move(spots);
    if (heir) add_leader(*heir, held.loads.leader, 1);
  }
  if (on_one_of(row.front(), move.leaving)) {
    move.old_leader = row.front().node;
    move.new_leader = heir.value_or(move.coming.front().node);
  }
  return *reserved(add_pending(std::move(move)));
}

// Who comes takes the places of those who leave; then the leader goes to the front.
std::vector<Spot> AllocatorState::next_row(std::span<const Spot> row, const Pending& move) const {
  std::vector<Spot> next;
  std::size_t came = 0;
  for (const Spot& spot : row) {
    if (!on_one_of(spot, move.leaving)) {
      next.push_back(spot);
    } else if (came < move.coming.size()) {
      next.push_back(move.coming[came++]);
    }
  }
  for (; came < move.coming.size(); ++came) next.push_back(move.coming[came]);
  if (move.new_leader) {
    const auto leader = std::ranges::find(next, *move.new_leader, &Spot::node);
    if (leader != next.end()) std::rotate(next.begin(), leader, leader + 1);
  }
  return next;
}

Result<> AllocatorState::commit(std::uint64_t number) {
  const auto found = pending_.find(number);
  if (found == pending_.end()) return fail(Code::conflict, "it was released meanwhile");
  Pending pending = take_pending(found);
  if (pending.kind == Pending::Kind::move) {
    finish_move(pending);
  } else if (pending.kind == Pending::Kind::allocate) {
    unplaced_.erase(pending.workload);
    arrivals_.emplace(pending.workload, ++last_number_);
    held_.emplace(pending.workload, std::move(pending.made));
  } else {
    Held& held = held_.at(pending.workload);
    for (std::size_t i = 0; i < pending.made.rows.size(); ++i) held.rows.push_back(pending.made.rows[i]);
    held.spec.shards = std::max(held.spec.shards, static_cast<std::uint32_t>(held.rows.size()));
  }
  return {};
}

void AllocatorState::finish_move(const Pending& move) {
  Held& held = held_.at(move.workload);
  end_side(held, move.first, move.leaving, move.old_leader);
  held.rows.set(move.first.value(), next_row(held.rows[move.first.value()], move));
  follow();
}

void AllocatorState::end_side(Held& held, ShardIndex shard, std::span<const Spot> spots, std::optional<NodeIndex> leader) {
  const Load load = held.loads.of(held.spec, shard);
  for (const Spot& spot : spots) {
    add_replica(spot, load, held.spec.system, -1);
    own_cores(held).add(spot, -1);
  }
  if (leader) add_leader(*leader, held.loads.leader, -1);
}

void AllocatorState::undo(std::uint64_t number) {
  const auto found = pending_.find(number);
  if (found == pending_.end()) return;
  const Pending pending = take_pending(found);
  if (pending.kind == Pending::Kind::move) {
    end_side(held_.at(pending.workload), pending.first, pending.coming, pending.new_leader);
  } else {
    const Held& made = pending.made;
    OwnCores* own = pending.kind == Pending::Kind::grow ? &own_cores(held_.at(pending.workload)) : nullptr;
    for (std::uint32_t i = 0; i < made.rows.size(); ++i) {
      take_row(made.spec, made.loads, ShardIndex(pending.first.value() + i), made.rows[i], -1);
      if (own == nullptr) continue;
      for (const Spot& spot : made.rows[i]) own->add(spot, -1);
    }
  }
  follow();
}

std::uint64_t AllocatorState::add_pending(Pending pending) {
  pending_of_.emplace(pending.workload, pending.kind, pending.first, ++last_number_);
  pending_.emplace(last_number_, std::move(pending));
  return last_number_;
}

Pending AllocatorState::take_pending(std::map<std::uint64_t, Pending>::iterator found) {
  Pending pending = std::move(found->second);
  pending_of_.erase({pending.workload, pending.kind, pending.first, found->first});
  pending_.erase(found);
  return pending;
}

bool AllocatorState::is_pending(const WorkloadId& workload, Pending::Kind kind, ShardIndex shard) const {
  const auto found = pending_of_.lower_bound({workload, kind, shard, 0});
  return found != pending_of_.end() && std::get<0>(*found) == workload && std::get<1>(*found) == kind &&
         std::get<2>(*found) == shard;
}

void AllocatorState::end_pendings(const WorkloadId& workload, std::optional<ShardIndex> shard) {
  std::vector<std::uint64_t> numbers;
  for (auto it = pending_of_.lower_bound({workload, Pending::Kind::grow, ShardIndex(0), 0}); it != pending_of_.end(); ++it) {
    const auto& [of, kind, first, number] = *it;
    if (of != workload) break;
    if (!shard || (kind == Pending::Kind::move && first == *shard)) numbers.push_back(number);
  }
  for (const std::uint64_t number : numbers) undo(number);
}

Result<> AllocatorState::release(const WorkloadId& workload) {
  const auto found = held_.find(workload);
  if (found == held_.end()) return fail(Code::not_found, "there is no workload {}", quote(workload.str()));
  end_pendings(workload, std::nullopt);
  const Held& held = found->second;
  for (std::uint32_t i = 0; i < held.rows.size(); ++i) take_row(held.spec, held.loads, ShardIndex(i), held.rows[i], -1);
  arrivals_.erase(workload);
  held_.erase(found);
  follow();
  return {};
}

Result<> AllocatorState::release(const ShardId& shard) {
  const auto found = held_.find(shard.workload);
  if (found == held_.end() || shard.shard.value() >= found->second.rows.size())
    return fail(Code::not_found, "there is no shard {}", format(shard));
  end_pendings(shard.workload, shard.shard);
  Held& held = found->second;
  const auto row = held.rows[shard.shard.value()];
  take_row(held.spec, held.loads, shard.shard, row, -1);
  for (const Spot& spot : row) {
    if (held.own) held.own->add(spot, -1);
  }
  held.rows.set(shard.shard.value(), {});
  follow();
  return {};
}

}  // namespace evenkeel::place::detail
