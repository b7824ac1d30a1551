// Locks on real servers, held by processes that are killed and stopped, while servers are too.
//
// Four locks at once, two processes each: a session's, an expiring one, an office that is run for, and an expiring one with a ttl that is
// longer than all of this takes. Whatever happens, the next one has a lock only after the deadline that its holder before trusted in, the
// store refuses what a former holder writes, and the counter that each guards only grows (contest.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "evenkeel/store/backends/open.h"
#include "tests/locks/real/contest.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::locks {
namespace {

using test::Servers;
using Term = Contest::Term;

constexpr Duration ttl = 1s;
constexpr Duration long_ttl = 30min;

struct Cast {
  explicit Cast(const std::string& url)
      : session(url, "session", "/session", ttl),
        expiring(url, "expiring", "/expiring", ttl),
        office(url, "office", "/office", ttl),
        lasting(url, "expiring", "/lasting", long_ttl) {}
  Contest session, expiring, office, lasting;
  std::vector<Contest*> brief{&session, &expiring, &office};
};

std::vector<Term> latest(const Cast& cast) {
  std::vector<Term> all;
  for (Contest* contest : cast.brief) all.push_back(contest->latest());
  return all;
}

void the_next_one_waits_for_a_killed_one(Servers&, Cast& cast) {
  std::vector<Term> killed;
  for (Contest* contest : cast.brief) killed.push_back(contest->kill_holder());
  for (std::size_t i = 0; i < killed.size(); ++i) {
    const Term next = cast.brief[i]->wait_after(killed[i].token);
    EXPECT_NE(next.runner, killed[i].runner);
    EXPECT_GT(next.from, killed[i].deadline);
  }
}

void a_stopped_one_is_refused(Servers&, Cast& cast) {
  std::vector<Term> stopped;
  for (Contest* contest : cast.brief) stopped.push_back(contest->stop_holder());
  for (std::size_t i = 0; i < stopped.size(); ++i) {
    Contest& contest = *cast.brief[i];
    const Token token = stopped[i].token;
    EXPECT_NE(contest.wait_after(token).runner, stopped[i].runner);
    contest.go_on(stopped[i].runner);
    contest.wait(token, "the late write", [](const Term& term) { return term.refused || term.late; });
    const Term then = contest.terms().at(token);
    EXPECT_TRUE(then.lost && then.refused && !then.late) << "token " << token.value();
  }
}

// Longer than the ttl if there is no other server; else the others go on.
void servers_fail(Servers& servers, Cast& cast, void (Servers::*stop)(std::size_t), void (Servers::*start)(std::size_t)) {
  const std::vector<Term> before = latest(cast);
  const Term lasting = cast.lasting.latest();
  const std::size_t leader = servers.leader();
  (servers.*stop)(leader);
  if (servers.size() > 1) servers.leader();  // another one
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (servers.size() > 1) cast.brief[i]->wait_progress();
    if (servers.size() == 1) cast.brief[i]->wait(before[i].token, "the loss", [](const Term& term) { return term.lost; });
  }
  (servers.*start)(leader);
  servers.wait_ready();
  const Instant renewed = cast.lasting.terms().at(lasting.token).deadline;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (servers.size() > 1) cast.brief[i]->wait_progress();
    if (servers.size() == 1) cast.brief[i]->wait_after(before[i].token);
  }
  cast.lasting.wait(lasting.token, "a renewal", [&](const Term& term) { return term.deadline > renewed; });
}

void an_outage(Servers& servers, Cast& cast) { servers_fail(servers, cast, &Servers::kill, &Servers::restart); }
void a_pause(Servers& servers, Cast& cast) { servers_fail(servers, cast, &Servers::pause, &Servers::resume); }

struct Stage {
  const char* name;
  void (*play)(Servers&, Cast&);
};
constexpr Stage stages[] = {{"holders are killed", the_next_one_waits_for_a_killed_one},
                            {"holders are stopped", a_stopped_one_is_refused},
                            {"a server is killed", an_outage},
                            {"a server is stopped", a_pause},
                            {"holders are killed after that", the_next_one_waits_for_a_killed_one}};

struct Row {
  const char* name;
  std::unique_ptr<Servers> (*start)();
};

class RealLocks : public testing::TestWithParam<Row> {};

TEST_P(RealLocks, OneHasItWhoeverIsKilledOrStopped) {
  const auto servers = GetParam().start();
  const std::string url = servers->url("/locks");
  Cast cast(url);
  for (const Stage& stage : stages) {
    SCOPED_TRACE(stage.name);
    stage.play(*servers, cast);
  }
  const auto store = store::Blocking::open([&](Loop& loop) { return store::open(loop, url, {}); });
  ASSERT_TRUE(store) << store.error().message;
  for (Contest* contest : cast.brief) {
    contest->check(**store);
    EXPECT_GE(contest->terms().size(), 4U);
  }
  cast.lasting.check(**store);
  EXPECT_EQ(cast.lasting.terms().size(), 1U) << "it outlives all outages";
}

INSTANTIATE_TEST_SUITE_P(Servers, RealLocks,
                         testing::Values(Row{"served", test::start<test::EvenkeelServer>},
                                         Row{"etcd1", test::start<test::EtcdCluster, 1>},
                                         Row{"etcd3", test::start<test::EtcdCluster, 3>},
                                         Row{"zookeeper1", test::start<test::ZooKeeperCluster, 1>},
                                         Row{"zookeeper3", test::start<test::ZooKeeperCluster, 3>}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace evenkeel::locks

int main(int argc, char** argv) {
  const std::span words(argv + 1, static_cast<std::size_t>(argc - 1));
  if (!words.empty() && std::string_view(words[0]) == "contend")
    return evenkeel::locks::contend(evenkeel::locks::parse_contender(words));
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
