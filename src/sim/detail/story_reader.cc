#include "evenkeel/sim/detail/story_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "evenkeel/base/text.h"
#include "evenkeel/model/cluster_file.h"
#include "evenkeel/sim/edit.h"

namespace evenkeel::sim::detail {
namespace {

constexpr Duration time_max = 24h * 3650;  // so that no sum of times overflows

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool is_separator(std::string_view line) {
  return line.starts_with("---") && line.find_first_not_of(" \t\r", 3) == std::string_view::npos;
}

// "kill NODE, start NODE or …"
std::string one_of(const std::vector<std::string_view>& patterns) {
  constexpr std::size_t most = 8;
  std::string out;
  for (std::size_t at = 0; at < std::min(patterns.size(), most); ++at) {
    if (at > 0) out += at + 1 == patterns.size() ? " or " : ", ";
    out += fmt::format("`{}`", patterns[at]);
  }
  return patterns.size() > most ? out + ", …" : out;
}

// The rest of a pattern: "for TIME".
std::string from(std::string_view pattern, std::size_t items) {
  const auto all = items_of(pattern);
  return fmt::format("{}", fmt::join(std::span(all).subspan(items), " "));
}

bool takes_whole(std::span<const Row> rows, std::span<const Token> tokens) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (follow(rows, row, tokens).whole) return true;
  }
  return false;
}

// The rows that the tokens go along furthest; of those, the ones with most words of their own.
std::vector<Progress> furthest(std::span<const Row> rows, std::span<const Token> tokens) {
  std::vector<Progress> best;
  const auto reach = [](const Progress& progress) { return std::pair(progress.tokens, progress.words); };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Progress progress = follow(rows, row, tokens);
    if (!best.empty() && reach(progress) < reach(best[0])) continue;
    if (!best.empty() && reach(progress) > reach(best[0])) best.clear();
    best.push_back(progress);
  }
  return best;
}

// Where the condition ends: at `within` or `for`, if it is there.
std::size_t condition_end(std::span<const Token> tokens) {
  const auto found = std::ranges::find_if(tokens, [](const Token& token) { return token.is("within") || token.is("for"); });
  return static_cast<std::size_t>(found - tokens.begin());
}

std::string unquoted(const Token& token) {
  if (token.kind != Token::Kind::text) return std::string(token.raw);
  const auto document = Document::parse(token.raw, "text", Syntax::json);
  return document ? std::string(document->root().text()) : std::string();
}

}  // namespace

Parsed<Story> StoryReader::read(std::string_view text) {
  std::string_view rest = text;
  bool separated = false;
  std::uint32_t lines = 0;
  std::size_t cluster_bytes = text.size();
  while (!rest.empty() && !separated) {
    const std::size_t at = text.size() - rest.size();
    separated = is_separator(take_line(rest));
    if (separated) cluster_bytes = at;
    ++lines;
  }
  read_cluster(text.substr(0, cluster_bytes));
  if (!separated)
    problems_.add({.line = std::max(lines, 1U), .column = 1}, "the story lacks its line `---`",
                  "first the cluster as in a cluster file, then a line `---`, then what happens");
  for (number_ = lines; !rest.empty();) {
    ++number_;
    read_line(take_line(rest));
  }
  if (!problems_.empty()) return tl::unexpected(std::move(problems_));
  return std::move(story_);
}

void StoryReader::read_cluster(std::string_view text) {
  auto cluster = parse_cluster(text, problems_.file());
  if (!cluster) {
    problems_ = std::move(cluster.error());
    return;
  }
  sound_ = true;
  story_.name = problems_.file();
  story_.cluster = *std::move(cluster);
  spec_ = spec_of(story_.cluster);
  learn_names();
}

void StoryReader::learn_names() {
  for (const Node& node : spec_.nodes) nodes_.insert(node.name.str());
  for (const Workload& workload : spec_.workloads) {
    std::uint32_t& shards = workloads_[workload.name.str()];
    shards = std::max(shards, workload.shards);
  }
}

