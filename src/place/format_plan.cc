#include <cmath>

#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::place {
namespace {

using Flow = Writer::Flow;

// A number in both syntaxes; neither has one for what is not finite.
void write_decimal(Writer& out, double value) { std::isfinite(value) ? out.number(format_decimal(value, 6)) : out.null(); }

class PlanWriter {
 public:
  PlanWriter(const Cluster& cluster, Syntax syntax) : cluster_(cluster), out_(syntax) {}

  std::string write(const Plan& plan, bool cores) {
    out_.begin_map();
    write_placement(plan.placement);
    if (cores) write_cores(plan.cores);
    write_moves(plan.moves);
    write_leaders(plan.leaders);
    write_cancelled(plan.cancelled);
    write_refused(plan.refused);
    write_violations(plan.violations);
    write_stats(plan.stats);
    out_.end_map();
    return std::move(out_).take();
  }

 private:
  void write_node(std::optional<NodeIndex> node) { node ? out_.text(cluster_.nodes[node->value()].name.str()) : out_.null(); }
  void begin_entry(const WorkloadId& workload, std::optional<ShardIndex> shard) {
    out_.begin_map(Flow::line).key("workload").text(workload.str()).key("shard");
    shard ? out_.number(shard->value()) : out_.null();
  }
  void write_ends(std::optional<NodeIndex> from, std::optional<NodeIndex> to) {
    out_.key("from");
    write_node(from);
    out_.key("to");
    write_node(to);
  }

  template <class Cell, class Write>
  void write_tables(std::string_view name, const std::map<WorkloadId, Rows<Cell>>& tables, const Write& write) {
    out_.key(name).begin_map();
    for (const auto& [workload, rows] : tables) {
      out_.key(workload.str()).begin_list();
      for (std::size_t shard = 0; shard < rows.size(); ++shard) {
        out_.begin_list(Flow::line);
        for (const Cell cell : rows[shard]) write(cell);
        out_.end_list();
      }
      out_.end_list();
    }
    out_.end_map();
  }
  void write_placement(const std::map<WorkloadId, Placement>& placement) {
    write_tables("placement", placement, [&](NodeIndex node) { write_node(node); });
  }
  void write_cores(const std::map<WorkloadId, Cores>& cores) {
    write_tables("cores", cores, [&](Core core) { out_.number(core.value()); });
  }

  void write_moves(const std::vector<Move>& moves) {
    out_.key("moves").begin_list();
    for (const Move& move : moves) {
      begin_entry(move.workload, move.shard);
      write_ends(move.from, move.to);
      out_.key("reason").text(name(move.reason)).key("step").number(move.step).end_map();
    }
    out_.end_list();
  }
  void write_leaders(const std::vector<LeaderChange>& leaders) {
    out_.key("leaders").begin_list();
    for (const LeaderChange& change : leaders) {
      begin_entry(change.workload, change.shard);
      write_ends(change.from, change.to);
      out_.end_map();
    }
    out_.end_list();
  }
  void write_cancelled(const std::vector<Cancelled>& cancelled) {
    out_.key("cancelled").begin_list();
    for (const Cancelled& move : cancelled) {
      begin_entry(move.workload, move.shard);
      write_ends(move.from, move.to);
      out_.key("reason").text(move.reason).end_map();
    }
    out_.end_list();
  }
  void write_refused(const std::vector<Refusal>& refused) {
    out_.key("refused").begin_list();
    for (const Refusal& refusal : refused) {
      begin_entry(refusal.workload, refusal.shard);
      out_.key("node");
      write_node(refusal.node);
      out_.key("reason").text(name(refusal.reason)).key("detail").text(refusal.detail).key("proved").flag(refusal.proved);
      out_.key("nodes").begin_map();
      for (const auto& [node, why] : refusal.nodes) out_.key(cluster_.nodes[node.value()].name.str()).text(why);
      out_.end_map().end_map();
    }
    out_.end_list();
  }
  void write_violations(const std::vector<Violation>& violations) {
    out_.key("violations").begin_list();
    for (const Violation& violation : violations) {
      begin_entry(violation.workload, violation.shard);
      out_.key("rule").text(name(violation.rule)).key("hard").flag(violation.hard).key("detail").text(violation.detail);
      out_.key("reason");
      violation.reason.empty() ? out_.null() : out_.text(violation.reason);
      out_.end_map();
    }
    out_.end_list();
  }

  void write_stats(const Stats& stats) {
    out_.key("stats").begin_map().key("seconds");
    write_decimal(out_, stats.seconds);
    out_.key("evaluated_moves").number(stats.evaluated_moves).key("moves").number(stats.moves);
    out_.key("moves_floor").number(stats.moves_floor).key("cut_short").flag(stats.cut_short);
    out_.key("balance").begin_map();
    for (const auto& [resource, balance] : stats.balance) {
      out_.key(resource.str()).begin_map(Flow::line).key("max_over_mean");
      write_decimal(out_, balance.max_over_mean);
      out_.key("floor");
      write_decimal(out_, balance.floor);
      out_.key("stddev_over_mean");
      write_decimal(out_, balance.stddev_over_mean);
      out_.key("max_over_mean_without_giants");
      balance.max_over_mean_without_giants ? write_decimal(out_, *balance.max_over_mean_without_giants) : void(out_.null());
      out_.end_map();
    }
    out_.end_map().end_map();
  }

  const Cluster& cluster_;
  Writer out_;
};

}  // namespace

std::string format_plan(const Cluster& cluster, const Plan& plan, Syntax syntax, bool cores) {
  return PlanWriter(cluster, syntax).write(plan, cores);
}

}  // namespace evenkeel::place
