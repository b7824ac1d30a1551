#include "evenkeel/place/detail/deal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/rng.h"

namespace evenkeel::place::detail {
namespace {

// What a Deal borrows.
struct Request {
  std::uint32_t shards = 1;
  std::uint32_t replicas = 1;
  bool hard = false;
  std::vector<std::uint64_t> slots;
  std::vector<std::uint32_t> domains;
  std::vector<double> share;
  std::vector<double> fill;
  std::vector<std::uint64_t> salt;
  std::vector<std::uint8_t> leads;

  Deal view() const { return {shards, replicas, hard, slots, domains, share, fill, salt, leads}; }
  std::size_t size() const { return slots.size(); }
  std::uint64_t usable(std::size_t node) const { return std::min<std::uint64_t>(slots[node], shards); }
  std::uint32_t domain_count() const { return slots.empty() ? 0 : *std::ranges::max_element(domains) + 1; }
  // What a domain could give if it were alone.
  std::vector<std::uint64_t> domain_slots() const {
    std::vector<std::uint64_t> sums(domain_count());
    for (std::size_t i = 0; i < size(); ++i) sums[domains[i]] += usable(i);
    return sums;
  }
  // Replicas that can be in a domain of their own within their shard, at most.
  std::uint64_t apart() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t in_domain : domain_slots()) sum += std::min<std::uint64_t>(in_domain, shards);
    return std::min(sum, std::uint64_t{shards} * replicas);
  }
};

// Equal nodes with room for everything, dealt to so many domains in turn; none: each is its own.
Request even(std::size_t nodes, std::uint32_t domains, bool hard, std::uint32_t shards, std::uint32_t replicas) {
  Request request{.shards = shards, .replicas = replicas, .hard = hard};
  request.slots.assign(nodes, 1'000'000'000);
  request.share.assign(nodes, 1);
  request.fill.assign(nodes, 0);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    request.domains.push_back(domains == 0 ? i : i % domains);
    request.salt.push_back(mix64(1, i));
  }
  return request;
}

Request random_request(std::uint64_t seed) {
  Rng rng(seed);
  Request request =
      even(static_cast<std::size_t>(rng.between(1, 9)), static_cast<std::uint32_t>(rng.between(0, 5)), rng.chance(1, 2),
           static_cast<std::uint32_t>(rng.between(1, 12)), static_cast<std::uint32_t>(rng.between(1, 5)));
  const std::uint64_t slots_max = rng.below(16);
  const bool equal = rng.chance(1, 3);
  for (std::size_t i = 0; i < request.size(); ++i) {
    request.slots[i] = rng.below(slots_max + 1);
    request.salt[i] = rng.next();
    if (equal) continue;
    request.domains[i] = static_cast<std::uint32_t>(rng.below(request.size()));
    request.share[i] = rng.chance(1, 6) ? 0 : 0.1 * static_cast<double>(rng.between(1, 30));
    request.fill[i] = 0.25 * static_cast<double>(rng.below(20));
  }
  return request;
}

// The largest flow, by ever another path: what deal() may not fall short of.
class Flow {
 public:
  explicit Flow(std::size_t vertices) : edges_(vertices) {}
  void edge(std::size_t from, std::size_t to, std::uint64_t room) {
    edges_[from].push_back({to, edges_[to].size(), room});
    edges_[to].push_back({from, edges_[from].size() - 1, 0});
  }
  std::uint64_t largest(std::size_t from, std::size_t to) {
    std::uint64_t sum = 0;
    for (;;) {
      seen_.assign(edges_.size(), false);
      if (!push(from, to)) return sum;
      ++sum;
    }
  }

 private:
  struct Edge {
    std::size_t to;
    std::size_t back;
    std::uint64_t room;
  };
  bool push(std::size_t at, std::size_t to) {
    if (at == to) return true;
    seen_[at] = true;
    for (Edge& edge : edges_[at]) {
      if (edge.room == 0 || seen_[edge.to] || !push(edge.to, to)) continue;
      --edge.room;
      ++edges_[edge.to][edge.back].room;
      return true;
    }
    return false;
  }
  std::vector<std::vector<Edge>> edges_;
  std::vector<bool> seen_;
};

