#include "evenkeel/place/detail/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "evenkeel/base/rng.h"

namespace evenkeel::place::detail {
namespace {

// A request that owns what its spans show.
struct OwnedPack {
  std::uint32_t shards = 0, replicas = 0, nodes = 0;
  std::size_t width = 1;
  bool hard = false;
  std::vector<Amount> loads, lead, usage, room, soft_room;
  std::vector<std::uint8_t> able, leads;
  std::vector<std::uint32_t> domains;
  std::vector<std::uint64_t> salt;
  std::vector<double> share, weight;

  OwnedPack(std::uint32_t shard_count, std::uint32_t replica_count, std::uint32_t node_count, std::uint32_t domain_count,
            std::size_t dimensions)
      : shards(shard_count), replicas(replica_count), nodes(node_count), width(dimensions) {
    loads.assign(shards * width, 1);
    lead.assign(width, 0);
    usage.assign(nodes * width, 0);
    room.assign(nodes * width, unlimited);
    soft_room = room;
    able.assign(nodes, 1);
    leads.assign(nodes, 1);
    share.assign(nodes * width, 1);
    weight.assign(width, 1);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      domains.push_back(n % domain_count);
      salt.push_back(Rng(n).next());
    }
  }
  Pack pack() const {
    return {.shards = shards,
            .replicas = replicas,
            .hard = hard,
            .width = width,
            .loads = loads,
            .lead = lead,
            .able = able,
            .leads = leads,
            .domains = domains,
            .salt = salt,
            .usage = usage,
            .room = room,
            .soft_room = soft_room,
            .share = share,
            .weight = weight};
  }
  std::vector<Amount> more(const Rows<NodeIndex>& rows) const {
    std::vector<Amount> sum(nodes * width);
    for (std::uint32_t s = 0; s < shards; ++s) {
      for (std::size_t i = 0; i < rows[s].size(); ++i) {
        for (std::size_t d = 0; d < width; ++d) {
          sum[rows[s][i].value() * width + d] += loads[s * width + d] + (i == 0 ? lead[d] : 0);
        }
      }
    }
    return sum;
  }
  std::size_t able_domains() const {
    std::set<std::uint32_t> seen;
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (able[n] != 0) seen.insert(domains[n]);
    }
    return seen.size();
  }
};

void expect_valid(const OwnedPack& request, const Packed& packed) {
  ASSERT_EQ(packed.rows.size(), request.shards);
  for (std::uint32_t s = 0; s < request.shards; ++s) {
    std::set<std::uint32_t> nodes, domains;
    for (const NodeIndex node : packed.rows[s]) {
      EXPECT_TRUE(request.able[node.value()]);
      nodes.insert(node.value());
      domains.insert(request.domains[node.value()]);
    }
    EXPECT_EQ(nodes.size(), request.replicas);
    EXPECT_TRUE(!request.hard || domains.size() == request.replicas);
  }
  const auto more = request.more(packed.rows);
  for (std::size_t i = 0; i < more.size(); ++i) EXPECT_TRUE(more[i] == 0 || more[i] <= request.room[i]) << i;
}

OwnedPack random_request(Rng& rng) {
  const auto nodes = static_cast<std::uint32_t>(rng.between(1, 12));
  OwnedPack request(static_cast<std::uint32_t>(rng.between(1, 30)), static_cast<std::uint32_t>(rng.between(1, 4)), nodes,
                    static_cast<std::uint32_t>(rng.between(1, nodes)), static_cast<std::size_t>(rng.between(1, 3)));
  request.hard = rng.chance(1, 2);
  for (Amount& load : request.loads) load = rng.between(0, 20);
  if (rng.chance(1, 3)) request.lead[0] = rng.between(0, 10);
  for (auto& flag : request.able) flag = rng.chance(9, 10);
  for (auto& flag : request.leads) flag = rng.chance(9, 10);
  for (double& share : request.share) share = static_cast<double>(rng.between(1, 4));
  for (Amount& usage : request.usage) usage = rng.between(0, 50);
  const auto per_node = 10 * request.shards * request.replicas / nodes;
  for (Amount& room : request.room) room = rng.between(-2, 3 * per_node + 10);
  return request;
}

TEST(Pack, keeps_every_hard_rule_or_places_nothing) {
  Rng rng(1);
  std::size_t found = 0;
  for (int i = 0; i < 500 && !testing::Test::HasFailure(); ++i) {
    const OwnedPack request = random_request(rng);
    const Packed packed = pack(request.pack());
    if (packed.found) {
      ++found;
      expect_valid(request, packed);
    } else {
      EXPECT_TRUE(packed.rows.empty());
    }
  }
  EXPECT_GT(found, 75u);
}