void StoryReader::read_line(std::string_view line) {
  line_ = line;
  if (const auto bad = find_invalid_utf8(line)) {
    problems_.add(place_of(*bad), "a byte that is not UTF-8", "save the file as UTF-8");
    return;
  }
  const Tokens cut_line = cut(line);
  if (!cut_line.wrong.empty()) {
    problems_.add(place_of(cut_line.tokens.back()), cut_line.wrong, "close it in the same line");
    return;
  }
  std::span<const Token> tokens = cut_line.tokens;
  if (tokens.empty()) return;
  if (ended_) {
    problems_.add(place_of(tokens[0]), "the story has ended above", "put `end` last");
    return;
  }
  if (tokens[0].is("at")) tokens = read_time(tokens);
  if (tokens.empty()) return;
  if (tokens[0].is("expect")) {
    read_expectation(tokens[0], tokens.subspan(1));
  } else {
    read_action(tokens);
  }
}

// Takes `at TIME` off.
std::span<const Token> StoryReader::read_time(std::span<const Token> tokens) {
  if (tokens.size() == 1) {
    problems_.add(end_of(tokens), "`at` lacks its time", "write `at 10s kill n1`");
    return {};
  }
  const std::size_t found = problems_.found();
  const Duration time = read_duration(tokens[1]);
  if (problems_.found() == found) {
    if (time < now_)
      problems_.add(place_of(tokens[1]), fmt::format("{} is before {}, the time of the line above", format(time), format(now_)),
                    "times count from the start and do not go back");
    now_ = std::max(now_, time);
  }
  if (tokens.size() == 2)
    problems_.add(end_of(tokens), fmt::format("nothing happens at {}", format(time)), "say what: `at 10s kill n1`");
  return tokens.subspan(2);
}

void StoryReader::read_action(std::span<const Token> tokens) {
  const std::size_t found = problems_.found();
  const auto sentence = read_sentence(action_rows(), tokens);
  if (!sentence) return;
  Action action{.kind = static_cast<Action::Kind>(sentence->row), .words = sentence->words};
  if (action.kind == Action::Kind::end) ended_ = true;
  if (problems_.found() == found) follow_spec(action, tokens);
  story_.lines.push_back({.at = now_, .what = std::move(action), .line = number_});
}

void StoryReader::read_expectation(const Token& expect, std::span<const Token> tokens) {
  Expectation out;
  if (!tokens.empty() && tokens[0].is("not")) {
    out.condition.negated = true;
    tokens = tokens.subspan(1);
  }
  const auto condition = tokens.first(condition_end(tokens));
  const auto tail = tokens.subspan(condition.size());
  if (condition.empty()) {
    problems_.add(place_of(expect), "`expect` lacks its condition", "write `expect settled within 1m`");
    return;
  }
  const auto sentence = read_sentence(condition_rows(), condition);
  if (!tail.empty()) {
    out.when = tail[0].is("for") ? Expectation::When::throughout : Expectation::When::within;
    if (tail.size() == 1) {
      problems_.add(end_of(tail), fmt::format("`{}` lacks its time", tail[0].raw), fmt::format("write `{} 15s`", tail[0].raw));
      return;
    }
    out.time = read_duration(tail[1]);
    if (tail.size() > 2)
      problems_.add(place_of(tail[2]), fmt::format("unexpected {}", quote(tail[2].raw)), "an expectation ends with its time");
  }
  if (!sentence) return;
  out.condition.kind = static_cast<Condition::Kind>(sentence->row);
  out.condition.words = sentence->words;
  story_.lines.push_back({.at = now_, .what = std::move(out), .line = number_});
}

std::optional<StoryReader::Sentence> StoryReader::read_sentence(std::span<const Row> rows, std::span<const Token> tokens) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!follow(rows, row, tokens).whole) continue;
    Sentence out{.row = row, .words = {}};
    std::size_t at = 0;
    for (const std::string_view item : items_of(rows[row].pattern)) {
      do {
        if (is_place(item)) read_word(item, tokens[at], rows[row], out.words);
        ++at;
      } while (item == "NODES" && at < tokens.size());
    }
    return out;
  }
  say_mismatch(rows, tokens);
  return std::nullopt;
}

