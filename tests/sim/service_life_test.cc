// Random lives of a few replicas under a small manager that follows the rules: no acknowledged write is ever lost, whatever is cut, crashes and
// comes back. With a manager that breaks a rule the ledger says so.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tests/sim/town.h"

namespace evenkeel::sim {
namespace {

using test::peers;
using test::Town;

enum class Manager : std::uint8_t { good, seals_too_few, leads_without_seal, keeps_two };

struct Life {
  explicit Life(std::uint64_t seed, Manager manager_, Fencing fencing)
      : manager(manager_), town(seed), rng(Rng(seed).split("life")) {
    town.facts.fencing = fencing;
    town.found(3);
  }

  std::string some() { return nodes[rng.below(nodes.size())]; }
  bool is_up(const std::string& node) { return town.hosts.at(node).service != nullptr; }
  // Let go of what a twin of the manager would wait for: the end of its session.
  void end_leadership() {
    if (leader.empty() || manager == Manager::keeps_two) return;
    if (town.facts.fencing == Fencing::session) town.hosts.at(leader).may_lead.clear();
  }

  // Seals all that are there, and lets the best of enough lead. Who is not reached by the manager is not sealed.
  void fail_over() {
    end_leadership();
    ++epoch;
    std::vector<std::pair<Sealed, std::string>> sealed;
    for (const std::string& node : nodes) {
      if (!is_up(node) || rng.chance(1, 4)) continue;
      if (manager == Manager::leads_without_seal) {
        const auto status = town.service(node).report(town.shard);
        sealed.push_back({{Epoch(epoch), status.last, status.progress}, node});
      } else if (const auto one = town.seal(node, epoch)) {
        sealed.push_back({*one, node});
      }
    }
    const std::size_t needed = manager == Manager::good || manager == Manager::keeps_two ? 2 : 1;
    if (sealed.size() < needed) return;
    const auto [best, to] = *std::ranges::max_element(
        sealed, {}, [](const auto& one) { return std::tuple(one.first.last, one.first.progress, one.second); });
    grant(to);
  }

  void grant(const std::string& to) {
    std::vector<std::string> others = nodes;
    std::erase(others, to);
    leader = to;
    town.hosts.at(to).may_lead[town.shard] = Epoch(epoch);
    const Version version{Epoch(epoch), {}};
    const std::string from = town.service(to).state(town.shard).str();
    if (from == "offline") (void)town.tell(to, {.from = from, .to = "follower", .version = version});
    (void)town.tell(to,
                    {.from = from == "leader" ? from : "follower", .to = "leader", .version = version, .peers = peers(others)});
    for (const std::string& node : others) {
      if (is_up(node) && rng.chance(3, 4)) follow(node);
    }
  }

  void follow(const std::string& node) {
    if (leader.empty() || node == leader || !is_up(node)) return;
    const std::string from = town.service(node).state(town.shard).str();
    if (from == "leader" && manager != Manager::keeps_two) town.hosts.at(node).may_lead.clear();
    (void)town.tell(node, {.from = from, .to = "follower", .version = {Epoch(epoch), {}}, .copy_from = leader});
  }

  void act() {
    const std::string node = some(), other = some();
    switch (rng.below(10)) {
      case 0:
        town.crash(node);
        if (node == leader) leader.clear();
        break;
      case 1:
        if (!is_up(node)) town.start(node);
        break;
      case 2:
        if (node != other) town.network.cut(node, other);
        break;
      case 3:
        for (const std::string& one : nodes) {
          if (one != node) town.network.heal(node, one);
        }
        break;
      case 4:
        fail_over();
        break;
      case 5:
        follow(node);
        break;
      default:
        for (std::uint64_t writes = rng.below(4); writes > 0; --writes) town.write(some());
        if (!leader.empty()) town.write(leader);
    }
    town.loop.run_for(Duration(rng.below(5'000'000)));
  }

  std::string run(int steps) {
    for (int i = 0; i < steps && !town.ledger.violation(); ++i) act();
    return town.ledger.violation().value_or("");
  }

  Manager manager;
  Town town;
  Rng rng;
  std::vector<std::string> nodes{"n1", "n2", "n3"};
  std::string leader = "n1";
  std::uint64_t epoch = 1;
};

TEST(ServiceLife, LosesNothingUnderAManagerThatKeepsTheRules) {
  std::uint64_t acknowledged = 0, grants = 0;
  EXPECT_TRUE(rc::check([&](std::uint64_t seed, bool by_epoch) {
    Life life(seed, Manager::good, by_epoch ? Fencing::epoch : Fencing::session);
    const std::string violation = life.run(200);
    RC_ASSERT(violation == "");
    acknowledged += life.town.ledger.writes_acknowledged();
    grants += life.town.ledger.grants();
  }));
  EXPECT_GT(acknowledged, 1000U);
  EXPECT_GT(grants, 500U);
}

// In how many of a hundred lives something is found.
int found(Manager manager, Fencing fencing, std::string_view what) {
  int count = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) count += Life(seed, manager, fencing).run(200).starts_with(what) ? 1 : 0;
  return count;
}

TEST(ServiceLife, IsSeenToLoseWritesWhereTooFewAreSealed) {
  EXPECT_GT(found(Manager::seals_too_few, Fencing::session, "acknowledged write lost"), 10);
  EXPECT_GT(found(Manager::leads_without_seal, Fencing::epoch, "acknowledged write lost"), 10);
}

TEST(ServiceLife, IsSeenToHaveTwoLeadersWhereNobodyWaitsForTheOldOne) {
  EXPECT_GT(found(Manager::keeps_two, Fencing::session, "two leaders"), 10);
}

TEST(ServiceLife, IsTheSameForTheSameSeed) {
  const auto live = [](std::uint64_t seed) {
    Life life(seed, Manager::good, Fencing::epoch);
    life.run(100);
    std::string text = fmt::format("{} {}", life.town.network.sent(), life.town.loop.now().time_since_epoch().count());
    for (const auto& [node, host] : life.town.hosts) {
      for (const auto& [shard, replica] : host.disk.replicas) text += fmt::format(" {} {}", node, format(replica.log));
    }
    return text;
  };
  EXPECT_EQ(live(5), live(5));
  EXPECT_NE(live(5), live(6));
}

}  // namespace
}  // namespace evenkeel::sim
