#include "evenkeel/place/detail/deal.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "evenkeel/base/hash.h"

namespace evenkeel::place::detail {
namespace {

using Index = std::uint32_t;

std::uint64_t needed_slots(const Deal& deal) { return std::uint64_t{deal.shards} * deal.replicas; }

std::uint32_t usable(const Deal& deal, std::size_t node) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(deal.slots[node], deal.shards));
}

std::size_t domains_of(const Deal& deal) {
  return deal.domains.empty() ? 0 : std::size_t{*std::max_element(deal.domains.begin(), deal.domains.end())} + 1;
}

// Nodes side by side with those of their domain, in order within it.
struct ByDomain {
  explicit ByDomain(const Deal& deal) : nodes(deal.slots.size()), begin(domains_of(deal) + 1) {
    for (const Index domain : deal.domains) ++begin[domain + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    for (Index node = 0; node < nodes.size(); ++node) nodes[next[deal.domains[node]]++] = node;
  }
  std::size_t size() const { return begin.size() - 1; }
  std::span<const Index> operator[](std::size_t domain) const {
    return std::span(nodes).subspan(begin[domain], begin[domain + 1] - begin[domain]);
  }

  std::vector<Index> nodes;
  std::vector<Index> begin;  // by domain, and the end
};

// -------------------------------------------------------------------------------------------------------------------------- quotas

constexpr std::uint64_t no_cap = std::numeric_limits<std::uint64_t>::max();

// How many replicas each node gets. Replica x of a node has the level (fill + x) / share; those of the lowest levels are taken, as many
// as are needed, within the room of nodes and domains. That is the best there is for any measure that punishes height, because the caps
// nest: what is cheapest now never stands in the way of what is cheapest later.
class Quotas {
 public:
  Quotas(const Deal& deal, const ByDomain& domains)
      : deal_(deal), domains_(domains), taken_(deal.slots.size()), level_(taken_.size()) {
    const double most = deal.share.empty() ? 0 : *std::max_element(deal.share.begin(), deal.share.end());
    for (std::size_t i = 0; i < level_.size(); ++i) {
      // A share below 2^-60 of the largest is none: no request is large enough to see the difference, and levels stay finite.
      const bool wanted = deal.share[i] > most * 0x1p-60;
      level_[i] = {.fill = std::clamp(deal.fill[i], 0.0, 0x1p50), .share = wanted ? deal.share[i] / most : 1, .wanted = wanted};
    }
  }

  std::vector<std::uint32_t> choose() {
    std::uint64_t apart = 0;
    for (std::size_t d = 0; d < domains_.size(); ++d) apart += std::min<std::uint64_t>(slots_in(d), deal_.shards);
    const std::uint64_t needed = needed_slots(deal_);
    if (apart >= needed) {
      room_.assign(domains_.size(), deal_.shards);
      fill_all(needed);
    } else {
      // Not all can be apart: each domain first gives what it can to different shards, then the rest is level again.
      room_.assign(domains_.size(), no_cap);
      for (std::size_t d = 0; d < domains_.size(); ++d) fill_one(d, std::min<std::uint64_t>(slots_in(d), deal_.shards));
      fill_all(needed - apart);
    }
    return std::move(taken_);
  }

 private:
  struct Level {
    double fill = 0;
    double share = 1;
    bool wanted = true;  // those not wanted are filled after all others, as equals
  };
  struct Next {
    double level = 0;
    std::uint64_t salt = 0;
    Index node = 0;
    friend bool operator>(const Next& a, const Next& b) {
      return std::tie(a.level, a.salt, a.node) > std::tie(b.level, b.salt, b.node);
    }
  };

  std::uint64_t slots_in(std::size_t domain) const {
    std::uint64_t sum = 0;
    for (const Index node : domains_[domain]) sum += usable(deal_, node);
    return sum;
  }
  bool takes_part(Index node) const { return level_[node].wanted == wanted_ && taken_[node] < usable(deal_, node); }
  double level_with(Index node, double replicas) const { return (level_[node].fill + replicas) / level_[node].share; }

