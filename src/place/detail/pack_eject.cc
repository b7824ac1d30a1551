#include "evenkeel/place/detail/pack_eject.h"

#include <algorithm>
#include <limits>

namespace evenkeel::place::detail {
namespace {

constexpr std::size_t nodes_tried = 64;  // per replica, if there are more
constexpr std::size_t victims_max = 3;

}  // namespace

PackEject::PackEject(Packing& packing, PackLists& lists, Rng& rng) : packing_(packing), lists_(lists), rng_(rng) {
  price_.assign(std::size_t{packing.shards()} * packing.replicas(), 1);
}

bool PackEject::allowed(std::uint32_t replica, std::uint32_t node) const {
  const std::uint32_t repeats = packing_.repeats(packing_.shard_of(replica), node);
  return repeats < packing_.replicas() && (repeats == 0 || !packing_.request().hard);
}

// The best node with room, if any has.
std::uint32_t PackEject::home(std::uint32_t replica) {
  const std::uint32_t shard = packing_.shard_of(replica);
  std::uint32_t best = none, best_rank = std::numeric_limits<std::uint32_t>::max();
  double best_cost = 0;
  looked_at_ += packing_.able().size();
  for (const std::uint32_t n : packing_.able()) {
    if (!packing_.fits(n, shard, packing_.leads(replica)) || !allowed(replica, n)) continue;
    std::uint32_t rank = packing_.rank(n) + 16 * packing_.repeats(shard, n);
    if (packing_.leads(replica) && !packing_.may_lead(n)) rank += 8;
    if (!packing_.fits_softly(n, shard, packing_.leads(replica))) rank += 4;
    const double cost = packing_.delta(n, packing_.size(shard));
    if (rank > best_rank || (rank == best_rank && cost >= best_cost)) continue;
    best = n;
    best_rank = rank;
    best_cost = cost;
  }
  return best;
}

// The cheapest replica that by itself frees what is missing; else the one that frees most of it for its price.
std::uint32_t PackEject::pick(std::uint32_t node, const std::vector<Amount>& missing, const std::vector<std::uint32_t>& taken,
                              bool& enough) const {
  std::uint32_t best = none;
  double best_value = 0;
  enough = false;
  for (const std::uint32_t replica : lists_.on(node)) {
    if (std::ranges::find(taken, replica) != taken.end()) continue;
    bool all = true;
    double freed = 0;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (missing[i] <= 0) continue;
      const Amount its = packing_.need(replica, i);
      all = all && its >= missing[i];
      freed += static_cast<double>(std::min(its, missing[i])) / static_cast<double>(missing[i]);
    }
    const double value = (all ? 1.0 : freed) / price_[replica];
    if (best != none && (all != enough ? enough : value <= best_value)) continue;
    best = replica;
    best_value = value;
    enough = all;
  }
  return best;
}

bool PackEject::victims_on(std::uint32_t node, std::uint32_t replica, double price_max, Victims& victims) {
  std::vector<Amount> missing(packing_.limits());
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const Amount need = packing_.need(replica, i);
    missing[i] = need > 0 ? need - packing_.left(node, i) : 0;
  }
  victims = {.node = node};
  while (victims.replicas.size() < victims_max) {
    looked_at_ += lists_.on(node).size();
    bool enough = false;
    const std::uint32_t victim = pick(node, missing, victims.replicas, enough);
    if (victim == none) return false;
    victims.replicas.push_back(victim);
    victims.price += price_[victim];
    if (victims.price > price_max) return false;
    if (enough) return true;
    for (std::size_t i = 0; i < missing.size(); ++i) missing[i] -= packing_.need(victim, i);
    if (std::ranges::all_of(missing, [](Amount amount) { return amount <= 0; })) return true;
  }
  return false;
}

PackEject::Victims PackEject::cheapest(std::uint32_t replica) {
  const auto& able = packing_.able();
  const std::size_t tries = std::min(able.size(), nodes_tried), first = rng_.below(able.size());
  Victims best, victims;
  best.price = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < tries; ++i) {
    const std::uint32_t node = able.size() <= nodes_tried ? able[(first + i) % able.size()] : able[rng_.below(able.size())];
    if (!allowed(replica, node)) continue;
    if (victims_on(node, replica, best.price, victims) && victims.price < best.price) std::swap(best, victims);
  }
  return best;
}

std::vector<std::uint32_t> PackEject::run(std::vector<std::uint32_t> homeless, std::uint64_t budget) {
  std::ranges::reverse(homeless);  // the last is looked at first, and that is to be the largest
  while (!homeless.empty() && looked_at_ < budget) {
    const std::uint32_t replica = homeless.back();
    std::uint32_t node = home(replica);
    if (node == none) {
      ++price_[replica];
      const Victims victims = cheapest(replica);
      if (victims.node == none) {
        // Nobody may leave for it: others first, perhaps its shard's other replicas move meanwhile.
        looked_at_ += packing_.able().size();
        std::swap(homeless.back(), homeless[rng_.below(homeless.size())]);
        continue;
      }
      homeless.pop_back();
      for (const std::uint32_t victim : victims.replicas) {
        lists_.take(victim);
        homeless.push_back(victim);
      }
      node = victims.node;
    } else {
      homeless.pop_back();
    }
    lists_.put(replica, node);
  }
  packing_.evaluated += looked_at_;
  return homeless;
}

}  // namespace evenkeel::place::detail