bool possible(const Request& request) {
  const std::size_t shards = request.shards;
  const std::size_t domains = request.domain_count();
  const std::size_t first_node = 2 + shards * (1 + domains);  // source, sink, shards, domains of each shard, nodes
  Flow flow(first_node + request.size());
  for (std::size_t s = 0; s < shards; ++s) {
    flow.edge(0, 2 + s, request.replicas);
    for (std::size_t d = 0; d < domains; ++d) {
      flow.edge(2 + s, 2 + shards + s * domains + d, request.hard ? 1 : request.replicas);
    }
    for (std::size_t i = 0; i < request.size(); ++i) flow.edge(2 + shards + s * domains + request.domains[i], first_node + i, 1);
  }
  for (std::size_t i = 0; i < request.size(); ++i) flow.edge(first_node + i, 1, request.slots[i]);
  return flow.largest(0, 1) == shards * request.replicas;
}

std::vector<std::uint64_t> held(const Request& request, const Dealt& dealt) {
  std::vector<std::uint64_t> counts(request.size());
  for (std::size_t s = 0; s < dealt.rows.size(); ++s) {
    for (const NodeIndex node : dealt.rows[s]) ++counts[node.value()];
  }
  return counts;
}

std::size_t domains_in(const Request& request, std::span<const NodeIndex> row) {
  std::set<std::uint32_t> domains;
  for (const NodeIndex node : row) domains.insert(request.domains[node.value()]);
  return domains.size();
}

void expect_valid(const Request& request, const Dealt& dealt) {
  ASSERT_FALSE(dealt.no);
  ASSERT_EQ(dealt.rows.size(), request.shards);
  std::uint64_t apart = 0;
  std::size_t fewest = request.replicas;
  std::size_t most = 0;
  for (std::size_t s = 0; s < dealt.rows.size(); ++s) {
    const auto row = dealt.rows[s];
    ASSERT_EQ(row.size(), request.replicas);
    ASSERT_EQ(std::set<NodeIndex>(row.begin(), row.end()).size(), row.size()) << "a node twice in shard " << s;
    const std::size_t domains = domains_in(request, row);
    fewest = std::min(fewest, domains);
    most = std::max(most, domains);
    apart += domains;
  }
  // No other placement has more replicas apart, and none has them more evenly.
  EXPECT_EQ(apart, request.apart());
  if (request.hard) {
    EXPECT_EQ(fewest, request.replicas);
  }
  EXPECT_LE(most - fewest, 1);
  const auto counts = held(request, dealt);
  for (std::size_t i = 0; i < request.size(); ++i) EXPECT_LE(counts[i], request.slots[i]);
}

// No replica could be on another node that is lower with it than its own is now, and leave the spread as good.
void expect_level(const Request& request, const Dealt& dealt) {
  const auto counts = held(request, dealt);
  std::vector<std::uint64_t> in_domain(request.domain_count());
  for (std::size_t i = 0; i < request.size(); ++i) in_domain[request.domains[i]] += counts[i];
  const bool all_apart = request.apart() == std::uint64_t{request.shards} * request.replicas;
  const auto level = [&](std::size_t i, std::uint64_t count) {
    const double height = request.fill[i] + static_cast<double>(count);
    return request.share[i] == 0 ? std::pair(1, height) : std::pair(0, height / request.share[i]);
  };
  for (std::size_t a = 0; a < request.size(); ++a) {
    if (counts[a] == 0) continue;
    for (std::size_t b = 0; b < request.size(); ++b) {
      const std::uint32_t from = request.domains[a];
      const std::uint32_t to = request.domains[b];
      if (counts[b] >= request.usable(b)) continue;
      if (from != to && (all_apart ? in_domain[to] >= request.shards : in_domain[from] <= request.shards)) continue;
      auto now = level(a, counts[a]);
      now.second *= 1 - 1e-9;
      EXPECT_GE(level(b, counts[b] + 1), now) << "from " << a << " to " << b;
    }
  }
}

