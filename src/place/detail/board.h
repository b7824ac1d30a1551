#pragma once
// The board: a cluster laid out for the engine, and what has been decided on it so far.
//
// compile() makes it; the stages (stages.h) play on it, one after the other, in rounds; report() reads the plan off it. Nodes are in
// order of name here, whatever their order in the cluster, so that nothing depends on that. Workload w of the cluster is family w.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/model/cluster.h"
#include "evenkeel/place/engine.h"
#include "evenkeel/place/place.h"

namespace evenkeel::place::detail {

// Why a replica must leave its node, the strongest reason first; fine: it need not.
enum class Standing : std::uint8_t { fine, down, draining, unable, barred };

// What of a shard a limit on moves holds back.
enum class Wait : std::uint8_t { nothing = 0, leave = 1, count = 2, limit = 4, spread = 8, pin = 16 };

struct GroupFlags {
  bool moving : 1 = false;     // has a move in flight: gets no other
  bool no_quorum : 1 = false;  // more than half of its replicas are down, and nobody forces it
  bool fresh : 1 = false;      // placed for the first time in this plan
  bool made_room : 1 = false;  // moved in this round for another's sake, and stays until that one has come
  std::uint8_t waits = 0;      // a set of Wait, of this round
};

// One workload's groups: those that were there, and those that this plan adds.
struct Span {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t fresh_first = 0;
  std::uint32_t fresh_count = 0;  // shards count, count + 1, …
};

// A shard, perhaps one that is still to be placed, that may not be on a node of the board.
struct BarredShard {
  std::uint32_t workload = 0;
  std::uint32_t shard = 0;
  std::uint32_t node = 0;
  friend auto operator<=>(const BarredShard&, const BarredShard&) = default;
};

// Where a workload's loads are among the problem's rows.
struct LoadRows {
  std::uint32_t base = 0;
  std::uint32_t lead = none;
  std::uint32_t own_first = 0;  // those of shards with loads of their own, in the order of ShardLoads
};

struct PlannedMove {
  std::uint32_t group = 0;
  std::uint32_t from = none;  // nodes of the board
  std::uint32_t to = none;
  MoveReason reason = MoveReason::balance;
  std::uint32_t round = 0;
};

struct Board {
  const Cluster* cluster = nullptr;
  PlanOptions options;
  Problem problem;
  std::unique_ptr<State> state;

  // Nodes, in order of name.
  std::vector<NodeIndex> cluster_node;    // by node of the board
  std::vector<std::uint32_t> board_node;  // by node of the cluster
  std::vector<std::uint64_t> salt;        // a hash of seed and name
  std::vector<std::uint8_t> takes_part;   // in fair shares: up, or up without leaders
  std::vector<std::uint8_t> may_lead;
  std::vector<std::uint8_t> down;
  std::vector<std::vector<Standing>> standing_by;  // by class and node
  bool all_may_stay = true;                        // nobody must leave a node for what it is, whatever the class
  std::size_t disk = ~std::size_t{0};              // that resource's dimension, if there is one
  double disk_unit = 1;                            // what one unit of it is in the cluster's
  static constexpr double leader_weight = 0.01;    // of leaders' level, where everything level is about 1
  std::size_t resources = 0;                       // the first dimensions; the next is the number of replicas

  // Groups and replicas.
  std::vector<Span> spans;           // by workload
  std::vector<LoadRows> rows;        // by workload
  std::vector<Amount> lead_measure;  // by workload
  std::vector<std::uint32_t> group_shard;
  std::vector<GroupFlags> flags;     // by group
  std::vector<std::uint8_t> recent;  // by replica: balance leaves it alone; or empty
  std::vector<Moving> in_flight;     // those that go on
  std::vector<BarredShard> barred;   // sorted