  // How many more than it has a node may take without rising above a level.
  std::uint32_t below(Index node, double level) const {
    if (!takes_part(node)) return 0;
    const double most = usable(deal_, node);
    const double replicas = std::clamp(level_[node].share * level - level_[node].fill, 0.0, most);
    return std::max(static_cast<std::uint32_t>(replicas), taken_[node]) - taken_[node];
  }
  std::uint64_t below(std::size_t domain, double level) const {
    std::uint64_t sum = 0;
    for (const Index node : domains_[domain]) sum += below(node, level);
    return sum;
  }
  std::uint64_t below_everywhere(double level) const {
    std::uint64_t sum = 0;
    for (std::size_t d = 0; d < domains_.size(); ++d) sum += std::min(below(d, level), room_[d]);
    return sum;
  }

  // A level, as high as it can be, at which at most `target` replicas are taken. It stops where handing out the rest one by one is as
  // cheap as looking on. Halving the bits of a double rather than its value takes at most 64 rounds whatever the range.
  template <class Count>
  double highest(std::span<const Index> nodes, std::uint64_t target, const Count& count) const {
    double top = 0;
    for (const Index node : nodes) {
      if (takes_part(node)) top = std::max(top, level_with(node, usable(deal_, node)));
    }
    if (count(top) <= target) return top;
    std::uint64_t low = 0;
    std::uint64_t high = std::bit_cast<std::uint64_t>(top);
    std::uint64_t reached = 0;
    while (high - low > 1 && target - reached > nodes.size()) {
      const std::uint64_t middle = low + (high - low) / 2;
      const std::uint64_t sum = count(std::bit_cast<double>(middle));
      if (sum > target) {
        high = middle;
      } else {
        low = middle;
        reached = sum;
      }
    }
    return std::bit_cast<double>(low);
  }

  void take(Index node, std::uint32_t replicas) {
    taken_[node] += replicas;
    if (room_[deal_.domains[node]] != no_cap) room_[deal_.domains[node]] -= replicas;
  }
  std::uint64_t raise(std::size_t domain, double level) {
    std::uint64_t sum = 0;
    for (const Index node : domains_[domain]) {
      const std::uint32_t more = below(node, level);
      take(node, more);
      sum += more;
    }
    return sum;
  }

