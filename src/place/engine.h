#pragma once
// The engine under the planner: a problem in flat arrays, its state, and what every change to it would cost.
//
// Nothing here knows of clusters or files. A problem is nodes with limits, and groups of replicas (a shard's; a service's processes) that
// each have a load vector. What may and may not be is said by rules, what is better by goals: one file each under rules/ and goals/, one
// line each in the table in terms.cc, and only those that the problem gives data for are asked. A public benchmark of another shape
// (bench/roadef.cc) is solved by the same code with other data.
//
//   Problem problem = …;                      // arrays, filled by who knows what they mean
//   State state(problem);                     // every replica at its origin
//   Trial trial(state);
//   trial.shift(replica, node);               // or swap, lead, chain
//   if (state.allowed(trial) && state.delta(trial) < Cost{}) state.apply(trial);
//
// Words: a *dimension* is what adds up on a node: a resource, or the number of replicas. *Usage* is what a node will hold in the end;
// *peak* counts a replica that leaves until it has left, and one that arrives from the start. A *family* is what groups share (a
// workload). A *partition* cuts the nodes into domains (a zone level is one). *None* is the node of a replica that has no home.
//
// Loads are whole numbers of the dimension's own unit, so usage is exact whatever the order of changes. Costs are doubles computed from
// those whole numbers each time anew: they do not drift, and with the same build they are the same everywhere.
//
// Cost: a shift, swap or lead is evaluated in O(dimensions + replicas of the group), never in O(nodes). One thread at a time.

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/rng.h"

namespace evenkeel::place {

using Amount = std::int64_t;
inline constexpr Amount unlimited = Amount{1} << 61;  // two of them still add
inline constexpr std::uint32_t none = ~std::uint32_t{0};

// Goals in tiers: what is in an earlier one outweighs everything in later ones.
struct Cost {
  enum Tier : std::uint8_t { spread, affinity, soft, level, last };  // last: leaders, and what moves cost
  std::array<double, 5> tiers{};

  static Cost of(Tier tier, double value) {
    Cost cost;
    cost.tiers[tier] = value;
    return cost;
  }
  Cost& operator+=(const Cost& other) {
    for (std::size_t i = 0; i < tiers.size(); ++i) tiers[i] += other.tiers[i];
    return *this;
  }
  friend Cost operator+(Cost a, const Cost& b) { return a += b; }
  friend std::partial_ordering operator<=>(const Cost& a, const Cost& b) { return a.tiers <=> b.tiers; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

struct Dimension {
  std::string name;
  bool held = true;         // a replica that leaves counts in the peak until it has left
  double soft_weight = 0;   // of each unit above a node's soft limit; 0: no such goal
  double level_weight = 0;  // of Σ usage² / share; 0: no such goal
  Cost::Tier soft_tier = Cost::soft;
  bool counts = false;  // shown to people as whole numbers, not as parts of a capacity
};

struct Partition {
  std::vector<std::uint32_t> domain;  // by node
  std::uint32_t domains = 0;
};

struct Family {
  std::string name;
  std::uint32_t able = 0;          // which of Problem::able
  std::uint32_t partition = none;  // spread is over its domains; none: no spread
  std::uint32_t spread_least = 0;  // in at least so many domains, or in as many as there are replicas if those are fewer
  bool spread_hard = false;
  std::vector<std::uint32_t> apart_from;  // families
  std::vector<std::uint32_t> close_to;
  // Every domain of Problem::dependency_partition that holds one of ours holds one of each of these.
  std::vector<std::uint32_t> depends_on;
  double own_weight = 0;        // of Σ measure² / own share over the nodes: the family level by itself; 0: no such goal
  std::uint32_t own_share = 0;  // which of Problem::own_shares
  double lead_weight = 0;       // the same for its leaders' measures over Problem::leader_share
};

// A group that may not come to a node, nor stay there.
struct Bar {
  std::uint32_t group = 0;
  std::uint32_t node = 0;
  friend auto operator<=>(const Bar&, const Bar&) = default;
};

// Per unit of `ratio` × free(first) that free(second) falls short: used by problems that want two dimensions free together.
struct FreePair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  Amount ratio = 0;
  double weight = 0;
};

struct Problem {
  // Nodes × dimensions, row by row.
  std::vector<Dimension> dimensions;
  std::uint32_t nodes = 0;
  std::vector<Amount> limit;      // neither usage nor peak may rise above it
  std::vector<Amount> soft;       // goal: usage at or below it
  std::vector<Amount> base;       // usage by what is not managed
  std::vector<Amount> base_held;  // the same in the peak only: the sources of moves that are in flight
  std::vector<double> share;      // goal: usage in proportion to it; 0: takes no part in levels
  std::vector<Amount> capacity;   // for FreePair, and for people: usage is shown in parts of it
  std::vector<double>
      limit_part;  // by node: the part of its capacity that is its limit, for people; or empty: that of the numbers
  std::vector<Partition> partitions;
  std::uint32_t dependency_partition = none;
  std::vector<std::vector<std::uint8_t>> able;   // classes of families: 1 where a node may receive one of theirs
  std::vector<std::vector<std::uint8_t>> avoid;  // parallel to able: 1 where it had better not; or empty

