#include "evenkeel/sim/story.h"

#include <algorithm>
#include <iterator>

#include "evenkeel/base/text.h"
#include "evenkeel/model/cluster_file.h"
#include "evenkeel/sim/detail/phrases.h"
#include "evenkeel/sim/detail/story_reader.h"

namespace evenkeel::sim {
namespace {

using detail::format_name;

// What stands at a pattern's place.
std::string format_place(std::string_view item, const Words& words, bool first_node) {
  if (item == "NODE") return format_name((first_node ? words.node : words.other).str());
  if (item == "SHARD") return format(words.shard);
  if (item == "WORKLOAD") return format_name(words.workload.str());
  if (item == "NUMBER") return fmt::format("{}", words.number);
  if (item == "TIME") return format(words.time);
  if (item == "TEXT") return json_quoted(words.text);
  if (item == "FIELDS") return words.text;
  std::string nodes;
  for (const NodeId& node : words.nodes) nodes += (nodes.empty() ? "" : " ") + format_name(node.str());
  return nodes;
}

std::string format_row(const detail::Row& row, const Words& words) {
  std::string out;
  bool first_node = true;
  for (const std::string_view item : detail::items_of(row.pattern)) {
    if (!out.empty()) out += ' ';
    out += detail::is_place(item) ? format_place(item, words, first_node) : std::string(item);
    if (item == "NODE") first_node = false;
  }
  return out;
}

std::vector<Phrase> phrases_of(std::span<const detail::Row> rows) {
  std::vector<Phrase> out;
  for (const detail::Row& row : rows) out.push_back({row.pattern, row.meaning});
  return out;
}

}  // namespace

Parsed<Story> read_story(std::string_view text, std::string_view where) { return detail::StoryReader(where).read(text); }

Result<Story> parse_story(std::string_view text, std::string_view where) {
  auto story = read_story(text, where);
  if (!story) return tl::unexpected(story.error().to_error());
  return *std::move(story);
}

std::string format(const Action& action) {
  return format_row(detail::action_rows()[static_cast<std::size_t>(action.kind)], action.words);
}

std::string format(const Condition& condition) {
  const auto& row = detail::condition_rows()[static_cast<std::size_t>(condition.kind)];
  return (condition.negated ? "not " : "") + format_row(row, condition.words);
}

std::string format(const Expectation& expectation) {
  std::string out = "expect " + format(expectation.condition);
  if (expectation.when == Expectation::When::within) out += " within " + format(expectation.time);
  if (expectation.when == Expectation::When::throughout) out += " for " + format(expectation.time);
  return out;
}

std::string format(const Story& story) {
  std::size_t width = 0;
  for (const Line& line : story.lines) width = std::max(width, format(line.at).size());
  std::string out = format_cluster(story.cluster, Syntax::yaml) + "---\n";
  const Line* before = nullptr;
  for (const Line& line : story.lines) {
    const bool timed = before == nullptr || before->at != line.at;
    const std::string what = std::visit([](const auto& each) { return format(each); }, line.what);
    fmt::format_to(std::back_inserter(out), "{:2} {:{}}  {}\n", timed ? "at" : "", timed ? format(line.at) : "", width, what);
    before = &line;
  }
  return out;
}

std::vector<Phrase> action_phrases() { return phrases_of(detail::action_rows()); }
std::vector<Phrase> condition_phrases() { return phrases_of(detail::condition_rows()); }

}  // namespace evenkeel::sim
