#include "evenkeel/sim/edit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/model/cluster_file.h"

namespace evenkeel::sim {
namespace {

void write(Writer& out, Value value) {
  switch (value.kind()) {
    case Value::Kind::null:
      out.null();
      return;
    case Value::Kind::plain:
      out.number(value.text());
      return;
    case Value::Kind::text:
      out.text(value.text());
      return;
    case Value::Kind::list:
      out.begin_list(Writer::Flow::line);
      for (const Value item : value.items()) write(out, item);
      out.end_list();
      return;
    case Value::Kind::map:
      out.begin_map(Writer::Flow::line);
      for (const auto [key, item] : value.pairs()) write(out.key(key.text()), item);
      out.end_map();
  }
}

bool has(Value map, std::string_view name) {
  for (const auto [key, value] : map.pairs()) {
    if (key.text() == name) return true;
  }
  return false;
}

// The fields of both; those of `over` win.
void write_merged(Writer& out, std::optional<Value> base, Value over) {
  out.begin_map(Writer::Flow::line);
  if (base) {
    for (const auto [key, value] : base->pairs()) {
      if (!has(over, key.text())) write(out.key(key.text()), value);
    }
  }
  for (const auto [key, value] : over.pairs()) write(out.key(key.text()), value);
  out.end_map();
}

std::string_view name_of(Value item) {
  for (const auto [key, value] : item.pairs()) {
    if (key.text() == "name") return value.text();
  }
  return "";
}

// Where the fields go: over the settings, over one item of a list, or behind a list's items.
struct Goal {
  std::string_view section;
  std::optional<std::string_view> item = {};
};
std::optional<Goal> goal_of(const Action& action) {
  switch (action.kind) {
    case Action::Kind::settings:
      return Goal{"settings"};
    case Action::Kind::create:
      return Goal{"workloads"};
    case Action::Kind::change:
      return Goal{"workloads", action.words.workload.str()};
    case Action::Kind::add:
      return Goal{"nodes"};
    default:
      return std::nullopt;
  }
}

void write_section(Writer& out, const Goal& goal, std::optional<Value> base, Value over) {
  if (goal.section == "settings") return write_merged(out, base, over);
  out.begin_list();
  if (base) {
    for (const Value item : base->items()) {
      if (goal.item && name_of(item) == *goal.item) {
        write_merged(out, item, over);
      } else {
        write(out, item);
      }
    }
  }
  if (!goal.item) write(out, over);
  out.end_list();
}

// The problems without their places, which are those of a text that nobody wrote.
Error without_places(const Diagnostics& problems) {
  std::vector<std::string> texts;
  for (const Diagnostic& problem : problems.sorted()) {
    std::string text = problem.hint.empty() ? problem.message : fmt::format("{} ({})", problem.message, problem.hint);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return {Code::invalid, fmt::format("{}", fmt::join(texts, "; "))};
}

Result<Document> parse_fields(std::string_view fields) {
  auto document = Document::parse(fields, "fields", Syntax::yaml);
  if (!document) return fail(without_places(document.error()));
  if (!document->problems().empty()) return fail(without_places(document->problems()));
  if (document->root().kind() != Value::Kind::map) return fail(Code::invalid, "expected fields in braces, {{replicas: 2}}");
  return *std::move(document);
}

Cluster without(Cluster spec, const WorkloadId& workload) {
  std::erase_if(spec.workloads, [&](const Workload& each) { return each.name == workload; });
  for (Workload& each : spec.workloads) {
    std::erase(each.apart_from, workload);
    std::erase(each.close_to, workload);
  }
  return spec;
}

Cluster with_twice_the_shards(Cluster spec, const WorkloadId& workload) {
  for (Workload& each : spec.workloads) {
    if (each.name == workload) each.shards *= 2;
  }
  return spec;
}

}  // namespace

Cluster spec_of(Cluster cluster) {
  return {.name = std::move(cluster.name),
          .settings = std::move(cluster.settings),
          .state_models = std::move(cluster.state_models),
          .nodes = std::move(cluster.nodes),
          .workloads = std::move(cluster.workloads)};
}

Result<Cluster> edit(const Cluster& spec, const Action& action) {
  if (action.kind == Action::Kind::erase) return without(spec, action.words.workload);
  if (action.kind == Action::Kind::split_shards) return with_twice_the_shards(spec, action.words.workload);
  const auto goal = goal_of(action);
  if (!goal) return spec;
  const auto fields = parse_fields(action.words.text);
  if (!fields) return fail(fields.error());
  if (goal->item && has(fields->root(), "name")) return fail(Code::invalid, "a workload's name does not change");
  const auto base = Document::parse(format_cluster(spec, Syntax::yaml), "spec", Syntax::yaml);
  ensure(base.has_value(), "a cluster that was written can be read");
  Writer out(Syntax::yaml);
  out.begin_map();
  bool written = false;
  for (const auto [key, value] : base->root().pairs()) {
    out.key(key.text());
    if (key.text() == goal->section) {
      write_section(out, *goal, value, fields->root());
      written = true;
    } else {
      write(out, value);
    }
  }
  if (!written) write_section(out.key(goal->section), *goal, std::nullopt, fields->root());
  out.end_map();
  auto after = parse_cluster(std::move(out).take(), "fields", Syntax::yaml);
  if (!after) return fail(without_places(after.error()));
  return *std::move(after);
}

Result<Amounts> parse_load(std::string_view fields) {
  const auto map = parse_fields(fields);
  if (!map) return fail(map.error());
  Writer out(Syntax::yaml);
  out.begin_map().key("nodes").begin_list().begin_map().key("name").text("n").key("capacity");
  write(out, map->root());
  out.end_map().end_list().end_map();
  auto read = parse_cluster(std::move(out).take(), "fields", Syntax::yaml);
  if (!read) return fail(without_places(read.error()));
  return std::move(read->nodes[0].capacity);
}

}  // namespace evenkeel::sim
