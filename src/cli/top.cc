// evenkeel top: a cluster, looked at again and again.

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "evenkeel/cli/health.h"
#include "evenkeel/serve/client.h"

namespace evenkeel::cli {
namespace {

using control::NodeSurvey;
using control::WorkloadSurvey;

struct TopOptions {
  ClusterReach reach;
  Duration interval = 1s;
  std::uint64_t count = 0;  // 0: until interrupted; once, if nobody looks at it
};

constexpr std::size_t events_off_terminal = 10;

using Lines = std::vector<std::string>;

struct Picture {
  const control::Snapshot& seen;
  const ControllerSeen& controller;
  Health health;
  std::vector<NodeSurvey> nodes;  // by zone
  std::vector<WorkloadSurvey> workloads;
  Lines events;  // the latest last
};

Lines lines_of(const Table& table) {
  Lines lines;
  const std::string text = table.format();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// As many of them as there is room for, and how many more there are.
Lines fitted(Lines lines, std::size_t room, std::string_view what) {
  if (lines.size() <= room) return lines;
  const std::size_t shown = room - std::min<std::size_t>(room, 1), more = lines.size() - shown;
  lines.resize(shown);
  if (room > 0) lines.push_back(fmt::format("  and {} more {}", more, what));
  return lines;
}

bool is_ordinary(const NodeSurvey& node) {
  return node.state == NodeSurvey::State::there && node.operation == Operation::none && node.errors == 0;
}

Lines node_lines(std::span<const NodeSurvey> nodes) {
  Table table({"ZONE", "NODE", "STATE", "REPLICAS", "LEADERS", "ERRORS", "OPERATION"});
  for (const NodeSurvey& node : nodes) {
    table.add({node.zone, node.node.str(), state_of(node), fmt::format("{}", node.replicas), fmt::format("{}", node.leaders),
               fmt::format("{}", node.errors), operation_of(node)});
  }
  return lines_of(table);
}

Lines zone_lines(const std::vector<NodeSurvey>& nodes) {
  struct Zone {
    std::uint32_t nodes = 0, there = 0, replicas = 0, leaders = 0, errors = 0;
  };
  std::map<std::string, Zone> zones;
  for (const NodeSurvey& node : nodes) {
    Zone& zone = zones[node.zone];
    ++zone.nodes;
    zone.there += node.state == NodeSurvey::State::there ? 1 : 0;
    zone.replicas += node.replicas;
    zone.leaders += node.leaders;
    zone.errors += node.errors;
  }
  Table table({"ZONE", "NODES", "THERE", "REPLICAS", "LEADERS", "ERRORS"});
  const auto text = [](std::uint32_t number) { return fmt::format("{}", number); };
  for (const auto& [name, zone] : zones)
    table.add({name, text(zone.nodes), text(zone.there), text(zone.replicas), text(zone.leaders), text(zone.errors)});
  return lines_of(table);
}

// Every node, if there is room for all. Else zones, and of their nodes those that are not as usual.
Lines nodes_in(const std::vector<NodeSurvey>& nodes, std::size_t room) {
  Lines all = node_lines(nodes);
  if (all.size() <= room) return all;
  std::vector<NodeSurvey> unusual;
  std::ranges::copy_if(nodes, std::back_inserter(unusual), [](const NodeSurvey& node) { return !is_ordinary(node); });
  Lines zones = zone_lines(nodes);
  const std::size_t for_zones = unusual.empty() ? room : std::min(zones.size(), std::max<std::size_t>(room / 2, 2));
  Lines out = fitted(std::move(zones), for_zones, "zones");
  if (unusual.empty() || room < out.size() + 3) return out;
  out.emplace_back();
  std::ranges::copy(fitted(node_lines(unusual), room - out.size(), "nodes"), std::back_inserter(out));
  return out;
}

// Those with something to say first, where there is no room for all.
Lines workloads_in(std::vector<WorkloadSurvey> workloads, std::size_t room) {
  if (workloads.size() + 1 > room)
    std::ranges::stable_sort(workloads, {}, [](const WorkloadSurvey& one) { return state_of(one) == "well"; });
  return fitted(lines_of(workload_table(workloads)), room, "workloads");
}

Lines head_of(const Picture& picture, std::size_t reasons_max) {
  const Sums& sums = picture.health.sums;
  Lines head{fmt::format("{}: {}", picture.seen.cluster, picture.health.word)};
  std::ranges::copy(fitted(picture.health.reasons, reasons_max, "reasons"), std::back_inserter(head));
  for (std::size_t at = 1; at < head.size(); ++at) head[at] = "  " + head[at];
  head.push_back(fmt::format("{} of {} nodes; {} shards, {} without a leader, {} incomplete; controller {}", sums.there,
                             sums.nodes, sums.shards, sums.leaderless, sums.incomplete, controller_text(picture.controller)));
  return head;
}

// In so many rows: the head first, then workloads and nodes, and events in what is left.
Lines frame_of(const Picture& picture, std::size_t rows) {
  Lines out = head_of(picture, std::clamp<std::size_t>(rows / 6, 1, 10));
  const auto left = [&] { return rows - std::min(rows, out.size()); };
  const auto add = [&](const Lines& lines) {
    if (left() < 3 || lines.empty()) return;
    out.emplace_back();
    std::ranges::copy(lines, std::back_inserter(out));
  };
  const std::size_t tables = left() - std::min<std::size_t>(left(), 2);  // without the blank lines before them
  const std::size_t for_workloads = std::min(picture.workloads.size() + 1, std::max<std::size_t>(tables / 3, 2));
  const Lines workloads = workloads_in(picture.workloads, for_workloads);
  constexpr std::size_t events_least = 5;  // with their heading and a blank line; the nodes leave them that
  const std::size_t beside = workloads.size() + (picture.events.empty() ? 0 : events_least);
  add(nodes_in(picture.nodes, std::max<std::size_t>(tables - std::min(tables, beside), 2)));
  add(workloads);
  if (!picture.events.empty() && left() >= 3) {
    const std::size_t shown = std::min(picture.events.size(), left() - 2);
    Lines events{"EVENTS"};
    std::copy(picture.events.end() - static_cast<std::ptrdiff_t>(shown), picture.events.end(), std::back_inserter(events));
    add(events);
  }
  out.resize(std::min(out.size(), rows));
  return out;
}

// What the active controller has told lately, as far as it can be asked from here; of shards only what is not their everyday.
Lines events_of(const ControllerSeen& controller, const ClusterId& cluster, std::size_t most) {
  if (!controller.active || controller.address.http.empty()) return {};
  const auto told = serve::ask_events(controller.address.http, {.most = 1000, .within = 1s});
  if (!told || told->cluster != cluster.str() || told->controller != controller.address.name) return {};
  Lines lines;
  for (const serve::ToldEvent& event : told->events) {
    if (event.kind == "leader" || event.kind == "seal" || event.kind == "replica") continue;
    const std::string time = event.time.size() >= 19 ? event.time.substr(11, 8) : event.time;
    const std::string& of = !event.shard.empty() ? event.shard : event.node;
    lines.push_back(fmt::format("{} {}{}{}", time, of, of.empty() ? "" : " ", event.text));
  }
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return lines;
}

Result<Picture> look(OpenCluster& cluster, std::size_t events_max, control::Snapshot& seen, ControllerSeen& controller) {
  auto looked = cluster.look_existing(all_kinds());
  if (!looked) return fail(looked.error());
  const auto who = cluster.look_at_controller();
  if (!who) return fail(who.error());
  seen = *std::move(looked);
  controller = *who;
  Picture picture{.seen = seen,
                  .controller = controller,
                  .health = health_of(seen, controller),
                  .nodes = control::survey_nodes(seen),
                  .workloads = control::survey_workloads(seen),
                  .events = events_of(controller, cluster.name(), events_max)};
  std::erase_if(picture.nodes, [](const NodeSurvey& node) { return node.state == NodeSurvey::State::removed; });
  std::ranges::stable_sort(picture.nodes, {}, &NodeSurvey::zone);
  return picture;
}

// In place, line over line, so that nothing flickers; elsewhere as it is. The last row stays free for the cursor.
std::string drawn(const Picture& picture, const std::optional<Outside::Screen>& screen, bool colour) {
  constexpr std::size_t without_end = 1 << 20;
  const std::string& word = picture.health.word;
  Lines lines = frame_of(picture, screen ? screen->rows - std::min<std::size_t>(screen->rows, 1) : without_end);
  std::string out = screen ? "\033[H" : "";
  for (std::string& line : lines) {
    if (screen) line = cut(line, screen->columns);
    if (colour && &line == &lines.front() && line.ends_with(word)) {
      const int number = picture.health.well() ? 32 : picture.health.urgent ? 31 : 33;  // green, red, yellow
      line = line.substr(0, line.size() - word.size()) + fmt::format("\033[{}m{}\033[0m", number, word);
    }
    out += line + (screen ? "\033[K\n" : "\n");
  }
  return out + (screen ? "\033[J" : "");
}

void top(Session& session, const TopOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  Interrupt interrupt(*outside);  // before the first thread
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const std::uint64_t count = options.count > 0 || outside->terminal() ? options.count : 1;
  bool away = false;
  for (std::uint64_t shown = 0;;) {
    control::Snapshot seen;
    ControllerSeen controller;
    const auto screen = outside->screen(Outside::Stream::out);
    const auto picture = look(*cluster, screen ? screen->rows : events_off_terminal, seen, controller);
    const bool waits = !picture && shown > 0 && picture.error().code == Code::unavailable;
    if (!picture && !waits) return cluster->failed(picture.error());
    if (waits && !std::exchange(away, true))
      session.say(fmt::format("{}; it is asked again until it answers", picture.error().message));
    if (picture) {
      away = false;
      if (shown > 0 && !outside->terminal()) session.print("\n");
      session.print(drawn(*picture, screen, session.io.out_colour));
      ++shown;
    }
    if (session.status != Exit::done || shown == count) return;
    if (interrupt.wait(options.interval) == Outside::Signal::stop) return;
  }
}

}  // namespace

void add_top(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("top", "Watch a cluster: its health, nodes, workloads and events");
  command->footer(
      "Redrawn in place on a terminal, and cut to its size, until interrupted; elsewhere one block, or --count of them.\n"
      "What a cluster's health means and what to do is in docs/conditions.md. Events are those that the active controller still\n"
      "knows, if it can be asked from this host.\n\n"
      "Examples:\n"
      "  evenkeel top\n"
      "  evenkeel top --cluster pages --interval 10s --count 6 > minute.txt");
  auto options = std::make_shared<TopOptions>();
  add_duration(*command, "--interval", options->interval, "How long between two looks; 1s");
  add_count(*command, "--count", options->count, "How many looks; else until interrupted");
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { top(session, *options); });
}

}  // namespace evenkeel::cli