// Room is what some placement takes, and a part more: that placement, or another, is to be found.
TEST(Pack, finds_what_fits_with_a_tenth_to_spare) {
  Rng rng(2);
  int found = 0;
  constexpr int count = 100;
  for (int i = 0; i < count; ++i) {
    OwnedPack request(40, 3, 9, 3, 2);
    request.hard = true;
    for (Amount& load : request.loads) load = rng.between(1, 100);
    std::vector<Amount> taken(request.room.size());
    for (std::uint32_t s = 0; s < request.shards; ++s) {
      for (std::uint32_t zone = 0; zone < 3; ++zone) {
        const auto node = zone + 3 * static_cast<std::uint32_t>(rng.below(3));
        for (std::size_t d = 0; d < 2; ++d) taken[node * 2 + d] += request.loads[s * 2 + d];
      }
    }
    for (std::size_t at = 0; at < taken.size(); ++at) request.room[at] = taken[at] + taken[at] / 10;
    found += pack(request.pack()).found ? 1 : 0;
  }
  EXPECT_GE(found, count * 95 / 100);
}

TEST(Pack, proves_what_cannot_be) {
  OwnedPack few(2, 3, 2, 2, 1);
  EXPECT_TRUE(pack(few.pack()).proved);
  EXPECT_EQ(pack(few.pack()).bound->bound, NoDeal::Bound::nodes);
  OwnedPack narrow(2, 3, 6, 2, 1);
  narrow.hard = true;
  EXPECT_EQ(pack(narrow.pack()).bound->bound, NoDeal::Bound::spread);
  OwnedPack full(10, 1, 3, 3, 2);
  for (std::size_t n = 0; n < 3; ++n) full.room[n * 2 + 1] = 3;
  const Packed packed = pack(full.pack());
  EXPECT_FALSE(packed.found);
  EXPECT_TRUE(packed.proved);
  EXPECT_EQ(packed.dimension, 1u);
}

TEST(Pack, soft_spread_uses_every_domain_it_can) {
  Rng rng(3);
  OwnedPack request(60, 3, 30, 5, 1);
  for (Amount& load : request.loads) load = rng.between(1, 1000);
  const Packed packed = pack(request.pack());
  ASSERT_TRUE(packed.found);
  for (std::uint32_t s = 0; s < request.shards; ++s) {
    std::set<std::uint32_t> seen;
    for (const NodeIndex node : packed.rows[s]) seen.insert(request.domains[node.value()]);
    EXPECT_EQ(seen.size(), std::min<std::size_t>(3, request.able_domains()));
  }
}

double level_cost(const OwnedPack& request, const std::vector<Amount>& more) {
  double sum = 0;
  for (std::size_t i = 0; i < more.size(); ++i) sum += static_cast<double>(more[i] * more[i]) / request.share[i];
  return sum;
}

// One replica a shard on three nodes: every placement is tried.
TEST(Pack, tiny_requests_are_as_level_as_any_placement) {
  Rng rng(4);
  for (int i = 0; i < 100; ++i) {
    OwnedPack request(8, 1, 3, 3, 1);
    for (Amount& load : request.loads) load = rng.between(1, 50);
    for (double& share : request.share) share = static_cast<double>(rng.between(1, 3));
    double best = 1e300;
    for (int code = 0; code < 6561; ++code) {
      std::vector<Amount> more(3);
      for (int s = 0, rest = code; s < 8; ++s, rest /= 3)
        more[static_cast<std::size_t>(rest % 3)] += request.loads[static_cast<std::size_t>(s)];
      best = std::min(best, level_cost(request, more));
    }
    const Packed packed = pack(request.pack());
    ASSERT_TRUE(packed.found);
    EXPECT_LE(level_cost(request, request.more(packed.rows)), best * 1.01);
  }
}

TEST(Pack, is_level_in_every_resource) {
  Rng rng(5);
  OwnedPack request(4000, 3, 100, 5, 2);
  for (Amount& load : request.loads) load = 1'000'000 / rng.between(20, 1000);
  const Packed packed = pack(request.pack());
  ASSERT_TRUE(packed.found);
  const auto more = request.more(packed.rows);
  for (std::size_t d = 0; d < 2; ++d) {
    Amount most = 0, sum = 0;
    for (std::size_t n = 0; n < 100; ++n) {
      most = std::max(most, more[n * 2 + d]);
      sum += more[n * 2 + d];
    }
    EXPECT_LT(static_cast<double>(most) * 100, static_cast<double>(sum) * 1.001);
  }
}

TEST(Pack, leaders_are_level_and_only_where_they_may_be) {
  Rng rng(6);
  OwnedPack request(1200, 3, 12, 3, 1);
  for (Amount& load : request.loads) load = rng.between(100, 1000);
  request.lead[0] = 700;
  request.leads[0] = 0;
  const Packed packed = pack(request.pack());
  ASSERT_TRUE(packed.found);
  std::vector<int> led(12);
  for (std::uint32_t s = 0; s < request.shards; ++s) ++led[packed.rows[s][0].value()];
  EXPECT_EQ(led[0], 0);
  for (std::size_t n = 1; n < 12; ++n) EXPECT_NEAR(led[n], 1200 / 11, 8) << n;
}

TEST(Pack, says_the_same_to_the_same_question) {
  Rng rng(7);
  for (int i = 0; i < 50; ++i) {
    const OwnedPack request = random_request(rng);
    EXPECT_EQ(pack(request.pack()).rows, pack(request.pack()).rows);
  }
}

}  // namespace
}  // namespace evenkeel::place::detail
