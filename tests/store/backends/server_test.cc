// The embedded server against the real etcd, by the real etcdctl: the same commands, the same answers.

#include "evenkeel/store/backends/embedded/server.h"

#include <gtest/gtest.h>

#include "tests/store/backends/etcdctl.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::store::embedded {
namespace {

using evenkeel::test::EtcdCluster;
using evenkeel::test::Etcdctl;
using evenkeel::test::Said;
using evenkeel::test::TempFolder;

struct Ours {
  Ours() : engine(*Engine::open(folder.path() + "/data", {})), server(*Server::start(*engine, {.listen = "127.0.0.1:0"})) {}

  TempFolder folder;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Server> server;
};

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Puts `by` in place of what follows each `marker` as long as `belongs` says so.
std::string masked_after(std::string text, std::string_view marker, std::string_view by, bool (*belongs)(char)) {
  for (std::size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at)) {
    at += marker.size();
    std::size_t end = at;
    while (end < text.size() && belongs(text[end])) ++end;
    text.replace(at, end - at, by);
  }
  return text;
}

// What names this server, a lease or a time is not compared: ids in hexadecimal have 12 digits or more.
std::string comparable(std::string text, const std::string& endpoint) {
  for (std::size_t at = text.find(endpoint); at != std::string::npos; at = text.find(endpoint))
    text.replace(at, endpoint.size(), "HOST");
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_hex(text[end])) ++end;
    out += end - at >= 12 ? "ID" : text.substr(at, end - at);
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const char* marker : {"\"raft_term\":", "\"RaftTerm\" : ", "remaining("})
    out = masked_after(std::move(out), marker, "N", +digit);
  return masked_after(std::move(out), "took = ", "TIME", [](char c) { return c != '\n'; });
}

struct Step {
  std::vector<std::string> words;  // $LEASE: the lease granted last
  std::string input = {};
};

