// From the cluster's words to the engine's arrays.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "evenkeel/base/hash.h"
#include "evenkeel/place/detail/board.h"
#include "evenkeel/place/detail/node_rules.h"
#include "evenkeel/place/detail/units.h"

namespace evenkeel::place::detail {
namespace {

// How much each goal in the level tier weighs. Every one is scaled so that it is 1 when all is level; a workload's own balance is worth
// a tenth of the total's, which is enough against bunching (an unevenness of 100 %) and little against the last percent.
constexpr double own_weight = 0.1;
// Measures of replicas add up to this over the cluster.
constexpr double measure_total = static_cast<double>(Amount{1} << 50);

class Compiler {
 public:
  // Into a board that stays where it is: its state refers to its problem.
  Compiler(const Cluster& cluster, const PlanOptions& options, Board& board) : cluster_(cluster), board_(board) {
    board_.cluster = &cluster;
    board_.options = options;
  }

  void run() {
    order_nodes();
    find_resources();
    set_units();
    lay_out_dimensions();
    make_families();
    fill_nodes();
    fill_loads();
    fill_barred();
    fill_groups();
    weigh_levels();
    fill_in_flight();
    fill_standing();
    board_.state = std::make_unique<State>(board_.problem);
    mark_quorum();
  }

 private:
  Problem& problem() { return board_.problem; }
  const Problem& problem() const { return board_.problem; }
  std::size_t count_dimension() const { return resources_.size(); }
  Amount& cell(std::vector<Amount>& table, std::uint32_t node, std::size_t dimension) {
    return table[node * problem().width() + dimension];
  }

  void order_nodes() {
    const std::size_t nodes = cluster_.nodes.size();
    board_.cluster_node.reserve(nodes);
    for (std::uint32_t n = 0; n < nodes; ++n) board_.cluster_node.emplace_back(n);
    std::ranges::sort(board_.cluster_node, {}, [&](NodeIndex n) -> const NodeId& { return cluster_.nodes[n.value()].name; });
    board_.board_node.resize(nodes);
    for (std::uint32_t n = 0; n < nodes; ++n) board_.board_node[board_.cluster_node[n].value()] = n;
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const Node& node = board_.node(n);
      board_.salt.push_back(hash64(node.name.str(), board_.options.seed));
      board_.takes_part.push_back(takes(node.status) ? 1 : 0);
      const Ratio hard = node.hard_limit.value_or(cluster_.settings.hard_limit);
      problem().limit_part.push_back(static_cast<double>(hard.millionths()) / 1e6);
      board_.down.push_back(node.status == NodeStatus::down ? 1 : 0);
      board_.may_lead.push_back(node.leaders && node.status != NodeStatus::no_leaders && node.status != NodeStatus::down ? 1 : 0);
    }
    problem().nodes = static_cast<std::uint32_t>(nodes);
    board_.node_moves.assign(nodes, 0);
  }

  // Only what some workload loads; the rest cannot be changed by moving anything.
  void find_resources() {
    std::set<ResourceId> found;
    for (const Workload& workload : cluster_.workloads) {
      for (const auto& [resource, amount] : workload.load) found.insert(resource);
      for (const auto& [resource, amount] : workload.leader_load) found.insert(resource);
      found.insert(workload.shard_loads.resources.begin(), workload.shard_loads.resources.end());
    }
    resources_.assign(found.begin(), found.end());
    board_.resources = resources_.size();
    if (const auto disk = std::ranges::find(resources_, ResourceId("disk")); disk != resources_.end()) {
      board_.disk = static_cast<std::size_t>(disk - resources_.begin());
    }
  }