  // Decided so far. A round is a set of moves that may all be done at once and in any order: limits hold although all arrive before any
  // leaves. The next round begins with their room free.
  std::vector<Cancelled> cancelled;
  std::vector<Refusal> refused;         // new shards
  std::vector<std::uint32_t> hopeful;   // replicas for which this round makes room: they find it in the next, or are refused
  std::vector<std::uint32_t> homeless;  // replicas that should move or be added and have nowhere to go: found anew in every round
  std::vector<Refusal> without_home;    // why those that are homeless in the end are: telling takes a look at every node
  std::vector<PlannedMove> moves;       // of the rounds before
  std::vector<std::uint32_t> node_moves;  // by node, in and out, in flight and earlier rounds included
  std::uint64_t moves_planned = 0;        // of all rounds
  std::vector<std::uint32_t> left_out;    // groups with a move for which no safe order was found
  std::uint32_t round = 1;
  bool waits = false;      // some shard waits for a limit on moves
  bool unsettled = false;  // some stage left something that a further round might do better
  bool heirs_stay = true;  // replicas that took over from a lost leader: until all else rests
  bool cut_short = false;
  std::uint64_t budget = 0;

  const Node& node(std::uint32_t n) const { return cluster->nodes[cluster_node[n].value()]; }
  const Workload& workload_of(std::uint32_t group) const { return cluster->workloads[problem.group_family[group]]; }
  const std::vector<std::uint8_t>& able(std::uint32_t group) const {
    return problem.able[problem.families[problem.group_family[group]].able];
  }
  Standing standing(std::uint32_t replica) const {
    const std::uint32_t at = state->at(replica);
    return at == none ? Standing::fine : standing(problem.replica_group[replica], at);
  }
  // Of a replica of the group, were it there.
  Standing standing(std::uint32_t group, std::uint32_t node) const {
    const Standing of_all = all_may_stay ? Standing::fine : standing_by[problem.families[problem.group_family[group]].able][node];
    return of_all == Standing::fine && problem.is_barred(group, node) ? Standing::barred : of_all;
  }
  // The nodes that a shard may not be on, whether or not it is placed yet.
  std::span<const BarredShard> barred_of(std::uint32_t workload, std::uint32_t shard) const {
    const auto first = std::ranges::lower_bound(barred, BarredShard{workload, shard, 0});
    const auto end = std::ranges::lower_bound(barred, BarredShard{workload, shard + 1, 0});
    return {first, end};
  }
  bool is_barred(std::uint32_t workload, std::uint32_t shard, std::uint32_t node) const {
    return std::ranges::binary_search(barred, BarredShard{workload, shard, node});
  }
  bool pinned(std::uint32_t replica) const { return replica < problem.frozen.size() && problem.frozen[replica] != 0; }
  bool is_recent(std::uint32_t replica) const { return replica < recent.size() && recent[replica] != 0; }
  // Whether two of the shard's replicas are in one domain of those it should be spread over.
  bool crowded(std::uint32_t group) const {
    const std::uint32_t partition = problem.families[problem.group_family[group]].partition;
    if (partition == none) return false;
    const std::uint32_t* domain = problem.partitions[partition].domain.data();
    const std::uint32_t* at = state->places().data();
    const std::uint32_t first = problem.group_first[group], end = problem.group_end(group);
    for (std::uint32_t i = first + 1; i < end; ++i) {
      if (at[i] == none) continue;
      for (std::uint32_t j = first; j < i; ++j) {
        if (at[j] != none && domain[at[i]] == domain[at[j]]) return true;
      }
    }
    return false;
  }
  // How many replicas of the shard have a home.
  std::uint32_t placed(std::uint32_t group) const {
    const std::uint32_t* at = state->places().data();
    std::uint32_t count = 0;
    for (std::uint32_t r = problem.group_first[group], end = problem.group_end(group); r < end; ++r)
      count += at[r] != none ? 1 : 0;
    return count;
  }
  // Groups with a replica on a node that some must leave, or that is barred, in order: nearly none, of a pass over all replicas that is
  // little else.
  std::vector<std::uint32_t> troubled_groups() const;
  // Whether the shard may get a move at all in this round.
  bool movable(std::uint32_t group) const { return !flags[group].moving && !flags[group].no_quorum; }

