// check(): one small function per part of a cluster, each adding to the same list.

#include <algorithm>
#include <functional>
#include <numeric>

#include "evenkeel/base/text.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/model/detail/control_fields.h"

namespace evenkeel {
namespace {

using Path = std::vector<std::string>;

Path operator/(Path path, std::string part) {
  path.push_back(std::move(part));
  return path;
}
Path operator/(Path path, std::size_t index) { return std::move(path) / std::to_string(index); }

// The places of items that stand earlier in the list too. Short lists, the common case, cost no allocation unless one repeats.
template <class T>
std::vector<std::size_t> repeats(std::span<const T> items) {
  std::vector<std::size_t> found;
  if (items.size() <= 16) {
    for (std::size_t i = 1; i < items.size(); ++i) {
      if (std::ranges::count(items.first(i), items[i]) > 0) found.push_back(i);
    }
    return found;
  }
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const T& { return items[i]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (items[order[i - 1]] == items[order[i]]) found.push_back(order[i]);
  }
  std::ranges::sort(found);
  return found;
}

class Checker {
 public:
  Checker(const Cluster& cluster, std::size_t most) : cluster_(cluster), most_(most) {
    for (const Workload& workload : cluster.workloads) {
      workload_names_.push_back(workload.name.str());
      workloads_.emplace(workload.name.str(), &workload);
    }
  }

  std::vector<Problem> run() {
    check_name({"cluster"}, why_not_a_name(cluster_.name.str()));
    check_settings();
    check_models();
    check_nodes();
    check_workloads();
    for (const auto& [workload, rows] : cluster_.placement) {
      if (!full()) check_placement(workload, rows);
    }
    for (const auto& [workload, rows] : cluster_.cores) {
      if (!full()) check_cores(workload, rows);
    }
    check_moving();
    check_replicas("recent", cluster_.recent);
    check_replicas("barred", cluster_.barred);
    check_barred_once();
    return std::move(problems_);
  }

 private:
  bool full() const { return problems_.size() >= most_; }
  void add(Path path, std::string message, std::string hint = "", bool at_key = false) {
    if (!full()) problems_.push_back({std::move(path), std::move(message), std::move(hint), at_key});
  }
  void check_name(const Path& path, std::optional<std::string> why, bool at_key = false) {
    if (why) add(path, *std::move(why), "", at_key);
  }
  // A suggestion looks at every workload: only for as many problems as anyone reads.
  std::string suggest_workload(const WorkloadId& id) const {
    if (problems_.size() >= 20) return "";
    const auto near = nearest(id.str(), workload_names_);
    return near ? fmt::format("did you mean {}?", quote(*near)) : std::string("list it under workloads");
  }
  const Workload* find_workload(const WorkloadId& id) const {
    const auto found = workloads_.find(id.str());
    return found != workloads_.end() ? found->second : nullptr;
  }
  const NodeId& node_name(NodeIndex index) const { return cluster_.nodes[index.value()].name; }
  bool known(const Path& path, NodeIndex index) {
    if (index.value() < cluster_.nodes.size()) return true;
    add(path, fmt::format("there is no node number {}", index));
    return false;
  }

  // Every name once. `names` are in the order of the list at `path`.
  template <class Item, class Projection>
  void check_unique(const Path& path, const std::vector<Item>& items, const Projection& name_of, std::string_view what) {
    std::vector<std::uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) -> const std::string& { return name_of(items[i]); });
    for (std::size_t i = 1; i < order.size() && !full(); ++i) {
      const std::string& name = name_of(items[order[i]]);
      if (name_of(items[order[i - 1]]) == name)
        add(path / order[i] / "name", fmt::format("{} {} is named twice", what, quote(name)), "rename one");
    }
  }

