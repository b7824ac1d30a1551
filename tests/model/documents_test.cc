// Documents and keys: what is written is what is read, whatever the value; what is not known is overlooked, what is newer is refused. How
// each looks, and what is said of wrong ones, is told by stories/documents.story.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "evenkeel/base/text.h"
#include "evenkeel/model/model.h"
#include "tests/model/any_documents.h"
#include "tests/model/document_kinds.h"

namespace evenkeel {
namespace {

using testing::HasSubstr;

// All thirteen kinds of one seed, by name.
std::map<std::string_view, std::string> any_texts(std::uint64_t seed) {
  AnyDocuments any(seed);
  return {
      {"config", format(any.config())},
      {"node", format(any.node())},
      {"workload", format(any.workload())},
      {"order", format(any.order())},
      {"live", format(any.live())},
      {"permit", format(any.permit())},
      {"waits", format(any.waits())},
      {"records", format(any.records())},
      {"target", format(any.target())},
      {"report", format(any.report())},
      {"view", format(any.view())},
      {"pulse", format(any.pulse())},
      {"controller_epoch", format_controller_epoch(any.controller_epoch())},
  };
}

template <class T>
void expect_same(const T& value, const Result<T>& read) {
  if (!read) RC_FAIL(read.error().message + "\n" + format(value));
  RC_ASSERT(*read == value);
}

TEST(Documents, SurviveWritingAndReading) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    AnyDocuments any(seed);
    const auto one = [](const auto& value, const auto& parse) { expect_same(value, parse(format(value))); };
    const WorkloadId t1("t1");
    one(any.config(), [](const auto& text) { return parse_config(text, "k"); });
    one(any.node(), [](const auto& text) { return parse_node(text, "k"); });
    one(any.workload(), [&](const auto& text) { return parse_workload(text, t1, "k"); });
    one(any.order(), [](const auto& text) { return parse_order(text, "k"); });
    one(any.live(), [](const auto& text) { return parse_live(text, NodeId("n1"), "k"); });
    one(any.permit(), [](const auto& text) { return parse_permit(text, "k"); });
    one(any.waits(), [](const auto& text) { return parse_waits(text, "k"); });
    one(any.records(), [&](const auto& text) { return parse_records(text, t1, Bucket(3), "k"); });
    one(any.target(), [](const auto& text) { return parse_target(text, document_key, "k"); });
    one(any.report(), [](const auto& text) { return parse_report(text, document_key, "k"); });
    one(any.view(), [&](const auto& text) { return parse_view(text, t1, Bucket(3), "k"); });
    one(any.pulse(), [](const auto& text) { return parse_pulse(text); });
    const auto epoch = any.controller_epoch();
    RC_ASSERT(parse_controller_epoch(format_controller_epoch(epoch), "k").value() == epoch);
  }));
}

// What the codec writes and reads by itself is JSON to others too, and means the same however it is laid out.
TEST(Documents, AreJson) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    for (const auto& [kind, text] : any_texts(seed)) {
      const auto document = Document::parse(text, "k", Syntax::json);
      if (!document) RC_FAIL(document.error().format() + "\n" + text);
      RC_ASSERT(document->problems().empty());
      RC_ASSERT((*document->root().pairs().begin()).first.text() == "format");
      RC_ASSERT(text.ends_with("}\n"));
    }
  }));
}

TEST(Documents, OverlookFieldsThatTheyDoNotKnow) {
  for (const auto& [kind, rewrite] : document_kinds) {
    const auto text = any_texts(7).at(kind);
    auto more = text;
    more.insert(more.rfind('}'), R"(, "colour": {"red": [1, {"x": null}, "\u00e9\"", -2.5e3, true]}, "taste": "salt")");
    const auto read = rewrite(more);
    ASSERT_TRUE(read.has_value()) << read.error().message << more;
    EXPECT_EQ(*read, text);
  }
}

TEST(Documents, OverlookFieldsInsideToo) {
  const auto read = parse_records(R"({"format": 1, "shards": [{"new": [], "shard": 4, "version": [1, 2], "holders":
      [{"node": "n1", "told": "leader", "version": [1, 2], "reason": "first", "mood": {"good": true}}]}]})",
                                  WorkloadId("t1"), Bucket(0), "k");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->shards.size(), 1u);
  EXPECT_EQ(read->shards[0].holders.at(0).told, StateId("leader"));
}

