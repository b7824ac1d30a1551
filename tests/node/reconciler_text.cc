#include "tests/node/reconciler_text.h"

#include <sstream>

#include "evenkeel/base/overloaded.h"
#include "evenkeel/base/text.h"

namespace evenkeel::node {
namespace {

std::uint64_t number(std::string_view text) { return parse_unsigned(text).value(); }

std::string text_of(const std::vector<Peer>& peers) {
  std::vector<std::string> out;
  for (const Peer& peer : peers) out.push_back(fmt::format("{}:{}", peer.node, peer.state));
  return fmt::format("{}", fmt::join(out, ","));
}

std::string text_of(const Start& start, Instant now) {
  const Transition& t = start.transition;
  std::string out = fmt::format("start #{} {} {} -> {}", start.run, format(t.shard), t.from, t.to);
  if (t.final != t.to) out += fmt::format(" -> {}", t.final);
  out += fmt::format(" v={} {}", node::text_of(t.version), name(t.reason));
  if (t.held_before) out += fmt::format(" held={}", *t.held_before);
  if (!t.peers.empty()) out += fmt::format(" peers={}", text_of(t.peers));
  if (t.copy_from) out += fmt::format(" copy={}", *t.copy_from);
  if (!t.metadata.empty()) out += fmt::format(" metadata={}", t.metadata);
  if (t.deadline != Instant::max()) out += fmt::format(" within {}", format(t.deadline - now));
  constexpr const char* turns[] = {"\n", " soon\n", " urgent\n"};
  return out + turns[static_cast<int>(start.turn)];
}

std::string text_of(const Effect& effect, Instant now) {
  return std::visit(Overloaded{[&](const Start& start) { return text_of(start, now); },
                               [](const Stop& stop) { return fmt::format("stop #{} {}\n", stop.run, format(stop.shard)); },
                               [](const AskSeal& ask) { return fmt::format("seal {} at {}\n", format(ask.shard), ask.epoch); },
                               [](const Lead& lead) {
                                 if (lead.epoch == Epoch()) return fmt::format("lead {} no more\n", format(lead.shard));
                                 return fmt::format("lead {} at {}{}\n", format(lead.shard), lead.epoch,
                                                    lead.fencing == Fencing::epoch ? " fenced by epoch" : "");
                               },
                               [](const Stuck& stuck) { return fmt::format("stuck {}\n", stuck.what); }},
                    effect);
}

std::string text_of(const Report& report) {
  std::string out = fmt::format("report {}/{} of {} obeyed={}.{}{}\n", report.workload, report.bucket, report.incarnation,
                                report.obeyed.controller, report.obeyed.count, report.replicas.empty() ? " empty" : "");
  for (const ReplicaReport& replica : report.replicas) {
    out += fmt::format("  {} {} v={}", replica.shard, replica.state, node::text_of(replica.version));
    if (replica.last > Epoch()) out += fmt::format(" last={}", replica.last);
    if (replica.progress > 0) out += fmt::format(" progress={}", replica.progress);
    if (replica.sealed)
      out += fmt::format(" sealed={} last={} at {}", replica.sealed->against, replica.sealed->last, replica.sealed->progress);
    if (replica.tries > 0) out += fmt::format(" tries={}", replica.tries);
    if (!replica.error.empty()) out += fmt::format(" error={}", quote(replica.error));
    out += replica.gave_up ? " gave up\n" : "\n";
  }
  return out;
}

}  // namespace

std::string text_of(const Version& version) { return fmt::format("{}.{}", version.epoch, version.change); }

std::string text_of(const Output& output, Instant now) {
  std::string out;
  for (const Effect& effect : output.effects) out += text_of(effect, now);
  for (const Report& report : output.reports) out += text_of(report);
  if (output.wake != Instant::max()) out += fmt::format("wake +{}\n", format(output.wake - now));
  return out;
}

Version version_of(std::string_view text) {
  const auto dot = text.find('.');
  return {Epoch(number(text.substr(0, dot))), Change(number(text.substr(dot + 1)))};
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string option(const std::vector<std::string>& words, std::string_view name, std::string unless) {
  for (const std::string& word : words) {
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=') return word.substr(name.size() + 1);
  }
  return unless;
}

ReplicaTarget entry_of(const std::string& line) {
  const auto words = words_of(line);
  ReplicaTarget entry{.shard = ShardIndex(static_cast<std::uint32_t>(number(words.at(0)))), .state = StateId(words.at(1))};
  entry.version = version_of(option(words, "v", "1.0"));
  const std::string reason = option(words, "reason", "first");
  for (const Reason each :
       {Reason::first, Reason::restart, Reason::move, Reason::failover, Reason::balance, Reason::operator_asked})
    if (name(each) == reason) entry.reason = each;
  if (const auto held = option(words, "held"); !held.empty()) entry.held_before = Epoch(number(held));
  if (const auto copy = option(words, "copy"); !copy.empty()) entry.copy_from = NodeId(copy);
  if (const auto seal = option(words, "seal"); !seal.empty()) entry.seal = Epoch(number(seal));
  std::istringstream peers(option(words, "peers"));
  for (std::string peer; std::getline(peers, peer, ',');) {
    const auto colon = peer.find(':');
    entry.peers.push_back({NodeId(peer.substr(0, colon)), StateId(peer.substr(colon + 1))});
  }
  return entry;
}

}  // namespace evenkeel::node