const std::vector<Step>& session() {
  static const std::string value_too_large(1'600'000, 'x');
  static const std::vector<Step> steps = {
      // Keys, versions and revisions.
      {{"put", "a", "1"}},
      {{"put", "b", "2"}},
      {{"put", "c", "3", "--prev-kv"}},
      {{"put", "a", "1b", "--prev-kv"}},
      {{"put", "a", "1b"}},
      {{"put", "empty", ""}},
      {{"put", "from-input"}, "of several\nlines\n"},
      {{"put", "", "x"}},
      {{"get", "a"}},
      {{"get", "a", "-w", "json"}},
      {{"get", "a", "-w", "fields"}},
      {{"get", "a", "--rev", "2", "-w", "json"}},
      {{"get", "a", "--rev", "1", "-w", "json"}},
      {{"get", "a", "--rev", "99"}},
      {{"get", "nothing", "-w", "json"}},
      {{"get", "", "--prefix"}},
      {{"get", "a", "c"}},
      {{"get", "b", "--from-key", "-w", "json"}},
      {{"get", "b", "a"}},
      {{"get", ""}},
      {{"get", "", "--prefix", "--limit", "2", "-w", "json"}},
      {{"get", "", "--prefix", "--limit", "100", "-w", "json"}},
      {{"get", "", "--prefix", "--keys-only"}},
      {{"get", "", "--prefix", "--count-only", "-w", "json"}},
      {{"get", "", "--prefix", "--print-value-only"}},
      {{"get", "", "--prefix", "--consistency", "s"}},
      {{"get", "", "--prefix", "--sort-by", "KEY", "--order", "DESCEND"}},
      {{"get", "", "--prefix", "--sort-by", "VALUE", "--order", "ASCEND"}},
      {{"get", "", "--prefix", "--sort-by", "MODIFY"}},
      {{"get", "", "--prefix", "--sort-by", "MODIFY", "--order", "DESCEND", "--limit", "2"}},
      {{"get", "", "--prefix", "--sort-by", "CREATE"}},
      {{"get", "", "--prefix", "--sort-by", "VERSION", "--order", "DESCEND"}},
      {{"put", "a", "--ignore-value"}},
      {{"put", "a", "x", "--ignore-value"}},
      {{"put", "missing", "--ignore-value"}},
      {{"put", "missing", "x", "--ignore-lease"}},
      {{"put", "big"}, value_too_large},
      {{"get", "a", "-w", "json"}},
      {{"del", "nothing", "-w", "json"}},
      {{"del", "b", "--prev-kv"}},
      {{"del", "b"}},
      {{"del", "a", "b", "-w", "json"}},
      {{"put", "a", "again"}},
      {{"get", "a", "-w", "json"}},
      // Txns.
      {{"txn", "-w", "json"}, "value(\"a\") = \"again\"\n\nput t1 x\nget a\ndel c\n\nput t2 y\n\n"},
      {{"txn"}, "value(\"a\") = \"other\"\n\nput t1 x\n\nput t2 y\nget t2\n\n"},
      {{"txn", "-w", "json"}, "value(\"absent\") = \"\"\n\nget a\n\nget t2\n\n"},
      {{"txn"}, "mod(\"t2\") > \"0\"\ncreate(\"absent\") = \"0\"\nversion(\"a\") = \"1\"\n\nget --prefix t\n\n\n"},
      {{"txn"}, "version(\"a\") < \"1\"\n\n\nget a\n\n"},
      {{"txn"}, "version(\"a\") != \"7\"\n\nput n 1\nput n 2\n\n\n"},
      {{"txn"}, "\nput n 1\ndel n\n\n\n"},
      {{"txn", "-w", "json"}, "\ndel --prefix t --prev-kv\n\n\n"},
      {{"txn"}, "\nput leased x --lease 12345\n\n\n"},
      {{"txn", "-w", "json"}, "\nget --rev 5 a\n\n\n"},
      {{"txn"}, "\nget --rev 500 a\n\n\n"},
      {{"get", "", "--prefix", "-w", "json"}},
      // Leases.
      {{"lease", "grant", "600"}},
      {{"put", "leased", "x", "--lease", "$LEASE"}},
      {{"get", "leased", "-w", "json"}},
      {{"lease", "timetolive", "$LEASE"}},
      {{"lease", "timetolive", "$LEASE", "--keys"}},  // of several, etcd says them in any order
      {{"put", "leased2", "y", "--lease", "$LEASE"}},
      {{"lease", "keep-alive", "--once", "$LEASE"}},
      {{"lease", "list"}},
      {{"put", "leased2", "z", "--ignore-lease"}},
      {{"put", "leased3", "z", "--lease", "$LEASE"}},
      {{"put", "leased3", "z"}},
      {{"lease", "revoke", "$LEASE"}},
      {{"lease", "revoke", "$LEASE"}},
      {{"lease", "timetolive", "$LEASE"}},
      {{"lease", "keep-alive", "--once", "$LEASE"}},
      {{"lease", "list"}},
      {{"get", "leased", "--prefix", "-w", "json"}},
      {{"put", "leased", "x", "--lease", "12345"}},
      {{"lease", "grant", "9000000001"}},
      {{"lease", "grant", "-1"}},
      {{"lease", "grant", "0"}},
      {{"lease", "grant", "1"}},
      {{"lease", "grant", "--", "-100"}},
      // History.
      {{"compaction", "8"}},
      {{"compaction", "8"}},
      {{"compaction", "7"}},
      {{"compaction", "5000"}},
      {{"get", "a", "--rev", "7"}},
      {{"get", "a", "--rev", "8", "-w", "json"}},
      {{"compaction", "10", "--physical"}},
      {{"compaction", "0"}},
      {{"compaction", "-1"}},
      {{"watch", "a", "--rev", "3"}},  // ends by itself: compacted
      // The rest.
      {{"endpoint", "health"}},
      {{"alarm", "list"}},
      {{"alarm", "disarm"}},
      {{"defrag"}},
      {{"lock", "l1", "echo", "held"}},
      {{"lock", "l1", "sh", "-c", "exit 3"}},
      {{"get", "l1", "--prefix"}},
      {{"get", "", "--prefix", "-w", "json"}},
  };
  return steps;
}

std::string shown(const Step& step) {
  std::string text;
  for (const std::string& word : step.words) text += (text.empty() ? "" : " ") + word;
  return step.input.empty() || step.input.size() > 200 ? text : text + " <<< " + step.input;
}