// What was left out since is what it meant before.
TEST(Documents, ReadRecordsOfTheFirstFormats) {
  const auto read = [](std::string_view text) { return parse_records(text, WorkloadId("t1"), Bucket(3), "k").value(); };
  const auto old = read(R"({"format": 1, "spec": 7, "shards": [
      {"shard": 4, "version": [5, 2], "told": [5, 1], "has_data": true, "placement": ["n1", "n2"], "holders": [
        {"node": "n1", "data": "d1", "incarnation": "00000000000000a1", "told": "leader", "may_be": "leader", "version": [5, 1], "reason": "failover", "held_before": 4, "arrived": true},
        {"node": "n2", "data": "d2", "incarnation": "00000000000000a2", "told": "follower", "version": [5, 0], "reason": "move", "copy_from": "n1"}]},
      {"shard": 9, "version": [1, 0], "placement": ["n2"], "holders": [
        {"node": "n2", "data": "d2", "incarnation": "00000000000000b2", "told": "leader", "version": [1, 0], "reason": "first"}]}]})");
  const auto now =
      read(R"({"format": 3, "spec": 7, "nodes": {"n1": ["d1", "00000000000000a1"], "n2": ["d2", "00000000000000a2"]}, "shards": [
      {"shard": 4, "version": [5, 2], "told": [5, 1], "holders": [
        {"node": "n1", "told": "leader", "may_be": "leader", "reason": "failover", "held_before": 4},
        {"node": "n2", "told": "follower", "version": [5, 0], "reason": "move", "copy_from": "n1", "arrived": false}]},
      {"shard": 9, "version": [1, 0], "told": [0, 0], "has_data": false, "holders": [
        {"node": "n2", "incarnation": "00000000000000b2", "told": "leader", "version": [1, 0], "arrived": false}]}]})");
  EXPECT_EQ(old, now);
  EXPECT_EQ(format(old), format(now));
}

// A higher format is another language: it is refused as such, and by no accident of what else is in it, nor of where the field stands.
TEST(Documents, RefuseAHigherFormat) {
  for (const auto& [kind, rewrite] : document_kinds) {
    for (const char* text : {R"({"format": 4})", R"({"shards": 7, "incarnation": {}, "format": 99})", R"({"format": 4, what])"}) {
      const auto read = rewrite(text);
      ASSERT_FALSE(read.has_value()) << kind;
      EXPECT_EQ(read.error().code, Code::refused) << text;
      EXPECT_THAT(read.error().message, HasSubstr("something newer wrote it"));
    }
  }
}

// Only what says a word that the first format lacks has a higher one.
TEST(Documents, HaveTheFirstFormatThatHasTheirWords) {
  Target target{.replicas = {{.shard = ShardIndex(1), .reason = Reason::balance}}};
  EXPECT_THAT(format(target), HasSubstr(R"("format": 1,)"));
  target.replicas[0].reason = Reason::split;
  EXPECT_THAT(format(target), HasSubstr(R"("format": 2,)"));
  EXPECT_THAT(format(RecordBucket{}), HasSubstr(R"("format": 3,)"));
  WorkloadDocument workload{.spec = {.name = WorkloadId("t"), .shards = 4}};
  EXPECT_THAT(format(workload), HasSubstr(R"("format": 1,)"));
  workload.split_from = 2;
  EXPECT_THAT(format(workload), HasSubstr(R"("format": 2,)"));
  ViewBucket view{.shards_in_all = 4};
  EXPECT_THAT(format(view), HasSubstr(R"("format": 1,)"));
  view.split_from = 2;
  EXPECT_THAT(format(view), HasSubstr(R"("format": 2,)"));
  EXPECT_GE(LiveDocument{}.reads, format_split);
}

// Half a document, or one with a byte changed, is a whole document or refused: never half of one, never a crash.
TEST(Documents, DamagedTextIsRefused) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    auto texts = any_texts(seed);
    for (const auto& [kind, rewrite] : document_kinds) {
      auto text = texts.at(kind);
      const auto at = rng.below(text.size());
      switch (rng.below(3)) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text[at] = static_cast<char>(rng.below(256));
          break;
        default:
          text.insert(at, 1, "{}[],:\"\\-\n 0"[rng.below(12)]);
          break;
      }
      const auto read = rewrite(text);  // checks what it reads by itself
      RC_ASSERT(read.has_value() || !read.error().message.empty());
    }
  }));
}

