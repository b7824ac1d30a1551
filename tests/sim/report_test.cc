#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

Outcome small_outcome() {
  using State = NodeSample::State;
  const auto node = [](const char* name, State state, std::uint32_t replicas, std::uint32_t leaders) {
    return NodeSample{.node = NodeId(name), .state = state, .replicas = replicas, .leaders = leaders};
  };
  Outcome out;
  out.time = 90s;
  out.timeline = {{.at = 10s, .who = "story", .what = "kill n2"},
                  {.at = 12'345ms, .who = "controller 1", .what = "t/0 \"is\" led by n1 & <nobody> else"},
                  {.at = 1h + 2min + 500ms, .who = "n2", .what = "goes on"}};
  out.samples = {
      {.at = 0s, .nodes = {node("n1", State::up, 4, 2), node("n2", State::up, 4, 2)}},
      {.at = 10s, .nodes = {node("n1", State::up, 4, 2), node("n2", State::gone, 4, 0)}, .unled = 2},
      {.at = 20s, .nodes = {node("n1", State::up, 4, 4), node("n2", State::gone, 4, 0)}},
      {.at = 60s, .nodes = {node("n1", State::still, 4, 4), node("n2", State::up, 4, 0), node("n3", State::up, 0, 0)}},
  };
  return out;
}

TEST(Report, ATimelineIsALineAMoment) {
  EXPECT_EQ(format_timeline(small_outcome()),
            "         10s  story         kill n2\n"
            "     12.345s  controller 1  t/0 \"is\" led by n1 & <nobody> else\n"
            "    1h2m0.5s  n2            goes on\n");
}

TEST(Report, CalmIsSaidInWords) {
  const Calm calm{.moves = 3,
                  .leader_changes = 8,
                  .thrash = 1,
                  .leaderless = 1500ms,
                  .leaderless_longest = 1s,
                  .unsettled = 90s,
                  .writes = 1000,
                  .refused = 2,
                  .bytes_written = 12345};
  EXPECT_EQ(format_calm(calm),
            "moves             3, of them 1 back to where the shard had just been dropped\n"
            "leader changes    8\n"
            "without a leader  1.5s over all shards, 1s at the longest\n"
            "unsettled         1m30s\n"
            "writes            1000 acknowledged, 2 refused\n"
            "to the store      12345 bytes\n");
}

// Whether every element is closed in order, and no text holds what only markup may.
std::string why_not_well_formed(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string_view::npos) return "a tag without an end";
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.contains('<')) return "a tag in a tag: " + std::string(tag);
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag) return "closed without being open: " + std::string(tag);
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end;
  }
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const std::string_view entity = text.substr(at, text.find(';', at) - at + 1);
    if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;")
      return "no entity: " + std::string(entity);
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

TEST(Plot, ShowsNodesAndWhatTheStoryDid) {
  const std::string svg = plot_svg(small_outcome());
  EXPECT_EQ(why_not_well_formed(svg), "");
  for (const char* part : {">n1</text>", ">n2</text>", ">n3</text>", "class=\"gone\"", "class=\"still\"", "class=\"unled\"",
                           "10s  kill n2", "n1 runs, from 20s to 1m: 4 replicas, 4 leaders", "1m30s: as expected"})
    EXPECT_TRUE(svg.contains(part)) << part << "\n" << svg;
}

TEST(Plot, TextsAreEscaped) {
  Outcome outcome = small_outcome();
  outcome.failure = "a.story:3: expect t/0 says \"<a> & b\": \xff no";
  outcome.timeline[0].what = "</text><script>x</script>";
  const std::string svg = plot_svg(outcome);
  EXPECT_EQ(why_not_well_formed(svg), "");
  EXPECT_TRUE(svg.contains("&quot;&lt;a&gt; &amp; b&quot;: \xef\xbf\xbd no")) << svg;
  EXPECT_FALSE(svg.contains("<script>"));
}

TEST(Plot, HasRoomForNothingAndForMuch) {
  EXPECT_EQ(why_not_well_formed(plot_svg({})), "");
  Outcome outcome = small_outcome();
  outcome.time = 24h * 30;
  for (int at = 0; at < 500; ++at) {
    outcome.timeline.push_back({.at = 1h * at, .who = "story", .what = "thaw"});
    outcome.samples.back().nodes.push_back({.node = NodeId(fmt::format("node-{}", at))});
  }
  const std::string svg = plot_svg(outcome);
  EXPECT_EQ(why_not_well_formed(svg), "");
  EXPECT_TRUE(svg.contains("and 441 more")) << svg;
}

}  // namespace
}  // namespace evenkeel::sim