  // One by one, the lowest next level first. Returns what finds no room.
  std::uint64_t hand_out(std::span<const Index> nodes, std::uint64_t replicas) {
    if (replicas == 0) return 0;
    std::vector<Next> heap;
    for (const Index node : nodes) {
      if (takes_part(node)) heap.push_back({level_with(node, taken_[node] + 1.0), deal_.salt[node], node});
    }
    std::make_heap(heap.begin(), heap.end(), std::greater<>());
    while (replicas > 0 && !heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      const Index node = heap.back().node;
      heap.pop_back();
      if (room_[deal_.domains[node]] == 0) continue;
      take(node, 1);
      --replicas;
      if (!takes_part(node)) continue;
      heap.push_back({level_with(node, taken_[node] + 1.0), deal_.salt[node], node});
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
    return replicas;
  }

  void fill_one(std::size_t domain, std::uint64_t replicas) {
    for (const bool wanted : {true, false}) {
      wanted_ = wanted;
      replicas = fill_part(domain, replicas);
    }
    assert(replicas == 0);
  }
  // The same of the nodes that take part now. Returns what finds no room.
  std::uint64_t fill_part(std::size_t domain, std::uint64_t replicas) {
    const double level = highest(domains_[domain], replicas, [&](double height) { return below(domain, height); });
    return hand_out(domains_[domain], replicas - raise(domain, level));
  }

  void fill_all(std::uint64_t replicas) {
    for (const bool wanted : {true, false}) {
      wanted_ = wanted;
      const double level = highest(domains_.nodes, replicas, [&](double height) { return below_everywhere(height); });
      for (std::size_t d = 0; d < domains_.size(); ++d) {
        const std::uint64_t room = room_[d];
        // A domain that would rise beyond its room has a level of its own, below the others'.
        replicas -= below(d, level) > room ? room - fill_part(d, room) : raise(d, level);
      }
      replicas = hand_out(domains_.nodes, replicas);
    }
    assert(replicas == 0);
  }

  const Deal& deal_;
  const ByDomain& domains_;
  std::vector<std::uint32_t> taken_;
  std::vector<Level> level_;
  std::vector<std::uint64_t> room_;  // by domain
  bool wanted_ = true;               // which nodes are being filled
};

// -------------------------------------------------------------------------------------------------------------------------- dealing

constexpr std::size_t pair_items_max = 2048;  // 2048² counts of four bytes: 16 MB
constexpr std::size_t pairs_small = 1 << 16;  // a table that costs nothing worth thinking about
constexpr std::size_t partners_max = 16;      // of a longer row each item's pairs with this many others are a fair sample
constexpr std::size_t window_pairs =
    64;                                  // how many items are compared: with a table of pairs, since counts differ by one or two,
constexpr std::size_t window_plain = 8;  // and without, where it is only to keep all about equally far behind their quota

// Things in groups, each with a quota of shards that take it: nodes in domains, or domains. Every shard takes so many different ones of
// each group. Invariant: with t shards left no quota is above t; one that equals t is forced, and stays so.
class Urn {
 public:
  struct Items {
    std::vector<std::uint32_t> quota;
    std::vector<Index> group;
    std::vector<std::uint64_t> salt;
    std::size_t groups = 0;
  };

  Urn(Items items, std::uint32_t replicas)
      : items_(std::move(items)), left_(items_.quota), inverse_(left_.size()), stamp_(left_.size()), place_(left_.size()) {
    for (std::size_t i = 0; i < left_.size(); ++i) inverse_[i] = left_[i] == 0 ? 0 : 1.0 / left_[i];
    lay_out();
    if (wants_pairs(replicas)) pairs_.resize(left_.size() * left_.size());
  }

  std::uint32_t left(Index item) const { return left_[item]; }
  std::uint32_t quota(Index item) const { return items_.quota[item]; }

  void begin_shard(std::uint32_t shard, std::uint32_t shards_left) {
    shard_ = shard;
    picked_.clear();
    // Keys in the heap are those of some time ago, and quotas only fall. One that is looked at is put back at its true height, which in
    // a level deal is a fixed part of what it was: each item comes up a logarithmic number of times.
    while (!heap_.empty() && heap_.front().first >= shards_left) {
      std::pop_heap(heap_.begin(), heap_.end());
      auto& [key, item] = heap_.back();
      key = left_[item];
      assert(key <= shards_left);
      if (key == shards_left) force(item);
      if (key == shards_left || key == 0) {
        heap_.pop_back();
      } else {
        std::push_heap(heap_.begin(), heap_.end());
      }
    }
  }

  // Appends `count` different items of the group to `row`.
  void take(Index group, std::uint32_t count, std::vector<Index>& row) {
    const Segment& segment = segments_[group];
    for (Index at = segment.begin; at < segment.forced; ++at, --count) pick(order_[at], row);
    for (; count > 0; --count) pick(best(segment), row);
  }

 private:
  // A group's part of order_: [begin, forced) must be taken by every shard, [forced, end) may be, those behind have nothing left.
  struct Segment {
    Index begin = 0;
    Index forced = 0;
    Index end = 0;
  };
  struct Candidate {
    double together = 0;  // how often it met those already picked, relative to what their quotas promise
    double behind = 0;    // the part of its quota that is still left
    std::uint64_t tie = 0;
    Index item = 0;
  };

