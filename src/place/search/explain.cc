// Why a shard is where it is, node by node.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evenkeel/place/detail/node_rules.h"
#include "evenkeel/place/detail/stages.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place {

namespace detail {
namespace {

class Explainer {
 public:
  Explainer(const Board& board, const Plan& plan, const ShardId& shard, std::uint32_t workload, std::uint32_t group)
      : board_(board), state_(*board.state), plan_(plan), shard_(shard), workload_(workload), group_(group) {}

  Explanation run() {
    Explanation explanation{.shard = shard_};
    if (const auto placed = board_.cluster->placement.find(shard_.workload);
        placed != board_.cluster->placement.end() && shard_.shard.value() < placed->second.size()) {
      const auto row = placed->second[shard_.shard.value()];
      explanation.before.assign(row.begin(), row.end());
    }
    if (const auto placed = plan_.placement.find(shard_.workload);
        placed != plan_.placement.end() && shard_.shard.value() < placed->second.size()) {
      const auto row = placed->second[shard_.shard.value()];
      explanation.after.assign(row.begin(), row.end());
    }
    summarize(explanation);
    for (std::uint32_t n = 0; n < board_.problem.nodes; ++n) explanation.nodes.push_back(verdict(n, explanation));
    return explanation;
  }

 private:
  std::string node_name(std::optional<NodeIndex> node) const {
    return node ? board_.cluster->nodes[node->value()].name.str() : "nowhere";
  }
  const Workload& spec() const { return board_.cluster->workloads[workload_]; }
  bool mine(const auto& entry) const { return entry.workload == shard_.workload && entry.shard == shard_.shard; }

  void summarize(Explanation& explanation) const {
    auto& summary = explanation.summary;
    for (const Cancelled& cancelled : plan_.cancelled) {
      if (mine(cancelled)) {
        summary.push_back(fmt::format("the move from {} to {} is cancelled: {}", node_name(cancelled.from),
                                      node_name(cancelled.to), cancelled.reason));
      }
    }
    for (const Move& move : plan_.moves) {
      if (mine(move)) {
        summary.push_back(fmt::format("a replica moves from {} to {} in step {}: {}", node_name(move.from), node_name(move.to),
                                      move.step, name(move.reason)));
      }
    }
    for (const LeaderChange& change : plan_.leaders) {
      if (mine(change))
        summary.push_back(fmt::format("leadership passes from {} to {}", node_name(change.from), node_name(change.to)));
    }
    for (const Refusal& refusal : plan_.refused) {
      if (refusal.workload == shard_.workload && (!refusal.shard || refusal.shard == shard_.shard)) {
        summary.push_back(fmt::format("refused by {}: {}", name(refusal.reason), refusal.detail));
      }
    }
    for (const Violation& violation : plan_.violations) {
      if (!mine(violation)) continue;
      summary.push_back(fmt::format("breaks {} ({}): {}{}", name(violation.rule), violation.hard ? "hard" : "soft",
                                    violation.detail,
                                    violation.reason.empty() ? "" : fmt::format("; waits for {}", violation.reason)));
    }
    if (group_ == none) {
      if (summary.empty()) summary.push_back(std::string(not_this_time));
      return;
    }
    if (board_.flags[group_].moving) summary.push_back("it has a move in flight, so it gets no other");
    if (board_.flags[group_].no_quorum) summary.push_back("more than half of its replicas are down, so it is not touched");
    if (board_.flags[group_].fresh) summary.push_back("it is placed for the first time");
    if (summary.empty())
      summary.push_back(
          "nothing about it needs to change: every rule holds, and no move would make the load level enough to be worth it");
  }

  NodeVerdict verdict(std::uint32_t n, const Explanation& explanation) const {
    NodeVerdict verdict{.node = board_.cluster_node[n]};
    if (!explanation.after.empty() && explanation.after.front() == verdict.node) {
      verdict.kind = NodeVerdict::Kind::leads;
    } else if (std::ranges::find(explanation.after, verdict.node) != explanation.after.end()) {
      verdict.kind = NodeVerdict::Kind::holds;
    } else {
      return elsewhere(n, explanation);
    }
    const auto pins = spec().pinned.find(shard_.shard);
    if (std::ranges::find(pins, verdict.node) != pins.end()) verdict.reason = "pinned there";
    return verdict;
  }

