#include "evenkeel/place/detail/deal.h"

#include <algorithm>
#include <array>
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

// How many replicas each node gets. Replica x of a node has the level (fill + x) / share; those of the lowest levels are taken,
// as many as are needed, within the room of nodes and domains. That is the best there is for any measure that punishes height,
// because the caps nest: what is cheapest now never stands in the way of what is cheapest later.
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

  // A level, as high as it can be, at which at most `target` replicas are taken. It stops where handing out the rest one by one
  // is as cheap as looking on. Halving the bits of a double rather than its value takes at most 64 rounds whatever the range.
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

// ------------------------------------------------------------------------------------------------------------------------- dealing

constexpr std::size_t pair_items_max = 2048;  // 2048² counts of four bytes: 16 MB
constexpr std::size_t pairs_small = 1 << 16;  // a table that costs nothing worth thinking about
constexpr Index partners_max = 8;             // of a longer row each item's pairs with this many others are a fair sample
constexpr Index window_pairs = 64;  // counts of pairs that are read for one choice: they differ by one or two, so a few will do
constexpr Index window_plain = 8;   // items compared without them, which only keeps all about equally far behind their quota

// Things in groups, each with a quota of shards that take it: nodes in domains, or domains. Every shard takes so many different
// ones of each group. Invariant: with t shards left no quota is above t; one that equals t is forced, and stays so.
//
// Items with a quota are seated group by group, and known by their seat inside: what is compared lies side by side.
class Urn {
 public:
  struct Items {
    std::vector<std::uint32_t> quota;
    std::vector<Index> group;
    std::vector<std::uint64_t> salt;
    std::size_t groups = 0;
  };

  Urn(const Items& items, std::uint32_t replicas) : segments_(items.groups) {
    seat(items);
    if (wants_pairs(replicas)) pairs_.resize(seats_.size() * seats_.size());
  }