// What is read in one pass and what Document makes of a text agree on whether it is JSON at all.
TEST(Documents, ReadTheJsonThatDocumentReads) {
  for (const std::string& number : {std::string("-0.5e+3"), std::string("1e308"), std::string("1e309"), std::string("-0.5e+311"),
                                    std::string("1e-400"), std::string(308, '9'), std::string(309, '9'), std::string(400, '9')}) {
    const auto text = fmt::format(R"({{"format": 1, "epoch": 5, "other": {}}})", number);
    EXPECT_EQ(parse_controller_epoch(text, "k").has_value(), Document::parse(text, "k", Syntax::json).has_value()) << number;
  }
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    static constexpr std::string_view pieces[] = {
        "{",           "}",       "[",       "]",    ",",    ":",   "\"a\"", "\"\\u00e9\\n\"",
        "1",           "-0.5e+3", "01",      "true", "null", "nul", " ",     "\"\\ud834\\udd1e\"",
        "\"\\ud834\"", "\"\\x\"", "\"\x01\""};
    std::string value;
    for (auto i = 1 + rng.below(6); i > 0; --i) value += pieces[rng.below(std::size(pieces))];
    const auto text = fmt::format(R"({{"format": 1, "epoch": 5, "other": {}}})", value);
    const auto document = Document::parse(text, "k", Syntax::json);
    RC_ASSERT(parse_controller_epoch(text, "k").has_value() == document.has_value());
  }));
}

// The page about the store shows a document of each kind, in the form in which it is written.
TEST(Documents, AreAsTheirPageShowsThem) {
  const std::map<std::string_view, std::string_view> kinds = {
      {"config", "config"},      {"nodes", "node"},     {"workloads", "workload"}, {"orders", "order"},
      {"live", "live"},          {"reports", "report"}, {"permits", "permit"},     {"shards", "records"},
      {"targets", "target"},     {"view", "view"},      {"waits", "waits"},        {"controller_epoch", "controller_epoch"},
      {"## The pulse", "pulse"},
  };
  std::ifstream page(EVENKEEL_TESTS_DIR "/../docs/documents.md");
  std::string kind, text;
  std::set<std::string_view> shown;
  bool inside = false, between = true;  // in an example; after an empty line
  for (std::string line; std::getline(page, line); between = line.empty()) {
    if (line == "```" && std::exchange(inside, false)) {
      ASSERT_TRUE(kinds.contains(kind)) << kind;
      const auto known = std::ranges::find(document_kinds, kinds.at(kind), &DocumentKind::name);
      const auto written = known->rewrite(text);
      EXPECT_EQ(written ? *written : written.error().message, text);
      text.clear();
      shown.insert(known->name);
    } else if (inside) {
      text += line + "\n";
    } else if (line == "```json") {
      inside = true;
    } else if (between && line.starts_with('`')) {
      kind = line.substr(1, line.find_first_of("/`", 1) - 1);
    } else if (line.starts_with('#')) {
      kind = line;
    }
  }
  EXPECT_EQ(shown.size(), std::size(document_kinds));
}

// A handler's words may be anything; what is stored is text.
TEST(Documents, BytesThatAreNoTextAreReplaced) {
  Report report{.node = NodeId("n1"), .workload = WorkloadId("t1"), .bucket = Bucket(3), .incarnation = Incarnation(1)};
  report.data = DataId("d");
  report.replicas.push_back({.shard = ShardIndex(0), .state = StateId("error"), .version = {}, .error = "bad \xff byte"});
  const auto read = parse_report(format(report), document_key, "k");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->replicas.at(0).error, "bad \xEF\xBF\xBD byte");
  const auto config = parse_config(format(ConfigDocument{.maintenance = Maintenance{.reason = "bad \xff byte"}}), "k");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->maintenance->reason, "bad \xEF\xBF\xBD byte");
}

// A model that bears a built-in one's name and is another is written whole.
TEST(Documents, AModelIsWrittenByNameOnlyIfItIsBuiltIn) {
  Target target{.node = NodeId("n1"), .workload = WorkloadId("t1"), .bucket = Bucket(3)};
  target.model = find_built_in("bootstrap")->spec();
  EXPECT_THAT(format(target), HasSubstr("\"model\": \"bootstrap\""));
  target.model.states[0].data = false;
  EXPECT_THAT(format(target), HasSubstr("\"model\": {\"name\": \"bootstrap\""));
  EXPECT_EQ(parse_target(format(target), document_key, "k").value(), target);
}

