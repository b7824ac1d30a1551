#include "evenkeel/agent/agent.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "evenkeel/base/address.h"
#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"

namespace evenkeel::agent {
namespace {

constexpr std::size_t lines_told_max = 3;
constexpr std::size_t told_bytes_max = 400;
constexpr CountRange any_count{.most = std::numeric_limits<std::uint64_t>::max()};
constexpr std::string_view may_lead_prefix = "/may_lead/";

// A question while it is written: each field as JSON, and most of them as a variable too.
class Asking {
 public:
  Asking(const Who& who, std::string_view kind, std::string about) {
    question_.about = std::move(about);
    out_.begin_map(Writer::Flow::line).key("format").number(1);
    text("kind", "KIND", kind);
    text("node", "NODE", who.node.str());
    text("cluster", "CLUSTER", who.cluster.str());
    variable("STORE", who.store);
    variable("DATA", who.data);
    variable("AGENT", who.agent);
  }

  void shard(const ShardId& shard) {
    text("shard", "SHARD", format(shard));
    variable("WORKLOAD", shard.workload.str());
  }
  void text(std::string_view key, std::string_view name, std::string_view value) {
    out_.key(key).text(value);
    variable(name, value);
  }
  void number(std::string_view key, std::string_view name, std::uint64_t value) {
    out_.key(key).number(value);
    variable(name, fmt::format("{}", value));
  }
  // An absent one is null, and an empty variable: one of an outer agent must not pass for ours.
  void number(std::string_view key, std::string_view name, std::optional<std::uint64_t> value) {
    if (value) return number(key, name, *value);
    out_.key(key).null();
    variable(name, "");
  }
  void optional_text(std::string_view key, std::string_view name, const std::optional<NodeId>& value) {
    if (value) return text(key, name, value->str());
    out_.key(key).null();
    variable(name, "");
  }
  void peers(const std::vector<Peer>& peers) {
    std::vector<std::string> words;
    out_.key("peers").begin_list(Writer::Flow::line);
    for (const Peer& peer : peers) {
      out_.begin_map(Writer::Flow::line).key("node").text(peer.node.str()).key("state").text(peer.state.str()).end_map();
      words.push_back(fmt::format("{}={}", peer.node, peer.state));
    }
    out_.end_list();
    variable("PEERS", fmt::format("{}", fmt::join(words, " ")));
  }
  Question finish(std::optional<Duration> left) && {
    std::optional<std::uint64_t> milliseconds;
    if (left)
      milliseconds = static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(*left).count()));
    number("deadline_ms", "DEADLINE_MS", milliseconds);
    out_.end_map();
    question_.text = std::move(out_).take();
    return std::move(question_);
  }

 private:
  void variable(std::string_view name, std::string_view value) {
    question_.variables.emplace_back(fmt::format("EVENKEEL_{}", name), value);
  }

  Question question_;
  Writer out_{Syntax::json};
};

// One line without control characters, nor the sequences by which terminals are coloured.
std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte == 0x1b && i + 1 < line.size() && line[i + 1] == '[') {
      for (i += 2; i < line.size() && (line[i] < '@' || line[i] > '~');) ++i;
      continue;
    }
    text += byte < ' ' || byte == 0x7f ? ' ' : line[i];
  }
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// Without the end of a character at its front, of which the beginning was cut off.
std::string_view from_a_character(std::string_view text) {
  constexpr std::size_t continuations_max = 3;
  std::size_t skip = 0;
  while (skip < continuations_max && skip < text.size() && (static_cast<unsigned char>(text[skip]) & 0xC0) == 0x80) ++skip;
  return text.substr(skip);
}

// What it said before it came to this end, if anything.
std::string with_words(std::string end, const Tail& words) {
  if (const std::string said = last_words(words.text()); !said.empty()) end += ": " + said;
  if (words.cut() > 0) end += fmt::format(" ({} bytes before that were cut)", words.cut());
  return end;
}

// The first of what is wrong, in one line.
Error first_of(const Diagnostics& problems) {
  const std::vector<Diagnostic> all = problems.sorted();
  ensure(!all.empty(), "what is wrong has a first");
  const Diagnostic& first = all.front();
  return {Code::invalid, fmt::format("{}: {}{}{}", problems.file(), first.message, first.hint.empty() ? "" : "; ", first.hint)};
}