  // Families, groups, replicas. Groups and replicas are in order, a group's replicas side by side.
  std::vector<Family> families;
  std::vector<std::uint32_t> group_family;
  std::vector<std::uint32_t> group_first{0};  // groups + 1: its first replica
  std::vector<std::uint32_t> group_lead;      // which row of loads its leader carries on top; none; or empty: no leaders
  std::vector<std::uint32_t> origin_leader;   // parallel: the node of the replica that leads at the start, or none
  std::vector<std::uint32_t> replica_group;
  std::vector<std::uint32_t> replica_load;  // its row of `loads`
  std::vector<std::uint32_t> origin;        // its node at the start, or none
  std::vector<std::uint8_t> frozen;         // 1: it stays; or empty
  std::vector<Bar> barred;                  // sorted
  bool bars = false;                        // whether some are barred, or groups that are still to come will be
  std::vector<Amount> loads;                // rows × dimensions
  std::vector<Amount> measures;             // by row: its size in its family's own balance; or empty: no such goal
  std::vector<Amount> lead_measures;        // by group: its size in the leaders' balance; or empty: no such goal

  // Weights of goals that are no dimension's.
  std::vector<std::vector<double>> own_shares;  // by kind and node: its fair part of a family; 0: takes no part
  double leader_level_weight = 0;               // Σ over nodes of lead measure² / leader share
  std::vector<double> leader_share;             // by node
  std::vector<FreePair> free_pairs;
  double move_weight = 0;              // of a moved replica's cost
  std::vector<double> move_cost;       // by replica
  double between_weight = 0;           // of the cost between two nodes
  std::vector<std::uint32_t> between;  // nodes × nodes, or empty
  double most_moved_weight = 0;        // of the largest number of moved replicas in one group
  bool distinct_at_peak = true;        // a node that a replica of the group is leaving is not free for another

  std::uint32_t groups() const { return static_cast<std::uint32_t>(group_family.size()); }
  std::uint32_t replicas() const { return static_cast<std::uint32_t>(replica_group.size()); }
  std::size_t width() const { return dimensions.size(); }
  std::span<const Amount> load(std::uint32_t row) const { return std::span(loads).subspan(row * width(), width()); }
  std::uint32_t group_end(std::uint32_t group) const { return group_first[group + 1]; }
  bool is_barred(std::uint32_t group, std::uint32_t node) const {
    return !barred.empty() && std::ranges::binary_search(barred, Bar{group, node});
  }
};

class State;

// A change that is looked at: which replicas would go where, and what that does to the nodes it touches. That is added up when it is first
// asked for, so that a change which a look at its steps refuses costs little. A Trial is for one thread.
class Trial {
 public:
  struct Step {
    std::uint32_t replica;
    std::uint32_t from;  // none: it had no home
    std::uint32_t to;    // none: it is dropped
  };
  struct Touched {
    std::uint32_t node;
    std::span<const Amount> usage;  // what is added, by dimension
    std::span<const Amount> peak;
  };
  static constexpr std::size_t steps_max = 16;

  explicit Trial(const State& state);

  // Each of these begins anew. Replicas of one trial are different ones; `to` is never where the replica is.
  Trial& shift(std::uint32_t replica, std::uint32_t to);
  Trial& swap(std::uint32_t one, std::uint32_t other);
  Trial& lead(std::uint32_t group, std::uint32_t replica);  // that replica leads from now on
  Trial& chain(std::span<const Step> steps);
  // One more step on top of those there.
  Trial& also(std::uint32_t replica, std::uint32_t to);
  // The change that undoes this one, to be built before it is applied and applied after.
  void invert(Trial& inverse) const;