  void lay_out() {
    segments_.resize(items_.groups);
    for (std::size_t i = 0; i < left_.size(); ++i) segments_[items_.group[i]].end += left_[i] != 0;
    Index begin = 0;
    for (Segment& segment : segments_) {
      const Index size = segment.end;
      segment = {begin, begin, begin};
      begin += size;
    }
    order_.resize(begin);
    for (Index i = 0; i < left_.size(); ++i) {
      if (left_[i] == 0) continue;
      place_[i] = segments_[items_.group[i]].end++;
      order_[place_[i]] = i;
      heap_.emplace_back(left_[i], i);
    }
    std::make_heap(heap_.begin(), heap_.end());
  }

  // Where rows are so few that a pair hardly meets twice by chance a large table is not worth its memory; nor where there is no choice.
  bool wants_pairs(std::uint32_t replicas) const {
    const std::size_t size = left_.size();
    if (replicas < 2 || size > pair_items_max) return false;
    if (std::ranges::all_of(segments_, [](const Segment& segment) { return segment.end - segment.begin <= 1; })) return false;
    const std::uint64_t dealt = std::accumulate(left_.begin(), left_.end(), std::uint64_t{0}) * (replicas - 1);
    return size * size <= pairs_small || dealt * 4 >= size * size;
  }

  void swap(Index item, Index place) {
    const Index other = order_[place];
    std::swap(order_[place_[item]], order_[place]);
    place_[other] = std::exchange(place_[item], place);
  }
  void force(Index item) { swap(item, segments_[items_.group[item]].forced++); }

  void pick(Index item, std::vector<Index>& row) {
    stamp_[item] = shard_ + 1;
    Segment& segment = segments_[items_.group[item]];
    if (--left_[item] == 0 && place_[item] >= segment.forced) swap(item, --segment.end);
    if (!pairs_.empty()) {
      for (const Index other : partners()) {
        ++pairs_[item * left_.size() + other];
        ++pairs_[other * left_.size() + item];
      }
    }
    picked_.push_back(item);
    row.push_back(item);
  }
  std::span<const Index> partners() const { return std::span(picked_).last(std::min(picked_.size(), partners_max)); }

  double together(Index item) const {
    double sum = 0;
    if (pairs_.empty()) return sum;
    for (const Index other : partners()) sum += pairs_[other * left_.size() + item] * inverse_[other];
    return sum * inverse_[item];
  }

  // Of those that the shard may take: the one that met the others least, then the one furthest behind, then as the dice fall. Of a large
  // group only a window is looked at, which begins anywhere.
  Index best(const Segment& segment) const {
    const Index size = segment.end - segment.forced;
    const std::size_t window = pairs_.empty() ? window_plain : window_pairs;
    Index at = segment.forced;
    if (size > window) at += static_cast<Index>(mix64(items_.salt[order_[at]], mix64(shard_, picked_.size())) % size);
    Candidate found;
    std::size_t seen = 0;
    for (Index visited = 0; visited < size && seen < window; ++visited, at = at + 1 == segment.end ? segment.forced : at + 1) {
      if (stamp_[order_[at]] == shard_ + 1) continue;
      consider(order_[at], seen++ == 0, found);
    }
    assert(seen > 0);
    return found.item;
  }
  void consider(Index item, bool first, Candidate& found) const {
    const double met = together(item);
    const double behind = left_[item] * inverse_[item];
    if (!first) {
      if (met > found.together || (met == found.together && behind < found.behind)) return;
      if (met == found.together && behind == found.behind) {
        const std::uint64_t tie = mix64(items_.salt[item], shard_);
        if (found.tie == 0) found.tie = mix64(items_.salt[found.item], shard_);
        if (tie < found.tie || (tie == found.tie && item < found.item)) found = {met, behind, tie, item};
        return;
      }
    }
    found = {met, behind, 0, item};
  }

