// Why something has no home, in words: the bound that binds, and node by node.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "evenkeel/place/detail/above.h"
#include "evenkeel/place/detail/node_rules.h"
#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {

std::string why_not_new(const Board& board, std::uint32_t workload, std::span<const Amount> load, std::uint32_t node) {
  if (std::string why = why_takes_none(board.node(node), board.cluster->workloads[workload]); !why.empty()) return why;
  const Problem& problem = board.problem;
  for (std::size_t d = 0; d < problem.width(); ++d) {
    const Amount held = board.state->peak(node)[d];
    if (load[d] > 0 && held + load[d] > problem.limit[node * problem.width() + d])
      return why_above(problem, node, d, held, load[d]);
  }
  return {};
}

std::string why_not(const Board& board, std::uint32_t replica, std::uint32_t node) {
  const std::uint32_t group = board.problem.replica_group[replica];
  if (std::string why = why_takes_none(board.node(node), board.workload_of(group)); !why.empty()) return why;
  const auto row = board.state->row(group);
  if (std::ranges::find(row, node) != row.end()) return "it has a replica of this shard";
  const auto reasons = board.state->why_not(replica, node);
  return reasons.empty() ? "" : reasons.front();
}

namespace {

// How far a replica gets, rule by rule, on its way to a node.
enum class Step : std::uint8_t { up, labels, barred, distinct, spread, count, capacity, fits };

// What is asked of every node about one replica, looked up once: a lost zone's replicas ask each of thousands of nodes.
class Walk {
 public:
  Walk(const Board& board, std::uint32_t replica)
      : board_(board), problem_(board.problem), group_(board.problem.replica_group[replica]) {
    const Family& family = problem_.families[problem_.group_family[group_]];
    able_ = board.able(group_).data();
    load_ = problem_.load(problem_.replica_load[replica]);
    if (family.spread_hard && family.partition != none) domain_ = problem_.partitions[family.partition].domain.data();
    for (std::uint32_t r = problem_.group_first[group_]; r < problem_.group_end(group_); ++r) {
      const std::uint32_t at = board.state->at(r);
      held_.push_back(at);
      held_.push_back(board.state->home(r));
      if (r != replica && at != none && domain_ != nullptr) taken_.push_back(domain_[at]);
    }
  }

  Step step_of(std::uint32_t node) const {
    if (board_.takes_part[node] == 0) return Step::up;
    if (able_[node] == 0) return Step::labels;
    if (problem_.is_barred(group_, node)) return Step::barred;
    if (std::ranges::find(held_, node) != held_.end()) return Step::distinct;
    if (domain_ != nullptr && std::ranges::find(taken_, domain_[node]) != taken_.end()) return Step::spread;
    const Amount* peak = board_.state->peak(node).data();
    const Amount* limit = problem_.limit.data() + node * load_.size();
    const auto full = [&](std::size_t d) { return load_[d] > 0 && peak[d] + load_[d] > limit[d]; };
    if (full(board_.resources)) return Step::count;
    for (std::size_t d = 0; d < load_.size(); ++d) {
      if (full(d)) return Step::capacity;
    }
    return Step::fits;
  }

 private:
  const Board& board_;
  const Problem& problem_;
  std::uint32_t group_;
  const std::uint8_t* able_ = nullptr;
  std::span<const Amount> load_;
  std::vector<std::uint32_t> held_;        // nodes that the shard's replicas are on, or leave
  const std::uint32_t* domain_ = nullptr;  // by node, where spread is hard
  std::vector<std::uint32_t> taken_;       // of these, by the others
};

// Whether the replica would not even fit an empty node of those able.
bool beyond_any(const Board& board, std::uint32_t replica) {
  const Problem& problem = board.problem;
  const std::uint32_t group = problem.replica_group[replica];
  const auto load = problem.load(problem.replica_load[replica]);
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    if (board.able(group)[n] == 0 || problem.is_barred(group, n)) continue;
    bool fits = true;
    for (std::size_t d = 0; d < problem.width(); ++d) {
      const std::size_t cell = n * problem.width() + d;
      fits = fits && (load[d] == 0 || problem.base[cell] + load[d] <= problem.limit[cell]);
    }
    if (fits) return false;
  }
  return true;
}

std::string all_taken(std::uint32_t able, std::uint32_t barred) {
  if (barred == 0) return fmt::format("all {} nodes that are able hold a replica of this shard already", able);
  return fmt::format("of {} nodes that are able the shard is barred from {}, and the others hold a replica of it already", able,
                     barred);
}

}  // namespace

Refusal refusal_of(const Board& board, std::uint32_t replica) {
  const Problem& problem = board.problem;
  const std::uint32_t group = problem.replica_group[replica];
  const std::uint32_t at = board.state->at(replica);
  Refusal refusal{.workload = board.workload_of(group).name, .shard = ShardIndex(board.group_shard[group])};
  if (at != none) refusal.node = board.cluster_node[at];
  const Walk walk(board, replica);
  std::array<std::uint32_t, 8> stopped{};  // by how far they get
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    if (n == at) continue;
    ++stopped[static_cast<std::size_t>(walk.step_of(n))];
    if (refusal.nodes.size() >= board.options.reasons_max) continue;
    if (std::string why = why_not(board, replica, n); !why.empty())
      refusal.nodes.emplace_back(board.cluster_node[n], std::move(why));
  }
  // The last rule that some node gets to is the one that binds.
  std::size_t last = 0;
  for (std::size_t step = 0; step < stopped.size(); ++step) {
    if (stopped[step] > 0) last = step;
  }
  const auto total = static_cast<std::uint32_t>(problem.nodes - (at == none ? 0 : 1));
  const auto at_step = [&](Step step) { return stopped[static_cast<std::size_t>(step)]; };
  const std::uint32_t up = total - at_step(Step::up), able = up - at_step(Step::labels);
  switch (static_cast<Step>(last)) {
    case Step::up:
      refusal.reason = RefusalReason::nodes;
      refusal.detail = total == 0 ? "there is no other node" : fmt::format("none of {} other nodes is up", total);
      break;
    case Step::labels:
      refusal.reason = RefusalReason::labels;
      refusal.detail = fmt::format("none of {} nodes that are up has the labels and tolerated taints", up);
      break;
    case Step::barred:
      refusal.reason = RefusalReason::barred;
      refusal.detail = fmt::format("the shard is barred from all {} other nodes that are able", able);
      break;
    case Step::distinct:
      refusal.reason = at_step(Step::barred) > 0 ? RefusalReason::barred : RefusalReason::nodes;
      refusal.detail = all_taken(able, at_step(Step::barred));
      break;
    case Step::spread:
      refusal.reason = RefusalReason::spread;
      refusal.detail = "every domain with an able node has a replica of this shard already";
      break;
    case Step::count:
      refusal.reason = RefusalReason::count;
      refusal.detail = fmt::format("none of {} nodes has a free slot", at_step(Step::count));
      refusal.proved = false;
      break;
    case Step::capacity:
    case Step::fits:
      refusal.reason = RefusalReason::capacity;
      refusal.detail = fmt::format("none of {} nodes has room", at_step(Step::count) + at_step(Step::capacity));
      refusal.proved = beyond_any(board, replica);
      break;
  }
  return refusal;
}

}  // namespace evenkeel::place::detail