  std::size_t resource_index(const ResourceId& resource) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(resources_, resource) - resources_.begin());
  }

  void set_units() {
    units_.resize(resources_.size());
    for (const Workload& workload : cluster_.workloads) {
      const std::uint64_t replicas = std::uint64_t{workload.shards} * workload.replicas;
      for (const auto& [resource, amount] : workload.load) units_[resource_index(resource)].add(amount, replicas);
      for (const auto& [resource, amount] : workload.leader_load) units_[resource_index(resource)].add(amount, workload.shards);
      const ShardLoads& own = workload.shard_loads;
      for (std::size_t column = 0; column < own.resources.size(); ++column) {
        Unit& unit = units_[resource_index(own.resources[column])];
        for (std::size_t row = 0; row < own.shards.size(); ++row) {
          unit.add(own.values[row * own.resources.size() + column], workload.replicas);
        }
      }
    }
    for (const Node& node : cluster_.nodes) {
      for (const auto& [resource, amount] : node.used) {
        if (const std::size_t r = resource_index(resource); r < resources_.size() && resources_[r] == resource)
          units_[r].add(amount, 1);
      }
    }
    for (Unit& unit : units_) unit.close();
    if (board_.disk < resources_.size()) board_.disk_unit = units_[board_.disk].size().to_double();
  }

  // What only leaders carry says nothing of the other replicas: those count by their number.
  static bool has_load(const Workload& workload) {
    const auto any = [](const Amounts& amounts) {
      return std::ranges::any_of(amounts, [](const auto& amount) { return amount.second > Quantity(); });
    };
    return any(workload.load) || !workload.shard_loads.resources.empty();
  }

  // Resources; the number of replicas, for its limit; and the number of those that have no load, for their level.
  void lay_out_dimensions() {
    for (const ResourceId& resource : resources_) problem().dimensions.push_back({.name = resource.str()});
    problem().dimensions.push_back({.name = "replicas", .counts = true});
    loadless_ = std::ranges::any_of(cluster_.workloads, [](const Workload& workload) { return !has_load(workload); });
    if (loadless_) problem().dimensions.push_back({.name = "replicas", .counts = true});
  }

  // Workloads that ask the same of nodes share a class; those that load the same dimensions share what is a node's fair part.
  void make_families() {
    std::map<std::pair<Labels, std::vector<std::pair<std::string, std::optional<std::string>>>>, std::uint32_t> classes;
    for (const Workload& workload : cluster_.workloads) {
      Family family{.name = workload.name.str()};
      std::vector<std::pair<std::string, std::optional<std::string>>> tolerated;
      for (const Toleration& toleration : workload.tolerate) tolerated.emplace_back(toleration.key, toleration.value);
      std::ranges::sort(tolerated);
      const auto [found, made] = classes.try_emplace({workload.require, tolerated}, static_cast<std::uint32_t>(classes.size()));
      if (made) add_class(workload);
      family.able = found->second;
      const Spread& spread = spread_of(cluster_.settings, workload);
      family.partition = partition_of(spread.level);
      family.spread_least = none - 1;  // as many as there are replicas
      family.spread_hard = spread.hard;
      problem().families.push_back(std::move(family));
    }
    std::map<WorkloadId, std::uint32_t> by_name;
    for (std::uint32_t w = 0; w < cluster_.workloads.size(); ++w) by_name.emplace(cluster_.workloads[w].name, w);
    for (std::uint32_t w = 0; w < cluster_.workloads.size(); ++w) {
      for (const WorkloadId& other : cluster_.workloads[w].apart_from)
        problem().families[w].apart_from.push_back(by_name.at(other));
      for (const WorkloadId& other : cluster_.workloads[w].close_to) problem().families[w].close_to.push_back(by_name.at(other));
    }
  }

  void add_class(const Workload& workload) {
    std::vector<std::uint8_t> able, stay, avoid;
    for (std::uint32_t n = 0; n < problem().nodes; ++n) {
      const Node& node = board_.node(n);
      const bool fits = is_able(node, workload);
      stay.push_back(fits ? 1 : 0);
      able.push_back(fits && takes(node.status) ? 1 : 0);
      avoid.push_back(is_avoided(node, workload) ? 1 : 0);
    }
    if (std::ranges::none_of(avoid, [](std::uint8_t avoided) { return avoided != 0; })) avoid.clear();
    problem().able.push_back(std::move(able));
    problem().avoid.push_back(std::move(avoid));
    may_stay_.push_back(std::move(stay));
  }

  std::uint32_t partition_of(const std::string& level) {
    const std::size_t depth = depth_of(cluster_.settings, level).value_or(1);
    const auto [found, made] = partitions_.try_emplace(depth, static_cast<std::uint32_t>(partitions_.size()));
    if (!made) return found->second;
    Partition partition;
    std::map<std::string, std::uint32_t> names;
    for (std::uint32_t n = 0; n < problem().nodes; ++n) {
      const Node& node = board_.node(n);
      const auto [domain, fresh] = names.try_emplace(domain_of(node.name, node.zone, depth), partition.domains);
      partition.domain.push_back(fresh ? partition.domains++ : domain->second);
    }
    problem().partitions.push_back(std::move(partition));
    return found->second;
  }

  void fill_standing() {
    for (const auto& stay : may_stay_) {
      std::vector<Standing>& standing = board_.standing_by.emplace_back();
      for (std::uint32_t n = 0; n < problem().nodes; ++n) {
        const NodeStatus status = board_.node(n).status;
        const Standing fits = stay[n] != 0 ? Standing::fine : Standing::unable;
        standing.push_back(status == NodeStatus::down       ? Standing::down
                           : status == NodeStatus::draining ? Standing::draining
                                                            : fits);
        board_.all_may_stay = board_.all_may_stay && standing.back() == Standing::fine;
      }
    }
  }

  // A node that names no capacity counts as the mean of those that do.
  std::optional<Quantity> mean_capacity(const ResourceId& resource) const {
    Int128 sum = 0;
    std::int64_t named = 0;
    for (const Node& node : cluster_.nodes) {
      const auto found = node.capacity.find(resource);
      if (found != node.capacity.end()) sum += found->second.nano(), ++named;
    }
    return named == 0 ? std::nullopt : std::optional(Quantity::from_nano(sum / named));
  }

  void fill_nodes() {
    const std::size_t cells = problem().nodes * problem().width();
    problem().limit.assign(cells, unlimited);
    problem().soft.assign(cells, unlimited);
    problem().capacity.assign(cells, unlimited);
    problem().base.assign(cells, 0);
    problem().base_held.assign(cells, 0);
    problem().share.assign(cells, 0);
    for (std::size_t r = 0; r < resources_.size(); ++r) {
      const std::optional<Quantity> mean = mean_capacity(resources_[r]);
      for (std::uint32_t n = 0; n < problem().nodes; ++n) fill_resource(n, r, mean);
    }
    fill_counts();
  }

  void fill_resource(std::uint32_t n, std::size_t r, std::optional<Quantity> mean) {
    const Node& node = board_.node(n);
    const auto own = node.capacity.find(resources_[r]);
    const std::optional<Quantity> capacity = own != node.capacity.end() ? own->second : mean;
    const double power = node.power.to_double();
    double share = power;
    if (capacity) {
      cell(problem().capacity, n, r) = units_[r].capacity(*capacity);
      cell(problem().limit, n, r) = units_[r].limit(*capacity, node.hard_limit.value_or(cluster_.settings.hard_limit));
      cell(problem().soft, n, r) = units_[r].limit(*capacity, node.soft_limit.value_or(cluster_.settings.soft_limit));
      share *= capacity->to_double();
    }
    if (const auto used = node.used.find(resources_[r]); used != node.used.end()) {
      cell(problem().base, n, r) = units_[r].load(used->second);
    }
    if (board_.takes_part[n] != 0) problem().share[n * problem().width() + r] = share;
  }

  // Slots: what the cores may hold but for the reserve, and what the node itself allows.
  void fill_counts() {
    const Settings& settings = cluster_.settings;
    double slots_sum = 0, slots_nodes = 0;
    for (std::uint32_t n = 0; n < problem().nodes; ++n) {
      const Node& node = board_.node(n);
      Amount slots = unlimited;
      if (node.cores > 0 && settings.replicas_per_core > 0) {
        slots = std::max<Amount>(0, Amount{node.cores} * settings.replicas_per_core - settings.core0_reserve);
        slots_sum += static_cast<double>(slots);
        slots_nodes += 1;
      }
      if (node.replicas_max > 0) slots = std::min<Amount>(slots, node.replicas_max);
      cell(problem().limit, n, count_dimension()) = slots;
      cell(problem().capacity, n, count_dimension()) = slots;
    }
    if (!loadless_) return;
    const double mean = slots_nodes > 0 ? slots_sum / slots_nodes : 1;
    for (std::uint32_t n = 0; n < problem().nodes; ++n) {
      const Node& node = board_.node(n);
      double share = mean;
      if (node.cores > 0 && settings.replicas_per_core > 0) {
        share = std::max(0.0, static_cast<double>(node.cores) * settings.replicas_per_core - settings.core0_reserve);
      }
      if (board_.takes_part[n] != 0)
        problem().share[n * problem().width() + count_dimension() + 1] = share * node.power.to_double();
    }
  }

  std::uint32_t add_row(const Workload& workload, bool leader, const auto& amount_of) {
    const auto row = static_cast<std::uint32_t>(problem().loads.size() / problem().width());
    for (std::size_t r = 0; r < resources_.size(); ++r) problem().loads.push_back(amount_of(r));
    problem().loads.push_back(leader || workload.system ? 0 : 1);
    if (loadless_) problem().loads.push_back(leader || has_load(workload) ? 0 : 1);
    return row;
  }

  void fill_loads() {
    for (const Workload& workload : cluster_.workloads) {
      Rows_ rows;
      const auto from = [&](const Amounts& amounts) {
        return [&](std::size_t r) {
          const auto found = amounts.find(resources_[r]);
          return found == amounts.end() ? Amount{0} : units_[r].load(found->second);
        };
      };
      rows.base = add_row(workload, false, from(workload.load));
      if (!workload.leader_load.empty()) rows.lead = add_row(workload, true, from(workload.leader_load));
      const ShardLoads& own = workload.shard_loads;
      std::vector<std::size_t> column(resources_.size(), own.resources.size());
      for (std::size_t c = 0; c < own.resources.size(); ++c) column[resource_index(own.resources[c])] = c;
      rows.own_first = static_cast<std::uint32_t>(problem().loads.size() / problem().width());
      problem().loads.reserve(problem().loads.size() + own.shards.size() * problem().width());
      for (std::size_t row = 0; row < own.shards.size(); ++row) {
        add_row(workload, false, [&](std::size_t r) {
          return column[r] == own.resources.size() ? Amount{0}
                                                   : units_[r].load(own.values[row * own.resources.size() + column[r]]);
        });
      }
      board_.rows.push_back(rows);
    }
  }

  // append_group() takes each group's own from here. Who disables shards by hand may name some that are not there, or failed there too.
  void fill_barred() {
    std::map<WorkloadId, std::uint32_t> by_name;
    for (std::uint32_t w = 0; w < cluster_.workloads.size() && !cluster_.barred.empty(); ++w)
      by_name.emplace(cluster_.workloads[w].name, w);
    for (const Barred& barred : cluster_.barred) {
      if (const auto found = by_name.find(barred.workload); found != by_name.end())
        board_.barred.push_back({found->second, barred.shard.value(), board_.board_node[barred.node.value()]});
    }
    std::ranges::sort(board_.barred);
    board_.barred.erase(std::unique(board_.barred.begin(), board_.barred.end()), board_.barred.end());
    problem().bars = !board_.barred.empty();
  }

  void fill_groups() {
    if (std::ranges::any_of(cluster_.workloads, [](const Workload& workload) { return !workload.pinned.shards.empty(); })) {
      has_pins_ = true;
    }
    for (std::uint32_t w = 0; w < cluster_.workloads.size(); ++w) {
      Span span{.first = problem().groups()};
      const auto placed = cluster_.placement.find(cluster_.workloads[w].name);
      if (placed != cluster_.placement.end()) {
        span.count = static_cast<std::uint32_t>(placed->second.size());
        add_placed(w, placed->second);
      }
      span.fresh_first = span.first + span.count;
      board_.spans.push_back(span);
    }
    if (has_pins_) problem().frozen.resize(std::max<std::size_t>(problem().replicas(), 1));
    for (const Recent& recent : cluster_.recent) mark_recent(recent);
  }

  void add_placed(std::uint32_t w, const Placement& placement) {
    const Workload& workload = cluster_.workloads[w];
    for (std::uint32_t shard = 0; shard < placement.size(); ++shard) {
      const auto row = placement[shard];
      const auto slots = std::max(static_cast<std::uint32_t>(row.size()), workload.replicas);
      const std::uint32_t first = problem().replicas();
      append_group(board_, w, shard, slots);
      for (std::size_t i = 0; i < row.size(); ++i) problem().origin[first + i] = board_.board_node[row[i].value()];
      if (!row.empty()) problem().origin_leader.back() = board_.board_node[row[0].value()];
      for (const NodeIndex pinned : workload.pinned.find(ShardIndex(shard))) {
        const auto found = std::ranges::find(row, pinned);
        if (found == row.end()) continue;
        problem().frozen.resize(problem().replicas());
        problem().frozen[first + static_cast<std::size_t>(found - row.begin())] = 1;
      }
    }
  }

  std::optional<std::uint32_t> group_of(const WorkloadId& workload, ShardIndex shard) const {
    for (std::uint32_t w = 0; w < cluster_.workloads.size(); ++w) {
      if (cluster_.workloads[w].name == workload && shard.value() < board_.spans[w].count)
        return board_.spans[w].first + shard.value();
    }
    return std::nullopt;
  }

  std::uint32_t replica_at(std::uint32_t group, std::uint32_t node) {
    for (std::uint32_t r = problem().group_first[group]; r < problem().group_end(group); ++r) {
      if (problem().origin[r] == node) return r;
    }
    return none;
  }

  void mark_recent(const Recent& recent) {
    const auto group = group_of(recent.workload, recent.shard);
    if (!group) return;
    const std::uint32_t replica = replica_at(*group, board_.board_node[recent.node.value()]);
    if (replica == none) return;
    board_.recent.resize(problem().replicas());
    board_.recent[replica] = 1;
  }

  // A move in flight counts as done, and at its source as still there. What leads nowhere is cancelled.
  void fill_in_flight() {
    for (const Moving& moving : cluster_.moving) {
      const auto group = group_of(moving.workload, moving.shard);
      if (!group) continue;
      if (moving.to) {
        const std::uint32_t to = board_.board_node[moving.to->value()];
        if (const std::string why = why_cancel(*group, to); !why.empty()) {
          board_.cancelled.push_back({moving.workload, moving.shard, moving.from, moving.to, why});
          continue;
        }
      }
      board_.in_flight.push_back(moving);
      board_.flags[*group].moving = true;
      set_off(*group, moving);
    }
  }

  void set_off(std::uint32_t group, const Moving& moving) {
    const std::uint32_t from = moving.from ? board_.board_node[moving.from->value()] : none;
    const std::uint32_t to = moving.to ? board_.board_node[moving.to->value()] : none;
    if (from != none) ++board_.node_moves[from];
    if (to != none) ++board_.node_moves[to];
    std::uint32_t replica = replica_at(group, from);
    if (replica == none) return;  // a growing shard whose row is full already
    problem().origin[replica] = to;
    if (from == none) return;
    const auto hold = [&](std::uint32_t row) {
      for (std::size_t d = 0; d < problem().width(); ++d) cell(problem().base_held, from, d) += problem().load(row)[d];
    };
    hold(problem().replica_load[replica]);
    if (problem().origin_leader[group] != from) return;
    if (problem().group_lead[group] != none) hold(problem().group_lead[group]);
    problem().origin_leader[group] = to;
    if (to != none) return;
    // The leader is being dropped: the first of the others leads.
    for (std::uint32_t r = problem().group_first[group]; r < problem().group_end(group) && problem().origin_leader[group] == none;
         ++r) {
      problem().origin_leader[group] = problem().origin[r];
    }
  }

  std::string why_cancel(std::uint32_t group, std::uint32_t to) const {
    switch (board_.node(to).status) {
      case NodeStatus::down:
        return "destination down";
      case NodeStatus::draining:
        return "destination draining";
      case NodeStatus::cordoned:
        return "destination cordoned";
      case NodeStatus::up:
      case NodeStatus::no_leaders:
        break;
    }
    if (board_.able(group)[to] == 0) return "destination no longer able";
    return problem().is_barred(group, to) ? "the shard is barred from its destination" : "";
  }

  void mark_quorum() {
    if (board_.options.force) return;
    const bool any = std::ranges::find(board_.down, 1) != board_.down.end();
    if (!any) return;
    for (std::uint32_t group = 0; group < problem().groups(); ++group) {
      std::uint32_t placed = 0, lost = 0;
      for (const std::uint32_t node : board_.state->row(group)) {
        if (node == none) continue;
        ++placed;
        lost += board_.down[node];
      }
      board_.flags[group].no_quorum = 2 * lost > placed;
    }
  }

  // Goals of the level tier, scaled: see the constants above.
  void weigh_levels() {
    totals_.assign(problem().width(), 0);
    for (std::uint32_t n = 0; n < problem().nodes; ++n) {
      for (std::size_t d = 0; d < problem().width(); ++d)
        totals_[d] += static_cast<double>(problem().base[n * problem().width() + d]);
    }
    std::vector<std::vector<double>> of(cluster_.workloads.size());
    for (std::uint32_t w = 0; w < cluster_.workloads.size(); ++w) {
      of[w] = total_of(w);
      for (std::size_t d = 0; d < problem().width(); ++d) totals_[d] += of[w][d];
    }
    for (std::size_t d = 0; d < problem().width(); ++d) {
      if (d == count_dimension() || totals_[d] <= 0) continue;
      Dimension& dimension = problem().dimensions[d];
      double shares = 0;
      for (std::uint32_t n = 0; n < problem().nodes; ++n) shares += problem().share[n * problem().width() + d];
      dimension.level_weight = shares / (totals_[d] * totals_[d]);
      dimension.soft_weight = dimension.counts ? 0 : 1 / totals_[d];
    }
    for (std::uint32_t w = 0; w < cluster_.workloads.size(); ++w) weigh_family(w, of[w]);
    weigh_leaders();
  }

  // All that a workload loads, leaders included.
  std::vector<double> total_of(std::uint32_t w) {
    const Workload& workload = cluster_.workloads[w];
    std::vector<double> sum(problem().width());
    const auto add = [&](std::uint32_t row, double times) {
      for (std::size_t d = 0; d < problem().width(); ++d) sum[d] += times * static_cast<double>(problem().load(row)[d]);
    };
    const double replicas = workload.replicas, own = static_cast<double>(workload.shard_loads.shards.size());
    add(board_.rows[w].base, replicas * (static_cast<double>(workload.shards) - own));
    for (std::uint32_t i = 0; i < workload.shard_loads.shards.size(); ++i) add(board_.rows[w].own_first + i, replicas);
    if (board_.rows[w].lead != none) add(board_.rows[w].lead, workload.shards);
    return sum;
  }

  // A row's size in units in which the whole cluster's loads add up to measure_total. One that no shard has may be larger than all others
  // together, and counts as all of them.
  Amount measure(std::uint32_t row) {
    double sum = 0, used = 0;
    for (std::size_t d = 0; d < problem().width(); ++d) {
      if (problem().dimensions[d].level_weight <= 0) continue;
      used += 1;
      sum += static_cast<double>(problem().load(row)[d]) / totals_[d];
    }
    return used <= 0 || sum <= 0 ? 0 : std::max<Amount>(1, static_cast<Amount>(std::min(sum / used, 1.0) * measure_total));
  }

  void weigh_family(std::uint32_t w, const std::vector<double>& total) {
    const Workload& workload = cluster_.workloads[w];
    Family& family = problem().families[w];
    double sum = 0;
    const double replicas = workload.replicas, own = static_cast<double>(workload.shard_loads.shards.size());
    problem().measures.resize(problem().loads.size() / problem().width());
    const auto note = [&](std::uint32_t row, double times) {
      problem().measures[row] = measure(row);
      sum += times * static_cast<double>(problem().measures[row]);
    };
    note(board_.rows[w].base, replicas * (static_cast<double>(workload.shards) - own));
    for (std::uint32_t i = 0; i < workload.shard_loads.shards.size(); ++i) note(board_.rows[w].own_first + i, replicas);
    family.own_share = own_share_of(total);
    if (sum > 0 && cluster_.workloads.size() > 1) family.own_weight = own_weight / (sum * measure_total);
  }

  // A node's fair part of what loads these dimensions: the mean of its parts of each.
  std::uint32_t own_share_of(const std::vector<double>& total) {
    std::vector<std::uint8_t> key;
    for (std::size_t d = 0; d < problem().width(); ++d)
      key.push_back(total[d] > 0 && problem().dimensions[d].level_weight > 0 ? 1 : 0);
    const auto [found, made] = own_shares_.try_emplace(key, static_cast<std::uint32_t>(own_shares_.size()));
    if (!made) return found->second;
    std::vector<double> part(problem().nodes);
    double dimensions = 0;
    for (std::size_t d = 0; d < problem().width(); ++d) {
      if (key[d] == 0) continue;
      double sum = 0;
      for (std::uint32_t n = 0; n < problem().nodes; ++n) sum += problem().share[n * problem().width() + d];
      if (sum <= 0) continue;
      dimensions += 1;
      for (std::uint32_t n = 0; n < problem().nodes; ++n) part[n] += problem().share[n * problem().width() + d] / sum;
    }
    for (double& p : part) p = dimensions > 0 ? p / dimensions : 0;
    problem().own_shares.push_back(std::move(part));
    return found->second;
  }

  // By leader load, or by count where a workload has none.
  void weigh_leaders() {
    double shards = 0;
    for (const Workload& workload : cluster_.workloads) shards += workload.shards;
    board_.lead_measure.resize(cluster_.workloads.size());
    double total = 0;
    for (std::uint32_t w = 0; w < cluster_.workloads.size(); ++w) {
      Amount lead = board_.rows[w].lead == none ? 0 : measure(board_.rows[w].lead);
      if (lead == 0) lead = std::max<Amount>(1, static_cast<Amount>(measure_total / std::max(1.0, shards)));
      board_.lead_measure[w] = lead;
      total += static_cast<double>(lead) * cluster_.workloads[w].shards;
    }
    if (total <= 0) return;
    problem().leader_share.assign(problem().nodes, 0);
    const std::vector<double> all(problem().width(), 1);
    const auto& part = problem().own_shares[own_share_of(all)];
    double sum = 0;
    for (std::uint32_t n = 0; n < problem().nodes; ++n) sum += board_.may_lead[n] != 0 ? part[n] : 0;
    if (sum <= 0) return;
    for (std::uint32_t n = 0; n < problem().nodes; ++n) problem().leader_share[n] = board_.may_lead[n] != 0 ? part[n] / sum : 0;
    problem().leader_level_weight = board_.leader_weight / (total * total);
    for (std::uint32_t w = 0; w < cluster_.workloads.size(); ++w) {
      const double own = static_cast<double>(board_.lead_measure[w]) * cluster_.workloads[w].shards;
      if (own > 0) problem().families[w].lead_weight = board_.leader_weight / (own * total);
    }
    problem().lead_measures.resize(problem().groups());
    for (std::uint32_t group = 0; group < problem().groups(); ++group) {
      problem().lead_measures[group] = board_.lead_measure[problem().group_family[group]];
    }
  }

  using Rows_ = LoadRows;

  const Cluster& cluster_;
  Board& board_;
  std::vector<ResourceId> resources_;
  std::vector<Unit> units_;
  bool loadless_ = false;
  bool has_pins_ = false;
  std::map<std::size_t, std::uint32_t> partitions_;  // by depth
  std::vector<std::vector<std::uint8_t>> may_stay_;  // by class: what is there need not leave, as far as labels and taints go
  std::map<std::vector<std::uint8_t>, std::uint32_t> own_shares_;  // by the dimensions that count
  std::vector<double> totals_;                                     // by dimension
};

}  // namespace

void append_group(Board& board, std::uint32_t workload, std::uint32_t shard, std::uint32_t slots) {
  Problem& problem = board.problem;
  const std::uint32_t group = problem.groups();
  problem.group_family.push_back(workload);
  problem.group_lead.push_back(board.rows[workload].lead);
  problem.origin_leader.push_back(none);
  if (problem.leader_level_weight > 0) problem.lead_measures.push_back(board.lead_measure[workload]);
  problem.replica_group.insert(problem.replica_group.end(), slots, group);
  problem.replica_load.insert(problem.replica_load.end(), slots, board.load_row(workload, shard));
  problem.origin.insert(problem.origin.end(), slots, none);
  problem.group_first.push_back(problem.replicas());
  if (!problem.frozen.empty()) problem.frozen.resize(problem.replicas());
  if (problem.bars) {
    for (const BarredShard& barred : board.barred_of(workload, shard)) problem.barred.push_back({group, barred.node});
  }
  board.group_shard.push_back(shard);
  board.flags.push_back({});
}

std::unique_ptr<Board> compile(const Cluster& cluster, const PlanOptions& options) {
  auto board = std::make_unique<Board>();
  Compiler(cluster, options, *board).run();
  return board;
}

}  // namespace evenkeel::place::detail