void StoryReader::read_word(std::string_view item, const Token& token, const Row& row, Words& words) {
  if (item == "NODE") {
    (words.node.empty() ? words.node : words.other) = read_node(token);
  } else if (item == "NODES") {
    words.nodes.push_back(read_node(token));
    if (std::ranges::count(words.nodes, words.nodes.back()) > 1)
      problems_.add(place_of(token), fmt::format("{} is named twice", quote(token.raw)), "name it once");
  } else if (item == "SHARD") {
    words.shard = read_shard(token);
  } else if (item == "WORKLOAD") {
    words.workload = read_workload(token);
  } else if (item == "NUMBER") {
    words.number = read_number(token, row);
  } else if (item == "TIME") {
    words.time = read_duration(token);
  } else if (item == "TEXT") {
    words.text = read_text(token);
  } else {
    words.text = std::string(token.raw);
  }
}

NodeId StoryReader::read_node(const Token& token) {
  const std::string name = unquoted(token);
  if (const auto why = why_not_a_name(name)) {
    problems_.add(place_of(token), *why);
  } else if (sound_ && !nodes_.contains(name)) {
    const std::vector<std::string_view> known(nodes_.begin(), nodes_.end());
    problems_.add(place_of(token), fmt::format("there is no node {}", quote(name)), suggestion(name, known));
  }
  return NodeId(name);
}

WorkloadId StoryReader::read_workload(const Token& token) {
  const std::string name = unquoted(token);
  if (const auto why = why_not_a_name(name)) {
    problems_.add(place_of(token), *why);
  } else if (sound_ && !workloads_.contains(name)) {
    std::vector<std::string_view> known;
    for (const auto& [workload, shards] : workloads_) known.push_back(workload);
    problems_.add(place_of(token), fmt::format("there is no workload {}", quote(name)), suggestion(name, known));
  }
  return WorkloadId(name);
}

ShardId StoryReader::read_shard(const Token& token) {
  const auto shard = parse_shard_id(token.raw);
  if (!shard) {
    problems_.add(place_of(token), shard.error().message);
    return {};
  }
  const std::string& workload = shard->workload.str();
  const std::size_t found = problems_.found();
  read_workload({.raw = token.raw.substr(0, workload.size()), .at = token.at});
  const auto known = workloads_.find(workload);
  if (problems_.found() == found && known != workloads_.end() && shard->shard.value() >= known->second)
    problems_.add(place_of(token), fmt::format("there is no shard {}", token.raw),
                  fmt::format("{} has {}, counted from 0", workload, known->second));
  return *shard;
}

Duration StoryReader::read_duration(const Token& token) {
  const auto time = parse_duration(token.raw);
  if (!time) {
    problems_.add(place_of(token), time.error().message);
  } else if (*time < Duration(0) || *time > time_max) {
    problems_.add(place_of(token), fmt::format("{} is out of range", format(*time)), "times are from 0 to 3650d");
  } else {
    return *time;
  }
  return {};
}

std::uint64_t StoryReader::read_number(const Token& token, const Row& row) {
  const auto number = parse_unsigned(token.raw);
  if (!number) {
    problems_.add(place_of(token), number.error().message);
  } else if (*number < row.range.least || *number > row.range.most) {
    problems_.add(place_of(token), fmt::format("{} is out of range", *number),
                  fmt::format("in `{}` it is from {} to {}", row.pattern, row.range.least, row.range.most));
  } else {
    return *number;
  }
  return 0;
}

std::string StoryReader::read_text(const Token& token) {
  const auto document = Document::parse(token.raw, "text", Syntax::json);
  if (document && document->problems().empty()) return std::string(document->root().text());
  for (const Diagnostic& problem : (document ? document->problems() : document.error()).sorted())
    problems_.add(place_of(token), problem.message, problem.hint);
  return "";
}

