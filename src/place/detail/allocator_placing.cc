#include "evenkeel/place/detail/allocator_placing.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "evenkeel/base/hash.h"
#include "evenkeel/place/detail/deal.h"
#include "evenkeel/place/detail/node_rules.h"

namespace evenkeel::place::detail {
namespace {

bool has(std::span<const NodeIndex> nodes, NodeIndex node) { return std::ranges::find(nodes, node) != nodes.end(); }

}  // namespace

Placing::Placing(AllocatorState& state, const Workload& spec, const Loads& loads, OwnCores& own)
    : state_(state),
      nodes_(state.nodes_),
      spec_(spec),
      loads_(loads),
      own_(own),
      spread_(spread_of(nodes_.settings(), spec)),
      depth_(depth_of(nodes_.settings(), spread_.level).value_or(1)),
      view_(state.view_for(spec, loads)),
      domains_(view_.domains(depth_)),
      dice_(hash64(spec.name.str(), state.options_.seed)),
      alike_(spec.shard_loads.empty()),
      load_(loads.load) {}

Placing::~Placing() {
  view_.end();
  for (const std::uint32_t leaf : full_) view_.unblock(leaf);
  state_.follow();
}

std::optional<NotAllocated> Placing::place(ShardIndex first, std::uint32_t shards, SpotTable& rows) {
  // A request that is larger than the cluster is looked at as a whole first: it may be a billion shards.
  const bool large = std::uint64_t{shards} * spec_.replicas >= view_.size();
  if (shards == 0) return std::nullopt;
  if (large) {
    if (auto no = why_impossible(shards, spec_.replicas, nullptr)) return no;
  }
  std::vector<std::uint32_t> order(shards);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t i = 0; i < shards; ++i) rows.push_back({});
  view_.begin({shards, spec_.replicas, depth_, spread_.hard}, dice_);
  if (place_in_order(first, order, rows)) return std::nullopt;
  if (!large) {
    if (auto no = why_impossible(shards, spec_.replicas, nullptr)) return no;
  }
  if (alike_ && loads_.leader.empty()) {
    ensure(place_dealt(first, shards, rows), "alike replicas are dealt if there is room");
    return std::nullopt;
  }
  if (!alike_ && place_in_order(first, by_falling_load(first, shards), rows)) return std::nullopt;
  return refusal(RefusalReason::capacity, fmt::format("no room found for {} shards of {} replicas", shards, spec_.replicas),
                 false, nullptr);
}

bool Placing::place_in_order(ShardIndex first, std::span<const std::uint32_t> order, SpotTable& rows) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ShardIndex shard(first.value() + order[i]);
    if (!alike_) load_ = loads_.of(spec_, shard);
    view_.next_shard(order.size() - i);
    const auto row = pick_row(shard);
    if (!row) {
      give_back(first, order.first(i), rows);
      return false;
    }
    rows.set(order[i], settle(*row, true));
  }
  return true;
}

// Those of the largest load first, by the part that it takes of a mean node: what is small finds room later too.
std::vector<std::uint32_t> Placing::by_falling_load(ShardIndex first, std::uint32_t shards) const {
  std::vector<std::pair<double, std::uint32_t>> sizes;
  for (std::uint32_t i = 0; i < shards; ++i) {
    double most = 0;
    for (const auto& [resource, amount] : loads_.of(spec_, ShardIndex(first.value() + i))) {
      if (view_.size() == 0) break;
      const auto& capacity = nodes_[view_.node(0)].capacity[resource];
      if (capacity && *capacity > Quantity()) most = std::max(most, amount.to_double() / capacity->to_double());
    }
    sizes.emplace_back(-most, i);
  }
  std::ranges::sort(sizes);
  std::vector<std::uint32_t> order;
  for (const auto& [size, i] : sizes) order.push_back(i);
  return order;
}

// The first try does not look at who may lead, since mostly somebody of the row may.
std::optional<Placing::Leaves> Placing::pick_row(ShardIndex shard) {
  const std::uint64_t dice = mix64(dice_, shard.value());
  for (const Lead lead : {Lead::anyone, Lead::who_may, Lead::who_can}) {
    auto row = pick(spec_.replicas, {}, dice, lead);
    if (!row && lead == Lead::anyone) return std::nullopt;
    if (!row) continue;
    if (leader_first(*row, lead == Lead::who_can ? lead : Lead::who_may, dice)) return row;
    for (const std::uint32_t leaf : *row) view_.unblock(leaf);
  }
  return std::nullopt;
}