// How often two nodes share a shard: the largest difference from what their quotas promise, as a part of that, or none where it
// is less than one and a half shards. Pairs within a domain and across are measured apart, since spread alone decides how many
// there are of either.
double pairs_off(const Request& request, const Dealt& dealt) {
  const std::size_t size = request.size();
  const auto counts = held(request, dealt);
  std::vector<double> met(size * size);
  for (std::size_t s = 0; s < dealt.rows.size(); ++s) {
    for (const NodeIndex a : dealt.rows[s]) {
      for (const NodeIndex b : dealt.rows[s]) met[a.value() * size + b.value()] += 1;
    }
  }
  double worst = 0;
  for (const bool same : {true, false}) {
    double all = 0;
    double promised = 0;
    const auto each_pair = [&](const auto& visit) {
      for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t b = a + 1; b < size; ++b) {
          if ((request.domains[a] == request.domains[b]) == same)
            visit(met[a * size + b], static_cast<double>(counts[a] * counts[b]));
        }
      }
    };
    each_pair([&](double together, double product) {
      all += together;
      promised += product;
    });
    each_pair([&](double together, double product) {
      const double expected = product * all / promised;
      if (std::abs(together - expected) > 1.5) worst = std::max(worst, std::abs(together - expected) / expected);
    });
  }
  return worst;
}

// The farthest a node is from leading its part of the rows.
double leaders_off(const Request& request, const Dealt& dealt) {
  const auto counts = held(request, dealt);
  std::vector<double> led(request.size());
  double pool = 0;
  for (std::size_t i = 0; i < request.size(); ++i)
    pool += request.leads.empty() || request.leads[i] ? static_cast<double>(counts[i]) : 0;
  for (std::size_t s = 0; s < dealt.rows.size(); ++s) ++led[dealt.rows[s].front().value()];
  double worst = 0;
  for (std::size_t i = 0; i < request.size(); ++i) {
    const bool may = request.leads.empty() || request.leads[i];
    worst = std::max(worst, std::abs(led[i] - (may ? static_cast<double>(counts[i]) * request.shards / pool : 0)));
  }
  return worst;
}

TEST(Deal, IsRefusedExactlyIfImpossible) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    SCOPED_TRACE(seed);
    const Request request = random_request(seed);
    const bool can = possible(request);
    refused += !can;
    ASSERT_EQ(!why_no_deal(request.view()), can);
    const Dealt dealt = deal(request.view());
    ASSERT_EQ(!dealt.no, can);
    if (!can) {
      EXPECT_TRUE(dealt.rows.empty());
      continue;
    }
    expect_valid(request, dealt);
    expect_level(request, dealt);
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 4000);
}

// Just enough slots, so that hardly any choice is free at the end.
TEST(Deal, FindsTheLastSlot) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Request request =
        even(static_cast<std::size_t>(rng.between(4, 60)), static_cast<std::uint32_t>(rng.below(9)), rng.chance(1, 2),
             static_cast<std::uint32_t>(rng.between(20, 300)), static_cast<std::uint32_t>(rng.between(2, 6)));
    for (std::size_t i = 0; i < request.size(); ++i) {
      request.slots[i] = rng.below(2 * request.shards);
      request.share[i] = static_cast<double>(rng.between(1, 4)) / 3;
      request.fill[i] = static_cast<double>(rng.below(100)) / 7;
    }
    while (!why_no_deal(request.view())) {  // one slot less at a time, from any node
      std::uint64_t& slots = request.slots[rng.below(request.size())];
      slots = std::min<std::uint64_t>(slots, request.shards);
      slots -= std::min<std::uint64_t>(slots, 1 + rng.below(3));
    }
    while (why_no_deal(request.view()) && why_no_deal(request.view())->bound == NoDeal::Bound::slots) {
      ++request.slots[rng.below(request.size())];
    }
    if (why_no_deal(request.view())) continue;
    ++tight;
    const Dealt dealt = deal(request.view());
    expect_valid(request, dealt);
    expect_level(request, dealt);
    if (HasFailure()) return;
  }
  EXPECT_GT(tight, 100);
}

NoDeal why(const Request& request) { return why_no_deal(request.view()).value(); }

TEST(Deal, NamesTheBoundThatBinds) {
  Request request = even(4, 2, true, 100, 3);
  EXPECT_EQ(why(request).bound, NoDeal::Bound::spread);
  EXPECT_EQ(why(request).needed, 3);
  EXPECT_EQ(why(request).found, 2);
  request.hard = false;
  EXPECT_FALSE(why_no_deal(request.view()));
  request.slots = {0, 70, 100, 129};
  EXPECT_EQ(why(request).bound, NoDeal::Bound::slots);
  EXPECT_EQ(why(request).needed, 300);
  EXPECT_EQ(why(request).found, 270);
  request.slots = {0, 0, 100, 129};
  EXPECT_EQ(why(request).bound, NoDeal::Bound::nodes);
  EXPECT_EQ(why(request).needed, 3);
  EXPECT_EQ(why(request).found, 2);
}