  void check_amounts(const Path& path, const Amounts& amounts) {
    for (const auto& [resource, amount] : amounts) {
      check_name(path / resource.str(), why_not_a_name(resource.str()), true);
      if (amount.negative()) add(path / resource.str(), fmt::format("{} is negative", format(amount)), "give zero or more");
    }
  }
  void check_labels(const Path& path, const Labels& labels) {
    for (const auto& [key, value] : labels) {
      check_name(path / key, why_not_a_label_key(key), true);
      check_name(path / key, why_not_a_label_value(value));
    }
  }
  void check_spread(const Path& path, const Spread& spread) {
    const auto& levels = cluster_.settings.levels;
    if (std::ranges::find(levels, spread.level) != levels.end()) return;
    add(path / "level", fmt::format("there is no level {}", quote(spread.level)),
        fmt::format("settings.levels names {}: name one of them here", fmt::join(levels, ", ")));
  }
  void check_limits(const Path& path, Ratio soft, Ratio hard) {
    if (soft > hard)
      add(path, fmt::format("soft_limit {} is above hard_limit {}", format(soft), format(hard)),
          "raise the hard one or lower the soft one");
  }

  void check_settings() {
    const Settings& settings = cluster_.settings;
    const Path path{"settings"};
    check_limits(path, settings.soft_limit, settings.hard_limit);
    check_spread(path / "spread", settings.spread);
    for (std::size_t i = 0; i < settings.levels.size(); ++i) {
      check_name(path / "levels" / i, why_not_a_name(settings.levels[i]));
    }
    for (const std::size_t i : repeats(std::span(settings.levels))) {
      add(path / "levels" / i, fmt::format("level {} is named twice", quote(settings.levels[i])));
    }
    check_control(path, settings.control);
  }

  void check_between(const Path& path, Duration value, Duration least, Duration most, std::string_view why) {
    if (value >= least && value <= most) return;
    add(path, fmt::format("{} is not between {} and {}", format(value), format(least), format(most)), std::string(why));
  }

  void check_control(const Path& path, const ControlSettings& control) {
    for (const auto& [name, member] : detail::settings_durations) check_duration(path / std::string(name), control.*member);
    check_between(path / "session_ttl", control.session_ttl, 1s, 1h,
                  "shorter, a pause looks like a death; longer, a death is seen late");
    check_between(path / "controller_ttl", control.controller_ttl, 300ms, 1h,
                  "shorter, a pause looks like a death; longer, a death is seen late");
    check_between(path / "loads_pause", control.loads_pause, 1s, 24h,
                  "shorter, a spike looks like a load; longer, a load is seen late");
    if (control.permit == Duration::zero()) add(path / "permit", "a permit of no time would end at once", "give it some");
    if (control.max_offline && control.resume_offline && *control.resume_offline > *control.max_offline) {
      add(path / "resume_offline",
          fmt::format("resume_offline {} is above max_offline {}", *control.resume_offline, *control.max_offline),
          "maintenance would end before it begins: lower it");
    }
    if (control.extra_replicas == 0)
      add(path / "extra_replicas", "without an extra replica nothing can move: a move adds one before it drops one",
          "give 1 or more");
    for (const auto& [name, member] : detail::settings_throttles) {
      if ((control.*member).bytes_per_second.negative())
        add(path / std::string(name) / "bytes_per_second", "a limit is negative", "give zero, for no limit, or more");
    }
    if (control.errors_max > Ratio::percent(100)) {
      add(path / "errors_max", fmt::format("{} of the replicas can never be in error", format(control.errors_max)),
          "give at most 100%");
    }
  }
  void check_duration(const Path& path, Duration value) {
    if (value < Duration::zero()) add(path, fmt::format("{} is negative", format(value)), "give zero or more");
  }

  void check_models() {
    const Path path{"state_models"};
    const auto name_of = [](const StateModel& model) -> const std::string& { return model.name().str(); };
    check_unique(path, cluster_.state_models, name_of, "state model");
    for (std::size_t i = 0; i < cluster_.state_models.size(); ++i) {
      const std::string& name = name_of(cluster_.state_models[i]);
      if (find_built_in(name))
        add(path / i / "name", fmt::format("the state model {} is built in", quote(name)), "choose another name");
    }
  }

