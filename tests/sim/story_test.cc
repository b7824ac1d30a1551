#include "evenkeel/sim/story.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "evenkeel/base/rng.h"
#include "evenkeel/sim/edit.h"
#include "tests/model/any_cluster.h"

namespace evenkeel::sim {
namespace {

// A random story about a random cluster: any phrases with any words that exist.
class AnyStory {
 public:
  explicit AnyStory(std::uint64_t seed) : rng_(seed), cluster_(AnyCluster(rng_.next()).make()) {
    for (const char* name : {"n1", "for", "not", "within", "5s", "2", "controller", "the"})
      cluster_.nodes.push_back({.name = NodeId(name)});
    for (const char* name : {"t", "not", "5s"}) cluster_.workloads.push_back({.name = WorkloadId(name), .shards = 3});
  }

  Story make() {
    Story story{.name = {}, .cluster = cluster_, .lines = {}};
    Duration now{};
    for (auto lines = rng_.below(30); lines > 0; --lines) {
      if (rng_.chance(1, 2)) now += time();
      if (rng_.chance(1, 2)) {
        story.lines.push_back({.at = now, .what = action()});
      } else {
        story.lines.push_back({.at = now, .what = expectation()});
      }
    }
    return story;
  }

 private:
  Duration time() { return Duration(static_cast<Duration::rep>(rng_.below(std::uint64_t{1} << rng_.below(50)))); }
  NodeId node() { return cluster_.nodes[rng_.below(cluster_.nodes.size())].name; }
  const Workload& workload() {
    while (true) {
      const Workload& any = cluster_.workloads[rng_.below(cluster_.workloads.size())];
      if (any.shards > 0) return any;
    }
  }
  std::string text() {
    static constexpr const char* texts[] = {"waits", " for ",    "\"quoted\"", "\\", "# no comment",
                                            "é 𝄞",   "\n\t\x01", "{",          "}",  "'"};
    std::string out;
    for (auto parts = rng_.below(4); parts > 0; --parts) out += texts[rng_.below(std::size(texts))];
    return out;
  }

  // The words that a phrase has places for; others stay empty.
  Words words(std::string_view pattern, std::uint64_t number) {
    const auto has = [&](std::string_view place) { return pattern.contains(place); };
    Words out;
    if (has("NODE") && !has("NODES")) out.node = node();
    if (has("with NODE") || has("from NODE")) out.other = node();
    if (has("NODES")) {
      std::set<NodeId> nodes;
      for (auto count = 1 + rng_.below(4); count > 0; --count) nodes.insert(node());
      out.nodes.assign(nodes.begin(), nodes.end());
    }
    if (has("SHARD")) {
      const Workload& of = workload();
      out.shard = {of.name, ShardIndex(static_cast<std::uint32_t>(rng_.below(of.shards)))};
    }
    if (has("WORKLOAD")) out.workload = workload().name;
    if (has("NUMBER")) out.number = number;
    if (has("TIME")) out.time = time();
    if (has("TEXT")) out.text = text();
    return out;
  }

  // Any, but those that change which names there are; and what comes after `end`.
  Action action() {
    static const auto phrases = action_phrases();
    while (true) {
      const auto kind = static_cast<Action::Kind>(rng_.below(phrases.size() - 1));
      if (kind == Action::Kind::erase) continue;
      Action out{.kind = kind, .words = words(phrases[static_cast<std::size_t>(kind)].pattern, 1 + rng_.below(9))};
      if (kind == Action::Kind::settings) out.words.text = "{rebalance_delay: 10s}";
      if (kind == Action::Kind::create) out.words.text = fmt::format("{{name: made{}, shards: 2}}", ++made_);
      if (kind == Action::Kind::change) out.words.text = "{transition: 7m}";
      if (kind == Action::Kind::add) out.words.text = fmt::format("{{name: made{}}}", ++made_);
      if (kind == Action::Kind::load || kind == Action::Kind::load_all) out.words.text = "{cpu: 0.5, \"disk\": 2Gi}";
      return out;
    }
  }
  Expectation expectation() {
    static const auto phrases = condition_phrases();
    const auto at = rng_.below(phrases.size());
    Expectation out;
    out.condition = {.kind = static_cast<Condition::Kind>(at),
                     .negated = rng_.chance(1, 3),
                     .words = words(phrases[at].pattern, 1 + rng_.below(9))};
    out.when = static_cast<Expectation::When>(rng_.below(3));
    if (out.when != Expectation::When::now) out.time = time();
    return out;
  }