TEST(Keys, AreReadAsTheyAreBuilt) {
  const Keys keys(ClusterId("pages"));
  const NodeId node("n1.eu-west:9090");
  const WorkloadId workload("t1");
  const Bucket bucket(17);
  using Kind = Key::Kind;
  const auto expect = [&](const std::string& text, const Key& key) {
    EXPECT_EQ(keys.parse(text), key) << text;
    EXPECT_TRUE(text.starts_with(keys.root())) << text;
    EXPECT_EQ(Keys(ClusterId("page")).parse(text), std::nullopt);
    EXPECT_EQ(keys.parse(text + "/"), std::nullopt);
    EXPECT_EQ(keys.parse(text + "/x"), std::nullopt);
    EXPECT_EQ(keys.parse(text.substr(0, text.rfind('/'))), std::nullopt);
  };
  expect(keys.config(), {.kind = Kind::config});
  expect(keys.node(node), {.kind = Kind::node, .node = node});
  expect(keys.workload(workload), {.kind = Kind::workload, .workload = workload});
  expect(keys.live(node), {.kind = Kind::live, .node = node});
  expect(keys.member(node), {.kind = Kind::member, .node = node});
  expect(keys.beat(node), {.kind = Kind::beat, .node = node});
  expect(keys.report(node, workload, bucket), {.kind = Kind::report, .node = node, .workload = workload, .bucket = bucket});
  expect(keys.shards(workload, bucket), {.kind = Kind::shards, .workload = workload, .bucket = bucket});
  expect(keys.target(node, workload, bucket), {.kind = Kind::target, .node = node, .workload = workload, .bucket = bucket});
  expect(keys.view(workload, bucket), {.kind = Kind::view, .workload = workload, .bucket = bucket});
  expect(keys.controller_epoch(), {.kind = Kind::controller_epoch});
  expect(keys.waits(), {.kind = Kind::waits});
  expect(keys.permit(node), {.kind = Kind::permit, .node = node});
  expect(keys.order({workload, ShardIndex(9)}), {.kind = Kind::order, .workload = workload, .shard = ShardIndex(9)});
  EXPECT_EQ(keys.shards(workload, bucket), "/evenkeel/pages/shards/t1/17");
  EXPECT_TRUE(keys.live(node).starts_with(keys.live_prefix()));
  EXPECT_TRUE(keys.beat(node).starts_with(keys.beat_prefix()));
  EXPECT_TRUE(keys.view(workload, bucket).starts_with(keys.view_prefix()));
  EXPECT_TRUE(keys.report(node, workload, bucket).starts_with(keys.report_prefix(node)));
  EXPECT_TRUE(keys.target(node, workload, bucket).starts_with(keys.target_prefix(node)));
}

TEST(Keys, OthersAreNone) {
  const Keys keys(ClusterId("pages"));
  for (const char* text :
       {"", "/", "/evenkeel/pages", "/evenkeel/pages/", "/evenkeel/pages/nodes", "/evenkeel/pages/nodes/",
        "/evenkeel/pages/nodes/a b", "/evenkeel/pages/nodes//n1", "/evenkeel/pages/shards/t1/x", "/evenkeel/pages/shards/t1/",
        "/evenkeel/pages/shards/t1/01", "/evenkeel/pages/shards/t1/4294967296", "/evenkeel/pages/shards/t1/-1",
        "/evenkeel/pages/locks/a", "evenkeel/pages/config", "/evenkeel/pages/controller", "/evenkeel/pages/office/controller"}) {
    EXPECT_EQ(keys.parse(text), std::nullopt) << text;
  }
  EXPECT_TRUE(keys.parse("/evenkeel/pages/shards/t1/4294967295"));
}

TEST(Buckets, HoldAboutThirtyTwoShards) {
  EXPECT_EQ(buckets_for(0), 1u);
  EXPECT_EQ(buckets_for(32), 1u);
  EXPECT_EQ(buckets_for(42), 1u);
  EXPECT_EQ(buckets_for(64), 2u);
  EXPECT_EQ(buckets_for(1200), 32u);
  EXPECT_EQ(buckets_for(1'000'000), 32'768u);
  EXPECT_EQ(buckets_for(std::numeric_limits<std::uint32_t>::max()), 1u << 27);
}

// Stored data relies on these: they never change.
TEST(Buckets, AreFixedForEver) {
  std::vector<std::uint32_t> found;
  for (const char* id : {"t1/0", "t1/1", "t1/2", "t1/9", "t1/1199", "pages/0", "pages.eu-west/123456"})
    found.push_back(bucket_of(parse_shard_id(id).value(), 1u << 20).value());
  EXPECT_THAT(found, testing::ElementsAre(265331u, 637255u, 154094u, 342017u, 1004308u, 404013u, 127228u));
}

TEST(Buckets, SplitInTwoWhenTheyDouble) {
  EXPECT_TRUE(rc::check([](std::uint32_t shard) {
    const ShardId id{WorkloadId("t1"), ShardIndex(shard)};
    RC_ASSERT(bucket_of(id, 1) == Bucket(0));
    for (std::uint32_t buckets = 1; buckets < 1u << 20; buckets *= 2) {
      const auto before = bucket_of(id, buckets).value(), after = bucket_of(id, 2 * buckets).value();
      RC_ASSERT(after == before || after == before + buckets);
    }
  }));
}

}  // namespace
}  // namespace evenkeel
