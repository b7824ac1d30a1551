#include "evenkeel/node/detail/lead_table.h"

#include "evenkeel/base/hash.h"

namespace evenkeel::node::detail {
namespace {

constexpr std::size_t slots_first = 64;

std::uint64_t hash_of(const ShardId& shard) {
  return hash64(shard.workload.str()) ^ (std::uint64_t{shard.shard.value()} * 0x9E3779B97F4A7C15U);
}

std::size_t place_of(std::uint64_t hash) { return static_cast<std::size_t>(hash ^ (hash >> 29)); }

}  // namespace

LeadTable::LeadTable() {
  tables_.push_back(std::make_unique<Table>(slots_first));
  table_ = tables_.back().get();
}

LeadTable::Entry* LeadTable::look(const Table& table, const ShardId& shard, std::uint64_t hash) {
  for (std::size_t i = place_of(hash);; ++i) {
    Entry* entry = table.slots[i & table.mask].load(std::memory_order_acquire);
    if (entry == nullptr || (entry->hash == hash && entry->shard == shard)) return entry;
  }
}

void LeadTable::insert(Table& table, Entry* entry) {
  std::size_t i = place_of(entry->hash);
  while (table.slots[i & table.mask].load(std::memory_order_relaxed) != nullptr) ++i;
  table.slots[i & table.mask].store(entry, std::memory_order_release);
}

void LeadTable::set(const ShardId& shard, Epoch epoch, Fencing fencing) {
  const std::uint64_t hash = hash_of(shard);
  Entry* entry = look(*tables_.back(), shard, hash);
  if (entry == nullptr) {
    if (epoch == Epoch()) return;
    if (2 * (entries_.size() + 1) > tables_.back()->slots.size()) {
      auto larger = std::make_unique<Table>(2 * tables_.back()->slots.size());
      for (const auto& each : entries_) insert(*larger, each.get());
      table_.store(larger.get(), std::memory_order_release);
      tables_.push_back(std::move(larger));
    }
    entries_.push_back(std::make_unique<Entry>());
    entry = entries_.back().get();
    entry->shard = shard;
    entry->hash = hash;
    insert(*tables_.back(), entry);
  }
  entry->word.store(epoch.value() << 1 | (fencing == Fencing::epoch ? 1U : 0U), std::memory_order_seq_cst);
}

void LeadTable::clear() {
  for (const auto& entry : entries_) entry->word.store(0, std::memory_order_seq_cst);
}

LeadTable::Lead LeadTable::find(const ShardId& shard) const {
  const Entry* entry = look(*table_.load(std::memory_order_acquire), shard, hash_of(shard));
  if (entry == nullptr) return {};
  const std::uint64_t word = entry->word.load(std::memory_order_seq_cst);
  return {Epoch(word >> 1), (word & 1) != 0 ? Fencing::epoch : Fencing::session};
}

}  // namespace evenkeel::node::detail