  void check_nodes() {
    const Path path{"nodes"};
    if (cluster_.nodes.size() > nodes_max)
      add(path, fmt::format("{} nodes are too many", cluster_.nodes.size()), fmt::format("at most {} are allowed", nodes_max));
    check_unique(
        path, cluster_.nodes, [](const Node& node) -> const std::string& { return node.name.str(); }, "node");
    for (std::size_t i = 0; i < cluster_.nodes.size() && !full(); ++i) check_node(path / i, cluster_.nodes[i]);
  }

  void check_node(const Path& path, const Node& node) {
    check_name(path / "name", why_not_a_name(node.name.str()));
    check_name(path / "zone", why_not_a_zone(node.zone));
    check_amounts(path / "capacity", node.capacity);
    check_amounts(path / "used", node.used);
    check_labels(path / "labels", node.labels);
    if (node.soft_limit || node.hard_limit) {
      check_limits(path, node.soft_limit.value_or(cluster_.settings.soft_limit),
                   node.hard_limit.value_or(cluster_.settings.hard_limit));
    }
    if (node.power <= Quantity(0))
      add(path / "power", fmt::format("power {} is not above zero", format(node.power)),
          "use status: cordoned for a node that should get nothing");
    if (node.cores > cores_max) add(path / "cores", fmt::format("{} cores are too many", node.cores));
    for (std::size_t i = 0; i < node.taints.size(); ++i) {
      check_name(path / "taints" / i / "key", why_not_a_label_key(node.taints[i].key));
      check_name(path / "taints" / i / "value", why_not_a_label_value(node.taints[i].value));
    }
  }

  void check_workloads() {
    const Path path{"workloads"};
    check_unique(
        path, cluster_.workloads, [](const Workload& workload) -> const std::string& { return workload.name.str(); }, "workload");
    for (std::size_t i = 0; i < cluster_.workloads.size() && !full(); ++i) {
      check_workload(path / i, cluster_.workloads[i]);
      check_relations(path / i, cluster_.workloads[i]);
      check_tables(path / i, cluster_.workloads[i]);
    }
  }

  void check_workload(const Path& path, const Workload& workload) {
    check_name(path / "name", why_not_a_name(workload.name.str()));
    if (workload.replicas == 0)
      add(path / "replicas", "a shard needs at least one replica", "set shards: 0 for a workload that holds nothing");
    if (workload.replicas > replicas_max) add(path / "replicas", fmt::format("{} replicas are too many", workload.replicas));
    if (workload.shards > shards_max)
      add(path / "shards", fmt::format("{} shards are too many", workload.shards),
          fmt::format("at most {} are allowed", shards_max));
    check_amounts(path / "load", workload.load);
    check_amounts(path / "leader_load", workload.leader_load);
    if (workload.move_cost && workload.move_cost->negative())
      add(path / "move_cost", "a move's cost is negative", "give zero or more");
    check_labels(path / "require", workload.require);
    for (std::size_t i = 0; i < workload.tolerate.size(); ++i) {
      check_name(path / "tolerate" / i / "key", why_not_a_label_key(workload.tolerate[i].key));
      check_name(path / "tolerate" / i / "value", why_not_a_label_value(workload.tolerate[i].value.value_or("")));
    }
    if (workload.spread) check_spread(path / "spread", *workload.spread);
    if (find_state_model(cluster_, workload.state_model.str()) == nullptr) {
      auto names = built_in_names();
      for (const StateModel& model : cluster_.state_models) names.push_back(model.name().str());
      const auto near = nearest(workload.state_model.str(), names);
      add(path / "state_model", fmt::format("there is no state model {}", quote(workload.state_model.str())),
          near ? fmt::format("did you mean {}?", quote(*near)) : "name a built-in one or list it under state_models");
    }
    check_control(path, workload);
  }

  // Where every node has a replica, their number is not the workload's to say.
  bool on_every_node(const Workload& workload) const {
    const StateModel* model = find_state_model(cluster_, workload.state_model.str());
    return model == nullptr ||
           std::ranges::any_of(model->states(), [](const State& state) { return state.count.kind == StateCount::Kind::nodes; });
  }

