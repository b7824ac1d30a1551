#include "evenkeel/place/detail/pack_greedy.h"

#include <algorithm>
#include <limits>

namespace evenkeel::place::detail {
namespace {

constexpr std::size_t few_nodes = 64;         // all are looked at
constexpr std::size_t few_domains = 16;       // some are drawn from each
constexpr std::uint32_t draws = 24;           // per shard; more towards the end, where it decides the level
constexpr std::size_t pair_nodes_max = 2048;  // 8 MiB of counts

}  // namespace

PackGreedy::PackGreedy(Packing& packing, Rng& rng) : packing_(packing), rng_(rng) {
  std::vector<std::uint8_t> seen(packing.domains());
  for (const std::uint32_t n : packing.able()) {
    if (seen[packing.domain(n)]++ == 0) ++able_domains_;
    seen[packing.domain(n)] = 1;
  }
  const std::size_t able = packing.able().size();
  whole_ = able <= few_nodes || able < 4 * std::size_t{packing.replicas()};
  by_domain_ = able_domains_ <= few_domains;
  per_draw_ = std::max(draws, 8 * packing.replicas());
  if (!whole_) find_tickets();
  node_used_.assign(packing.nodes(), 0);
  domain_used_.assign(packing.domains(), 0);
  if (packing.nodes() <= pair_nodes_max && packing.replicas() > 1)
    pairs_.assign(std::size_t{packing.nodes()} * packing.nodes(), 0);
  scans_left_ = 50'000'000 / able;
}

// What is drawn from a domain is what is best there of its kind; no domain is drawn more often than a shard can use it.
std::vector<double> PackGreedy::tickets_of_nodes() const {
  std::vector<std::uint8_t> best(packing_.domains(), 255);
  for (const std::uint32_t n : packing_.able()) best[packing_.domain(n)] = std::min(best[packing_.domain(n)], packing_.rank(n));
  std::vector<double> part(packing_.nodes()), sum(packing_.domains());
  const double least = 0.05 / static_cast<double>(packing_.able().size());
  for (const std::uint32_t n : packing_.able()) {
    if (packing_.rank(n) != best[packing_.domain(n)]) continue;
    part[n] = std::max(packing_.part(n), least);
    sum[packing_.domain(n)] += part[n];
  }
  std::vector<double> scale(packing_.domains(), 1);
  for (std::uint32_t d = 0; d < packing_.domains(); ++d) {
    if (sum[d] * packing_.replicas() > 1) scale[d] = 1 / (sum[d] * packing_.replicas());
  }
  for (const std::uint32_t n : packing_.able()) part[n] *= scale[packing_.domain(n)];
  return part;
}

void PackGreedy::find_tickets() {
  const std::vector<double> part = tickets_of_nodes();
  const double all = 4 * static_cast<double>(packing_.able().size());
  std::vector<std::vector<std::uint32_t>> lots(by_domain_ ? packing_.domains() : 1);
  for (const std::uint32_t n : packing_.able()) {
    if (part[n] <= 0) continue;
    const auto count = static_cast<std::size_t>(std::max(1.0, part[n] * all));
    auto& lot = lots[by_domain_ ? packing_.domain(n) : 0];
    lot.insert(lot.end(), count, n);
  }
  first_ticket_.assign(1, 0);
  for (const auto& lot : lots) {
    tickets_.insert(tickets_.end(), lot.begin(), lot.end());
    first_ticket_.push_back(static_cast<std::uint32_t>(tickets_.size()));
  }
}

std::vector<std::uint32_t> PackGreedy::sorted(PackOrder order, double jitter) {
  struct Entry {
    double key;
    std::uint32_t shard;
  };
  std::vector<double> room(packing_.limits());
  for (const std::uint32_t n : packing_.able()) {
    for (std::size_t i = 0; i < room.size(); ++i) room[i] += static_cast<double>(std::max<Amount>(0, packing_.left(n, i)));
  }
  std::vector<Entry> entries(packing_.shards());
  for (std::uint32_t s = 0; s < packing_.shards(); ++s) {
    double key = 0;
    if (order == PackOrder::tightest) {
      for (std::size_t i = 0; i < room.size(); ++i) {
        if (room[i] > 0) key = std::max(key, static_cast<double>(packing_.need(s * packing_.replicas(), i)) / room[i]);
      }
    } else {
      for (std::size_t l = 0; l < packing_.levels(); ++l) {
        const double size = packing_.total(l) > 0 ? packing_.size(s)[l] / packing_.total(l) : 0;
        key = order == PackOrder::sum ? key + size : std::max(key, size);
      }
    }
    entries[s] = {jitter > 0 ? key * (1 - jitter * rng_.unit()) : key, s};
  }
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key > b.key : a.shard < b.shard; });
  std::vector<std::uint32_t> shards(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) shards[i] = entries[i].shard;
  return shards;
}

