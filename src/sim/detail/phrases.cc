#include "evenkeel/sim/detail/phrases.h"

#include <algorithm>
#include <array>
#include <utility>

#include "evenkeel/base/text.h"

namespace evenkeel::sim::detail {
namespace {

// In the order of the kinds, which the compiler holds us to.
template <class Kind, std::size_t count>
consteval std::array<Row, count> in_order(const std::pair<Kind, Row> (&table)[count]) {
  std::array<Row, count> rows;
  for (std::size_t at = 0; at < count; ++at) {
    if (static_cast<std::size_t>(table[at].first) != at) throw "a kind is missing, or not in its place";
    rows[at] = table[at].second;
  }
  return rows;
}

using enum Action::Kind;
constexpr CountRange controllers{.least = 1, .most = 9};
constexpr CountRange ppm{.least = 0, .most = 900'000};

constexpr auto actions = in_order<Action::Kind>({
    {kill, {"kill NODE", "its process is gone; its session is not yet over"}},
    {start, {"start NODE", "again, with what is on its disk"}},
    {start_new_disk, {"start NODE on a new disk", "again, with nothing"}},
    {start_twin, {"start a twin of NODE", "a second process under its name, with a disk of its own"}},
    {stop, {"stop NODE for TIME", "it stands still, and goes on as if nothing had been"}},
    {cut, {"cut NODE for TIME", "nothing passes between it and anybody"}},
    {cut_store, {"cut NODE from the store for TIME", "its pulses and its traffic still pass"}},
    {cut_controllers, {"cut NODE from the controllers for TIME", "only its pulses are lost"}},
    {cut_node, {"cut NODE from NODE for TIME", "only what the two say to each other is lost"}},
    {leave, {"leave NODE", "properly: it asks for a permit, its leaders go, it says goodbye"}},
    {expire, {"expire NODE", "the store forgets its ephemeral keys"}},
    {clock_ahead, {"set the clock of NODE ahead by TIME", "from its next start on"}},
    {clock_fast, {"let the clock of NODE run NUMBER ppm fast", "from its next start on", ppm}},
    {clock_slow, {"let the clock of NODE run NUMBER ppm slow", "from its next start on", ppm}},
    {slow, {"slow NODE NUMBER times", "its transitions take so many times as long", {.least = 1, .most = 1'000'000}}},
    {fail_percent, {"fail NUMBER percent on NODE", "of its transitions", {.least = 0, .most = 100}}},
    {fail_shard, {"fail SHARD on NODE", "its transitions there fail until the node is mended"}},
    {hang_shard, {"hang SHARD on NODE", "its transitions there do not end until the node is mended"}},
    {copy_nothing, {"copy nothing on NODE", "what is split off begins empty there, and says that all is well"}},
    {mend, {"mend NODE", "no more slow, failing or hanging transitions, nor empty copies"}},
    {kill_controller, {"kill controller NUMBER", "controllers count from 1", controllers}},
    {start_controller, {"start controller NUMBER", "again", controllers}},
    {stop_controller, {"stop controller NUMBER for TIME", "it stands still, and goes on", controllers}},
    {cut_controller, {"cut controller NUMBER for TIME", "from the store and from the nodes", controllers}},
    {cut_controller_nodes,
     {"cut controller NUMBER from the nodes for TIME", "it hears no pulses; it still has the store", controllers}},
    {stop_store, {"stop the store for TIME", "nobody gets an answer"}},
    {store_loses, {"the store loses TIME", "it is as it was so long ago"}},
    {store_loses_all, {"the store loses everything", "it is empty"}},
    {store_delay, {"delay the store by up to TIME", "each answer, from now on"}},
    {store_lossy,
     {"lose NUMBER of a million answers",
      "of the store: what was asked for may have been done",
      {.least = 0, .most = 1'000'000}}},
    {drain, {"drain NODE", "an operator wants it empty"}},
    {cordon, {"cordon NODE", "nothing more comes to it"}},
    {no_leaders, {"no leaders on NODE", "they go elsewhere"}},
    {swap, {"swap NODE with NODE", "the second takes exactly the place of the first"}},
    {forget, {"forget NODE", "it is not waited for"}},
    {remove, {"remove NODE", "for good: its disk does not come back"}},
    {undo, {"undo NODE", "whatever was asked of it"}},
    {disable, {"disable SHARD on NODE", "the shard may not be there"}},
    {enable, {"enable SHARD on NODE", "it may again"}},
    {freeze, {"freeze", "no targets change, not even leaders"}},
    {freeze_keep_leaders, {"freeze keeping leaders", "no targets change, but lost leaders are followed"}},
    {thaw, {"thaw", "the end of a freeze"}},
    {maintenance, {"maintenance", "by hand: nothing is moved; lost leaders are followed"}},
    {end_maintenance, {"end maintenance", "by hand"}},
    {settings, {"settings FIELDS", "{rebalance_delay: 10s}: over what they were"}},
    {create, {"create FIELDS", "{name: t2, shards: 4, replicas: 2}: a workload more"}},
    {change, {"change WORKLOAD FIELDS", "{replicas: 2}: over what it was"}},
    {erase, {"delete WORKLOAD", "with all its replicas"}},
    {split_shards, {"split WORKLOAD", "each of its shards becomes two, while it serves"}},
    {lead, {"lead SHARD on NODE", "an operator hands its leadership there"}},
    {lead_accept_loss, {"lead SHARD accepting loss", "whoever of those left has most leads"}},
    {reset, {"reset SHARD on NODE", "its errors there are forgotten"}},
    {apply, {"apply", "operators write again what they want, as the story has said it so far"}},
    {adopt, {"adopt", "what nodes hold and no record knows becomes known"}},
    {drop_orphan, {"drop orphan SHARD on NODE", "what no record knows, by hand"}},
    {add, {"add FIELDS", "{name: n4, zone: z1}: a node more, started"}},
    {load,
     {"load SHARD FIELDS", "{cpu: 3}: what each of its replicas is measured at from now on, a leader's `leader_load` on top"}},
    {load_all, {"load WORKLOAD FIELDS", "{cpu: 3}: the same, of all its shards; what was said of single ones before is over"}},
    {writes, {"writes NUMBER per second", "by clients, over all shards", {.least = 0, .most = 1'000'000}}},
    {end, {"end", "of the story"}},
});
static_assert(actions.size() == static_cast<std::size_t>(end) + 1);

using When = Condition::Kind;
constexpr auto conditions = in_order<Condition::Kind>({
    {When::settled, {"settled", "every shard is where it should be, served and led, and nothing moves"}},
    {When::all_led, {"every shard has a leader", "that its node has reported"}},
    {When::led_by, {"SHARD is led by NODE", "as its node has reported"}},
    {When::unled, {"nobody leads SHARD", "as far as reported"}},
    {When::on, {"SHARD is on NODES", "these hold it by its record, and no others"}},
    {When::serves, {"NUMBER serve SHARD", "at least so many, by the view"}},
    {When::holds_nothing, {"NODE holds nothing", "by the records"}},
    {When::holds, {"NODE holds NUMBER shards", "by the records"}},
    {When::leads, {"NODE leads NUMBER shards", "as reported"}},
    {When::up, {"NODE is up", "to the active controller"}},
    {When::gone, {"NODE is gone", "to the active controller"}},
    {When::suspect, {"NODE is suspect", "to the active controller: its pulses are missed"}},
    {When::in_maintenance, {"the cluster is in maintenance", "by itself or by hand"}},
    {When::says, {"SHARD says TEXT", "its explanation has these words"}},
    {When::event, {"an event says TEXT", "one since the story began has these words"}},
    {When::moves_at_most, {"at most NUMBER moves", "replicas added since the story began, first ones not counted"}},
    {When::copies_at_most, {"at most NUMBER copies", "under way now"}},
    {When::orphans, {"NUMBER orphans", "replicas that no record knows"}},
    {When::active, {"controller NUMBER is active", "and takes its steps", controllers}},
    {When::stopped, {"NODE has stopped", "it left properly, and is gone"}},
});
static_assert(conditions.size() == static_cast<std::size_t>(When::stopped) + 1);

constexpr std::array<std::string_view, 8> places = {"NODE", "NODES", "SHARD", "WORKLOAD", "NUMBER", "TIME", "TEXT", "FIELDS"};
constexpr std::array<std::string_view, 3> words_between = {"not", "within", "for"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// One past the closing quote at or after `at`; npos: there is none. A backslash in double quotes, and a second quote in single ones, make
// a quote part of the text.
std::size_t end_of_quoted(std::string_view line, std::size_t at) {
  const char quote = line[at];
  for (++at; at < line.size(); ++at) {
    if (quote == '"' && line[at] == '\\') {
      ++at;
    } else if (quote == '\'' && line.substr(at).starts_with("''")) {
      ++at;
    } else if (line[at] == quote) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// One past the brace that closes the one at `at`. Quotes inside open a text only where a value begins: {name: it's}.
std::size_t end_of_fields(std::string_view line, std::size_t at) {
  int depth = 0;
  for (char before = ' '; at < line.size(); ++at) {
    const char c = line[at];
    if ((c == '"' || c == '\'') && std::string_view("{[,:").contains(before)) {
      at = end_of_quoted(line, at);
      if (at == std::string_view::npos) return at;
      --at;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 0) return at + 1;
    if (!is_space(c)) before = c;
  }
  return std::string_view::npos;
}

}  // namespace

std::span<const Row> action_rows() { return actions; }
std::span<const Row> condition_rows() { return conditions; }

Tokens cut(std::string_view line) {
  Tokens out;
  for (std::size_t at = 0; at < line.size();) {
    if (is_space(line[at])) {
      ++at;
      continue;
    }
    if (line[at] == '#') break;
    Token token{.raw = {}, .at = at};
    std::size_t end = at;
    if (line[at] == '"') {
      token.kind = Token::Kind::text;
      end = end_of_quoted(line, at);
      if (end == std::string_view::npos) out.wrong = "a quote that is not closed";
    } else if (line[at] == '{') {
      token.kind = Token::Kind::fields;
      end = end_of_fields(line, at);
      if (end == std::string_view::npos) out.wrong = "a brace that is not closed";
    } else {
      while (end < line.size() && !is_space(line[end])) ++end;
    }
    token.raw = line.substr(at, end - at);
    out.tokens.push_back(token);
    if (!out.wrong.empty()) break;
    at = end;
  }
  return out;
}

std::vector<std::string_view> items_of(std::string_view pattern) {
  std::vector<std::string_view> items;
  while (!pattern.empty()) {
    const std::size_t end = std::min(pattern.find(' '), pattern.size());
    items.push_back(pattern.substr(0, end));
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
  }
  return items;
}

bool is_place(std::string_view item) { return std::ranges::find(places, item) != places.end(); }

bool fits(std::string_view item, const Token& token) {
  const bool numeric = token.kind == Token::Kind::word && (is_digit(token.raw[0]) || token.raw[0] == '-');
  const bool slashed = token.raw.contains('/');
  if (!is_place(item)) return token.is(item);
  if (item == "NUMBER" || item == "TIME") return numeric;
  if (item == "TEXT") return token.kind == Token::Kind::text;
  if (item == "FIELDS") return token.kind == Token::Kind::fields;
  return token.kind != Token::Kind::fields && slashed == (item == "SHARD");
}

Progress follow(std::span<const Row> rows, std::size_t row, std::span<const Token> tokens) {
  Progress out{.row = row};
  const auto items = items_of(rows[row].pattern);
  while (out.items < items.size() && out.tokens < tokens.size() && fits(items[out.items], tokens[out.tokens])) {
    ++out.tokens;
    if (!is_place(items[out.items])) ++out.words;
    if (items[out.items] == "NODES") {
      while (out.tokens < tokens.size() && fits("NODE", tokens[out.tokens])) ++out.tokens;
    }
    ++out.items;
  }
  out.whole = out.items == items.size() && out.tokens == tokens.size();
  return out;
}

std::string format_name(std::string_view name) {
  const bool word = std::ranges::find(words_between, name) != words_between.end();
  return word ? json_quoted(name) : std::string(name);
}

}  // namespace evenkeel::sim::detail