  Items items_;
  std::vector<std::uint32_t> left_;
  std::vector<double> inverse_;                        // of the quota
  std::vector<std::uint32_t> stamp_;                   // the last shard that took it, plus one
  std::vector<Index> place_;                           // in order_
  std::vector<Index> order_;                           // items with something left, by group
  std::vector<Segment> segments_;                      // by group
  std::vector<std::uint32_t> pairs_;                   // how often two were taken by one shard; empty: not counted
  std::vector<std::pair<std::uint32_t, Index>> heap_;  // largest quota first, as of some time ago
  std::vector<Index> picked_;                          // by this shard
  std::uint32_t shard_ = 0;
};

// Who is first in each row: of those that may lead the one furthest behind its part.
class Leaders {
 public:
  Leaders(const Deal& deal, std::span<const std::uint32_t> quota) : deal_(deal), led_(quota.size()) {
    for (Index node = 0; node < quota.size(); ++node) pool_[may(node)] += quota[node];
  }

  // `nodes` has counted the row already.
  void put_first(std::span<Index> row, std::uint32_t shard, const Urn& nodes) {
    if (row.empty()) return;
    const bool able = std::ranges::any_of(row, [&](Index node) { return may(node); });
    std::size_t best = row.size();
    std::pair<std::int64_t, std::uint64_t> best_score;
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (may(row[at]) != able) continue;
      // Of the rows so far it should lead taken · shards / pool.
      const std::uint64_t taken = nodes.quota(row[at]) - nodes.left(row[at]);
      const std::pair score(
          static_cast<std::int64_t>(led_[row[at]] * pool_[able]) - static_cast<std::int64_t>(taken * deal_.shards),
          mix64(deal_.salt[row[at]], shard));
      if (best == row.size() || score < best_score) {
        best = at;
        best_score = score;
      }
    }
    ++led_[row[best]];
    std::swap(row[0], row[best]);
  }

 private:
  bool may(Index node) const { return deal_.leads.empty() || deal_.leads[node] != 0; }

  const Deal& deal_;
  std::vector<std::uint64_t> led_;
  std::uint64_t pool_[2] = {0, 0};  // replicas on nodes that may not lead, and on those that may
};

// The domains of each shard. A domain with quota x gives each shard ⌊x/k⌋ replicas, which needs no choice, and one more to x mod k of them,
// which does. Domains that are in every shard anyway are a group apart: one more of theirs is a repetition, and so no shard has more than
// one such more than another.
class DomainPlan {
 public:
  DomainPlan(const Deal& deal, const ByDomain& domains, std::span<const std::uint32_t> quota)
      : shards_(deal.shards), extra_(deal.replicas), base_(domains.size()), urn_(items(deal, domains, quota), deal.replicas) {}

  // Pairs of domain and number of replicas, for the next shard.
  const std::vector<std::pair<Index, std::uint32_t>>& next(std::uint32_t shard, std::uint64_t salt) {
    const std::uint32_t left = shards_ - shard;
    std::uint32_t spare = static_cast<std::uint32_t>(fresh_ / left);
    if (fresh_ % left != 0) spare += mix64(salt, shard) % left < fresh_ % left;
    fresh_ -= spare;
    urn_.begin_shard(shard, left);
    extras_.clear();
    if (spare > 0) urn_.take(0, spare, extras_);
    const std::size_t repeated = extras_.size();
    if (extra_ > spare) urn_.take(1, extra_ - spare, extras_);
    plan_.clear();
    std::sort(extras_.begin() + static_cast<std::ptrdiff_t>(repeated), extras_.end());
    auto again = extras_.begin() + static_cast<std::ptrdiff_t>(repeated);
    for (const Index domain : always_) {
      const bool more = again != extras_.end() && *again == domain;
      plan_.emplace_back(domain, base_[domain] + more);
      if (more) ++again;
    }
    for (std::size_t at = 0; at < repeated; ++at) plan_.emplace_back(extras_[at], 1);
    return plan_;
  }