void PackGreedy::add_candidate(std::uint32_t shard, std::uint32_t node) {
  const double* size = packing_.size(shard);
  const Packing::Level* levels = packing_.level(node);
  double cost = 0, unit = 0;
  for (std::size_t l = 0; l < packing_.levels(); ++l) {
    const double one = levels[l].factor * size[l];
    unit += one * size[l];
    cost += one * (2 * levels[l].usage + size[l]);
  }
  candidates_.push_back({node, packing_.domain(node), packing_.rank(node), cost, unit});
}

void PackGreedy::draw(std::uint32_t shard, std::uint32_t per) {
  candidates_.clear();
  if (whole_) {
    // Where all are alike the first one wins, so it is another one each time.
    const std::size_t able = packing_.able().size(), first = rng_.below(able);
    for (std::size_t i = 0; i < able; ++i) add_candidate(shard, packing_.able()[first + i < able ? first + i : first + i - able]);
  } else {
    const std::size_t lots = first_ticket_.size() - 1;
    const auto each = by_domain_ ? std::max<std::uint32_t>(2, per / able_domains_) : per;
    for (std::size_t lot = 0; lot < lots; ++lot) {
      const std::uint64_t count = first_ticket_[lot + 1] - first_ticket_[lot];
      if (count == 0) continue;
      for (std::uint32_t i = 0; i < each; i += 2) {
        const std::uint64_t dice = rng_.next();
        add_candidate(shard, tickets_[first_ticket_[lot] + (((dice >> 32) * count) >> 32)]);
        add_candidate(shard, tickets_[first_ticket_[lot] + (((dice & 0xffffffff) * count) >> 32)]);
      }
    }
  }
  packing_.evaluated += candidates_.size();
}

bool PackGreedy::acceptable(const Candidate& candidate, std::uint32_t shard) const {
  return node_used_[candidate.node] != shard + 1 &&
         (domain_used_[candidate.domain] != shard + 1 || row_domains_ == able_domains_);
}

void PackGreedy::take_up(std::uint32_t replica, std::uint32_t node) {
  const std::uint32_t shard = packing_.shard_of(replica);
  for (const std::uint32_t other : packing_.row(shard)) {
    if (pairs_.empty()) break;
    if (other == none) continue;
    ++pairs_[std::size_t{other} * packing_.nodes() + node];
    ++pairs_[std::size_t{node} * packing_.nodes() + other];
  }
  packing_.put(replica, node);
  node_used_[node] = shard + 1;
  if (domain_used_[packing_.domain(node)] != shard + 1) ++row_domains_;
  domain_used_[packing_.domain(node)] = shard + 1;
  if (pairs_.empty() || pair_weight_ <= 0) return;
  const std::uint16_t* shared = pairs_.data() + std::size_t{node} * packing_.nodes();
  for (Candidate& candidate : candidates_) candidate.cost += pair_weight_ * candidate.unit * shared[candidate.node];
}