  void check_control(const Path& path, const Workload& workload) {
    const WorkloadControl& control = workload.control;
    const auto check_share = [&](const char* field, std::uint32_t value) {
      if (value <= workload.replicas || on_every_node(workload)) return;
      add(path / field, fmt::format("{} {} is more than the {} replicas of a shard", field, value, workload.replicas),
          "lower it, or raise replicas");
    };
    check_share("min_active", control.min_active.value_or(0));
    check_share("acks", control.acks);
    if (control.fencing == Fencing::epoch && control.acks < 2) {
      add(path / "fencing", fmt::format("fencing: epoch needs acks of at least 2, and has {}", control.acks),
          "a leader that acknowledges a write alone is not stopped by sealing the others");
    }
    check_duration(path / "rebalance_delay", control.rebalance_delay.value_or(Duration::zero()));
    for (const auto& [name, member] : detail::workload_durations) check_duration(path / std::string(name), control.*member);
    if (control.transition == Duration::zero())
      add(path / "transition", "a transition that may take no time is always overdue", "give it some");
    if (control.metadata.size() > metadata_bytes_max) {
      add(path / "metadata", fmt::format("metadata of {} bytes is too large", control.metadata.size()),
          fmt::format("at most {} are allowed: every transition carries it", metadata_bytes_max));
    }
    if (find_invalid_utf8(control.metadata)) add(path / "metadata", "metadata is not valid UTF-8");
  }

  void check_relations(const Path& path, const Workload& workload) {
    const auto check_list = [&](const char* field, const std::vector<WorkloadId>& others) {
      for (std::size_t i = 0; i < others.size() && !full(); ++i) {
        if (others[i] == workload.name) add(path / field / i, "a workload cannot be related to itself");
        if (find_workload(others[i]) == nullptr)
          add(path / field / i, fmt::format("there is no workload {}", quote(others[i].str())), suggest_workload(others[i]));
      }
      for (const std::size_t i : repeats(std::span(others)))
        add(path / field / i, fmt::format("workload {} is listed twice", quote(others[i].str())));
    };
    check_list("apart_from", workload.apart_from);
    check_list("close_to", workload.close_to);
    auto apart = workload.apart_from;
    std::ranges::sort(apart);
    for (std::size_t i = 0; i < workload.close_to.size(); ++i) {
      if (!std::ranges::binary_search(apart, workload.close_to[i])) continue;
      add(path / "close_to" / i, fmt::format("workload {} is in apart_from too", quote(workload.close_to[i].str())),
          "keep one of the two");
    }
  }

  // Whether a table by shard has what its reader relies on: each shard once, in order, each with its row.
  bool check_shape(const Path& path, const std::vector<ShardIndex>& shards, bool rows_fit) {
    const bool rising = std::ranges::adjacent_find(shards, std::greater_equal<>()) == shards.end();
    if (!rising) add(path, "the shards are not in rising order, each once");
    if (!rows_fit) add(path, "there is not one row for each shard");
    return rising && rows_fit;
  }

  void check_tables(const Path& path, const Workload& workload) {
    const auto check_shard = [&](const char* field, ShardIndex shard) {
      if (shard.value() < workload.shards) return true;
      add(path / field / shard.value(), fmt::format("there is no shard {}: {} has {}", shard, workload.name, workload.shards),
          "shards count from 0", true);
      return false;
    };
    const ShardLoads& loads = workload.shard_loads;
    check_shape(path / "shard_loads", loads.shards, loads.values.size() == loads.shards.size() * loads.resources.size());
    for (std::size_t i = 0; i < loads.shards.size() && !full(); ++i) check_shard("shard_loads", loads.shards[i]);
    for (const ResourceId& resource : loads.resources) check_name(path / "shard_loads", why_not_a_name(resource.str()));
    if (!repeats(std::span(loads.resources)).empty()) add(path / "shard_loads", "a resource has two columns");
    if (std::ranges::any_of(loads.values, &Quantity::negative))
      add(path / "shard_loads", "a load is negative", "give zero or more");
    if (!check_shape(path / "pinned", workload.pinned.shards, workload.pinned.nodes.size() == workload.pinned.shards.size()))
      return;
    for (std::size_t i = 0; i < workload.pinned.shards.size() && !full(); ++i) {
      const ShardIndex shard = workload.pinned.shards[i];
      if (!check_shard("pinned", shard)) continue;
      const auto row_path = path / "pinned" / shard.value();
      const auto row = workload.pinned.nodes[i];
      check_row(row_path, row);
      if (row.size() > workload.replicas) {
        add(row_path, fmt::format("pins {} nodes for a shard's {} replicas", row.size(), workload.replicas));
      }
    }
  }