// So many nodes, each in a domain that has fewest of the shard. `domains` are those of replicas that stay. What is picked stays blocked.
std::optional<Placing::Leaves> Placing::pick(std::uint32_t replicas, Leaves domains, std::uint64_t dice, Lead lead) {
  Leaves row;
  std::uint32_t most = 1;
  while (row.size() < replicas) {
    const auto without = crowded(domains, most);
    const auto leaf = pick_one(without, mix64(dice, row.size()), row.empty() ? lead : Lead::anyone);
    if (leaf) {
      row.push_back(*leaf);
      domains.push_back(domains_.of[*leaf]);
      view_.block(*leaf);
    } else if (spread_.hard || without.empty()) {
      for (const std::uint32_t picked : row) view_.unblock(picked);
      return std::nullopt;
    } else {
      ++most;
    }
  }
  return row;
}

std::optional<std::uint32_t> Placing::pick_one(std::span<const Range> without, std::uint64_t dice, Lead lead) {
  std::vector<std::uint32_t> passed;
  std::optional<std::uint32_t> leaf;
  while ((leaf = view_.least(without, dice))) {
    const NodeIndex node = view_.node(*leaf);
    const bool fits = nodes_.fits(node, load_, spec_.system);
    if (fits && can_lead(node, lead)) break;
    view_.block(*leaf);
    (alike_ && !fits ? full_ : passed).push_back(*leaf);
  }
  for (const std::uint32_t one : passed) view_.unblock(one);
  return leaf;
}

bool Placing::can_lead(NodeIndex node, Lead lead) const {
  if (lead == Lead::anyone) return true;
  return (lead == Lead::who_can || may_lead(nodes_[node].node)) && nodes_.fits_on_top(node, load_, loads_.leader);
}

// Leaders level: the fewest of this request for the node's share, then the fewest of all. False: none of the row can.
bool Placing::leader_first(Leaves& row, Lead lead, std::uint64_t dice) const {
  const auto rank = [&](std::uint32_t leaf) {
    const double share = std::max(view_.share(leaf), 1e-300);
    return std::tuple((view_.own_leaders(leaf) + 1) / share, static_cast<double>(nodes_[view_.node(leaf)].leaders + 1) / share,
                      mix64(dice, leaf));
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (can_lead(view_.node(row[i]), lead) && (!best || rank(row[i]) < rank(row[*best]))) best = i;
  }
  if (best)
    std::rotate(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(*best),
                row.begin() + static_cast<std::ptrdiff_t>(*best) + 1);
  return best.has_value();
}

// The ranges of the domains that hold so many or more. Domains are numbered in the order of leaves.
std::vector<Range> Placing::crowded(Leaves domains, std::uint32_t most) const {
  std::ranges::sort(domains);
  std::vector<Range> ranges;
  for (std::size_t i = 0, end = 0; i < domains.size(); i = end) {
    while (end < domains.size() && domains[end] == domains[i]) ++end;
    if (end - i >= most && domains[i] < domains_.ranges.size()) ranges.push_back(domains_.ranges[domains[i]]);
  }
  return ranges;
}

std::vector<Spot> Placing::settle(const Leaves& row, bool leader) {
  std::vector<Spot> spots;
  for (const std::uint32_t leaf : row) {
    const NodeIndex node = view_.node(leaf);
    const Spot spot{node, nodes_.choose_core(node, spec_.system, own_.on(node))};
    state_.add_replica(spot, load_, spec_.system, 1);
    own_.add(spot, 1);
    spots.push_back(spot);
  }
  if (leader) {
    state_.add_leader(spots.front().node, loads_.leader, 1);
    view_.leads(row.front());
  }
  for (const std::uint32_t leaf : row) view_.took(leaf);
  return spots;
}