// The best candidate that fits; a scan of all nodes where there is none, or none without a flaw.
bool PackGreedy::choose(std::uint32_t shard, std::uint32_t replica) {
  constexpr std::uint8_t above_soft = 4, mute = 8, out = 255;
  const bool leads = packing_.leads(replica);
  while (true) {
    Candidate* best = nullptr;
    for (Candidate& candidate : candidates_) {
      if (candidate.rank == out || !acceptable(candidate, shard)) continue;
      if (best != nullptr && (candidate.rank != best->rank ? candidate.rank > best->rank : candidate.cost >= best->cost))
        continue;
      best = &candidate;
    }
    if (best == nullptr) break;
    if (!packing_.fits(best->node, shard, leads)) {
      best->rank = out;
      continue;
    }
    if (best->rank < above_soft && !packing_.fits_softly(best->node, shard, leads)) {
      best->rank += above_soft;
      continue;
    }
    if (leads && best->rank < mute && !packing_.may_lead(best->node)) {
      best->rank += mute;
      continue;
    }
    if (best->rank != 0 && !whole_ && scans_left_ > 0) break;
    take_up(replica, best->node);
    return true;
  }
  const std::uint32_t node = scan(shard, leads);
  if (node == none) return false;
  take_up(replica, node);
  return true;
}

std::uint32_t PackGreedy::scan(std::uint32_t shard, bool leads) {
  if (scans_left_ == 0 && packing_.able().size() > few_nodes) return none;
  if (scans_left_ > 0) --scans_left_;
  packing_.evaluated += packing_.able().size();
  std::uint32_t best = none, best_rank = std::numeric_limits<std::uint32_t>::max();
  double best_cost = 0;
  for (const std::uint32_t n : packing_.able()) {
    if (node_used_[n] == shard + 1 || !packing_.fits(n, shard, leads)) continue;
    std::uint32_t rank = packing_.rank(n);
    if (domain_used_[packing_.domain(n)] == shard + 1) rank += 16 * packing_.repeats(shard, n);
    if (packing_.request().hard && rank >= 16) continue;
    if (leads && !packing_.may_lead(n)) rank += 8;
    if (rank > best_rank) continue;
    if (!packing_.fits_softly(n, shard, leads)) rank += 4;
    if (rank > best_rank) continue;
    const double cost = packing_.delta(n, packing_.size(shard));
    if (rank == best_rank && cost >= best_cost) continue;
    best = n;
    best_rank = rank;
    best_cost = cost;
  }
  return best;
}

// The row's node that leads least for its part.
void PackGreedy::choose_leader(std::uint32_t shard) {
  const auto row = packing_.row(shard);
  const auto burden = [&](std::uint32_t n, std::uint32_t already) {
    return packing_.lead_part(n) > 0 ? (packing_.leaders(n) - already + 0.5) / packing_.lead_part(n) : 1e300;
  };
  std::uint32_t best = 0;
  double best_cost = burden(row[0], 1);
  for (std::uint32_t slot = 1; slot < row.size() && row[slot] != none; ++slot) {
    const double cost = burden(row[slot], 0);
    const bool may = packing_.may_lead(row[slot]), best_may = packing_.may_lead(row[best]);
    if ((may != best_may ? best_may : cost >= best_cost) || !packing_.fits_lead(row[slot])) continue;
    best = slot;
    best_cost = cost;
  }
  packing_.lead(shard, best);
}

void PackGreedy::place(std::uint32_t shard, std::vector<std::uint32_t>& homeless) {
  row_domains_ = 0;
  const std::uint32_t first = shard * packing_.replicas();
  std::uint32_t placed = 0;
  for (std::uint32_t slot = 0; slot < packing_.replicas(); ++slot) {
    if (!choose(shard, first + slot)) break;
    ++placed;
  }
  for (std::uint32_t slot = placed; slot < packing_.replicas(); ++slot) homeless.push_back(first + slot);
  if (placed > 0) choose_leader(shard);
}

std::vector<std::uint32_t> PackGreedy::run(PackOrder order, double jitter) {
  const std::vector<std::uint32_t> shards = sorted(order, jitter);
  packing_.reserve_leads();
  std::vector<std::uint32_t> homeless;
  constexpr std::size_t ahead = 8;
  const std::size_t late = shards.size() - shards.size() / 8;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    pair_weight_ = i < late ? 1 : 0;
    if (i + ahead < shards.size()) packing_.prefetch(shards[i + ahead]);
    draw(shards[i], i < late ? per_draw_ : 4 * per_draw_);
    place(shards[i], homeless);
  }
  packing_.settle_leads();
  return homeless;
}

}  // namespace evenkeel::place::detail