TEST(Deal, CountsBeyond32Bits) {
  Request request = even(5, 0, false, 1u << 31, 3);
  request.slots.assign(5, 1ull << 63);
  EXPECT_FALSE(why_no_deal(request.view()));
  request.hard = true;
  EXPECT_FALSE(why_no_deal(request.view()));
  request.slots = {1ull << 63, 1ull << 63, 0, 0, (1ull << 31) - 1};
  EXPECT_EQ(why(request).needed, 3ull << 31);
  EXPECT_EQ(why(request).found, (3ull << 31) - 1);
  request.replicas = 1u << 31;
  EXPECT_EQ(why(request).bound, NoDeal::Bound::nodes);
}

TEST(Deal, OfNothingIsEmpty) {
  Request request = even(0, 0, true, 0, 3);
  EXPECT_FALSE(deal(request.view()).no);
  EXPECT_TRUE(deal(request.view()).rows.empty());
  request.shards = 1;
  EXPECT_EQ(why(request).bound, NoDeal::Bound::nodes);
}

TEST(Deal, LevelsWhatIsThereAlready) {
  Request request = even(4, 0, true, 100, 1);
  request.fill = {0, 10, 20, 30};
  EXPECT_THAT(held(request, deal(request.view())), testing::ElementsAre(40, 30, 20, 10));
  request.share = {1, 1, 2, 0};
  EXPECT_THAT(held(request, deal(request.view())), testing::ElementsAre(33, 22, 45, 0));  // none above 33 of their share
  request.slots = {10, 10, 10, 100};
  EXPECT_THAT(held(request, deal(request.view())), testing::ElementsAre(10, 10, 10, 70));  // the last only because it must
}

TEST(Deal, PutsSpreadBeforeLevel) {
  // Two small zones beside a large one: level would put 40 of 60 into the large one, and double it in 20 shards.
  Request request = even(6, 0, false, 20, 3);
  request.domains = {0, 0, 0, 0, 1, 2};
  const Dealt dealt = deal(request.view());
  expect_valid(request, dealt);
  EXPECT_THAT(held(request, dealt), testing::ElementsAre(5, 5, 5, 5, 20, 20));
}

TEST(Deal, RepeatsDomainsEvenlyWhereItMust) {
  Request request = even(6, 0, false, 20, 4);
  request.domains = {0, 0, 0, 1, 1, 1};  // fewer domains than replicas: two of each in every row
  Dealt dealt = deal(request.view());
  expect_valid(request, dealt);
  for (std::size_t s = 0; s < 20; ++s) {
    EXPECT_EQ(std::ranges::count_if(dealt.rows[s], [](NodeIndex node) { return node.value() < 3; }), 2);
  }
  request.replicas = 3;
  request.domains = {0, 0, 0, 0, 1, 2};
  request.slots[5] = 7;  // 13 rows must do without the third domain
  dealt = deal(request.view());
  expect_valid(request, dealt);
  std::map<std::size_t, int> rows;
  for (std::size_t s = 0; s < 20; ++s) ++rows[domains_in(request, dealt.rows[s])];
  EXPECT_THAT(rows, testing::ElementsAre(testing::Pair(2, 13), testing::Pair(3, 7)));
}

struct Shape {
  std::size_t nodes;
  std::uint32_t domains;
  bool hard;
  std::uint32_t shards;
  std::uint32_t replicas;
  bool unequal = false;
};