 private:
  // Also fills in the rest, since all of it comes of the same sums.
  Urn::Items items(const Deal& deal, const ByDomain& domains, std::span<const std::uint32_t> quota) {
    Urn::Items items{.groups = 2};
    for (Index d = 0; d < domains.size(); ++d) {
      std::uint64_t sum = 0;
      std::uint64_t salt = 0;
      for (const Index node : domains[d]) {
        sum += quota[node];
        salt ^= deal.salt[node];
      }
      base_[d] = static_cast<std::uint32_t>(sum / shards_);
      items.quota.push_back(static_cast<std::uint32_t>(sum % shards_));
      items.group.push_back(base_[d] > 0);
      items.salt.push_back(salt);
      extra_ -= base_[d];
      if (base_[d] > 0) {
        always_.push_back(d);
      } else {
        fresh_ += items.quota.back();
      }
    }
    return items;
  }

  std::uint32_t shards_;
  std::uint32_t extra_;              // per shard, beyond what every shard gets
  std::vector<std::uint32_t> base_;  // by domain: what every shard gets
  std::vector<Index> always_;        // domains with such
  std::uint64_t fresh_ = 0;          // quota left in domains that are not in every shard
  Urn urn_;
  std::vector<Index> extras_;
  std::vector<std::pair<Index, std::uint32_t>> plan_;
};

}  // namespace

std::optional<NoDeal> why_no_deal(const Deal& deal) {
  if (deal.shards == 0 || deal.replicas == 0) return std::nullopt;
  std::uint64_t nodes = 0;
  std::uint64_t spread = 0;
  std::uint64_t slots = 0;
  std::vector<std::uint64_t> in_domain(domains_of(deal));
  for (std::size_t i = 0; i < deal.slots.size(); ++i) {
    if (deal.slots[i] == 0) continue;
    ++nodes;
    std::uint64_t& sum = in_domain[deal.domains[i]];
    spread += sum == 0;
    // With hard spread a domain is good for one replica of each shard, however many nodes it has.
    const std::uint64_t more = deal.hard ? std::min<std::uint64_t>(usable(deal, i), deal.shards - sum) : usable(deal, i);
    sum += more;
    slots += more;
  }
  if (nodes < deal.replicas) return NoDeal{NoDeal::Bound::nodes, deal.replicas, nodes};
  if (deal.hard && spread < deal.replicas) return NoDeal{NoDeal::Bound::spread, deal.replicas, spread};
  if (slots < needed_slots(deal)) return NoDeal{NoDeal::Bound::slots, needed_slots(deal), slots};
  return std::nullopt;
}

Dealt deal(const Deal& deal) {
  Dealt dealt{.no = why_no_deal(deal)};
  if (dealt.no || deal.shards == 0) return dealt;
  const ByDomain domains(deal);
  const std::vector<std::uint32_t> quota = Quotas(deal, domains).choose();
  const std::uint64_t salt = std::accumulate(deal.salt.begin(), deal.salt.end(), std::uint64_t{0});
  DomainPlan plan(deal, domains, quota);
  Urn nodes({.quota = quota,
             .group = {deal.domains.begin(), deal.domains.end()},
             .salt = {deal.salt.begin(), deal.salt.end()},
             .groups = domains.size()},
            deal.replicas);
  Leaders leaders(deal, quota);
  dealt.rows.reserve(deal.shards, needed_slots(deal));
  std::vector<Index> row;
  for (std::uint32_t shard = 0; shard < deal.shards; ++shard) {
    row.clear();
    nodes.begin_shard(shard, deal.shards - shard);
    for (const auto& [domain, replicas] : plan.next(shard, salt)) nodes.take(domain, replicas, row);
    leaders.put_first(row, shard, nodes);
    for (const Index node : row) dealt.rows.add(NodeIndex(node));
    dealt.rows.end_row();
  }
  return dealt;
}

}  // namespace evenkeel::place::detail
