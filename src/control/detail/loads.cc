#include "evenkeel/control/detail/loads.h"

#include <algorithm>
#include <bit>
#include <set>

namespace evenkeel::control::detail {
namespace {

// Exact, and without an overflow for whatever can be summed up.
Int128 part_of(Int128 whole, Ratio ratio) {
  constexpr Int128 million = 1'000'000;
  return whole / million * ratio.millionths() + whole % million * ratio.millionths() / million;
}

// A bit for each that somebody says, or has said.
std::uint64_t columns_of(const ShardLoad& load) {
  static_assert(columns_max <= 64);
  std::uint64_t columns = 0;
  for (const ShardLoad::Level& level : load.levels) columns |= std::uint64_t{1} << level.column;
  for (const ShardLoad::Said& said : load.said) columns |= said.column == no_column ? 0 : std::uint64_t{1} << said.column;
  return columns;
}

// Nothing: nobody measures it.
std::optional<Quantity> largest(const ShardLoad& load, Column column, const ShardLoadFacts& facts) {
  std::optional<Quantity> most;
  for (const ShardLoad::Said& said : load.said) {
    if (said.column != column) continue;
    const bool leads = facts.leader == said.node;
    const Quantity own = leads ? std::max(said.load - facts.leader_part(column), Quantity(0)) : said.load;
    most = std::max(most.value_or(own), own);
  }
  return most;
}

}  // namespace

Quantity Smooth::at(Instant now, Duration half) const {
  if (past_ == value_) return value_;
  const Int128 left = (past_ - value_).nano();
  const std::int64_t passed = std::max<std::int64_t>((now - since_).count(), 0);
  const std::int64_t whole = std::max<std::int64_t>(half.count(), 1);
  const std::int64_t halvings = passed / whole;
  if (halvings >= 64) return value_;
  constexpr std::int64_t fine = 1 << 10;  // of a halving
  const auto into = static_cast<std::int64_t>(Int128{passed % whole} * fine / whole);
  return value_ + Quantity::from_nano(left / (Int128{1} << halvings) * (2 * fine - into) / (2 * fine));
}

void Smooth::set(Quantity value, Instant now, Duration half) {
  past_ = at(now, half);
  value_ = value;
  since_ = now;
}

const ShardLoad::Level* ShardLoad::find(Column column) const {
  const auto found = std::ranges::lower_bound(levels, column, {}, &Level::column);
  return found == levels.end() || found->column != column ? nullptr : &*found;
}

// What one node says is together, and in place if it is about as many resources as before.
bool say(ShardLoad& load, std::uint32_t node, Incarnation incarnation, std::span<const std::pair<Column, Quantity>> said) {
  if (said.empty() && load.said.empty()) return false;
  const std::pair<Column, Quantity> nothing{no_column, {}};
  const auto now = said.empty() ? std::span(&nothing, 1) : said;
  const auto first = std::ranges::find(load.said, node, &ShardLoad::Said::node);
  const auto last = std::find_if(first, load.said.end(), [&](const ShardLoad::Said& one) { return one.node != node; });
  if (static_cast<std::size_t>(last - first) != now.size()) {
    load.said.erase(first, last);
    for (const auto& [column, amount] : now) load.said.push_back({node, incarnation, column, amount});
    return true;
  }
  bool is_new = false;
  auto at = first;
  for (const auto& [column, amount] : now) {
    const ShardLoad::Said before = std::exchange(*at, {node, incarnation, column, amount});
    is_new |= before != *at++;
  }
  return is_new;
}

std::vector<std::pair<Column, Quantity>> measure(ShardLoad& load, const ShardLoadFacts& facts, Instant now, Duration half) {
  std::vector<std::pair<Column, Quantity>> changes;
  if (std::ranges::none_of(load.said, facts.counts)) return changes;
  std::erase_if(load.said, [&](const ShardLoad::Said& said) { return !facts.counts(said); });
  for (std::uint64_t columns = columns_of(load); columns != 0; columns &= columns - 1) {
    const auto column = static_cast<Column>(std::countr_zero(columns));
    const std::optional<Quantity> measured = largest(load, column, facts);
    const Quantity value = measured ? *measured : facts.spec(column);
    auto level = std::ranges::lower_bound(load.levels, column, {}, &ShardLoad::Level::column);
    const bool is_new = level == load.levels.end() || level->column != column;
    const Quantity before = is_new ? facts.spec(column) : level->measured.value();
    if (is_new)
      level = load.levels.insert(level, {.column = column, .measured = Smooth(value), .is_measured = true, .believed = before});
    level->is_measured = measured.has_value();
    if (value == before) continue;
    if (!is_new) level->measured.set(value, now, half);
    changes.emplace_back(column, value - before);
  }
  return changes;
}

bool believe(ShardLoad& load, Instant now, Duration half) {
  std::erase_if(load.levels, [](const ShardLoad::Level& level) { return !level.is_measured; });
  for (ShardLoad::Level& level : load.levels) {
    level.believed = level.measured.at(now, half);
    level.is_believed = true;
  }
  return !load.levels.empty();
}

bool is_off(Quantity off, Quantity believed, Quantity mean, Ratio margin) {
  const Int128 by = off.negative() ? -off.nano() : off.nano();
  return by > part_of(std::max(believed, mean).nano(), margin);
}

Quantity spec_load(const Workload& spec, ShardIndex shard, const ResourceId& resource) {
  if (const auto own = spec.shard_loads.find(shard)) {
    const auto& resources = spec.shard_loads.resources;
    const auto at = std::ranges::lower_bound(resources, resource);
    return at == resources.end() || *at != resource ? Quantity(0) : (*own)[static_cast<std::size_t>(at - resources.begin())];
  }
  const auto found = spec.load.find(resource);
  return found == spec.load.end() ? Quantity(0) : found->second;
}

ShardLoads believed_loads(const Workload& spec, std::span<const ResourceId> columns, std::span<const ShardLoad* const> believed) {
  std::set<ResourceId> resources(spec.shard_loads.resources.begin(), spec.shard_loads.resources.end());
  for (const auto& [resource, amount] : spec.load) resources.insert(resource);
  resources.insert(columns.begin(), columns.end());
  std::vector<std::pair<ResourceId, Column>> all;
  for (const ResourceId& resource : resources) {
    const auto column = std::ranges::find(columns, resource) - columns.begin();
    all.emplace_back(resource, static_cast<Column>(column));
  }
  ShardLoads out;
  std::vector<Quantity> rows;
  for (std::uint32_t s = 0; s < believed.size(); ++s) {
    const ShardLoad* load = believed[s];
    const bool own = load != nullptr && std::ranges::any_of(load->levels, &ShardLoad::Level::is_believed);
    if (!own && !spec.shard_loads.find(ShardIndex(s))) continue;
    out.shards.push_back(ShardIndex(s));
    for (const auto& [resource, column] : all) {
      const ShardLoad::Level* level = own ? load->find(column) : nullptr;
      rows.push_back(level != nullptr && level->is_believed ? level->believed : spec_load(spec, ShardIndex(s), resource));
    }
  }
  // A resource of which no row has anything is not named.
  std::vector<std::size_t> named;
  for (std::size_t r = 0; r < all.size(); ++r) {
    for (std::size_t at = r; at < rows.size(); at += all.size()) {
      if (rows[at] == Quantity(0)) continue;
      named.push_back(r);
      out.resources.push_back(all[r].first);
      break;
    }
  }
  for (std::size_t row = 0; row < out.shards.size(); ++row) {
    for (const std::size_t r : named) out.values.push_back(rows[row * all.size() + r]);
  }
  return out;
}

}  // namespace evenkeel::control::detail