TEST(Deal, MakesNoClosedGroups) {
  for (const Shape& shape : {Shape{10, 0, true, 1000, 3},
                             {12, 3, true, 2000, 3},
                             {50, 0, false, 5000, 3},
                             {7, 0, true, 700, 2},
                             {10, 1, false, 1000, 3},
                             {12, 4, true, 2000, 3},
                             {15, 5, true, 3000, 3},
                             {30, 2, false, 3000, 3},
                             {9, 0, true, 60, 3},
                             {100, 0, true, 5000, 3},
                             {200, 4, true, 20000, 3},
                             {40, 0, true, 300, 9},
                             {10, 0, true, 2000, 3, true},
                             {50, 0, true, 9000, 3, true},
                             {24, 4, true, 4000, 3, true},
                             {150, 0, true, 60000, 3, true},
                             {300, 6, true, 60000, 3},
                             {40, 0, false, 2000, 20}}) {
    SCOPED_TRACE(testing::Message() << shape.nodes << " nodes, " << shape.domains << " domains, " << shape.shards << " × "
                                    << shape.replicas);
    Request request = even(shape.nodes, shape.domains, shape.hard, shape.shards, shape.replicas);
    for (std::size_t i = 0; shape.unequal && i < shape.nodes; ++i)
      request.share[i] = static_cast<double>(1 + i / std::max(1u, shape.domains) % 3);
    const Dealt dealt = deal(request.view());
    expect_valid(request, dealt);
    EXPECT_LE(pairs_off(request, dealt), 1.0 / 3);
    EXPECT_LE(leaders_off(request, dealt), 2);
  }
}

TEST(Deal, LetsOnlyThoseLeadThatMay) {
  Request request = even(10, 0, true, 1000, 3);
  request.leads.assign(10, 1);
  request.leads[3] = request.leads[7] = 0;
  EXPECT_LE(leaders_off(request, deal(request.view())), 2);
  request.leads.assign(10, 0);
  request.leads[0] = 1;
  const Dealt dealt = deal(request.view());
  std::vector<int> led(10);
  for (std::size_t s = 0; s < dealt.rows.size(); ++s) {
    const auto row = dealt.rows[s];
    ++led[row.front().value()];
    EXPECT_EQ(row.front() == NodeIndex(0), std::ranges::count(row, NodeIndex(0)) > 0);
  }
  EXPECT_EQ(led[0], 300);
  EXPECT_GE(*std::ranges::min_element(led), 75);
  EXPECT_LE(*std::max_element(led.begin() + 1, led.end()), 80);
}

TEST(Deal, DependsOnSaltAloneWhereAllIsEqual) {
  Request request = even(20, 4, true, 50, 3);
  const Dealt once = deal(request.view());
  EXPECT_EQ(once.rows, deal(request.view()).rows);
  for (std::uint64_t& salt : request.salt) salt = mix64(salt);
  EXPECT_NE(once.rows, deal(request.view()).rows);
}

// Every compiler and platform deals the same.
TEST(Deal, IsTheSameEverywhere) {
  Request request = even(7, 4, false, 12, 3);
  request.share = {1, 1, 1.5, 0.7, 2, 1, 1};
  request.fill = {0, 0.3, 0, 0, 0, 1.1, 0};
  std::string text;
  const Dealt small = deal(request.view());
  for (std::size_t s = 0; s < small.rows.size(); ++s) {
    for (const NodeIndex node : small.rows[s]) text += std::to_string(node.value());
    text += s + 1 < small.rows.size() ? " " : "";
  }
  EXPECT_EQ(text, "601 423 564 124 205 364 021 425 641 063 241 425");
  request = even(100, 7, true, 3000, 3);
  for (std::size_t i = 0; i < request.size(); ++i) request.share[i] = 1 + static_cast<double>(i % 9) / 7;
  const Dealt large = deal(request.view());
  std::uint64_t hash = 0;
  for (std::size_t s = 0; s < large.rows.size(); ++s) {
    for (const NodeIndex node : large.rows[s]) hash = mix64(hash, node.value());
  }
  EXPECT_EQ(hash, 10496098701648160327u);
}

TEST(Deal, IsForLargeOnesToo) {
  Request request = even(10'000, 10, true, 300'000, 3);
  for (std::size_t i = 0; i < request.size(); ++i) request.share[i] = i % 3 == 0 ? 0.5 : static_cast<double>(i % 3);
  const Dealt dealt = deal(request.view());
  ASSERT_EQ(dealt.rows.cells(), 900'000);
  EXPECT_LE(leaders_off(request, dealt), 3);
  const auto counts = held(request, dealt);
  double highest = 0;
  double lowest_next = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < request.size(); ++i) {
    highest = std::max(highest, static_cast<double>(counts[i]) / request.share[i]);
    lowest_next = std::min(lowest_next, static_cast<double>(counts[i] + 1) / request.share[i]);
  }
  EXPECT_LE(highest, lowest_next);
}

}  // namespace
}  // namespace evenkeel::place::detail