void Placing::give_back(ShardIndex first, std::span<const std::uint32_t> placed, const SpotTable& rows) {
  for (const std::uint32_t i : placed) {
    state_.take_row(spec_, loads_, ShardIndex(first.value() + i), rows[i], -1);
    for (const Spot& spot : rows[i]) own_.add(spot, -1);
  }
  for (const std::uint32_t leaf : std::exchange(full_, {})) view_.unblock(leaf);
  view_.end();
  view_.begin({rows.size(), spec_.replicas, depth_, spread_.hard}, dice_);
}

// Where every replica is as large as every other nothing has to be found out: they are dealt, and that fails only if no placement exists.
// It is the second way, since it looks at all nodes, and deals a row without knowing how full the nodes are in other resources.
bool Placing::place_dealt(ShardIndex first, std::uint32_t shards, SpotTable& rows) {
  std::vector<std::uint32_t> leaves(view_.size());
  std::iota(leaves.begin(), leaves.end(), 0u);
  const auto state_of = [&](std::uint32_t leaf) -> const NodeState& { return nodes_[view_.node(leaf)]; };
  std::ranges::sort(leaves, {}, [&](std::uint32_t leaf) -> const NodeId& { return state_of(leaf).node.name; });
  std::vector<std::uint64_t> slots, salt;
  std::vector<std::uint32_t> domains;
  std::vector<double> share, fill;
  std::vector<std::uint8_t> leads;
  for (const std::uint32_t leaf : leaves) {
    slots.push_back(nodes_.room(view_.node(leaf), load_, spec_.system, shards));
    salt.push_back(hash64(state_of(leaf).node.name.str(), dice_));
    domains.push_back(domains_.of[leaf]);
    share.push_back(view_.share(leaf));
    fill.push_back(0);  // the request by itself is level, as far as room allows
    leads.push_back(may_lead(state_of(leaf).node) ? 1 : 0);
  }
  const Dealt dealt = deal({.shards = shards,
                            .replicas = spec_.replicas,
                            .hard = spread_.hard,
                            .slots = slots,
                            .domains = domains,
                            .share = share,
                            .fill = fill,
                            .salt = salt,
                            .leads = leads});
  if (dealt.no) return false;
  for (std::uint32_t i = 0; i < shards; ++i) {
    Leaves row;
    for (const NodeIndex place : dealt.rows[i]) row.push_back(leaves[place.value()]);
    leader_first(row, Lead::who_may, mix64(dice_, first.value() + i));
    rows.set(i, settle(row, true));
  }
  return true;
}

tl::expected<std::vector<Spot>, NotAllocated> Placing::place_more(const More& more) {
  load_ = loads_.of(spec_, more.shard);
  alike_ = false;  // what is blocked here is blocked for this shard only
  Leaves domains, away;
  for (const NodeIndex node : more.kept) {
    // A node that gets nothing more may still be in a domain that others are in.
    const std::string domain = domain_of(nodes_[node].node.name, nodes_[node].node.zone, depth_);
    for (std::uint32_t i = 0; i < domains_.ranges.size(); ++i) {
      const Node& other = nodes_[view_.node(domains_.ranges[i].begin)].node;
      if (domain_of(other.name, other.zone, depth_) == domain) domains.push_back(i);
    }
  }
  for (const auto& nodes : {more.kept, more.leaving}) {
    for (const NodeIndex node : nodes) {
      if (const auto leaf = view_.leaf(node)) away.push_back(*leaf);
    }
  }
  for (const std::uint32_t leaf : away) view_.block(leaf);
  const std::uint64_t dice = mix64(dice_, more.shard.value());
  std::optional<Leaves> row;
  for (const Lead lead : {Lead::who_may, Lead::who_can}) {
    if (!row) row = pick(more.replicas, domains, dice, more.leader ? lead : Lead::anyone);
  }
  std::vector<Spot> spots;
  if (row) spots = settle(*row, more.leader);
  for (const std::uint32_t leaf : away) view_.unblock(leaf);
  if (row) return spots;
  if (auto no = why_impossible(1, more.replicas, &more)) return tl::unexpected(*std::move(no));
  return tl::unexpected(refusal(RefusalReason::capacity, fmt::format("no room found for {} replicas", more.replicas),
                                loads_.leader.empty(), &more));
}

