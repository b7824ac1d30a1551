#include "evenkeel/route/table.h"

#include <algorithm>
#include <tuple>

#include "evenkeel/base/hash.h"
#include "evenkeel/route/detail/edit.h"
#include "evenkeel/route/detail/parts.h"

namespace evenkeel::route {

namespace {

// How many parts two zone paths have in common, from the outermost on.
std::uint32_t parts_in_common(std::string_view a, std::string_view b) {
  std::uint32_t common = 0;
  while (!a.empty() && !b.empty()) {
    const std::size_t end_a = std::min(a.find('/'), a.size());
    const std::size_t end_b = std::min(b.find('/'), b.size());
    if (a.substr(0, end_a) != b.substr(0, end_b)) break;
    ++common;
    a.remove_prefix(std::min(end_a + 1, a.size()));
    b.remove_prefix(std::min(end_b + 1, b.size()));
  }
  return common;
}

}  // namespace

// One who serves in the role that was asked for.
struct Table::Choice {
  const detail::Known* node = nullptr;
  std::uint32_t state = detail::none;
  std::uint32_t near = 0;
  std::uint64_t tie = 0;

  bool better_than(const Choice& other) const {
    if (node->live != other.node->live) return node->live;
    if (near != other.near) return near > other.near;
    if (tie != other.tie) return tie > other.tie;
    return node->endpoint.node < other.node->endpoint.node;
  }
  Picked picked(ShardIndex shard, const Version& version, const Nodes& nodes) const {
    return {shard, version, state == detail::none ? StateId("leader") : nodes.states[state], node->endpoint.node,
            node->endpoint.address};
  }
};

// 1. The next table.

Table Table::with(const TableUpdate& update) const {
  Edit edit(*this);
  for (const auto& [workload, bucket] : update.gone) edit.remove(workload, bucket);
  for (const NodeId& node : update.not_live) edit.remove(node);
  for (const LiveDocument& live : update.live) edit.put(live);
  for (const ViewBucket& bucket : update.buckets) edit.put(bucket);
  return std::move(edit).finish();
}

Table Table::with(const ViewBucket& bucket) const {
  Edit edit(*this);
  edit.put(bucket);
  return std::move(edit).finish();
}

Table Table::without(const WorkloadId& workload, Bucket bucket) const {
  Edit edit(*this);
  edit.remove(workload, bucket);
  return std::move(edit).finish();
}

Table Table::with(const LiveDocument& live) const {
  Edit edit(*this);
  edit.put(live);
  return std::move(edit).finish();
}

Table Table::without_live(const NodeId& node) const {
  Edit edit(*this);
  edit.remove(node);
  return std::move(edit).finish();
}

bool Table::shares_all(const Table& other) const { return nodes_ == other.nodes_ && parts_ == other.parts_; }

// 2. What it says.

const Table::Part* Table::part(const WorkloadId& workload) const {
  const auto at =
      std::ranges::lower_bound(parts_, workload, {}, [](const auto& part) -> const WorkloadId& { return part->workload; });
  return at == parts_.end() || (*at)->workload != workload ? nullptr : at->get();
}

bool Table::has(const WorkloadId& workload) const { return part(workload) != nullptr; }

std::vector<WorkloadId> Table::workloads() const {
  std::vector<WorkloadId> names;
  for (const auto& part : parts_) names.push_back(part->workload);
  return names;
}

std::uint32_t Table::shards(const WorkloadId& workload) const {
  const Part* found = part(workload);
  return found == nullptr ? 0 : found->sharding.shards;
}

std::optional<Sharding> Table::sharding(const WorkloadId& workload) const {
  const Part* found = part(workload);
  if (found == nullptr) return std::nullopt;
  return found->sharding;
}

std::optional<ShardIndex> Table::shard_by(const Part& part, std::string_view key) {
  const Sharding& sharding = part.sharding;
  if (sharding.shards == 0 || sharding.hash_version == 0 || sharding.hash_version > hash_version_max) return std::nullopt;
  const ShardIndex shard = shard_of(key, sharding.shards, sharding.key_map, sharding.hash_version);
  const bool is_new = sharding.split_from > 0 && shard.value() >= sharding.split_from;
  if (!is_new || part.index->find(shard).piece != detail::none) return shard;
  return shard_of(key, sharding.split_from, sharding.key_map, sharding.hash_version);
}

std::optional<ShardIndex> Table::shard(const WorkloadId& workload, std::string_view key) const {
  const Part* found = part(workload);
  if (found == nullptr) return std::nullopt;
  return shard_by(*found, key);
}

const ShardView* Table::find(const ShardId& shard) const {
  const Part* found = part(shard.workload);
  return found == nullptr ? nullptr : found->find(shard.shard);
}

std::vector<const ShardView*> Table::views(const WorkloadId& workload) const {
  std::vector<const ShardView*> found;
  const Part* of = part(workload);
  if (of != nullptr) of->index->each([&](detail::At at) { found.push_back(&of->view(at)); });
  return found;
}

const Endpoint* Table::endpoint(const NodeId& node) const {
  const detail::Known* known = nodes_ ? nodes_->find(node) : nullptr;
  return known == nullptr || !known->heard ? nullptr : &known->endpoint;
}

bool Table::live(const NodeId& node) const {
  const detail::Known* known = nodes_ ? nodes_->find(node) : nullptr;
  return known != nullptr && known->live;
}

std::vector<NodeId> Table::nodes() const {
  if (!nodes_) return {};
  std::vector<bool> named(nodes_->slots.size(), false);
  for (const auto& part : parts_) {
    part->index->each([&](detail::At at) {
      for (const detail::Serving& serving : part->piece(at).serving(part->row(at))) named[serving.slot] = true;
    });
  }
  std::vector<NodeId> names;
  for (std::size_t slot = 0; slot < named.size(); ++slot) {
    const auto& known = nodes_->slots[slot];
    if (known && known->heard && (known->live || named[slot])) names.push_back(known->endpoint.node);
  }
  std::ranges::sort(names);
  return names;
}

// 3. Picking.

template <class Take>
void Table::choices(const Part& part, std::uint32_t piece, std::uint32_t row, Role role, std::string_view near,
                    std::uint64_t salt, const Take& take) const {
  const Row& found = part.row({piece, row});
  const auto serving =
      found.count > Row::inside ? part.piece({piece, row}).serving(found) : std::span(found.serving).first(found.count);
  for (const detail::Serving one : serving) {
    const bool leads = one.state == detail::none;
    if (role != Role::any && leads != (role == Role::leader)) continue;
    const detail::Known& node = *nodes_->slots[one.slot];
    if (!node.heard) continue;
    take(Choice{&node, one.state, near.empty() ? 0 : parts_in_common(near, node.endpoint.zone), mix64(salt, node.hash)});
  }
}

std::optional<Picked> Table::pick(const Part& part, ShardIndex shard, Role role, std::string_view near,
                                  std::uint64_t salt) const {
  const detail::At at = part.index->find(shard);
  if (at.piece == detail::none) return std::nullopt;
  Choice best;
  choices(part, at.piece, at.row, role, near, salt, [&](const Choice& choice) {
    if (best.node == nullptr || choice.better_than(best)) best = choice;
  });
  if (best.node == nullptr) return std::nullopt;
  return best.picked(shard, part.row(at).version, *nodes_);
}

std::optional<Picked> Table::pick(const ShardId& shard, Role role, std::string_view near, std::uint64_t salt) const {
  const Part* found = part(shard.workload);
  if (found == nullptr) return std::nullopt;
  return pick(*found, shard.shard, role, near, salt);
}

std::optional<Picked> Table::pick(const WorkloadId& workload, std::string_view key, Role role, std::string_view near,
                                  std::uint64_t salt) const {
  const Part* found = part(workload);
  if (found == nullptr) return std::nullopt;
  const auto shard = shard_by(*found, key);
  if (!shard) return std::nullopt;
  return pick(*found, *shard, role, near, salt);
}

std::vector<Picked> Table::picks(const ShardId& shard, Role role, std::string_view near, std::uint64_t salt) const {
  const Part* found = part(shard.workload);
  const detail::At at = found == nullptr ? detail::At() : found->index->find(shard.shard);
  if (at.piece == detail::none) return {};
  std::vector<Choice> all;
  choices(*found, at.piece, at.row, role, near, salt, [&](const Choice& choice) { all.push_back(choice); });
  std::ranges::sort(all, [](const Choice& a, const Choice& b) { return a.better_than(b); });
  std::vector<Picked> picked;
  picked.reserve(all.size());
  for (const Choice& choice : all) picked.push_back(choice.picked(shard.shard, found->row(at).version, *nodes_));
  return picked;
}

// 4. Two tables.

std::vector<ShardId> Table::changed_since(const Table& older) const {
  std::vector<ShardId> changed;
  // Of the pieces that `b` has not got: the shards that `differs` finds when it looks them up there.
  const auto add = [&](const Part& a, const Part* b, const auto& differs) {
    for (std::uint32_t place = 0; place < a.pieces.size(); ++place) {
      const std::shared_ptr<const Piece>& piece = a.pieces[place].piece;
      const bool same_place = b != nullptr && place < b->pieces.size() && b->pieces[place].piece == piece;
      if (same_place && a.sharding.shards == b->sharding.shards) continue;
      for (const ShardView& view : piece->views) {
        if (a.find(view.shard) != &view) continue;
        const ShardView* other = b == nullptr ? nullptr : b->find(view.shard);
        if (differs(view, other)) changed.push_back({a.workload, view.shard});
      }
    }
  };
  for (const auto& now : parts_) {
    const Part* was = older.part(now->workload);
    if (now.get() == was) continue;
    add(*now, was, [](const ShardView& view, const ShardView* old) { return old == nullptr || old->version < view.version; });
  }
  for (const auto& was : older.parts_) {
    const Part* now = part(was->workload);
    if (now == was.get()) continue;
    add(*was, now, [](const ShardView&, const ShardView* here) { return here == nullptr; });
  }
  std::ranges::sort(changed);
  return changed;
}

bool operator==(const Table& a, const Table& b) {
  if (a.shares_all(b)) return true;
  const auto same_part = [&](const auto& x, const auto& y) {
    return x == y || (x->workload == y->workload && x->sharding == y->sharding &&
                      std::ranges::equal(a.views(x->workload), b.views(y->workload),
                                         [](const ShardView* v, const ShardView* w) { return *v == *w; }));
  };
  if (!std::ranges::equal(a.parts_, b.parts_, same_part)) return false;
  if (a.nodes_ == b.nodes_) return true;
  const std::vector<NodeId> nodes = a.nodes();
  return nodes == b.nodes() && std::ranges::all_of(nodes, [&](const NodeId& node) {
           return *a.endpoint(node) == *b.endpoint(node) && a.live(node) == b.live(node);
         });
}

}  // namespace evenkeel::route
