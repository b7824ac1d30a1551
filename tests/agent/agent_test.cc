// What is asked, how an end is read, and what an answer says.

#include "evenkeel/agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace evenkeel::agent {
namespace {

using testing::HasSubstr;

const Who who{.node = NodeId("n1"),
              .cluster = ClusterId("pages"),
              .store = "etcd://127.0.0.1:2379",
              .data = "/var/lib/pages",
              .agent = "http://127.0.0.1:4000"};
const ShardId shard{WorkloadId("t1"), ShardIndex(3)};

std::map<std::string, std::string> variables(const Question& question) {
  return {question.variables.begin(), question.variables.end()};
}

TEST(Agent, ATransitionIsAskedWithAllThatItNeeds) {
  const node::Transition transition{.shard = shard,
                                    .from = StateId("offline"),
                                    .to = StateId("follower"),
                                    .final = StateId("leader"),
                                    .version = {Epoch(4), Change(2)},
                                    .reason = Reason::operator_asked,
                                    .held_before = Epoch(3),
                                    .peers = {{NodeId("n2"), StateId("leader")}, {NodeId("n3"), StateId("follower")}},
                                    .copy_from = NodeId("n2"),
                                    .metadata = "a \"b\"\n"};
  const Question question = ask_transition(who, transition, 1500ms);
  EXPECT_EQ(question.about, "t1/3 from offline to follower");
  EXPECT_EQ(question.text,
            R"({"format": 1, "kind": "transition", "node": "n1", "cluster": "pages", "shard": "t1/3", "from": "offline", )"
            R"("to": "follower", "final": "leader", "epoch": 4, "change": 2, "reason": "operator", "held_before": 3, )"
            R"("peers": [{"node": "n2", "state": "leader"}, {"node": "n3", "state": "follower"}], "copy_from": "n2", )"
            R"("metadata": "a \"b\"\n", "deadline_ms": 1500})"
            "\n");
  const auto all = variables(question);
  EXPECT_EQ(all.at("EVENKEEL_SHARD"), "t1/3");
  EXPECT_EQ(all.at("EVENKEEL_WORKLOAD"), "t1");
  EXPECT_EQ(all.at("EVENKEEL_TO"), "follower");
  EXPECT_EQ(all.at("EVENKEEL_EPOCH"), "4");
  EXPECT_EQ(all.at("EVENKEEL_PEERS"), "n2=leader n3=follower");
  EXPECT_EQ(all.at("EVENKEEL_METADATA"), "a \"b\"\n");
  EXPECT_EQ(all.at("EVENKEEL_STORE"), who.store);
  EXPECT_EQ(all.at("EVENKEEL_AGENT"), who.agent);
  EXPECT_EQ(all.size(), question.variables.size()) << "no variable twice";
}

TEST(Agent, WhatIsAbsentIsNullAndEmpty) {
  const Question question = ask_transition(who, {.shard = shard, .from = StateId("a"), .to = StateId("b")}, std::nullopt);
  EXPECT_THAT(question.text,
              HasSubstr(R"("held_before": null, "peers": [], "copy_from": null, "metadata": "", "deadline_ms": null)"));
  const auto all = variables(question);
  for (const char* name : {"EVENKEEL_HELD_BEFORE", "EVENKEEL_COPY_FROM", "EVENKEEL_PEERS", "EVENKEEL_DEADLINE_MS"})
    EXPECT_EQ(all.at(name), "") << name;
}

TEST(Agent, ASplitIsAskedWithItsParent) {
  const Question question = ask_transition(who,
                                           {.shard = shard,
                                            .from = StateId("offline"),
                                            .to = StateId("follower"),
                                            .reason = Reason::split,
                                            .parent = ShardIndex(1),
                                            .shards = 4},
                                           std::nullopt);
  EXPECT_THAT(question.text, HasSubstr(R"("copy_from": null, "parent": 1, "shards": 4, "metadata": "")"));
  EXPECT_EQ(variables(question).at("EVENKEEL_PARENT"), "1");
  EXPECT_EQ(variables(question).at("EVENKEEL_SHARDS"), "4");
}

TEST(Agent, ADeadlineThatIsOverIsZero) { EXPECT_THAT(ask_report(who, shard, -5s).text, HasSubstr(R"("deadline_ms": 0)")); }

TEST(Agent, TheOtherQuestions) {
  EXPECT_EQ(
      ask_seal(who, shard, Epoch(7), 10s).text,
      R"({"format": 1, "kind": "seal", "node": "n1", "cluster": "pages", "shard": "t1/3", "epoch": 7, "deadline_ms": 10000})"
      "\n");
  EXPECT_EQ(ask_report(who, shard, 10s).text,
            R"({"format": 1, "kind": "report", "node": "n1", "cluster": "pages", "shard": "t1/3", "deadline_ms": 10000})"
            "\n");
  EXPECT_EQ(ask_inventory(who, 10s).text,
            R"({"format": 1, "kind": "inventory", "node": "n1", "cluster": "pages", "deadline_ms": 10000})"
            "\n");
}