  void begin_shard(std::uint32_t shard, std::uint32_t shards_left) {
    shard_ = shard;
    dice_ = mix64(shard);
    picked_.clear();
    // Keys in the heap are those of some time ago, and quotas only fall. One that is looked at is put back at its true height,
    // which in a level deal is a fixed part of what it was: each item comes up a logarithmic number of times.
    while (!heap_.empty() && heap_.front().first >= shards_left) {
      std::pop_heap(heap_.begin(), heap_.end());
      auto& [key, seat] = heap_.back();
      key = seats_[seat].left;
      assert(key <= shards_left);
      if (key == shards_left) swap(seat, segments_[seats_[seat].group].forced++);
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
    for (Index at = segment.begin; at < segment.forced; ++at, --count) row.push_back(pick(order_[at]));
    for (; count > 0; --count) row.push_back(pick(best(segment)));
  }

 private:
  // A group's part of order_: [begin, forced) must be taken by every shard, [forced, end) may be, those behind have nothing left.
  struct Segment {
    Index begin = 0;
    Index forced = 0;
    Index end = 0;
  };
  struct Seat {
    double inverse = 0;  // of the quota
    std::uint64_t salt = 0;
    std::uint32_t stamp = 0;  // the last shard that took it, plus one
    std::uint32_t done = 0;   // the part of the quota that is used up, as 16 bits above 16 others
    std::uint32_t left = 0;   // of the quota
    Index item = 0;
    Index group = 0;
    Index place = 0;  // in order_
  };

  void seat(const Items& items) {
    for (std::size_t i = 0; i < items.quota.size(); ++i) segments_[items.group[i]].end += items.quota[i] != 0;
    Index begin = 0;
    for (Segment& segment : segments_) {
      const Index size = segment.end;
      segment = {begin, begin, begin};
      begin += size;
    }
    seats_.resize(begin);
    order_.resize(begin);
    std::iota(order_.begin(), order_.end(), 0);
    for (Index i = 0; i < items.quota.size(); ++i) {
      if (items.quota[i] == 0) continue;
      const Index at = segments_[items.group[i]].end++;
      seats_[at] = {.inverse = 1.0 / items.quota[i],
                    .salt = items.salt[i],
                    .left = items.quota[i],
                    .item = i,
                    .group = items.group[i],
                    .place = at};
      heap_.emplace_back(items.quota[i], at);
    }
    std::make_heap(heap_.begin(), heap_.end());
  }

  // Where rows are so few that a pair hardly meets twice by chance a large table is not worth its memory; nor where there is no
  // choice.
  bool wants_pairs(std::uint32_t replicas) const {
    const std::size_t size = seats_.size();
    if (replicas < 2 || size > pair_items_max) return false;
    if (std::ranges::all_of(segments_, [](const Segment& segment) { return segment.end - segment.begin <= 1; })) return false;
    std::uint64_t dealt = 0;
    for (const Seat& seat : seats_) dealt += std::uint64_t{seat.left} * (replicas - 1);
    return size * size <= pairs_small || dealt * 4 >= size * size;
  }

  void swap(Index seat, Index place) {
    const Index other = order_[place];
    std::swap(order_[seats_[seat].place], order_[place]);
    seats_[other].place = std::exchange(seats_[seat].place, place);
  }

  // Returns the item.
  Index pick(Index index) {
    Seat& seat = seats_[index];
    Segment& segment = segments_[seat.group];
    seat.stamp = shard_ + 1;
    seat.done = static_cast<std::uint32_t>(0xffff * (1 - --seat.left * seat.inverse)) << 16;
    if (seat.left == 0 && seat.place >= segment.forced) swap(index, --segment.end);
    if (!pairs_.empty()) {
      for (const Index other : partners()) {
        ++pairs_[index * seats_.size() + other];
        ++pairs_[other * seats_.size() + index];
      }
    }
    picked_.push_back(index);
    return seat.item;
  }
  std::span<const Index> partners() const { return std::span(picked_).last(std::min<std::size_t>(picked_.size(), partners_max)); }

  // How often a partner met each other item, a row of the table, and how much that counts.
  struct Met {
    const std::uint32_t* row;
    double weight;
  };

  // The best of those that the shard may take. Of a large group only a window is looked at, which begins anywhere, and the next
  // one if the shard has all of it already.
  Index best(const Segment& segment) const {
    std::array<Met, partners_max> met;
    std::size_t partners_met = 0;
    if (!pairs_.empty()) {
      for (const Index other : partners()) met[partners_met++] = {&pairs_[other * seats_.size()], seats_[other].inverse};
    }
    const Index size = segment.end - segment.forced;
    const Index window = pairs_.empty() ? window_plain : window_pairs / std::max<Index>(static_cast<Index>(partners_met), 2);
    Index at = segment.forced;
    if (size > window) at += static_cast<Index>((mix64(dice_, picked_.size() + seats_[order_[at]].salt) >> 32) * size >> 32);
    Best found;
    for (Index visited = 0; visited < size && found.key == no_key; visited += window) {
      for (Index left = std::min(window, size - visited); left > 0;) {
        const Index run = std::min(left, segment.end - at);
        found = look(std::span(order_).subspan(at, run), std::span(met).first(partners_met), found);
        left -= run;
        at = at + run == segment.end ? segment.forced : at + run;
      }
    }
    assert(found.key != no_key);
    return found.seat;
  }

  // The lowest key is the best: it met those already picked least, relative to what their quotas promise; then it is furthest
  // behind; then the dice fell so. One number for all three (32, 16 and 16 bits) makes this loop, where a deal spends its time,
  // free of branches that nobody could predict; what the cut-off bits would tell apart is as good as equal.
  static constexpr std::uint64_t no_key = std::numeric_limits<std::uint64_t>::max();
  struct Best {
    std::uint64_t key = no_key;
    Index seat = 0;
  };
  Best look(std::span<const Index> indexes, std::span<const Met> met, Best found) const {
    const Seat* const seats = seats_.data();
    const Met* const others = met.data();
    const std::size_t partners_met = met.size();
    const std::uint64_t dice = dice_;
    const std::uint32_t stamp = shard_ + 1;
    for (const Index index : indexes) {
      const Seat& seat = seats[index];
      double together = 0;
      for (std::size_t i = 0; i < partners_met; ++i) together += others[i].row[index] * others[i].weight;
      // Bits of doubles that are not negative are ordered as they are. Salts are hashes already: a product is enough to mix them.
      const std::uint64_t first = std::bit_cast<std::uint64_t>(together * seat.inverse) & 0xffff'ffff'0000'0000;
      const std::uint64_t tie = ((seat.salt ^ dice) * 0x9e37'79b9'7f4a'7c15) >> 48;
      const std::uint64_t key = (first | seat.done | tie) | -std::uint64_t{seat.stamp == stamp};
      const std::uint64_t better = -std::uint64_t{key < found.key};  // all bits or none
      found.seat ^= (found.seat ^ index) & static_cast<Index>(better);
      found.key ^= (found.key ^ key) & better;
    }
    return found;
  }

  std::vector<Seat> seats_;
  std::vector<Index> order_;                           // seats by group
  std::vector<Segment> segments_;                      // by group
  std::vector<std::uint32_t> pairs_;                   // how often two were taken by one shard; empty: not counted
  std::vector<std::pair<std::uint32_t, Index>> heap_;  // largest quota first, as of some time ago
  std::vector<Index> picked_;                          // by this shard
  std::uint32_t shard_ = 0;
  std::uint64_t dice_ = 0;  // what the shard brings to ties
};

// Who is first in each row: of those that may lead the one furthest behind its part.
class Leaders {
 public:
  Leaders(const Deal& deal, std::span<const std::uint32_t> quota) : deal_(deal), due_(quota.size()) {
    for (Index node = 0; node < quota.size(); ++node) pool_[may(node)] += quota[node];
  }

  void put_first(std::span<Index> row, std::uint32_t shard) {
    if (row.empty()) return;
    const bool able = std::ranges::any_of(row, [&](Index node) { return may(node); });
    std::size_t best = row.size();
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (may(row[at]) != able) continue;
      due_[row[at]] += deal_.shards;
      if (best == row.size() || before(row[at], row[best], shard)) best = at;
    }
    due_[row[best]] -= pool_[able];
    std::swap(row[0], row[best]);
  }

 private:
  bool may(Index node) const { return deal_.leads.empty() || deal_.leads[node] != 0; }
  bool before(Index a, Index b, std::uint32_t shard) const {
    if (due_[a] != due_[b]) return due_[a] > due_[b];
    return std::pair(mix64(deal_.salt[a], shard), a) < std::pair(mix64(deal_.salt[b], shard), b);
  }

  const Deal& deal_;
  // Of the rows that a node is in it should lead the part shards / pool; this is how much that is more than it leads, times pool.
  std::vector<std::int64_t> due_;
  std::int64_t pool_[2] = {0, 0};  // replicas on nodes that may not lead, and on those that may
};

// The domains of each shard. A domain with quota x gives each shard ⌊x/k⌋ replicas, which needs no choice, and one more to x
// mod k of them, which does. Domains that are in every shard anyway are a group apart: one more of theirs is a repetition, and
// so no shard has more than one such more than another.
class DomainPlan {
 public:
  DomainPlan(const Deal& deal, const ByDomain& domains, std::span<const std::uint32_t> quota)
      : shards_(deal.shards), extra_(deal.replicas), base_(domains.size()), urn_(items(deal, domains, quota), deal.replicas) {}