// Σ min(room, shards) over nodes, or over domains: what different shards can have there.
std::uint64_t Placing::most_that_fit(std::uint64_t shards, const Load& load, bool in_domains, bool system,
                                     const More* more) const {
  std::vector<std::uint64_t> sums(in_domains ? domains_.ranges.size() : view_.size());
  std::set<std::uint32_t> closed;  // domains of those that stay
  for (std::uint32_t leaf = 0; leaf < view_.size(); ++leaf) {
    const NodeIndex node = view_.node(leaf);
    if (more != nullptr && has(more->kept, node) && in_domains) closed.insert(domains_.of[leaf]);
    if (more != nullptr && (has(more->kept, node) || has(more->leaving, node))) continue;
    sums[in_domains ? domains_.of[leaf] : leaf] += nodes_.room(node, load, system, shards);
  }
  for (const std::uint32_t domain : closed) sums[domain] = 0;
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all += std::min(sum, shards);
  return all;
}

std::optional<NotAllocated> Placing::why_impossible(std::uint64_t shards, std::uint64_t replicas, const More* more) {
  const auto other = [&](NodeIndex node) { return more == nullptr || !(has(more->kept, node) || has(more->leaving, node)); };
  std::uint64_t up = 0, able = 0;
  for (const auto& [name, index] : nodes_.by_name()) up += takes(nodes_[index].node.status) && other(index) ? 1 : 0;
  for (std::uint32_t leaf = 0; leaf < view_.size(); ++leaf) able += other(view_.node(leaf)) ? 1 : 0;
  const std::string_view others = more == nullptr ? "" : "other ";
  if (up < replicas)
    return refusal(RefusalReason::nodes, fmt::format("needs {} {}nodes; {} take replicas", replicas, others, up), true, more);
  if (able < replicas) {
    return refusal(RefusalReason::labels,
                   fmt::format("needs {} {}nodes with its labels and without taints that it does not tolerate; there are {}",
                               replicas, others, able),
                   true, more);
  }
  // Each bound includes the one before it, so the first that does not hold is the one that binds.
  const std::uint64_t needed = shards * replicas;
  const auto& load = alike_ || more != nullptr ? load_ : Load();
  if (spread_.hard && most_that_fit(shards, {}, true, true, more) < needed) {
    return refusal(RefusalReason::spread,
                   fmt::format("needs {} {}domains of level {}; there are {}", replicas, others, spread_.level,
                               most_that_fit(1, {}, true, true, more)),
                   true, more);
  }
  struct Bound {
    RefusalReason reason;
    const Load load;
    bool in_domains;
    std::string_view what;
  };
  for (const Bound& bound : {Bound{RefusalReason::count, {}, false, "slots"}, Bound{RefusalReason::capacity, load, false, "room"},
                             Bound{RefusalReason::count, {}, true, "slots in different domains"},
                             Bound{RefusalReason::capacity, load, true, "room in different domains"}}) {
    if (bound.in_domains && !spread_.hard) continue;
    const std::uint64_t found = most_that_fit(shards, bound.load, bound.in_domains, spec_.system, more);
    if (found >= needed) continue;
    return refusal(bound.reason, fmt::format("needs {} for {} replicas; there is for {}", bound.what, needed, found), true, more);
  }
  return std::nullopt;
}

NotAllocated Placing::refusal(RefusalReason reason, std::string detail, bool proved, const More* more) const {
  NotAllocated no{.code = Code::refused, .reason = reason, .detail = std::move(detail), .proved = proved};
  for (const auto& [name, index] : nodes_.by_name()) {
    if (no.nodes.size() >= state_.options_.reasons_max) break;
    const Node& node = nodes_[index].node;
    std::string why = why_takes_none(node, spec_);
    if (why.empty() && more != nullptr && has(more->kept, index)) why = "holds the shard";
    if (why.empty() && more != nullptr && has(more->leaving, index)) why = "is to be left";
    if (why.empty()) why = nodes_.why_not(index, load_, spec_.system);
    if (!why.empty()) no.nodes.emplace_back(name, why);
  }
  return no;
}

}  // namespace evenkeel::place::detail