// Reads an answer by `read(Value, Diagnostics&)`.
template <class T, class Read>
Result<T> parse_answer(std::string_view text, const Read& read) {
  const auto document = Document::parse(text, "its answer", Syntax::json);
  if (!document) return fail(first_of(document.error()));
  Diagnostics problems = document->problems();
  T value = read(document->root(), problems);
  if (!problems.empty()) return fail(first_of(problems));
  return value;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

void read_epoch(FieldReader& fields, std::string_view name, Epoch& out) {
  std::uint64_t number = out.value();
  fields.count(name, number, any_count);
  out = Epoch(number);
}

std::optional<Amounts> read_load(Value value, Diagnostics& problems) {
  if (!expect_map(value, problems, "loads by resource")) return std::nullopt;
  Amounts load;
  for (const auto [key, amount] : value.pairs()) {
    if (const auto why = why_not_a_name(key.text())) problems.add(key.place(), *why);
    if (const auto quantity = read_quantity(amount, problems)) load[ResourceId(std::string(key.text()))] = *quantity;
  }
  return load;
}

std::optional<ShardId> read_shard(Value value, Diagnostics& problems) {
  const auto text = read_text(value, problems);
  if (!text) return std::nullopt;
  auto shard = parse_shard_id(*text);
  if (shard) return *std::move(shard);
  problems.add(value.place(), shard.error().message);
  return std::nullopt;
}

node::Held read_held(Value value, Diagnostics& problems) {
  node::Held held;
  FieldReader fields(value, problems, "a shard that is held");
  fields.required("shard", held.shard, [&](Value v) { return read_shard(v, problems); });
  std::uint64_t epoch = 0, change = 0;
  fields.required("epoch", epoch, [&](Value v) { return read_count(v, problems, any_count); });
  fields.count("change", change, any_count);
  held.version = {Epoch(epoch), Change(change)};
  read_epoch(fields, "last", held.last);
  fields.count("progress", held.progress, any_count);
  read_epoch(fields, "refuses", held.refuses);
  fields.finish();
  return held;
}

}  // namespace

Question ask_transition(const Who& who, const node::Transition& t, std::optional<Duration> left) {
  Asking asking(who, "transition", fmt::format("{} from {} to {}", format(t.shard), t.from, t.to));
  asking.shard(t.shard);
  asking.text("from", "FROM", t.from.str());
  asking.text("to", "TO", t.to.str());
  asking.text("final", "FINAL", t.final.str());
  asking.number("epoch", "EPOCH", t.version.epoch.value());
  asking.number("change", "CHANGE", t.version.change.value());
  asking.text("reason", "REASON", name(t.reason));
  asking.number("held_before", "HELD_BEFORE", t.held_before ? std::optional(t.held_before->value()) : std::nullopt);
  asking.peers(t.peers);
  asking.optional_text("copy_from", "COPY_FROM", t.copy_from);
  if (t.parent) asking.number("parent", "PARENT", t.parent->value());
  if (t.shards > 0) asking.number("shards", "SHARDS", t.shards);
  asking.text("metadata", "METADATA", t.metadata);
  return std::move(asking).finish(left);
}

Question ask_seal(const Who& who, const ShardId& shard, Epoch epoch, std::optional<Duration> left) {
  Asking asking(who, "seal", fmt::format("seal of {}", format(shard)));
  asking.shard(shard);
  asking.number("epoch", "EPOCH", epoch.value());
  return std::move(asking).finish(left);
}

Question ask_report(const Who& who, const ShardId& shard, std::optional<Duration> left) {
  Asking asking(who, "report", fmt::format("report of {}", format(shard)));
  asking.shard(shard);
  return std::move(asking).finish(left);
}

Question ask_inventory(const Who& who, std::optional<Duration> left) {
  return Asking(who, "inventory", "inventory").finish(left);
}

void Tail::add(std::string_view bytes) {
  seen_ += bytes.size();
  if (bytes.size() > words_bytes_max) bytes.remove_prefix(bytes.size() - words_bytes_max);
  kept_ += bytes;
  if (kept_.size() > words_bytes_max) kept_.erase(0, kept_.size() - words_bytes_max);
}

std::string Tail::text() const { return std::string(cut() > 0 ? from_a_character(kept_) : std::string_view(kept_)); }

std::string last_words(std::string_view text) {
  std::deque<std::string> lines;
  while (!text.empty() && lines.size() < lines_told_max) {
    const std::size_t end = text.find_last_of('\n');
    std::string line = plain(end == std::string_view::npos ? text : text.substr(end + 1));
    if (!line.empty()) lines.push_front(std::move(line));
    text = end == std::string_view::npos ? std::string_view() : text.substr(0, end);
  }
  const std::string all = fmt::format("{}", fmt::join(lines, "; "));
  if (all.size() <= told_bytes_max) return all;
  constexpr std::string_view cut_mark = "…";
  return std::string(cut_mark).append(
      from_a_character(std::string_view(all).substr(all.size() - told_bytes_max + cut_mark.size())));
}

Result<std::string> answer_of(const Ended& ended) {
  if (ended.by == Ended::By::overdue)
    return fail(Code::unavailable, "{}",
                with_words(fmt::format("overdue, ended after {}{}", format(ended.within),
                                       ended.out_cut ? ", and its answer was too large" : ""),
                           ended.words));
  if (ended.by == Ended::By::stopped) return fail(Code::cancelled, "{}", with_words("stopped", ended.words));
  if (ended.killed)
    return fail(Code::unavailable, "{}", with_words(fmt::format("killed by signal {}", ended.status), ended.words));
  if (ended.status != 0)
    return fail(Code::unavailable, "{}", with_words(fmt::format("exit status {}", ended.status), ended.words));
  if (ended.out_cut) return fail(Code::too_large, "its answer has more than {} bytes", answer_bytes_max);
  return ended.out;
}

