#include "evenkeel/model/detail/cluster_reader.h"

#include <algorithm>
#include <array>
#include <set>

#include "evenkeel/base/text.h"
#include "evenkeel/model/cluster_file.h"

namespace evenkeel {

Parsed<Cluster> parse_cluster(std::string_view text, std::string file, std::optional<Syntax> syntax) {
  auto document = Document::parse(text, std::move(file), syntax);
  if (!document) return tl::unexpected(std::move(document.error()));
  return detail::ClusterReader(*document).read();
}

namespace detail {

Parsed<Cluster> ClusterReader::read() {
  FieldReader fields(document_.root(), problems_, "a cluster file");
  cluster_.name = ClusterId("default");
  fields.read("cluster", cluster_.name, [&](Value v) { return read_id<ClusterId>(v); });
  // Nodes and workloads before what refers to them, whatever their order in the text.
  const std::pair<std::string_view, void (ClusterReader::*)(Value)> sections[] = {
      {"settings", &ClusterReader::read_settings},   {"state_models", &ClusterReader::read_models},
      {"nodes", &ClusterReader::read_nodes},         {"workloads", &ClusterReader::read_workloads},
      {"placement", &ClusterReader::read_placement}, {"cores", &ClusterReader::read_cores},
      {"moving", &ClusterReader::read_moving},       {"recent", &ClusterReader::read_recent},
  };
  for (const auto& [name, read_section] : sections) {
    if (name == "workloads") index_nodes();
    if (const auto value = fields.take(name)) (this->*read_section)(*value);
  }
  fields.finish();
  if (fields.is_map()) add_checked();
  if (!problems_.empty()) return tl::unexpected(std::move(problems_));
  return std::move(cluster_);
}

void ClusterReader::read_settings(Value value) {
  const auto before = trouble();
  FieldReader fields(value, problems_, "settings");
  Settings& out = cluster_.settings;
  const auto ratio = [&](Value v) { return read_ratio(v, problems_); };
  fields.count("replicas_per_core", out.replicas_per_core);
  fields.count("core0_reserve", out.core0_reserve);
  fields.read("soft_limit", out.soft_limit, ratio);
  fields.read("hard_limit", out.hard_limit, ratio);
  fields.read("tolerance", out.tolerance, ratio);
  fields.count("moves_max", out.moves_max);
  fields.count("moves_per_node_max", out.moves_per_node_max);
  fields.read("levels", out.levels, [&](Value v) {
    return read_list<std::string>(v, "names of levels", [&](Value item) { return read_text(item, problems_); });
  });
  fields.read("spread", out.spread, [&](Value v) { return read_spread(v); });
  fields.finish();
  mark_if_spoilt(before, "settings", "");
}

std::optional<Spread> ClusterReader::read_spread(Value value) {
  FieldReader fields(value, problems_, "a spread");
  Spread out;
  fields.text("level", out.level);
  fields.flag("hard", out.hard);
  fields.finish();
  return out;
}

void ClusterReader::read_models(Value value) {
  const auto before = trouble();
  std::uint32_t at = 0;
  if (expect_list(value, problems_, "state models")) {
    for (const Value item : value.items()) read_model(item, at++);
  }
  mark_if_spoilt(before, "state_models", "");
}

void ClusterReader::read_model(Value value, std::uint32_t at) {
  const auto before = trouble();
  const auto state_id = [&](Value v) { return read_id<StateId>(v); };
  const auto read_count_of = [&](Value v) -> std::optional<StateCount> {
    if (v.kind() == Value::Kind::plain && parse_unsigned(v.text())) {
      return read_count(v, problems_, {.least = 1}).transform([](auto n) {
        return StateCount{StateCount::Kind::number, static_cast<std::uint32_t>(n)};
      });
    }
    static constexpr std::array<std::string_view, 2> words = {"replicas", "nodes"};
    return read_word(v, problems_, "a number, replicas or nodes", words).transform([](auto i) {
      return StateCount{i == 0 ? StateCount::Kind::replicas : StateCount::Kind::nodes, 0};
    });
  };
  const auto read_state = [&](Value v) -> std::optional<State> {
    FieldReader fields(v, problems_, "a state");
    State state;
    fields.required("name", state.name, state_id);
    fields.read("count", state.count, read_count_of);
    fields.flag("data", state.data);
    fields.finish();
    return state;
  };
  const auto read_edge = [&](Value v) -> std::optional<StateEdge> {
    if (v.kind() != Value::Kind::list || v.size() != 2) {
      problems_.add(v.place(), fmt::format("expected a transition, found {}", v.describe()), "write it as [from, to]");
      return std::nullopt;
    }
    const auto ends = read_list<StateId>(v, "two states", state_id);
    if (!ends || ends->size() != 2) return std::nullopt;
    return StateEdge{(*ends)[0], (*ends)[1]};
  };
  FieldReader fields(value, problems_, "a state model");
  StateModelSpec spec;
  fields.required("name", spec.name, [&](Value v) { return read_id<StateModelId>(v); });
  fields.required("states", spec.states, [&](Value v) { return read_list<State>(v, "states", read_state); });
  fields.required("initial", spec.initial, state_id);
  fields.required("transitions", spec.transitions, [&](Value v) { return read_list<StateEdge>(v, "transitions", read_edge); });
  fields.finish();
  if (trouble() != before) return;
  auto model = StateModel::make(std::move(spec));
  if (!model) {
    for (const std::string& wrong : model.error()) problems_.add(value.place(), "this state model is not sound: " + wrong);
    return;
  }
  cluster_.state_models.push_back(*std::move(model));
  model_entries_.push_back(at);
}

std::optional<Amounts> ClusterReader::read_amounts(Value value) {
  if (!expect_map(value, problems_, "resources and quantities")) return std::nullopt;
  Amounts out;
  for (const auto [key, amount] : value.pairs()) {
    if (const auto quantity = read_quantity(amount, problems_)) out.emplace(ResourceId(std::string(key.text())), *quantity);
  }
  return out;
}

std::optional<Labels> ClusterReader::read_labels(Value value) {
  if (!expect_map(value, problems_, "labels")) return std::nullopt;
  Labels out;
  for (const auto [key, label] : value.pairs()) {
    if (auto text = read_text(label, problems_)) out.emplace(key.text(), *std::move(text));
  }
  return out;
}

// One problem a place: a range of nodes has each of its problems once for every node.
void ClusterReader::add_checked() {
  std::set<Place> said;
  for (Problem& problem : check(cluster_, 1000)) {
    if (spoilt(problem)) continue;
    const Place place = place_of(problem);
    if (said.insert(place).second) problems_.add(place, std::move(problem.message), std::move(problem.hint));
  }
}

void ClusterReader::mark_if_spoilt(std::size_t before, std::string_view section, std::string_view what) {
  if (trouble() != before) spoilt_.insert(fmt::format("{}/{}", section, what));
}

// A problem that may only follow from one already reported is not worth saying. What each rule of check() looks at decides.
bool ClusterReader::spoilt(const Problem& problem) const {
  const auto& path = problem.path;
  const auto marked = [&](std::string_view section, std::string_view what) {
    return spoilt_.contains(fmt::format("{}/{}", section, what));
  };
  if (path[0] == "settings") return marked("settings", "");
  if (path.size() < 2) return false;
  const auto placed_badly = [&](const std::string& workload) {
    return !workloads_sound_ || marked("workloads", workload) || marked("placement", workload) || marked("placement", "");
  };
  const auto index = parse_unsigned(path[1]).value_or(0);
  if (path[0] == "nodes")
    return path.size() == 2 && (marked("nodes", std::to_string(node_entries_[index])) || marked("settings", ""));
  if (path[0] == "placement") return path.size() == 2 ? !workloads_sound_ : placed_badly(path[1]);
  if (path[0] == "cores") return placed_badly(path[1]) || marked("cores", path[1]) || marked("nodes", "");
  if (path[0] == "moving") return marked("moving", path[1]) || placed_badly(cluster_.moving[index].workload.str());
  if (path[0] == "recent") return marked("recent", path[1]) || placed_badly(cluster_.recent[index].workload.str());
  if (path[0] != "workloads" || path.size() < 3) return false;
  const std::string& field = path[2];
  const bool own = marked("workloads", cluster_.workloads[index].name.str());
  if (field == "name" || field == "pinned" || field == "shard_loads") return own;
  if (field == "state_model") return marked("state_models", "");  // it may name an unsound one
  if (field == "spread") return marked("settings", "");
  return (field == "apart_from" || field == "close_to") && !workloads_sound_;
}

Place ClusterReader::place_of(const Problem& problem) const {
  Value at = document_.root();
  Place place = at.place();
  for (std::size_t depth = 0; depth < problem.path.size(); ++depth) {
    std::string part = problem.path[depth];
    if (depth == 1 && problem.path[0] == "nodes") part = std::to_string(node_entries_[*parse_unsigned(part)]);
    if (depth == 1 && problem.path[0] == "state_models") part = std::to_string(model_entries_[*parse_unsigned(part)]);
    const bool last = depth + 1 == problem.path.size();
    bool found = false;
    auto left = parse_unsigned(part).value_or(0);
    for (const Value item : at.items()) {
      if (left-- > 0) continue;
      at = item, place = item.place(), found = true;
      break;
    }
    for (const auto [key, value] : at.pairs()) {
      if (found || key.text() != part) continue;
      place = last && problem.at_key ? key.place() : value.place();
      at = value, found = true;
      break;
    }
    if (!found) break;  // a field that was left out: its owner's place is the nearest
  }
  return place;
}

}  // namespace detail
}  // namespace evenkeel
