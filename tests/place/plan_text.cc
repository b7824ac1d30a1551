#include "tests/place/plan_text.h"

#include <algorithm>

namespace evenkeel::place {
namespace {

class Writer {
 public:
  Writer(const Cluster& cluster, const Plan& plan) : cluster_(cluster), plan_(plan) {}

  std::string take() { return std::move(out_); }

  void rows() {
    for (const auto& [workload, rows] : plan_.placement) {
      if (rows.empty()) add("{}: no shards\n", workload);
      for (std::size_t shard = 0; shard < rows.size(); ++shard) row(workload, rows, shard);
    }
  }
  void counts() {
    std::vector<std::pair<std::size_t, std::size_t>> counts(cluster_.nodes.size());
    for (const auto& [workload, rows] : plan_.placement) {
      for (std::size_t shard = 0; shard < rows.size(); ++shard) {
        for (const NodeIndex node : rows[shard]) ++counts[node.value()].first;
        if (!rows[shard].empty()) ++counts[rows[shard].front().value()].second;
      }
    }
    for (std::size_t i = 0; i < counts.size(); ++i)
      add("{}: holds {}, leads {}\n", cluster_.nodes[i].name, counts[i].first, counts[i].second);
  }
  void lists() {
    for (const Move& m : plan_.moves)
      add("move {}/{} {} -> {} {} step {}\n", m.workload, m.shard, name(m.from), name(m.to), place::name(m.reason), m.step);
    for (const LeaderChange& c : plan_.leaders) add("leader {}/{} {} -> {}\n", c.workload, c.shard, name(c.from), name(c.to));
    for (const Cancelled& c : plan_.cancelled)
      add("cancelled {}/{} {} -> {}: {}\n", c.workload, c.shard, name(c.from), name(c.to), c.reason);
    for (const Refusal& r : plan_.refused) refusal(r);
    for (const Violation& v : plan_.violations) {
      add("violation {}{} {} {}: {}{}\n", v.workload, shard(v.shard), place::name(v.rule), v.hard ? "hard" : "soft", v.detail,
          v.reason.empty() ? "" : ", waits for " + v.reason);
    }
  }
  void stats() {
    const Stats& s = plan_.stats;
    add("evaluated {}, moves {} of at least {}{}\n", s.evaluated_moves, s.moves, s.moves_floor, s.cut_short ? ", cut short" : "");
    for (const auto& [resource, b] : s.balance)
      add("{}: {} floor {} stddev {}{}\n", resource, b.max_over_mean, b.floor, b.stddev_over_mean,
          b.max_over_mean_without_giants ? fmt::format(" without giants {}", *b.max_over_mean_without_giants) : "");
  }

 private:
  template <class... T>
  void add(fmt::format_string<T...> text, T&&... values) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<T>(values)...);
  }
  std::string name(const std::optional<NodeIndex>& node) const {
    return node ? cluster_.nodes[node->value()].name.str() : "null";
  }
  static std::string shard(const std::optional<ShardIndex>& shard) { return shard ? fmt::format("/{}", *shard) : ""; }
  void row(const WorkloadId& workload, const Placement& rows, std::size_t shard) {
    add("{}/{}:", workload, shard);
    const auto cores = plan_.cores.find(workload);
    for (std::size_t i = 0; i < rows[shard].size(); ++i) {
      add(" {}", name(rows[shard][i]));
      if (cores != plan_.cores.end()) add(" core {}", cores->second[shard][i]);
    }
    add("\n");
  }
  void refusal(const Refusal& r) {
    add("refused {}{}{} {} {}: {}\n", r.workload, shard(r.shard), r.node ? " on " + name(r.node) : "", place::name(r.reason),
        r.proved ? "proved" : "not proved", r.detail);
    for (const auto& [node, why] : r.nodes) add("  {}: {}\n", name(node), why);
  }

  const Cluster& cluster_;
  const Plan& plan_;
  std::string out_;
};

}  // namespace

std::string plan_text(const Cluster& cluster, const Plan& plan) {
  Writer writer(cluster, plan);
  writer.rows();
  writer.lists();
  return writer.take();
}

std::string plan_summary(const Cluster& cluster, const Plan& plan) {
  Writer writer(cluster, plan);
  writer.counts();
  writer.lists();
  return writer.take();
}

std::string whole_text(const Cluster& cluster, const Plan& plan) {
  Writer writer(cluster, plan);
  writer.rows();
  writer.lists();
  writer.stats();
  return writer.take();
}

}  // namespace evenkeel::place