  // None: that shard is new and not placed.
  std::uint32_t group_of(std::uint32_t workload, std::uint32_t shard) const {
    const Span& span = spans[workload];
    if (shard < span.count) return span.first + shard;
    return shard < span.count + span.fresh_count ? span.fresh_first + shard - span.count : none;
  }
  // Which row of the problem's loads a replica of that shard carries, the shard's own or the workload's.
  std::uint32_t load_row(std::uint32_t workload, std::uint32_t shard) const;
  // Its workload's, or its own disk load in units, or 1.
  double move_cost(std::uint32_t replica) const;
  // Whether a replica may be moved at will in this round: nothing holds it, and no other of its shard moves.
  bool may_go(std::uint32_t replica) const { return may_leave(replica) && !(heirs_stay && took_over(replica)); }
  // The same where a hard rule asks: then one that took over from a lost leader may go too.
  bool may_leave(std::uint32_t replica) const;
  bool took_over(std::uint32_t replica) const {
    const std::uint32_t group = problem.replica_group[replica];
    return lost_leader(group) && state->leader(group) == replica;
  }
  bool is_down(std::uint32_t n) const { return down[n] != 0; }
  // The node that led at the start is down.
  bool lost_leader(std::uint32_t group) const {
    const std::uint32_t led = problem.origin_leader[group];
    return led != none && is_down(led);
  }
  // Its node held none of the shard's replicas at the start.
  bool arrives(std::uint32_t replica) const;
  // Groups that the rounds before have moved, in order.
  std::vector<std::uint32_t> moved_groups() const;
  // Its load, with what it carries as a leader.
  std::vector<Amount> carried(std::uint32_t replica) const;
  // Whether the limits on moves allow this one more; a replica that moves already in this round may still go elsewhere.
  bool may_move(std::uint32_t replica, std::uint32_t to) const;
  bool may_move_more(std::uint32_t count = 1) const;
  bool may_swap(std::uint32_t one, std::uint32_t other) const;
  // Something that should move waits for a limit on moves: found anew in every round.
  void wait(std::uint32_t group, Wait what) {
    waits = true;
    flags[group].waits |= static_cast<std::uint8_t>(what);
  }
  bool waits_for(std::uint32_t group, Wait what) const { return (flags[group].waits & static_cast<std::uint8_t>(what)) != 0; }
  // What this round has moved so far, and why; some perhaps twice, and some that are back.
  std::span<const std::pair<std::uint32_t, MoveReason>> moved() const { return touched_; }
  void begin_round();
  // Applies shifts, and remembers why.
  void move(const Trial& trial, MoveReason reason);
  // Writes the round's moves down, and lets them be done. False: nothing changed.
  bool end_round();
  bool out_of_budget();
  // The same by the caller's own word alone, asked at once.
  bool told_to_stop();

 private:
  std::vector<std::uint32_t> groups_on_troubled_nodes() const;
  bool fits_from_the_start(std::uint32_t replica, std::uint32_t to) const;
  void move_from_the_start(const Trial::Step& step);
  bool remember_peaks();
  void count_net_moves();

  std::vector<Amount>
      highest_;  // nodes × dimensions: the peaks of the rounds before, where something is placed for the first time
  std::vector<std::pair<std::uint32_t, MoveReason>> touched_;  // replicas of this round
  std::uint64_t asked_ = 0;
  bool stopped_ = false;
};

// The cluster must outlive it.
std::unique_ptr<Board> compile(const Cluster& cluster, const PlanOptions& options);

// One more shard of a workload, with so many replicas that have no home yet. The state does not know of it until it is resized.
void append_group(Board& board, std::uint32_t workload, std::uint32_t shard, std::uint32_t slots);

// The plan that the board stands for.
Plan report(const Board& board);

}  // namespace evenkeel::place::detail