TEST(Agent, OfAFloodTheEndIsKept) {
  Tail tail;
  tail.add("first\n");
  EXPECT_EQ(tail.text(), "first\n");
  EXPECT_EQ(tail.cut(), 0U);
  for (int i = 0; i < 1000; ++i) tail.add("0123456789");
  EXPECT_EQ(tail.text().size(), words_bytes_max);
  EXPECT_EQ(tail.cut(), 10'006 - words_bytes_max);
  tail.add(std::string(2 * words_bytes_max, 'x') + "end");
  EXPECT_EQ(tail.text(), std::string(words_bytes_max - 3, 'x') + "end");
  Tail cut_within_a_character;
  cut_within_a_character.add("é" + std::string(words_bytes_max - 1, 'y'));
  EXPECT_EQ(cut_within_a_character.text(), std::string(words_bytes_max - 1, 'y'));
}

TEST(Agent, TheLastLinesAreWhatIsTold) {
  EXPECT_EQ(last_words(""), "");
  EXPECT_EQ(last_words("\n \n\t\n"), "");
  EXPECT_EQ(last_words("one\ntwo\n\nthree\nfour\n\n"), "two; three; four");
  EXPECT_EQ(last_words("\x1b[31mno\tspace\x1b[0m\r\n"), "no space");
  EXPECT_EQ(last_words("\x1b["), "");
  const std::string told = last_words(std::string(1000, 'a') + "é the end");
  EXPECT_LE(told.size(), 400U);
  EXPECT_TRUE(told.starts_with("…a") && told.ends_with("é the end")) << told;
}

Ended ended(int status, std::string_view words, std::string out = "") {
  Ended ended{.status = status, .out = std::move(out)};
  ended.words.add(words);
  return ended;
}

TEST(Agent, HowACommandEnds) {
  EXPECT_EQ(answer_of(ended(0, "chatter", "{}")).value(), "{}");
  EXPECT_EQ(answer_of(ended(3, "disk is full\n")).error(), (Error{Code::unavailable, "exit status 3: disk is full"}));
  EXPECT_EQ(answer_of(ended(3, "")).error().message, "exit status 3");
  EXPECT_EQ(answer_of(ended(1, std::string(5000, '\n') + "why")).error().message,
            "exit status 1: why (907 bytes before that were cut)");
  Ended killed = ended(9, "");
  killed.killed = true;
  EXPECT_EQ(answer_of(killed).error().message, "killed by signal 9");
  killed.by = Ended::By::overdue;
  killed.within = 3s;
  EXPECT_EQ(answer_of(killed).error(), (Error{Code::unavailable, "overdue, ended after 3s"}));
  Ended flooding = killed;
  flooding.out_cut = true;
  EXPECT_EQ(answer_of(flooding).error().message, "overdue, ended after 3s, and its answer was too large");
  Ended stopped = ended(0, "I was nearly there");
  stopped.by = Ended::By::stopped;
  EXPECT_EQ(answer_of(stopped).error(), (Error{Code::cancelled, "stopped: I was nearly there"}));
  Ended long_answer = ended(0, "", "x");
  long_answer.out_cut = true;
  EXPECT_EQ(answer_of(long_answer).error().code, Code::too_large);
}

TEST(Agent, HowAHookEnds) {
  EXPECT_EQ(answer_of_hook(200, "{}", false).value(), "{}");
  EXPECT_EQ(answer_of_hook(204, "", false).value(), "");
  EXPECT_EQ(answer_of_hook(200, "{", true).error().code, Code::too_large);
  EXPECT_EQ(answer_of_hook(503, "disk is full\nmore\n", false).error(),
            (Error{Code::unavailable, "HTTP status 503: disk is full"}));
  EXPECT_EQ(answer_of_hook(302, "", false).error().message, "HTTP status 302");
}

TEST(Agent, Seals) {
  EXPECT_EQ(parse_sealed(R"({"epoch": 4, "progress": 17})", Epoch(5)).value(), (Sealed{Epoch(5), Epoch(4), 17}));
  EXPECT_EQ(parse_sealed(R"({"epoch": 0, "progress": 18446744073709551615})", Epoch(5))->progress, ~std::uint64_t{0});
  EXPECT_THAT(parse_sealed(" \n", Epoch(5)).error().message, HasSubstr(R"({"epoch": E, "progress": P})"));
  EXPECT_THAT(parse_sealed(R"({"epoch": 4})", Epoch(5)).error().message, HasSubstr("progress"));
  EXPECT_THAT(parse_sealed(R"({"epoch": 4, "progres": 3, "progress": 2})", Epoch(5)).error().message,
              HasSubstr("did you mean \"progress\"?"));
  EXPECT_THAT(parse_sealed(R"({"epoch": -4, "progress": 3})", Epoch(5)).error().message, HasSubstr("-4"));
  EXPECT_THAT(parse_sealed("done", Epoch(5)).error().message, HasSubstr("its answer"));
  EXPECT_FALSE(parse_sealed("[]", Epoch(5)).has_value());
}

TEST(Agent, Reports) {
  EXPECT_EQ(parse_status("").value(), node::Status{});
  EXPECT_EQ(parse_status("{}").value(), node::Status{});
  const auto status = parse_status(R"({"epoch": 4, "progress": 17, "lag": 0, "load": {"cpu": 0.5, "disk": "2Gi"}})");
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(status->last, Epoch(4));
  EXPECT_EQ(status->progress, 17U);
  EXPECT_EQ(status->lag, 0U);
  EXPECT_EQ(status->load.at(ResourceId("cpu")), Quantity::parse("500m").value());
  EXPECT_EQ(status->load.size(), 2U);
  EXPECT_FALSE(parse_status(R"({"load": {"a/b": 1}})").has_value());
  EXPECT_FALSE(parse_status(R"({"load": {"cpu": -1}})").has_value());
  EXPECT_FALSE(parse_status(R"({"load": 3})").has_value());
}

TEST(Agent, Inventories) {
  EXPECT_TRUE(parse_inventory("\n").value().empty());
  EXPECT_TRUE(parse_inventory(R"({"shards": []})").value().empty());
  const auto held = parse_inventory(
      R"({"shards": [{"shard": "t1/9", "epoch": 4, "change": 2, "last": 3, "progress": 17, "refuses": 5}, {"shard": "t1/3", "epoch": 1}]})");
  ASSERT_TRUE(held.has_value()) << held.error().message;
  const node::Held first{.shard = shard, .version = {Epoch(1), Change(0)}, .last = {}, .progress = 0, .refuses = {}};
  const node::Held second{.shard = {WorkloadId("t1"), ShardIndex(9)},
                          .version = {Epoch(4), Change(2)},
                          .last = Epoch(3),
                          .progress = 17,
                          .refuses = Epoch(5)};
  EXPECT_EQ(*held, (std::vector{first, second})) << "by shard";
  EXPECT_EQ(without_progress(*held)[1],
            (node::Held{.shard = second.shard, .version = second.version, .last = {}, .progress = 0, .refuses = {}}));
  EXPECT_THAT(parse_inventory(R"({"shards": [{"shard": "t1/3", "epoch": 1}, {"shard": "t1/3", "epoch": 2}]})").error().message,
              HasSubstr("t1/3 is there twice"));
  EXPECT_THAT(parse_inventory(R"({"shards": [{"shard": "t1/3"}]})").error().message, HasSubstr("epoch"));
  EXPECT_FALSE(parse_inventory(R"({"shards": [{"shard": "t1", "epoch": 1}]})").has_value());
  EXPECT_FALSE(parse_inventory(R"({"shards": {}})").has_value());
  EXPECT_FALSE(parse_inventory("{}").has_value());
}

TEST(Agent, Hooks) {
  EXPECT_EQ(parse_hook("http://127.0.0.1:9000/a/b?c=d").value(), (HookUrl{"http://127.0.0.1:9000", "/a/b?c=d"}));
  EXPECT_EQ(parse_hook("http://pages.local").value(), (HookUrl{"http://pages.local:80", "/"}));
  EXPECT_EQ(parse_hook("http://[::1]:9000").value(), (HookUrl{"http://[::1]:9000", "/"}));
  EXPECT_EQ(parse_hook("http://[::1]/x").value(), (HookUrl{"http://[::1]:80", "/x"}));
  for (const char* wrong :
       {"", "https://a/", "http://", "http:///x", "http://a:b/", "http://a:0/", "http://a:1/ b", "127.0.0.1:9000"})
    EXPECT_FALSE(parse_hook(wrong).has_value()) << wrong;
}

TEST(Agent, WhoAsksWhetherItMayLead) {
  EXPECT_EQ(parse_may_lead("/may_lead/t1/3", "4").value(), (MayLead{shard, Epoch(4)}));
  EXPECT_FALSE(parse_may_lead("/may_lead/t1", "4").has_value());
  EXPECT_FALSE(parse_may_lead("/may_lead/t1/3", "").has_value());
  EXPECT_FALSE(parse_may_lead("/may_lead/t1/3", "-1").has_value());
  EXPECT_FALSE(parse_may_lead("/", "4").has_value());
}

}  // namespace
}  // namespace evenkeel::agent