  Rng rng_;
  Cluster cluster_;
  int made_ = 0;
};

RC_GTEST_PROP(Story, SurvivesBeingWrittenAndRead, (std::uint64_t seed)) {
  const Story story = AnyStory(seed).make();
  const std::string text = format(story);
  const auto again = parse_story(text, "again");
  if (!again) RC_FAIL(again.error().message + "\n" + text);
  RC_ASSERT(*again == story);
  RC_ASSERT(format(*again) == text);
}

TEST(Story, PhrasesAreToldApart) {
  for (const auto& phrases : {action_phrases(), condition_phrases()}) {
    std::set<std::string_view> patterns;
    for (const Phrase& phrase : phrases) {
      EXPECT_TRUE(patterns.insert(phrase.pattern).second) << phrase.pattern;
      EXPECT_FALSE(phrase.meaning.empty()) << phrase.pattern;
    }
  }
  EXPECT_EQ(action_phrases().size(), 60U);
  EXPECT_EQ(condition_phrases().size(), 20U);
}

TEST(Story, LinesKnowWhereTheyAre) {
  const auto story = parse_story("nodes: [{name: n1}]\n---\n\n# why\nat 1s kill n1\n   end\n", "a.story");
  ASSERT_TRUE(story.has_value()) << story.error().message;
  EXPECT_EQ(story->name, "a.story");
  ASSERT_EQ(story->lines.size(), 2U);
  EXPECT_EQ(story->lines[0].line, 5U);
  EXPECT_EQ(story->lines[1].line, 6U);
  EXPECT_EQ(story->lines[1].at, Duration(1s));
}

Action with_fields(Action::Kind kind, std::string fields) { return {.kind = kind, .words = {.text = std::move(fields)}}; }

TEST(Edit, LaysFieldsOverTheSpec) {
  Cluster spec{.name = ClusterId("c")};
  spec.nodes.push_back({.name = NodeId("n1"), .zone = "z1"});
  spec.workloads.push_back({.name = WorkloadId("t"), .shards = 4, .replicas = 2, .load = {{ResourceId("cpu"), Quantity(2)}}});

  const auto added = edit(spec, with_fields(Action::Kind::add, "{name: \"n[2-3]\", zone: \"z[2-3]\"}"));
  ASSERT_TRUE(added.has_value()) << added.error().message;
  ASSERT_EQ(added->nodes.size(), 3U);
  EXPECT_EQ(added->nodes[2].zone, "z3");

  Action change = with_fields(Action::Kind::change, "{replicas: 1}");
  change.words.workload = WorkloadId("t");
  auto expected = spec;
  expected.workloads[0].replicas = 1;
  const auto changed = edit(spec, change);
  ASSERT_TRUE(changed.has_value()) << changed.error().message;
  EXPECT_EQ(*changed, expected);

  const auto set = edit(spec, with_fields(Action::Kind::settings, "{rebalance_delay: 7s}"));
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_EQ(set->settings.control.rebalance_delay, Duration(7s));
  const auto both = edit(*set, with_fields(Action::Kind::settings, "{permit: 9s}"));
  ASSERT_TRUE(both.has_value()) << both.error().message;
  EXPECT_EQ(both->settings.control.rebalance_delay, Duration(7s));
  EXPECT_EQ(both->settings.control.permit, Duration(9s));

  const auto made = edit(spec, with_fields(Action::Kind::create, "{name: u, shards: 1, apart_from: [t]}"));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->workloads.size(), 2U);
  Action erase{.kind = Action::Kind::erase, .words = {.workload = WorkloadId("t")}};
  const auto erased = edit(*made, erase);
  ASSERT_TRUE(erased.has_value());
  ASSERT_EQ(erased->workloads.size(), 1U);
  EXPECT_TRUE(erased->workloads[0].apart_from.empty());
}

TEST(Edit, LoadsAreAmounts) {
  const auto load = parse_load("{cpu: 1.5, disk: 2Gi}");
  ASSERT_TRUE(load.has_value()) << load.error().message;
  EXPECT_EQ(load->size(), 2U);
  EXPECT_EQ(load->at(ResourceId("disk")), *Quantity::parse("2Gi"));
  EXPECT_FALSE(parse_load("{cpu: lots}").has_value());
  EXPECT_FALSE(parse_load("cpu").has_value());
}

}  // namespace
}  // namespace evenkeel::sim