Said take(Etcdctl& ctl, Step step, std::string& lease) {
  for (std::string& word : step.words) {
    if (word == "$LEASE") word = lease;
  }
  Said said = ctl.run(step.words, step.input);
  if (step.words[0] == "lease" && step.words[1] == "grant" && said.code == 0) lease = said.out.substr(6, 16);
  return said;
}

TEST(Server, SaysWhatEtcdSays) {
  EtcdCluster etcd(1);
  Ours ours;
  Etcdctl theirs_ctl(etcd.endpoints().at(0));
  Etcdctl ours_ctl(ours.server->address());
  std::string their_lease, our_lease;
  for (const Step& step : session()) {
    const Said theirs = take(theirs_ctl, step, their_lease);
    const Said said = take(ours_ctl, step, our_lease);
    EXPECT_EQ(said.code, theirs.code) << shown(step);
    EXPECT_EQ(comparable(said.out, ours_ctl.endpoint()), comparable(theirs.out, theirs_ctl.endpoint())) << shown(step);
    EXPECT_EQ(comparable(said.error, ours_ctl.endpoint()), comparable(theirs.error, theirs_ctl.endpoint())) << shown(step);
  }
}

// What a command that goes on says until a given text comes.
std::string said_until(Etcdctl& ctl, const std::vector<std::string>& words, std::string_view last) {
  auto running = ctl.start(words);
  running->wait_for(last);
  return comparable(running->out(), ctl.endpoint());
}