  std::span<const Step> steps() const { return {steps_.data(), size_}; }
  std::size_t touched() const {
    if (summed_ < size_ || leads() != lead_summed_) sum();
    return touched_;
  }
  Touched touched(std::size_t at) const;
  // A shift or a swap of what the replicas carry by themselves: what it does to the nodes is seen from its steps.
  bool plain() const { return plain_; }
  bool leads() const { return lead_group_ != none; }
  std::uint32_t lead_group() const { return lead_group_; }
  std::uint32_t lead_from() const { return lead_from_; }  // replicas
  std::uint32_t lead_to() const { return lead_to_; }
  // Where a replica will be: its step's end, else where it is.
  std::uint32_t will_be(std::uint32_t replica) const;

 private:
  friend class State;
  void clear();
  void add(std::uint32_t replica, std::uint32_t from, std::uint32_t to);
  bool carries_lead(std::uint32_t replica) const;
  void sum() const;
  void sum_step(const Step& step) const;
  void sum_lead() const;
  void add_row(std::uint32_t row, std::uint32_t node, std::uint32_t home, int sign) const;
  std::size_t touch(std::uint32_t node) const;

  const State* state_;
  std::array<Step, steps_max> steps_{};
  std::size_t size_ = 0;
  bool plain_ = false;
  std::uint32_t lead_group_ = none, lead_from_ = none, lead_to_ = none;
  // What the steps add up to, as far as they were summed.
  mutable std::size_t summed_ = 0;
  mutable bool lead_summed_ = false;
  mutable std::size_t touched_ = 0;
  mutable std::array<std::uint32_t, 2 * steps_max + 2> nodes_{};
  mutable std::vector<Amount> amounts_;  // two rows for each touched node
};

// A rule or a goal. Implementations keep what they count; they are told of a change before the state's own arrays change.
class Term {
 public:
  virtual ~Term() = default;
  virtual std::string_view name() const = 0;
  // Rules: whether the change leaves the rule no more broken than it was.
  virtual bool allows(const State&, const Trial&) const { return true; }
  // Why that replica cannot go there, in words; empty if this rule does not mind.
  virtual std::string why_not(const State&, std::uint32_t /*replica*/, std::uint32_t /*node*/) const { return {}; }
  // Goals: what the change adds, on top of what is there. A search asks this millions of times a second, and most goals know one tier.
  virtual void add_delta(const State&, const Trial&, Cost&) const {}
  // The whole, right after `reset`: what the sum of all deltas must be equal to.
  virtual Cost whole(const State&) const { return {}; }
  virtual void apply(const State&, const Trial&) {}
  // Count anew.
  virtual void reset(const State&) {}
  // Groups from this one on are new, and where they are.
  virtual void grow(const State& state, std::uint32_t /*first_group*/) { reset(state); }
  // Homes are where things are now.
  virtual void settle(const State&) {}
};

class State {
 public:
  explicit State(const Problem& problem);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const Problem& problem() const { return *problem_; }
  std::uint32_t at(std::uint32_t replica) const { return at_[replica]; }
  // The same of all replicas, for passes over a million of them.
  std::span<const std::uint32_t> places() const { return at_; }
  std::uint32_t home(std::uint32_t replica) const { return home_[replica]; }  // where it was when things last settled
  std::span<const std::uint32_t> row(std::uint32_t group) const {
    return std::span(at_).subspan(problem_->group_first[group], problem_->group_end(group) - problem_->group_first[group]);
  }
  std::uint32_t leader(std::uint32_t group) const { return leader_[group]; }            // a replica, or none
  std::uint32_t leader_home(std::uint32_t group) const { return leader_home_[group]; }  // a node, or none
  std::span<const Amount> usage(std::uint32_t node) const { return std::span(usage_).subspan(node * width_, width_); }
  std::span<const Amount> peak(std::uint32_t node) const { return std::span(peak_).subspan(node * width_, width_); }
  // The replicas that will be on a node, in no order that means anything; from the first call on the lists are kept.
  std::span<const std::uint32_t> replicas_on(std::uint32_t node);

