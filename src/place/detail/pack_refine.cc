#include "evenkeel/place/detail/pack_refine.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::place::detail {
namespace {

constexpr double level_enough = 3e-5;   // nodes nearer than this to the level of their domain are left alone
constexpr std::size_t window_max = 48;  // replicas of a node looked at in one exchange
constexpr std::size_t partners = 12;

}  // namespace

void PackRefine::find_domains() {
  by_domain_.resize(packing_.domains());
  for (const std::uint32_t n : packing_.able()) by_domain_[packing_.domain(n)].push_back(n);
  wanted_.resize(packing_.levels());
  bend_.resize(packing_.levels());
  fails_.assign(packing_.nodes(), 0);
  rests_until_.assign(packing_.nodes(), 0);
}

// Nodes by how far they are from the level of their domain, the furthest first.
std::vector<std::uint32_t> PackRefine::standing_out() const {
  const std::size_t levels = packing_.levels();
  std::vector<double> usage(packing_.domains() * levels), share(packing_.domains() * levels);
  for (const std::uint32_t n : packing_.able()) {
    for (std::size_t l = 0; l < levels; ++l) {
      const Packing::Level& level = packing_.level(n)[l];
      if (level.factor <= 0) continue;
      usage[packing_.domain(n) * levels + l] += level.usage;
      share[packing_.domain(n) * levels + l] += packing_.weight(l) / level.factor;
    }
  }
  std::vector<std::pair<double, std::uint32_t>> order;
  for (const std::uint32_t n : packing_.able()) {
    double most = 0;
    for (std::size_t l = 0; l < levels; ++l) {
      const Packing::Level& level = packing_.level(n)[l];
      const std::size_t at = packing_.domain(n) * levels + l;
      if (level.factor <= 0 || usage[at] <= 0) continue;
      most = std::max(most, std::abs(level.usage * level.factor * share[at] / (usage[at] * packing_.weight(l)) - 1));
    }
    if (most > level_enough) order.emplace_back(-most, n);
  }
  std::ranges::sort(order);
  std::vector<std::uint32_t> nodes;
  for (const auto& [most, n] : order) nodes.push_back(n);
  return nodes;
}

// What an exchange between the two could gain at best, if replicas were sand.
double PackRefine::hope(std::uint32_t one, std::uint32_t other) const {
  const Packing::Level* a = packing_.level(one);
  const Packing::Level* b = packing_.level(other);
  double sum = 0;
  for (std::size_t l = 0; l < packing_.levels(); ++l) {
    const double bend = a[l].factor + b[l].factor;
    const double slope = a[l].factor * a[l].usage - b[l].factor * b[l].usage;
    if (a[l].factor > 0 && b[l].factor > 0) sum += slope * slope / bend;
  }
  return sum;
}

std::uint32_t PackRefine::partner(std::uint32_t node) {
  std::uint32_t best = none;
  double best_hope = 0;
  const auto look = [&](std::uint32_t n) {
    if (n == node) return;
    const double gain = hope(node, n);
    if (gain <= best_hope) return;
    best = n;
    best_hope = gain;
  };
  const auto& near = by_domain_[packing_.domain(node)];
  // Where the most promising one was of no use, chance has more to say.
  const std::size_t looks = std::max<std::size_t>(1, partners >> (2 * fails_[node]));
  for (std::size_t i = 0; i < looks; ++i) look(near[rng_.below(near.size())]);
  // Another domain is of use to few shards, so it is tried now and then.
  if (near.size() < 2 || rng_.below(4) == 0) {
    for (std::size_t i = 0; i < looks; ++i) look(packing_.able()[rng_.below(packing_.able().size())]);
  }
  return best;
}