Result<std::string> answer_of_hook(int status, std::string_view body, bool body_cut) {
  constexpr int good = 200, not_good = 300;
  if (status >= good && status < not_good) {
    if (body_cut) return fail(Code::too_large, "its answer has more than {} bytes", answer_bytes_max);
    return std::string(body);
  }
  const std::string words = last_words(body.substr(0, body.find('\n')));
  return fail(Code::unavailable, "HTTP status {}{}{}", status, words.empty() ? "" : ": ", words);
}

Result<Sealed> parse_sealed(std::string_view text, Epoch against) {
  if (is_blank(text)) return fail(Code::invalid, R"(no answer to a seal; it is {{"epoch": E, "progress": P}})");
  return parse_answer<Sealed>(text, [&](Value root, Diagnostics& problems) {
    Sealed sealed{.against = against};
    std::uint64_t last = 0;
    FieldReader fields(root, problems, "a seal");
    fields.required("epoch", last, [&](Value v) { return read_count(v, problems, any_count); });
    fields.required("progress", sealed.progress, [&](Value v) { return read_count(v, problems, any_count); });
    fields.finish();
    sealed.last = Epoch(last);
    return sealed;
  });
}

Result<node::Status> parse_status(std::string_view text) {
  if (is_blank(text)) return node::Status{};
  return parse_answer<node::Status>(text, [&](Value root, Diagnostics& problems) {
    node::Status status;
    FieldReader fields(root, problems, "a report");
    read_epoch(fields, "epoch", status.last);
    fields.count("progress", status.progress, any_count);
    std::uint64_t lag = 0;
    if (fields.count("lag", lag, any_count)) status.lag = lag;
    fields.read("load", status.load, [&](Value v) { return read_load(v, problems); });
    fields.finish();
    return status;
  });
}

Result<std::vector<node::Held>> parse_inventory(std::string_view text) {
  if (is_blank(text)) return std::vector<node::Held>{};
  return parse_answer<std::vector<node::Held>>(text, [&](Value root, Diagnostics& problems) {
    std::vector<node::Held> all;
    FieldReader fields(root, problems, "an inventory");
    if (const auto shards = fields.take_required("shards"); shards && expect_list(*shards, problems, "shards")) {
      for (const Value each : shards->items()) all.push_back(read_held(each, problems));
    }
    fields.finish();
    std::ranges::sort(all, {}, &node::Held::shard);
    if (const auto twice = std::ranges::adjacent_find(all, {}, &node::Held::shard); twice != all.end() && problems.empty())
      problems.add({}, fmt::format("{} is there twice", format(twice->shard)));
    return all;
  });
}

std::vector<node::Held> without_progress(std::vector<node::Held> held) {
  for (node::Held& each : held) each = {.shard = each.shard, .version = each.version, .last = {}, .progress = 0, .refuses = {}};
  return held;
}

Result<HookUrl> parse_hook(std::string_view text) {
  constexpr std::string_view scheme = "http://";
  if (!text.starts_with(scheme)) return fail(Code::invalid, "{} is not http://HOST:PORT/PATH", quote(text));
  const std::string_view rest = text.substr(scheme.size());
  const std::size_t slash = rest.find('/');
  const std::string_view place = rest.substr(0, slash);
  const std::string path(slash == std::string_view::npos ? "/" : rest.substr(slash));
  if (std::ranges::any_of(path, [](char c) { return c <= ' ' || c > '~' || c == '#'; }))
    return fail(Code::invalid, "{} has characters that no path of a URL has", quote(text));
  // Without a port it is the usual one.
  const bool with_port =
      place.find(':', place.rfind(']') == std::string_view::npos ? 0 : place.rfind(']')) != std::string_view::npos;
  const auto address = parse_address(with_port ? std::string(place) : fmt::format("{}:80", place));
  if (!address || address->host.empty() || address->port == 0)
    return fail(Code::invalid, "{} is not http://HOST:PORT/PATH{}{}", quote(text), address ? "" : ": ",
                address ? "" : address.error().message);
  return HookUrl{.origin = std::string(scheme) + format(*address), .path = path};
}

Result<MayLead> parse_may_lead(std::string_view path, std::string_view epoch) {
  if (!path.starts_with(may_lead_prefix)) return fail(Code::invalid, "ask for /may_lead/WORKLOAD/SHARD?epoch=E");
  auto shard = parse_shard_id(path.substr(may_lead_prefix.size()));
  if (!shard) return fail(std::move(shard).error());
  const auto number = parse_unsigned(epoch);
  if (!number) return fail(Code::invalid, "epoch: {}; ask for /may_lead/WORKLOAD/SHARD?epoch=E", number.error().message);
  return MayLead{*std::move(shard), Epoch(*number)};
}

}  // namespace evenkeel::agent