  void check_row(const Path& path, std::span<const NodeIndex> row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!known(path / i, row[i])) return;
    }
    for (const std::size_t i : repeats(row)) {
      add(path / i, fmt::format("two replicas of one shard on node {}", quote(node_name(row[i]).str())), "name each node once");
    }
  }

  void check_placement(const WorkloadId& id, const Placement& rows) {
    const Path path{"placement", id.str()};
    const Workload* workload = find_workload(id);
    if (workload == nullptr)
      return add(path, fmt::format("there is no workload {}", quote(id.str())), suggest_workload(id), true);
    if (rows.size() > workload->shards) {
      add(path / std::size_t{workload->shards},
          fmt::format("{} rows for {} shards of {}", rows.size(), workload->shards, quote(id.str())),
          "raise shards or remove rows");
    }
    for (std::size_t shard = 0; shard < rows.size() && !full(); ++shard) {
      if (!sound(rows[shard])) check_row(path / shard, rows[shard]);
    }
  }
  // Asked a million times: no path is built for a row that is as it should be.
  bool sound(std::span<const NodeIndex> row) const {
    return std::ranges::all_of(row, [&](NodeIndex node) { return node.value() < cluster_.nodes.size(); }) && repeats(row).empty();
  }

  void check_cores(const WorkloadId& id, const Cores& cores) {
    const Path path{"cores", id.str()};
    const auto placed = cluster_.placement.find(id);
    if (placed == cluster_.placement.end())
      return add(path, fmt::format("{} has cores but no placement", quote(id.str())), "cores go with the rows of placement",
                 true);
    const Placement& rows = placed->second;
    if (cores.size() != rows.size())
      return add(path, fmt::format("{} rows of cores for {} of placement", cores.size(), rows.size()));
    for (std::size_t shard = 0; shard < rows.size() && !full(); ++shard) {
      if (cores[shard].size() != rows[shard].size()) {
        add(path / shard, fmt::format("{} cores for {} replicas", cores[shard].size(), rows[shard].size()));
        continue;
      }
      for (std::size_t i = 0; i < rows[shard].size(); ++i) check_core(path, shard, i, rows[shard][i], cores[shard][i]);
    }
  }
  void check_core(const Path& path, std::size_t shard, std::size_t i, NodeIndex index, Core core) {
    if (index.value() >= cluster_.nodes.size()) return;  // said of the placement already
    const Node& node = cluster_.nodes[index.value()];
    const std::uint32_t cores = std::max(1u, node.cores);
    if (core.value() < cores) return;
    add(path / shard / i, fmt::format("node {} has no core {}", quote(node.name.str()), core),
        fmt::format("it has {} core(s), counted from 0", cores));
  }

  // The row of a shard that is placed, or nothing and a problem.
  std::optional<std::span<const NodeIndex>> placed_row(const Path& path, const WorkloadId& id, ShardIndex shard) {
    const auto rows = cluster_.placement.find(id);
    if (find_workload(id) == nullptr) {
      add(path / "workload", fmt::format("there is no workload {}", quote(id.str())), suggest_workload(id));
    } else if (rows == cluster_.placement.end() || shard.value() >= rows->second.size()) {
      add(path / "shard", fmt::format("{}/{} is not placed anywhere", id, shard), "only a placed shard can move");
    } else {
      return rows->second[shard.value()];
    }
    return std::nullopt;
  }

  void check_moving() {
    const auto& moving = cluster_.moving;
    const auto holds = [](std::span<const NodeIndex> row, NodeIndex node) { return std::ranges::find(row, node) != row.end(); };
    for (std::size_t i = 0; i < moving.size() && !full(); ++i) {
      const Path path = Path{"moving"} / i;
      const Moving& move = moving[i];
      const auto row = placed_row(path, move.workload, move.shard);
      if (!row) continue;
      if (!move.from && !move.to) add(path, "a move without from and to moves nothing", "name at least one of them");
      if (move.from && known(path / "from", *move.from) && !holds(*row, *move.from)) {
        add(path / "from", fmt::format("{}/{} has no replica on {}", move.workload, move.shard, node_name(*move.from)),
            "placement holds `from` until the move is done");
      }
      if (move.to && known(path / "to", *move.to) && holds(*row, *move.to)) {
        add(path / "to", fmt::format("{}/{} has a replica on {} already", move.workload, move.shard, node_name(*move.to)),
            "`to` is named only in moving until the move is done");
      }
    }
    check_moves_once();
  }
  void check_moves_once() {
    const auto& moving = cluster_.moving;
    const auto check_side = [&](const char* side, const auto& end_of) {
      std::vector<std::uint32_t> order;
      for (std::uint32_t i = 0; i < moving.size(); ++i) {
        if (end_of(moving[i])) order.push_back(i);
      }
      const auto key = [&](std::uint32_t i) {
        return std::tuple(std::string_view(moving[i].workload.str()), moving[i].shard, *end_of(moving[i]));
      };
      const auto less = [&](std::uint32_t a, std::uint32_t b) { return std::pair(key(a), a) < std::pair(key(b), b); };
      std::ranges::sort(order, less);
      for (std::size_t i = 1; i < order.size() && !full(); ++i) {
        if (key(order[i - 1]) == key(order[i]))
          add(Path{"moving"} / order[i] / side,
              fmt::format("two moves of {}/{} {} one node", moving[order[i]].workload, moving[order[i]].shard,
                          side == std::string_view("from") ? "leave" : "go to"),
              "keep one");
      }
    };
    check_side("from", [](const Moving& move) { return move.from; });
    check_side("to", [](const Moving& move) { return move.to; });
  }

  // A list of entries that name a workload, a shard and a node: recent and barred.
  template <class Entry>
  void check_replicas(const char* section, const std::vector<Entry>& entries) {
    for (std::size_t i = 0; i < entries.size() && !full(); ++i) {
      const Entry& entry = entries[i];
      const Path path = Path{section} / i;
      const Workload* workload = find_workload(entry.workload);
      if (workload == nullptr) {
        add(path / "workload", fmt::format("there is no workload {}", quote(entry.workload.str())),
            suggest_workload(entry.workload));
      } else if (entry.shard.value() >= workload->shards) {
        add(path / "shard", fmt::format("there is no shard {}: {} has {}", entry.shard, workload->name, workload->shards),
            "shards count from 0");
      }
      known(path / "node", entry.node);
    }
  }
  void check_barred_once() {
    const auto& barred = cluster_.barred;
    std::vector<std::uint32_t> order(barred.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [&](std::uint32_t i) { return std::tie(barred[i].workload, barred[i].shard, barred[i].node); };
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::size_t i = 1; i < order.size() && !full(); ++i) {
      const Barred& twice = barred[order[i]];
      if (key(order[i - 1]) == key(order[i]) && twice.node.value() < cluster_.nodes.size())
        add(Path{"barred"} / order[i],
            fmt::format("{}/{} is barred from {} twice", twice.workload, twice.shard, node_name(twice.node)), "keep one");
    }
  }

  const Cluster& cluster_;
  std::size_t most_;
  std::vector<std::string_view> workload_names_;
  std::map<std::string_view, const Workload*> workloads_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> check(const Cluster& cluster, std::size_t most) { return Checker(cluster, most).run(); }

}  // namespace evenkeel
