#include "evenkeel/place/detail/pack_lists.h"

#include <utility>

namespace evenkeel::place::detail {

PackLists::PackLists(Packing& packing) : packing_(packing) {
  const std::uint32_t count = packing.shards() * packing.replicas();
  on_.resize(packing.nodes());
  place_.resize(count);
  for (std::uint32_t n = 0; n < packing.nodes(); ++n) on_[n].reserve(packing.held(n) + 8);
  for (std::uint32_t replica = 0; replica < count; ++replica) {
    const std::uint32_t n = packing.at(replica);
    if (n == none) continue;
    place_[replica] = static_cast<std::uint32_t>(on_[n].size());
    on_[n].push_back(replica);
  }
}

void PackLists::put(std::uint32_t replica, std::uint32_t node) {
  packing_.put(replica, node);
  place_[replica] = static_cast<std::uint32_t>(on_[node].size());
  on_[node].push_back(replica);
}

void PackLists::take(std::uint32_t replica) {
  auto& list = on_[packing_.at(replica)];
  packing_.take(replica);
  const std::uint32_t last = list.back();
  list[place_[replica]] = last;
  place_[last] = place_[replica];
  list.pop_back();
}

void PackLists::shift(std::uint32_t replica, std::uint32_t node) {
  take(replica);
  put(replica, node);
}

void PackLists::swap(std::uint32_t one, std::uint32_t other) {
  const std::uint32_t a = packing_.at(one), b = packing_.at(other);
  packing_.take(one);
  packing_.take(other);
  packing_.put(one, b);
  packing_.put(other, a);
  on_[a][place_[one]] = other;
  on_[b][place_[other]] = one;
  std::swap(place_[one], place_[other]);
}

void PackLists::lead(std::uint32_t shard, std::uint32_t slot) {
  const std::uint32_t first = shard * packing_.replicas(), other = first + slot;
  packing_.lead(shard, slot);
  std::swap(place_[first], place_[other]);
  on_[packing_.at(first)][place_[first]] = first;
  on_[packing_.at(other)][place_[other]] = other;
}

}  // namespace evenkeel::place::detail