  // Pairs of domain and number of replicas, for the next shard.
  const std::vector<std::pair<Index, std::uint32_t>>& next(std::uint32_t shard, std::uint64_t salt) {
    const std::uint32_t left = shards_ - shard;
    std::uint32_t fresh = static_cast<std::uint32_t>(fresh_ / left);
    if (fresh_ % left != 0) fresh += mix64(salt, shard) % left < fresh_ % left;
    fresh_ -= fresh;
    urn_.begin_shard(shard, left);
    again_.clear();
    if (extra_ > fresh) urn_.take(group_always, extra_ - fresh, again_);
    std::sort(again_.begin(), again_.end());
    plan_.clear();
    auto again = again_.begin();
    for (const Index domain : always_) {
      const bool more = again != again_.end() && *again == domain;
      plan_.emplace_back(domain, base_[domain] + more);
      again += more;
    }
    picked_.clear();
    if (fresh > 0) urn_.take(group_some, fresh, picked_);
    for (const Index domain : picked_) plan_.emplace_back(domain, 1);
    return plan_;
  }

 private:
  static constexpr Index group_some = 0;
  static constexpr Index group_always = 1;

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
      items.group.push_back(base_[d] > 0 ? group_always : group_some);
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
  std::vector<Index> again_;   // for the shard at hand: domains that give one more than every shard gets,
  std::vector<Index> picked_;  // and those that are not in every shard
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
    leaders.put_first(row, shard);
    for (const Index node : row) dealt.rows.add(NodeIndex(node));
    dealt.rows.end_row();
  }
  return dealt;
}

}  // namespace evenkeel::place::detail
