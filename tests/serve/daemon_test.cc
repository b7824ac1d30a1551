// Daemons in this process, on loopback, with real nodes and a store that they share.

#include "evenkeel/serve/daemon.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <future>

#include "evenkeel/base/text.h"
#include "evenkeel/base/version.h"
#include "evenkeel/serve/client.h"
#include "tests/serve/town.h"

namespace evenkeel::serve {
namespace {

using ::testing::HasSubstr;

TEST(Daemon, ShowsAClusterAtWork) {
  Town town;
  town.create("t1", 4, 3);
  Holding handler;
  const auto daemon = town.start("d1");
  const auto n1 = town.join("n1", handler), n2 = town.join("n2", handler), n3 = town.join("n3", handler);
  EXPECT_EQ(get(daemon->http(), "/healthz").body, "ok\n");
  wait_for(*daemon, "/api/v1/cluster", "active", "true");
  test::wait_until("leaders", patience, [&] { return metric(*daemon, "evenkeel_control_shards") == "4"; });
  wait_for(*daemon, "/api/v1/workloads", "workloads/0/leaderless", "0");
  wait_for(*daemon, "/api/v1/workloads", "workloads/0/below_min_active", "0");
  wait_for(*daemon, "/api/v1/nodes", "nodes/2/replicas", "4");
  EXPECT_EQ(get(daemon->http(), "/readyz").body, "ready\n");

  const Got cluster = get(daemon->http(), "/api/v1/cluster");
  EXPECT_EQ(cluster.type, "application/json");
  EXPECT_EQ(field(cluster.body, "cluster"), "c1");
  EXPECT_EQ(field(cluster.body, "controller/name"), "d1");
  EXPECT_EQ(field(cluster.body, "controller/http"), "http://" + daemon->http());
  EXPECT_EQ(field(cluster.body, "self/pulse"), daemon->pulse());
  EXPECT_EQ(field(cluster.body, "self/version"), product_version());
  EXPECT_THAT(get(daemon->http(), "/metrics").body,
              HasSubstr(fmt::format("evenkeel_build_info{{version=\"{}\"}} 1\n", product_version())));
  EXPECT_EQ(field(cluster.body, "maintenance"), "null");
  EXPECT_EQ(field(cluster.body, "orphans"), "0 items");
  const Got nodes = get(daemon->http(), "/api/v1/nodes");
  EXPECT_EQ(field(nodes.body, "nodes"), "3 items");
  EXPECT_EQ(field(nodes.body, "nodes/2/node"), "n3");
  EXPECT_EQ(field(nodes.body, "nodes/2/joined"), "true");
  EXPECT_EQ(field(nodes.body, "nodes/2/replicas"), "4");
  EXPECT_EQ(field(get(daemon->http(), "/api/v1/workloads").body, "workloads/0/shards"), "4");

  const Got shard = get(daemon->http(), "/api/v1/shards/t1/3");
  EXPECT_EQ(field(shard.body, "shard"), "3");
  EXPECT_EQ(field(shard.body, "placement"), "3 items");
  EXPECT_EQ(field(shard.body, "holders"), "3 items");
  EXPECT_NE(field(shard.body, "why"), "");
  const Got events = get(daemon->http(), "/api/v1/events");
  EXPECT_EQ(field(events.body, "events/0/number"), "1");
  EXPECT_NE(field(events.body, "events/0/text"), "");
  EXPECT_TRUE(ask_events(daemon->http(), {.most = 1000}).has_value()) << "of nodes, of shards and of neither";
  const auto told = ask_events(daemon->http(), {.most = 3});
  ASSERT_TRUE(told.has_value()) << told.error().message;
  EXPECT_EQ(told->cluster, "c1");
  EXPECT_TRUE(told->active);
  EXPECT_EQ(told->controller, "d1");
  ASSERT_EQ(told->events.size(), 3U);
  EXPECT_EQ(told->events[1].number, told->events[0].number + 1);
  EXPECT_NE(told->events[2].text, "");
}

TEST(Client, WhatAnswersMayBeAnything) {
  EXPECT_FALSE(parse_events("<html>").has_value());
  EXPECT_FALSE(parse_events("{}").has_value());
  EXPECT_FALSE(parse_events(R"({"events": [1]})").has_value());
  const auto told = parse_events(
      R"({"cluster": "c1", "controller": null, "later": 1, "events": [{"number": 7, "shard": null, "text": "is gone", "later": {}}]})");
  ASSERT_TRUE(told.has_value()) << told.error().message;
  EXPECT_EQ(told->events.at(0), (ToldEvent{.number = 7, .text = "is gone"}));
  EXPECT_EQ(ask_events("127.0.0.1:1", {}).error().code, Code::unavailable);
}

TEST(Daemon, ListsShardsByPages) {
  Town town;
  town.create("t1", 5, 1);
  const auto daemon = town.start("d1");
  wait_for(*daemon, "/api/v1/shards/t1", "shards", "5 items");
  const auto page = [&](const std::string& path, const std::string& way) { return field(get(daemon->http(), path).body, way); };
  EXPECT_EQ(page("/api/v1/shards/t1?limit=2", "shards/1/shard"), "1");
  EXPECT_EQ(page("/api/v1/shards/t1?limit=2", "next"), "2");
  EXPECT_EQ(page("/api/v1/shards/t1?limit=2&from=4", "shards"), "1 items");
  EXPECT_EQ(page("/api/v1/shards/t1?limit=2&from=3", "next"), "null");
  EXPECT_EQ(page("/api/v1/shards/t1?from=99", "shards"), "0 items");
  EXPECT_EQ(page("/api/v1/view/t1?limit=3", "next"), "3");
  EXPECT_EQ(page("/api/v1/view/t1?from=4", "shards/0/leader"), "null");
}

TEST(Daemon, RefusalsAreProblems) {
  Town town;
  town.create("t1", 2, 1);
  const auto daemon = town.start("d1");
  wait_for(*daemon, "/api/v1/shards/t1", "shards", "2 items");
  for (const auto& [path, status] :
       {std::pair("/api/v1/shards/t9", 404), std::pair("/api/v1/shards/t1/9", 404), std::pair("/api/v1/shards/t1/x", 404),
        std::pair("/api/v1/view/t9", 404), std::pair("/api/v1/shards/t1?limit=0", 400), std::pair("/api/v1/view/t1?from=x", 400),
        std::pair("/api/v1/events?after=-1", 400), std::pair("/api/v1/nothing", 404)}) {
    const Got got = get(daemon->http(), path);
    EXPECT_EQ(got.status, status) << path;
    EXPECT_EQ(got.type, "application/problem+json") << path;
    EXPECT_NE(field(got.body, "detail"), "") << path;
  }
}

TEST(Daemon, AStandbyAnswersAndTakesOver) {
  Town town;
  town.create("t1", 2, 1);
  Holding handler;
  auto first = town.start("d1");
  test::wait_until("an active one", patience, [&] { return first->active(); });
  const auto second = town.start("d2");
  const auto node = town.join("n1", handler);
  wait_for(*first, "/api/v1/workloads", "workloads/0/leaderless", "0");
  // It answers from what it follows.
  wait_for(*second, "/api/v1/cluster", "controller/http", "http://" + first->http());
  wait_for(*second, "/api/v1/workloads", "workloads/0/leaderless", "0");
  const Got standby = get(second->http(), "/api/v1/cluster");
  EXPECT_EQ(field(standby.body, "active"), "false");
  EXPECT_EQ(field(standby.body, "in_touch"), "true");
  EXPECT_EQ(field(standby.body, "controller/name"), "d1");
  EXPECT_EQ(field(standby.body, "self/name"), "d2");
  EXPECT_EQ(metric(*second, "evenkeel_control_active"), "0");
  EXPECT_EQ(field(get(second->http(), "/api/v1/shards/t1/0").body, "leader"), "n1");
  EXPECT_EQ(get(second->http(), "/readyz").status, 200);
  first->stop(patience);
  wait_for(*second, "/api/v1/cluster", "active", "true");
  EXPECT_EQ(field(get(second->http(), "/api/v1/cluster").body, "controller/name"), "d2");
  // The node comes after.
  test::wait_until("the node's pulse", patience,
                   [&] { return parse_unsigned(metric(*second, "evenkeel_control_pulses_total")).value_or(0) > 0; });
  // Under its own name it comes again at once: it has ended its session.
  first = town.start("d1");
  test::wait_until("the first one again", patience, [&] { return first->ready(); });
  EXPECT_FALSE(first->active());
}

// Its session lasts for half a minute: only its connection can tell so soon.
TEST(Daemon, ABrokenPulseMakesSuspect) {
  Town town;
  town.create("t1", 2, 1);
  Holding handler;
  const auto daemon = town.start("d1");
  const auto n1 = town.join("n1", handler);
  auto n2 = town.join("n2", handler);
  test::wait_until("pulses", patience, [&] { return metric(*daemon, "evenkeel_control_pulse_connections") == "2"; });
  wait_for(*daemon, "/api/v1/workloads", "workloads/0/leaderless", "0");
  // What changes a lot is told at once; the next pulse would be due in ten seconds.
  const auto pulses = [&] { return std::stod(metric(*daemon, "evenkeel_control_pulses_total")); };
  test::wait_until("that they are known", patience, [&] { return pulses() >= 2; });
  const double before = pulses();
  n1->touch({WorkloadId("t1"), ShardIndex(0)});
  test::wait_until("a pulse", patience, [&] { return pulses() > before; });
  EXPECT_EQ(metric(*daemon, "evenkeel_control_nodes{state=\"suspect\"}"), "0");
  n2.reset();
  wait_for(*daemon, "/api/v1/nodes", "nodes/1/suspect", "true");
  EXPECT_EQ(field(get(daemon->http(), "/api/v1/nodes").body, "nodes/0/suspect"), "false");
  test::wait_until("the count", patience, [&] { return metric(*daemon, "evenkeel_control_nodes{state=\"suspect\"}") == "1"; });
}

TEST(Daemon, WaitsForItsStore) {
  Town town;
  std::mutex mutex;
  std::vector<std::string> lines;
  Log log = Log::to(
      [&](Level, std::string_view line) {
        const std::lock_guard lock(mutex);
        lines.emplace_back(line);
      },
      {}, wall_now);
  // Since the last mark: on a slow machine it may seem to be away once more.
  std::size_t mark = 0;
  const auto said = [&](std::string_view words) {
    const std::lock_guard lock(mutex);
    return std::ranges::count_if(lines.begin() + static_cast<std::ptrdiff_t>(mark), lines.end(),
                                 [&](const std::string& line) { return line.find(words) != std::string::npos; });
  };
  const auto begin_anew = [&] {
    const std::lock_guard lock(mutex);
    mark = lines.size();
  };
  *town.down = true;
  DaemonOptions options = town.daemon_options("d1");
  options.log = &log;
  options.said_again = 24h;
  const auto daemon = Daemon::start(std::move(options)).value();
  constexpr std::string_view waits = "the store does not answer; the daemon waits for it";
  test::wait_until("a complaint", patience, [&] { return said(waits) > 0; });
  const std::size_t refused = *town.refusals;
  test::wait_until("more that is tried", patience, [&] { return *town.refusals > refused + 2; });
  EXPECT_EQ(said(waits), 1) << "once, and not for each thing that is tried";
  const Got not_ready = get(daemon->http(), "/readyz");
  EXPECT_EQ(not_ready.status, 503);
  EXPECT_THAT(not_ready.body, HasSubstr("The store does not answer"));
  EXPECT_EQ(get(daemon->http(), "/healthz").status, 200);
  *town.down = false;
  test::wait_until("the store", patience, [&] { return daemon->active(); });
  EXPECT_EQ(get(daemon->http(), "/readyz").status, 200);
  *town.down = true;
  test::wait_until("its end", patience, [&] { return !daemon->ready(); });
  EXPECT_FALSE(daemon->active());
  EXPECT_EQ(get(daemon->http(), "/readyz").status, 503);
  begin_anew();
  test::wait_until("another complaint", patience, [&] { return said(waits) > 0; });
  *town.down = false;
  test::wait_until("the store again", patience, [&] { return daemon->active(); });
  test::wait_until("a word", patience, [&] { return said("the store answers") > 0; });
  EXPECT_EQ(get(daemon->http(), "/readyz").status, 200);
}

// Whoever cannot read what the office needs says so, and is not in the way of a newer one that can.
TEST(Daemon, LeavesTheOfficeToThoseWhoCanReadIt) {
  Town town;
  const std::string config = town.read(town.keys.config());
  for (const auto& [key, good] : {std::pair(town.keys.controller_epoch(), format_controller_epoch(ControllerEpoch(7))),
                                  std::pair(town.keys.controller(), std::string(R"({"format":1,"owner":"","token":1})")),
                                  std::pair(town.keys.config(), config)}) {
    town.put(key, R"({"format":99,"epoch":7})");
    const auto daemon = town.start("d1");
    const auto not_ready = [&] { return get(daemon->http(), "/readyz"); };
    test::wait_until("a word", patience, [&] { return not_ready().body.find("format 99") != std::string::npos; });
    EXPECT_EQ(not_ready().status, 503);
    EXPECT_THAT(not_ready().body, HasSubstr(key));
    EXPECT_THAT(not_ready().body, HasSubstr("leaves the office to others"));
    EXPECT_THAT(get(daemon->http(), "/api/v1/events").body, HasSubstr("format 99"));
    if (key != town.keys.controller()) {
      const auto held = [&] { return town.read(town.keys.controller()); };
      test::wait_until("the office is free", patience, [&] { return held().empty() || field(held(), "owner").empty(); });
    }
    EXPECT_FALSE(daemon->active());
    town.put(key, good);
    test::wait_until(
        "it acts", patience, [&] { return daemon->active(); }, [&] { return not_ready().body; });
    EXPECT_EQ(not_ready().status, 200);
    daemon->stop(patience);
  }
}

TEST(Daemon, SaysThatItsNameIsTaken) {
  Town town;
  const auto first = town.start("d1");
  test::wait_until("an active one", patience, [&] { return first->active(); });
  const auto second = town.start("d1");
  const auto why = [&] { return get(second->http(), "/readyz").body; };
  for (const char* words : {"which has not ended", "which is alive"})
    test::wait_until(
        words, patience, [&] { return why().find(words) != std::string::npos; }, why);
  EXPECT_THAT(why(), HasSubstr("another --name"));
  EXPECT_FALSE(second->ready());
  first->stop(patience);
  test::wait_until(
      "its turn", patience, [&] { return second->active(); }, why);
}

TEST(Daemon, AnswersBeforeItsStoreDoes) {
  Town town;
  *town.mute = true;
  DaemonOptions options = town.daemon_options("d1");
  options.http = fmt::format("127.0.0.1:{}", test::free_port());
  options.read_wait = 2s;
  auto starting = std::async(std::launch::async, [options] { return Daemon::start(options); });
  test::wait_until("HTTP", patience, [&] { return get(options.http, "/healthz").status == 200; });
  EXPECT_EQ(get(options.http, "/readyz").status, 503);
  EXPECT_THAT(get(options.http, "/readyz").body, HasSubstr("The store does not answer"));
  EXPECT_EQ(get(options.http, "/api/v1/cluster").status, 503);
  *town.mute = false;
  EXPECT_TRUE(starting.get());
}

TEST(Daemon, RemembersSoManyEvents) {
  Town town;
  town.create("t1", 8, 1);
  Holding handler;
  DaemonOptions options = town.daemon_options("d1");
  options.events_max = 3;
  const auto daemon = Daemon::start(std::move(options)).value();
  const auto node = town.join("n1", handler);
  wait_for(*daemon, "/api/v1/workloads", "workloads/0/leaderless", "0");
  test::wait_until("all of them", patience,
                   [&] { return std::stoi(field(get(daemon->http(), "/api/v1/events").body, "last")) > 3; });
  const Got events = get(daemon->http(), "/api/v1/events");
  const int last = std::stoi(field(events.body, "last"));
  EXPECT_EQ(field(events.body, "events"), "3 items");
  EXPECT_EQ(field(events.body, "events/2/number"), std::to_string(last));
  const std::string after = fmt::format("/api/v1/events?after={}", last - 1);
  EXPECT_EQ(field(get(daemon->http(), after).body, "events/0/number"), std::to_string(last));
}

TEST(Daemon, ForgetsHistoryThatNobodyNeeds) {
  Town town;
  DaemonOptions options = town.daemon_options("d1");
  options.history = 5ms;
  const auto daemon = Daemon::start(std::move(options)).value();
  test::wait_until("a compaction", patience, [&] { return town.store_status().compacted > 0; });
  EXPECT_TRUE(Daemon::start(town.daemon_options("d2")));  // one that leaves it alone
}

TEST(Daemon, SaysWhyItDoesNotStart) {
  Town town;
  const auto refusal = [&](auto change) {
    DaemonOptions options = town.daemon_options("d1");
    change(options);
    const auto daemon = Daemon::start(std::move(options));
    EXPECT_FALSE(daemon);
    return daemon ? Error{} : daemon.error();
  };
  const Error open_http = refusal([](DaemonOptions& options) { options.http = "0.0.0.0:0"; });
  EXPECT_EQ(open_http.code, Code::denied);
  EXPECT_THAT(open_http.message, HasSubstr("use 127.0.0.1:0"));
  EXPECT_EQ(refusal([](DaemonOptions& options) { options.pulse = "10.1.2.3:7071"; }).code, Code::denied);
  EXPECT_EQ(refusal([](DaemonOptions& options) { options.cluster = ClusterId("a/b"); }).code, Code::invalid);
  EXPECT_EQ(refusal([](DaemonOptions& options) { options.name = "a b"; }).code, Code::invalid);
  EXPECT_EQ(refusal([](DaemonOptions& options) {
              options.open_store = [](Loop&) -> Result<std::unique_ptr<store::Store>> { return fail(Code::conflict, "taken"); };
            }).message,
            "store: taken");
  const auto first = town.start("d1");
  // A port is looked at before the store.
  const Error both = refusal([&](DaemonOptions& options) {
    options.http = first->http();
    options.open_store = [](Loop&) -> Result<std::unique_ptr<store::Store>> { return fail(Code::unavailable, "away"); };
  });
  EXPECT_EQ(both.code, Code::conflict);
  for (auto address : {&DaemonOptions::http, &DaemonOptions::pulse}) {
    const Error taken = refusal([&](DaemonOptions& options) { options.*address = first->http(); });
    EXPECT_EQ(taken.code, Code::conflict);
    EXPECT_THAT(taken.message, HasSubstr(first->http()));
  }
}

}  // namespace
}  // namespace evenkeel::serve