TEST(Server, WatchesAsEtcdDoes) {
  EtcdCluster etcd(1);
  Ours ours;
  Etcdctl theirs_ctl(etcd.endpoints().at(0)), ours_ctl(ours.server->address());
  struct Case {
    std::vector<std::string> words;
    std::string_view last;  // what the end of the history says
  };
  for (Etcdctl* ctl : {&theirs_ctl, &ours_ctl}) {
    for (const auto& [key, value] : {std::pair("w/a", "1"), {"w/b", "2"}, {"w/a", "3"}, {"x", "other"}})
      ctl->run({"put", key, value});
    ctl->run({"del", "w/a"});
    ctl->run({"txn"}, "\nput w/c 4\nput w/d 5\ndel w/b\n\n\n");
    ctl->run({"put", "w/z", "end of it"});
  }
  const std::vector<Case> cases = {
      {{"watch", "w/", "--prefix", "--rev", "2"}, "end of it"},
      {{"watch", "w/", "--prefix", "--rev", "4", "--prev-kv"}, "end of it"},
      {{"watch", "w/b", "w/z0", "--rev", "2"}, "end of it"},
      {{"watch", "w/a", "--rev", "2"}, "DELETE\nw/a\n"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(said_until(ours_ctl, one.words, one.last), said_until(theirs_ctl, one.words, one.last)) << one.words[1];
  }
  // From now on: the first event tells that the watch is there.
  const auto live = [](Etcdctl& ctl) {
    auto running = ctl.start({"watch", "live", "--prefix"});
    for (int tries = 0; tries < 100 && running->out().empty(); ++tries) ctl.run({"put", "live/0", "is it there"});
    for (int i = 1; i <= 3; ++i) ctl.run({"put", fmt::format("live/{}", i), "v"});
    ctl.run({"del", "live/", "--prefix"});
    running->wait_for("DELETE\nlive/3\n");
    const std::string out = running->out();
    return out.substr(out.find("PUT\nlive/1"));
  };
  EXPECT_EQ(live(ours_ctl), live(theirs_ctl));
}

TEST(Server, ElectsAndLocksAsEtcdDoes) {
  EtcdCluster etcd(1);
  Ours ours;
  Etcdctl theirs_ctl(etcd.endpoints().at(0)), ours_ctl(ours.server->address());
  const auto elect = [](Etcdctl& ctl) {
    auto first = ctl.start({"elect", "e", "one"});
    first->wait_for("one");
    auto second = ctl.start({"elect", "e", "two"});
    auto observer = ctl.start({"elect", "-l", "e"});
    observer->wait_for("one");
    EXPECT_EQ(second->out(), "");
    first->process().terminate();  // resigns
    const Said ended = first->finish();
    second->wait_for("two");
    observer->wait_for("two");
    return comparable(ended.out + second->out() + observer->out(), ctl.endpoint());
  };
  EXPECT_EQ(elect(ours_ctl), elect(theirs_ctl));
  // A lock that is held is waited for, and goes with its holder's lease.
  const auto lock = [](Etcdctl& ctl) {
    auto first = ctl.start({"lock", "l", "--ttl", "2"});
    first->wait_for("l/");
    auto second = ctl.start({"lock", "l", "echo", "second"});
    EXPECT_EQ(second->out(), "");
    first->process().kill();  // without a word: its lease ends by itself
    return comparable(second->finish().out, ctl.endpoint());
  };
  EXPECT_EQ(lock(ours_ctl), lock(theirs_ctl));
}

TEST(Server, IsMirroredIntoEtcdAndBack) {
  EtcdCluster etcd(1);
  Ours ours;
  Etcdctl theirs(etcd.endpoints().at(0)), own(ours.server->address());
  const auto mirror = [](Etcdctl& from, Etcdctl& to, const std::string& prefix) {
    from.run({"put", prefix + "before", "1"});
    auto running = from.start({"make-mirror", "--prefix", prefix, "--dest-prefix", "mirror/" + prefix, to.endpoint()});
    const auto wait_for = [&](const std::string& wanted) {
      evenkeel::test::wait_until(
          "the mirror", 60s,
          [&] {
            return to.run({"get", "mirror/" + prefix, "--prefix"}).out == wanted;
          },
          [&] { return running->out() + running->error(); });
    };
    wait_for(fmt::format("mirror/{0}before\n1\n", prefix));
    from.run({"put", prefix + "later", "2"});
    from.run({"del", prefix + "before"});
    wait_for(fmt::format("mirror/{0}later\n2\n", prefix));
  };
  mirror(own, theirs, "a/");
  mirror(theirs, own, "b/");
}

TEST(Server, SaysWhatItIs) {
  Ours ours;
  Etcdctl ctl(ours.server->address());
  const Said members = ctl.run({"member", "list"});
  EXPECT_NE(members.out.find(", started, evenkeel, , http://" + ours.server->address() + ", false"), std::string::npos)
      << members.out;
  const Said status = ctl.run({"endpoint", "status"});
  EXPECT_NE(status.out.find(ours.server->address()), std::string::npos) << status.out;
  EXPECT_NE(status.out.find("3.4."), std::string::npos) << status.out;
  EXPECT_EQ(ctl.run({"endpoint", "hashkv"}).code, 0);
  const Said snapshot = ctl.run({"snapshot", "save", ours.folder.path() + "/snapshot"});
  EXPECT_NE(snapshot.code, 0);
  EXPECT_NE(snapshot.error.find("Unimplemented"), std::string::npos) << snapshot.error;
}

TEST(Server, StandsEtcdctlsLoad) {
  Ours ours;
  Etcdctl ctl(ours.server->address());
  // The whole takes a minute and judges the machine; that it gets going is what can fail here.
  auto running = ctl.start({"check", "perf"});
  evenkeel::test::wait_until("its first puts", 60s, [&] {
    return ours.engine->range({.span = {"/etcdctl-check-perf/", "/etcdctl-check-perf0"}, .count_only = true})->count > 100;
  });
  EXPECT_TRUE(running->process().running());
}

TEST(Server, IsNotReachedFromOutsideWithoutProtection) {
  Ours ours;
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:2379"}) {
    const auto refused = Server::start(*ours.engine, {.listen = address});
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().code, Code::refused);
    EXPECT_NE(refused.error().message.find("listen on 127.0.0.1"), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(Server::start(*ours.engine, {.listen = "nonsense"}).error().code, Code::invalid);
  EXPECT_EQ(Server::start(*ours.engine, {.listen = ours.server->address()}).error().code, Code::conflict);
  EXPECT_EQ(Server::start(*ours.engine, {.listen = "127.0.0.1:0", .users = "/no/such/file"}).error().code, Code::not_found);
}

}  // namespace
}  // namespace evenkeel::store::embedded
