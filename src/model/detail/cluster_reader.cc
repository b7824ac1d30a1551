#include "evenkeel/model/detail/cluster_reader.h"

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
      {"barred", &ClusterReader::read_barred},
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
  PartReader::read_settings(value, cluster_.settings);
  mark_if_spoilt(before, "settings", "");
}

void ClusterReader::read_models(Value value) {
  const auto before = trouble();
  expect_list(value, problems_, "state models");
  std::uint32_t at = 0;
  for (const Value item : value.items()) {
    if (auto model = read_model(item)) {
      cluster_.state_models.push_back(*std::move(model));
      model_entries_.push_back(at);
    }
    ++at;
  }
  mark_if_spoilt(before, "state_models", "");
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
  if (path[0] == "barred") return marked("barred", path[1]) || placed_badly(cluster_.barred[index].workload.str());
  if (path[0] != "workloads" || path.size() < 3) return false;
  const std::string& field = path[2];
  const bool own = marked("workloads", cluster_.workloads[index].name.str());
  if (field == "name" || field == "pinned" || field == "shard_loads") return own;
  if (field == "min_active" || field == "acks" || field == "fencing") return own || marked("state_models", "");
  if (field == "state_model") return marked("state_models", "");  // it may name an unsound one
  if (field == "spread") return marked("settings", "");
  return (field == "apart_from" || field == "close_to") && !workloads_sound_;
}

Place ClusterReader::place_of(const Problem& problem) const {
  auto path = problem.path;
  if (path.size() > 1 && path[0] == "nodes") path[1] = std::to_string(node_entries_[*parse_unsigned(path[1])]);
  if (path.size() > 1 && path[0] == "state_models") path[1] = std::to_string(model_entries_[*parse_unsigned(path[1])]);
  return detail::place_of(document_.root(), path, problem.at_key);
}

}  // namespace detail
}  // namespace evenkeel