void PackRefine::open(Window& window, std::uint32_t node) {
  const auto& on = lists_.on(node);
  const std::size_t levels = packing_.levels();
  window.replicas.clear();
  window.sizes.clear();
  const std::size_t count = std::min(on.size(), window_max);
  const std::size_t first = on.size() <= window_max ? 0 : rng_.below(on.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t replica = on[first + i < on.size() ? first + i : first + i - on.size()];
    const double* size = packing_.size(packing_.shard_of(replica));
    window.replicas.push_back(replica);
    for (std::size_t l = 0; l < levels; ++l) window.sizes.push_back(size[l] + (packing_.leads(replica) ? packing_.lead()[l] : 0));
  }
  window.replicas.push_back(none);
  window.sizes.insert(window.sizes.end(), levels, 0);
}

bool PackRefine::may_go(std::uint32_t replica, std::uint32_t from, std::uint32_t to) const {
  if (packing_.leads(replica) && packing_.may_lead(from) && !packing_.may_lead(to)) return false;
  return packing_.spreads(replica, to);
}

// Whether node `one` may give replica a to node `other`, and get b for it; either may be none.
bool PackRefine::may(std::uint32_t one, std::uint32_t a, std::uint32_t other, std::uint32_t b) const {
  if (a == none && b == none) return false;
  if (a == none) return may(other, b, one, a);
  if (b == none) {
    if (packing_.leads(a) && packing_.replicas() > 1) return false;
    return packing_.rank(other) <= packing_.rank(one) && may_go(a, one, other) && packing_.fits_instead(other, a, none);
  }
  if (packing_.leads(a) != packing_.leads(b)) return false;
  return may_go(a, one, other) && may_go(b, other, one) && packing_.fits_instead(other, a, b) && packing_.fits_instead(one, b, a);
}

PackRefine::Exchange PackRefine::best_exchange(std::uint32_t one, std::uint32_t other) {
  const std::size_t levels = packing_.levels();
  for (std::size_t l = 0; l < levels; ++l) {
    const Packing::Level &a = packing_.level(one)[l], &b = packing_.level(other)[l];
    bend_[l] = a.factor + b.factor;
    wanted_[l] = 2 * (a.factor * a.usage - b.factor * b.usage);
  }
  open(window_, one);
  open(other_window_, other);
  Exchange best;
  best.delta = -1e-9 * hope(one, other);
  for (std::size_t i = 0; i < window_.replicas.size(); ++i) {
    const double* a = window_.sizes.data() + i * levels;
    for (std::size_t j = 0; j < other_window_.replicas.size(); ++j) {
      const double* b = other_window_.sizes.data() + j * levels;
      double delta = 0;
      for (std::size_t l = 0; l < levels; ++l) delta += (a[l] - b[l]) * ((a[l] - b[l]) * bend_[l] - wanted_[l]);
      if (delta < best.delta && may(one, window_.replicas[i], other, other_window_.replicas[j])) {
        best = {window_.replicas[i], other_window_.replicas[j], delta};
      }
    }
  }
  looked_at_ += window_.replicas.size() * other_window_.replicas.size();
  return best;
}

bool PackRefine::mend(std::uint32_t node) {
  const std::uint32_t other = partner(node);
  if (other == none) return false;
  looked_at_ += 2 * partners;
  const Exchange found = best_exchange(node, other);
  if (found.one == none && found.other == none) return false;
  if (found.one == none) {
    lists_.shift(found.other, node);
  } else if (found.other == none) {
    lists_.shift(found.one, other);
  } else {
    lists_.swap(found.one, found.other);
  }
  return true;
}

void PackRefine::run(std::uint64_t budget) {
  constexpr std::uint32_t fails_max = 10;  // then a node is left as it is
  while (looked_at_ < budget) {
    ++round_;
    bool any = false;
    for (const std::uint32_t node : standing_out()) {
      if (fails_[node] >= fails_max || looked_at_ >= budget) continue;
      any = true;
      if (rests_until_[node] > round_) continue;
      fails_[node] = mend(node) ? 0 : fails_[node] + 1;
      rests_until_[node] = round_ + fails_[node];
    }
    looked_at_ += packing_.able().size();
    if (!any) break;
  }
  packing_.evaluated += looked_at_;
}

}  // namespace evenkeel::place::detail