void StoryReader::say_mismatch(std::span<const Row> rows, std::span<const Token> tokens) {
  const auto best = furthest(rows, tokens);
  const std::size_t at = best[0].tokens;
  const bool action = rows.data() == action_rows().data();
  if (at == 0 || (!action && takes_whole(action_rows(), tokens))) return say_unknown(rows, tokens);
  std::vector<std::string_view> patterns, next;
  for (const Progress& progress : best) {
    const auto items = items_of(rows[progress.row].pattern);
    patterns.push_back(rows[progress.row].pattern);
    if (progress.items < items.size()) next.push_back(items[progress.items]);
  }
  const std::string write = "write " + one_of(patterns);
  if (at == tokens.size()) {
    const std::string lacks =
        best.size() == 1 ? fmt::format("this lacks `{}`", from(patterns[0], best[0].items)) : std::string("this ends too early");
    return problems_.add(end_of(tokens), lacks, write);
  }
  const Token& token = tokens[at];
  if (token.kind == Token::Kind::word && !next.empty() && std::ranges::count(next, next[0]) == std::ssize(next)) {
    if (next[0] == "TIME") return problems_.add(place_of(token), parse_duration(token.raw).error().message, write);
    if (next[0] == "NUMBER") return problems_.add(place_of(token), parse_unsigned(token.raw).error().message, write);
  }
  if (!action && next.empty()) next = {"within", "for"};
  std::erase_if(next, is_place);
  const auto near = token.kind == Token::Kind::word ? nearest(token.raw, next) : std::nullopt;
  const std::string tail =
      !action && next == std::vector<std::string_view>{"within", "for"} ? ", then nothing, `within TIME` or `for TIME`" : "";
  problems_.add(place_of(token), fmt::format("unexpected {}", quote(token.raw)),
                (near ? fmt::format("did you mean `{}`? ", *near) : "") + write + tail);
}

void StoryReader::say_unknown(std::span<const Row> rows, std::span<const Token> tokens) {
  const bool action = rows.data() == action_rows().data();
  const Token& token = tokens[0];
  const auto message = fmt::format("{} is no {}", quote(token.raw), action ? "action" : "condition");
  std::vector<std::string_view> starts;
  for (const Row& row : rows) {
    const std::string_view start = items_of(row.pattern)[0];
    if (!is_place(start)) starts.push_back(start);
  }
  if (action && takes_whole(condition_rows(), tokens.first(condition_end(tokens)))) {
    problems_.add(place_of(token), message, "it is a condition: write `expect` before it");
  } else if (!action && takes_whole(action_rows(), tokens)) {
    problems_.add(place_of(token), message, "it is an action: write it without `expect`");
  } else if (const auto near = nearest(token.raw, starts)) {
    problems_.add(place_of(token), message, fmt::format("did you mean `{}`?", *near));
  } else {
    problems_.add(place_of(token), message,
                  fmt::format("docs/simulator.md has the table of all {}s", action ? "action" : "condition"));
  }
}

void StoryReader::follow_spec(const Action& action, std::span<const Token> tokens) {
  if (!sound_) return;
  const auto say = [&](const Error& error) { problems_.add(place_of(tokens.back()), error.message); };
  if (action.kind == Action::Kind::load || action.kind == Action::Kind::load_all) {
    if (const auto load = parse_load(action.words.text); !load) say(load.error());
    return;
  }
  const bool changes = tokens.back().kind == Token::Kind::fields || action.kind == Action::Kind::erase ||
                       action.kind == Action::Kind::split_shards;
  if (!changes) return;
  const bool absent = action.kind == Action::Kind::change &&
                      std::ranges::find(spec_.workloads, action.words.workload, &Workload::name) == spec_.workloads.end();
  if (absent) return say({Code::not_found, fmt::format("the workload {} was deleted above", action.words.workload)});
  auto after = edit(spec_, action);
  if (!after) return say(after.error());
  spec_ = *std::move(after);
  learn_names();
}

Place StoryReader::place_of(std::size_t bytes) const {
  const auto before = line_.substr(0, bytes);
  const auto characters = std::ranges::count_if(before, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; });
  return {.line = number_, .column = static_cast<std::uint32_t>(characters) + 1};
}

Place StoryReader::end_of(std::span<const Token> tokens) const { return place_of(tokens.back().at + tokens.back().raw.size()); }

}  // namespace evenkeel::sim::detail