  // A node that will not hold it: what forbids it, or what it would cost to have the replica there that is best moved.
  NodeVerdict elsewhere(std::uint32_t n, const Explanation& explanation) const {
    NodeVerdict verdict{.node = board_.cluster_node[n], .kind = NodeVerdict::Kind::cannot};
    const bool leaves = std::ranges::find(explanation.before, verdict.node) != explanation.before.end();
    if (group_ == none) return not_placed(n);
    verdict.reason = why_takes_none(board_.node(n), spec());
    if (verdict.reason.empty()) {
      Trial trial(state_);
      Cost best;
      bool may = false;
      for (std::uint32_t r = board_.problem.group_first[group_]; r < board_.problem.group_end(group_); ++r) {
        if (!state_.allowed(trial.shift(r, n))) {
          if (verdict.reason.empty()) verdict.reason = why_not(board_, r, n);
          continue;
        }
        const Cost cost = state_.delta(trial);
        if (!may || cost < best) best = cost;
        may = true;
      }
      if (may) verdict.kind = NodeVerdict::Kind::could, verdict.reason = words(best);
    }
    if (leaves) verdict.kind = NodeVerdict::Kind::leaves;
    return verdict;
  }

  // A new shard that has no home, on the board as its request found it.
  NodeVerdict not_placed(std::uint32_t n) const {
    NodeVerdict verdict{.node = board_.cluster_node[n], .kind = NodeVerdict::Kind::cannot, .reason = why_not_placed(n)};
    if (verdict.reason.empty()) verdict.kind = NodeVerdict::Kind::could, verdict.reason = not_this_time;
    return verdict;
  }

  std::string why_not_placed(std::uint32_t n) const {
    const auto row = board_.problem.load(board_.load_row(workload_, shard_.shard.value()));
    std::vector<Amount> load(row.begin(), row.end());
    if (board_.is_barred(workload_, shard_.shard.value(), n)) return std::string(barred_words);
    if (std::string why = why_not_new(board_, workload_, load, n); !why.empty()) return why;
    const auto pins = spec().pinned.find(shard_.shard);
    if (pins.size() >= spec().replicas && std::ranges::find(pins, board_.cluster_node[n]) == pins.end())
      return "the shard is pinned elsewhere";
    const auto refusal =
        std::ranges::find_if(plan_.refused, [&](const Refusal& one) { return one.workload == shard_.workload && !one.shard; });
    if (refusal == plan_.refused.end()) return {};
    const std::uint64_t room = room_for(load, n);
    if (const std::uint32_t lead = board_.rows[workload_].lead; lead != none) {
      for (std::size_t d = 0; d < load.size(); ++d) load[d] += board_.problem.load(lead)[d];
      if (std::string why = why_not_new(board_, workload_, load, n); !why.empty())
        return spec().replicas == 1 ? why : "could not lead it: " + why;
    }
    if (refusal->reason == RefusalReason::spread) {
      return fmt::format("has room, but {} may hold only one of the shard's {} replicas",
                         domain_name(board_.cluster->settings, spec(), board_.node(n)), spec().replicas);
    }
    return fmt::format("has room for {} like it, but the request is placed wholly or not at all", room);
  }

  // How many more such replicas a node could take, one of each new shard at the most.
  std::uint64_t room_for(std::span<const Amount> load, std::uint32_t n) const {
    Amount room = spec().shards - board_.spans[workload_].count;
    for (std::size_t d = 0; d < load.size(); ++d) {
      if (load[d] <= 0) continue;
      room = std::min(room, (board_.problem.limit[n * load.size() + d] - board_.state->peak(n)[d]) / load[d]);
    }
    return static_cast<std::uint64_t>(room);
  }

  static std::string words(const Cost& cost) {
    if (cost.tiers[Cost::spread] > 0) return "the shard would lie in fewer domains";
    if (cost.tiers[Cost::spread] < 0) return "the shard would lie in more domains";
    if (cost.tiers[Cost::affinity] > 0) return "it would be with what it should avoid, or without what it should be close to";
    if (cost.tiers[Cost::soft] > 0) return "a soft limit would be exceeded further";
    const double level = cost.tiers[Cost::level];
    if (std::abs(level) < 1e-9) return "load would be no more level";
    if (level > 0) return fmt::format("load would be less level (by {:.3g})", level);
    return fmt::format("load would be more level (by {:.3g}), but not by enough to be worth a move", -level);
  }

  static constexpr std::string_view not_this_time = "new shards are not placed in this part of planning";

  const Board& board_;
  const State& state_;
  const Plan& plan_;
  const ShardId& shard_;
  std::uint32_t workload_;
  std::uint32_t group_;  // none: it is new and not placed
};

}  // namespace

std::optional<std::uint32_t> workload_of(const Cluster& cluster, const ShardId& shard) {
  const auto found = std::ranges::find(cluster.workloads, shard.workload, &Workload::name);
  if (found == cluster.workloads.end() || shard.shard.value() >= found->shards) return std::nullopt;
  return static_cast<std::uint32_t>(found - cluster.workloads.begin());
}

Explanation explain(const Board& board, const Plan& plan, const ShardId& shard, std::uint32_t workload) {
  return Explainer(board, plan, shard, workload, board.group_of(workload, shard.shard.value())).run();
}

}  // namespace detail
}  // namespace evenkeel::place