  bool allowed(const Trial& trial) const;
  // The same in two parts: the limits, which refuse most and cost least, and all other rules.
  bool has_room(const Trial& trial) const { return limits_ == nullptr || limits_->allows(*this, trial); }
  bool allowed_but_for_room(const Trial& trial) const;
  Cost delta(const Trial& trial) const;
  void apply(const Trial& trial);
  // Every rule that forbids it, in words; empty: it may.
  std::vector<std::string> why_not(std::uint32_t replica, std::uint32_t node) const;
  // The first rule that forbids it; null: it may.
  const Term* forbids(const Trial& trial) const;

  Cost whole() const;  // from nothing, O(problem), but for usage
  // Whether usage and peaks are what counting from nothing gives; O(problem).
  bool adds_up() const;
  // What moved has arrived and what left is gone: homes are where things are. False: nothing had moved, and nobody else leads.
  bool settle() {
    return settle([](std::uint32_t) { return true; });
  }
  // The same for some groups only.
  bool settle(const std::function<bool(std::uint32_t group)>& which);
  // A settled group's replicas, which are all alike, change places among the nodes that they are on: `row` says who is where.
  void reorder(std::uint32_t group, std::span<const std::uint32_t> row);
  // Groups were added at the end of the problem: they are at their origins.
  void grow();
  std::uint64_t evaluated() const { return evaluated_; }
  void count_evaluated(std::uint64_t more) { evaluated_ += more; }
  const std::vector<std::unique_ptr<Term>>& terms() const { return terms_; }

 private:
  void move(std::uint32_t replica, std::uint32_t to);
  void start(std::uint32_t first_group);
  void release(std::uint32_t row, std::uint32_t node);

  const Problem* problem_;
  std::size_t width_;
  std::vector<std::uint32_t> at_, home_, leader_, leader_home_;
  std::vector<Amount> usage_, peak_;
  std::vector<std::uint32_t> displaced_;  // replicas that moved since things settled; some of them may be back
  std::vector<std::uint8_t> is_displaced_;
  std::vector<std::uint32_t> displaced_leaders_;  // groups
  std::vector<std::vector<std::uint32_t>> on_;    // by node, once asked for
  std::vector<std::uint32_t> place_in_on_;        // by replica
  bool listed_ = false;
  mutable std::uint64_t evaluated_ = 0;
  std::vector<std::unique_ptr<Term>> terms_;  // rules, then goals
  std::size_t rules_ = 0;
  const Term* limits_ = nullptr;  // one of the rules
};

// The rules and the goals that a problem has data for (terms.cc).
std::vector<std::unique_ptr<Term>> make_rules(const Problem& problem);
std::vector<std::unique_ptr<Term>> make_goals(const Problem& problem);

// General search by shift, swap and chains: lowers state's cost until the budget of evaluated changes is spent or `stop` says so. The best
// state found is what `state` is left in. It never breaks a rule that holds.
//
// Bold: everything may be rearranged, and costs of moves count for what they are; for tight problems. Thrifty: on the way, being away from
// home has a price of its own, which falls with the temperature: so what gains most, the large replicas, moves first, and few move at all.
// Thrifty is the better one where moves are a good part of the cost, or where time is short for the size of the problem. Which of the two
// ends better is hard to tell beforehand: who has two cores runs both, each on its own state (bench/roadef.cc). Fine: the state is good already
// and only what is uneven is to be put right, and nobody's home matters; for what is placed for the first time (search/refine.cc).
enum class Manner : std::uint8_t { bold, thrifty, fine };
// What searches side by side tell each other: where everything is, and what that costs more than their common start does.
struct Meeting {
  Manner manner = Manner::thrifty;
  Cost cost;
  std::vector<std::uint32_t> at, leader;  // by replica, by group; empty where only costs are compared
};
struct ImproveOptions {
  std::uint64_t budget = 0;       // changes tried; 0: no bound
  std::function<bool()> stop;     // asked every thousand changes or so
  std::function<double()> spent;  // likewise: which part of a limit of the caller's own is gone; at 1 the search ends
  Manner manner = Manner::thrifty;
  std::vector<std::uint8_t> movable;  // by replica: 0 where it stays; empty: all but the frozen ones may be moved
  // For searches side by side, with one start, one limit and both manners: called at a few points of the limit with what this one has, gives
  // back what the one with the least cost has, and of equal ones the first (search/detail/meet.h). Threads and waiting are the caller's.
  std::function<Meeting(Meeting)> meet;
};
void improve(State& state, Rng& rng, const ImproveOptions& options);

}  // namespace evenkeel::place
