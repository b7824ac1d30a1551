// Balance: nodes that are too empty are filled from the fullest, then nodes that are too full give away; nobody else is touched.
//
// A node takes part once it is further from its fair share than the tolerance, and then goes on to the level. Pairs of nodes are looked
// at by what the level goals alone say, which is cheap; only the best few candidates are asked of all rules and goals.

#include <algorithm>
#include <array>
#include <cmath>

#include "evenkeel/base/hash.h"
#include "evenkeel/place/detail/finder.h"
#include "evenkeel/place/detail/levels.h"
#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

// A move must bring the two nodes nearer to each other by this part of the fair share, or it is not worth its while.
constexpr double worth = 1e-3;
// What costs nothing goes on until no node is further than this from its fair share.
constexpr double fresh_level_enough = 2e-4;
// Who would be left with a gap gives last: no score is that large.
constexpr double smaller_gap = 1e3;
constexpr std::size_t pair_partners = 4;     // of each kind: of all nodes, and of the node's own domains
constexpr std::size_t donors = 2;            // the same, of a node that is being filled: it takes one replica from each in turn
constexpr std::size_t all_pairs_nodes = 64;  // in clusters up to this size everybody is a partner
constexpr std::uint32_t few_replicas = 500'000;
constexpr std::size_t asked = 4;  // candidates of each pair of nodes that are asked of every rule and goal

class Balancer {
 public:
  // Only what is placed for the first time, which costs nothing to move: every node is brought to the level.
  enum class Scope : std::uint8_t { all, fresh };

  Balancer(Board& board, Scope scope)
      : board_(board),
        fresh_(scope == Scope::fresh),
        state_(*board.state),
        levels_(board),
        trial_(state_),
        setting_(static_cast<double>(board.cluster->settings.tolerance.millionths()) / 1e6),
        tolerance_(fresh_ ? fresh_level_enough : setting_) {}

  void run() {
    find_minded();
    if (fresh_) return level_all();
    please();
    fill();
    relieve();
    unbunch();
  }

 private:
  struct Candidate {
    double score = 0;
    std::uint32_t replica = none;
    std::uint32_t to = none;
    std::uint32_t other = none;  // goes the other way, in a swap
    double dear = 0;             // what it costs to move: among equals the cheaper one goes
  };

  bool free(std::uint32_t replica) const {
    if (fresh_ && !board_.flags[board_.problem.replica_group[replica]].fresh) return false;
    return !board_.is_recent(replica) && board_.may_go(replica) && board_.standing(replica) == Standing::fine;
  }
  bool out() {
    if (fresh_) return board_.out_of_budget();
    if (!board_.may_move_more()) board_.cut_short = true;
    return !board_.may_move_more() || board_.out_of_budget();
  }

  // Whether a change is for the better, by more than it is worth.
  bool better(const Cost& cost, double size) const {
    for (const Cost::Tier tier : {Cost::spread, Cost::affinity, Cost::soft}) {
      if (std::abs(cost.tiers[tier]) > 1e-12) return cost.tiers[tier] < 0;
    }
    return cost.tiers[Cost::level] < -(fresh_ ? fresh_level_enough / 100 : worth) * size;
  }

  // What rules and earlier goals will most likely say, looked up in no time: able, not in a domain that the shard has already, and of a
  // workload that nobody minds.
  bool likely(std::uint32_t replica, std::uint32_t to) const {
    const Problem& problem = board_.problem;
    const std::uint32_t group = problem.replica_group[replica], f = problem.group_family[group];
    const Family& family = problem.families[f];
    if (problem.able[family.able][to] == 0) return false;
    if (problem.nodes > all_pairs_nodes && minded_[f] != 0) return false;
    if (family.partition == none) return true;
    const auto& domain = problem.partitions[family.partition].domain;
    if (domain[to] == domain[state_.at(replica)]) return true;
    for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
      if (r != replica && state_.at(r) != none && domain[state_.at(r)] == domain[to]) return false;
    }
    return true;
  }

  // Workloads that are apart from or close to others, or are such others: in large clusters those without are enough to level with.
  void find_minded() {
    const auto& families = board_.problem.families;
    minded_.assign(families.size(), 0);
    for (std::uint32_t f = 0; f < families.size(); ++f) {
      for (const auto* others : {&families[f].apart_from, &families[f].close_to}) {
        for (const std::uint32_t other : *others) minded_[f] = minded_[other] = 1;
      }
    }
    if (std::ranges::find(minded_, 0) == minded_.end()) minded_.assign(families.size(), 0);
  }

  // No node that receives ends higher than this above its fair share.
  bool below_ceiling() const {
    const Problem& problem = board_.problem;
    for (std::size_t i = 0; i < trial_.touched(); ++i) {
      const Trial::Touched touched = trial_.touched(i);
      for (std::size_t d = 0; d < problem.width(); ++d) {
        const double share = problem.share[touched.node * problem.width() + d];
        if (touched.usage[d] <= 0 || !levels_.levelled(d) || share <= 0) continue;
        const double after = levels_.above_fair(touched.node, d) + static_cast<double>(touched.usage[d]);
        if (after > ceiling_ * share * levels_.fair(d)) return false;
      }
    }
    return true;
  }

  void keep(std::vector<Candidate>& best, Candidate candidate) const {
    if (best.size() == asked && candidate.score < best.back().score) return;
    if (!likely(candidate.replica, candidate.to)) return;
    if (candidate.other != none && !likely(candidate.other, state_.at(candidate.replica))) return;
    candidate.dear = board_.move_cost(candidate.replica);
    const auto later = [](const Candidate& a, const Candidate& b) {
      return std::tuple(-a.score, a.dear, a.replica, a.to, a.other) < std::tuple(-b.score, b.dear, b.replica, b.to, b.other);
    };
    const auto place = std::ranges::upper_bound(best, candidate, later);
    if (best.size() == asked && place == best.end()) return;
    if (best.size() == asked) best.pop_back();
    best.insert(std::ranges::upper_bound(best, candidate, later), candidate);
  }

  Trial& try_out(const Candidate& candidate) {
    return candidate.other == none ? trial_.shift(candidate.replica, candidate.to)
                                   : trial_.swap(candidate.replica, candidate.other);
  }

  // The best of these that every rule allows and that is for the better; applied. False: none.
  bool apply_best(const std::vector<Candidate>& candidates, MoveReason reason) {
    const Candidate* best = nullptr;
    Cost best_cost;
    for (const Candidate& candidate : candidates) {
      const bool swaps = candidate.other != none;
      const bool may =
          board_.may_move(candidate.replica, candidate.to) && (!swaps || board_.may_swap(candidate.replica, candidate.other));
      if (!may) leave_to_next_run(candidate.replica);
      if (!may && board_.cut_short) continue;
      const double size = levels_.size(candidate.replica) + (swaps ? levels_.size(candidate.other) : 0);
      if (!state_.allowed(try_out(candidate)) || !below_soft() || !below_ceiling()) continue;
      const Cost cost = state_.delta(trial_);
      if (!better(cost, size)) continue;
      if (!may) {
        board_.cut_short = true;
        continue;
      }
      const bool first = best == nullptr || cost < best_cost || (cost == best_cost && candidate.dear < best->dear);
      if (first) best = &candidate, best_cost = cost;
    }
    if (best == nullptr) return false;
    board_.move(try_out(*best), reason);
    levels_.update(trial_);
    return true;
  }

  // A limit on moves stands in the way. What is placed for the first time has none, and is left only if it would be better elsewhere once
  // others have left.
  void leave_to_next_run(std::uint32_t replica) {
    if (!board_.flags[board_.problem.replica_group[replica]].fresh) board_.cut_short = true;
  }

  // Balancing lifts no node above its soft limit.
  bool below_soft() const {
    const Problem& problem = board_.problem;
    for (std::size_t i = 0; i < trial_.touched(); ++i) {
      const Trial::Touched touched = trial_.touched(i);
      for (std::size_t d = 0; d < board_.resources; ++d) {
        const Amount after = state_.usage(touched.node)[d] + touched.usage[d];
        if (touched.usage[d] > 0 && after > problem.soft[touched.node * problem.width() + d]) return false;
      }
    }
    return true;
  }

  void partners_of(std::uint32_t node, bool fullest, std::vector<std::uint32_t>& found) const {
    const std::size_t many = fullest ? donors : pair_partners;
    const std::size_t most = board_.problem.nodes <= all_pairs_nodes ? all_pairs_nodes : many;
    fullest ? levels_.fullest(node, most, found) : levels_.emptiest(node, most, found);
  }

  // Twice, since what is done against bunching is undone by nobody, and may leave a node higher than before.
  void level_all() {
    if (board_.problem.nodes <= all_pairs_nodes) {
      please();
      fill();
    }
    relieve();
    unbunch();
    relieve();
  }

  // What no level asks for: replicas on nodes that they should avoid, or with those that they should be apart from.
  void please() {
    if (std::ranges::none_of(state_.terms(),
                             [](const auto& term) { return term->name() == "affinity" || term->name() == "avoid"; }))
      return;
    Finder finder(board_);
    for (std::uint32_t replica = 0; replica < board_.problem.replicas(); ++replica) {
      const std::uint32_t at = state_.at(replica);
      if (at == none || !minded(replica) || !free(replica) || board_.node(at).status == NodeStatus::cordoned) continue;
      if (out()) return;
      const Finder::Choice choice = finder.best(replica);
      if (pleases(finder.barred())) board_.cut_short = true;
      if (!pleases(choice)) continue;
      trial_.shift(replica, choice.node);
      if (!below_soft()) continue;
      board_.move(trial_, MoveReason::rules);
      levels_.update(trial_);
    }
  }

  static bool pleases(const Finder::Choice& choice) {
    return choice.node != none && choice.cost.tiers[Cost::spread] <= 0 && choice.cost.tiers[Cost::affinity] < 0;
  }

  // Whether the replica's leaving its node would please somebody.
  bool minded(std::uint32_t replica) {
    const Family& family = board_.problem.families[family_of(board_.problem, replica)];
    if (family.apart_from.empty() && family.close_to.empty() && board_.problem.avoid[family.able].empty()) return false;
    trial_.shift(replica, none);
    for (const auto& term : state_.terms()) {
      if (term->name() != "affinity" && term->name() != "avoid") continue;
      Cost gone;
      term->add_delta(state_, trial_, gone);
      if (gone.tiers[Cost::affinity] < 0) return true;
    }
    return false;
  }

  // Nodes below the tolerance, the emptiest first, are filled up to the level.
  void fill() {
    std::vector<std::uint32_t> cold;
    for (std::uint32_t n = 0; n < board_.problem.nodes; ++n) {
      if (board_.takes_part[n] != 0 && levels_.lowest(n) < -least_lack(n)) cold.push_back(n);
    }
    std::ranges::sort(cold, {}, [&](std::uint32_t n) { return std::tuple(levels_.lowest(n), board_.salt[n], n); });
    // One replica each in turn, so that none is filled from what another could have had.
    while (!cold.empty() && !out()) {
      std::erase_if(cold, [&](std::uint32_t n) { return out() || !fill_one(n); });
    }
  }

  // What a node lacks before it is filled: moving a gap that is no larger than a replica from node to node is worth nothing.
  double least_lack(std::uint32_t node) {
    const double count = fresh_ ? 0 : fair_count(node);
    return count > 0 ? std::max(setting_, 1 / count) : setting_;
  }

  // What is left where a replica that fills a node came from: nothing that would have to be filled in turn; a gap, but a smaller one than
  // there was; or one as large. What is smaller than the tolerance leaves none by itself. Leadership is passed on in any case, so what it adds to a load is no gap.
  enum class Gap : std::uint8_t { none, smaller, as_large };
  Gap gap_left(std::uint32_t donor, std::uint32_t replica, std::uint32_t node) {
    const Problem& problem = board_.problem;
    const std::span<const Amount> loads = problem.load(problem.replica_load[replica]);
    Gap gap = Gap::none;
    for (std::size_t d = 0; d < problem.width(); ++d) {
      const auto above = [&](std::uint32_t n, double change) {
        const double share = problem.share[n * problem.width() + d] * levels_.fair(d);
        return share > 0 ? (levels_.above_fair(n, d) + change) / share : 0;
      };
      const auto size = static_cast<double>(loads[d]);
      const double left = above(donor, -size);
      const bool large = size > setting_ * problem.share[donor * problem.width() + d] * levels_.fair(d);
      if (!large || left >= -least_lack(donor)) continue;
      if (left < above(node, 0) / 2 && left < above(node, size) + least_lack(node)) return Gap::as_large;
      gap = Gap::smaller;
    }
    return gap;
  }

  bool fill_one(std::uint32_t node) {
    if (levels_.lowest(node) >= -1e-9) return false;
    const std::vector<double> ideal = ideal_load(node);
    partners_of(node, true, nodes_);
    candidates_.clear();
    for (const std::uint32_t donor : nodes_) {
      if (levels_.highest(donor) <= levels_.lowest(node)) continue;
      best_.clear();
      for (const std::uint32_t replica : some_of(donor)) {
        const Gap gap = fresh_ ? Gap::none : gap_left(donor, replica, node);
        if (gap == Gap::as_large) continue;
        const double last_choice = gap == Gap::smaller ? smaller_gap : 0;
        keep(best_, {fill_score(replica, donor, node, ideal) - last_choice, replica, node, none});
      }
      candidates_.insert(candidates_.end(), best_.begin(), best_.end());
    }
    return apply_nearest();
  }

  // How well a replica suits a node that is to be filled: first of all it is of a workload that the node lacks most, then it is near to the
  // load that the node should get next, from a node that can best spare it.
  double fill_score(std::uint32_t replica, std::uint32_t donor, std::uint32_t node, const std::vector<double>& ideal) {
    const double gain = levels_.shift_gain(replica, donor, node) / 2;
    const std::uint32_t f = family_of(board_.problem, replica);
    if (board_.problem.families[f].own_weight <= 0) return gain - distance(replica, ideal);
    const double fair = family_fair(f) * board_.problem.own_shares[board_.problem.families[f].own_share][node];
    const double lack = fair > 0 ? 1 - static_cast<double>(levels_.families().at(f, node)) / fair : 0;
    const double size = static_cast<double>(board_.problem.width()) / static_cast<double>(board_.problem.replicas());
    return gain + 2 * size * lack - distance(replica, ideal) / 5;
  }

  double family_fair(std::uint32_t f) {
    if (family_fair_.empty()) {
      for (std::uint32_t each = 0; each < board_.problem.families.size(); ++each)
        family_fair_.push_back(family_total(each).first);
    }
    return family_fair_[f];
  }

  // Of those asked, the one nearest to what the node should get next, if it is for the better.
  bool apply_nearest() {
    std::ranges::sort(candidates_, {},
                      [](const Candidate& candidate) { return std::tuple(-candidate.score, candidate.dear, candidate.replica); });
    // What fills it must not make it stand out more than any node did; what is placed for the first time is levelled on from there.
    ceiling_ = fresh_ ? no_ceiling : levels_.highest();
    return std::ranges::any_of(candidates_,
                               [&](const Candidate& candidate) { return apply_best({candidate}, MoveReason::balance); });
  }

  // What the node lacks, divided by how many replicas it lacks: so that it gets its fair share of replicas, and not only of load.
  std::vector<double> ideal_load(std::uint32_t node) {
    const Problem& problem = board_.problem;
    const auto there = static_cast<double>(state_.replicas_on(node).size());
    const double count = std::max(1.0, std::floor(fair_count(node)) - there);
    std::vector<double> lacks(problem.width());
    for (std::size_t d = 0; d < problem.width(); ++d) {
      const double share = problem.share[node * problem.width() + d];
      if (!levels_.levelled(d) || share <= 0) continue;
      lacks[d] = std::max(0.0, levels_.fair(d) * share - static_cast<double>(state_.usage(node)[d])) / count;
    }
    return lacks;
  }

  // How many of all replicas are a node's fair share; 0 if it has none.
  double fair_count(std::uint32_t node) {
    const Problem& problem = board_.problem;
    double part = 0, dimensions = 0;
    for (std::size_t d = 0; d < problem.width(); ++d) {
      const double share = problem.share[node * problem.width() + d];
      if (levels_.levelled(d) && share > 0) part += share / total_share(d), dimensions += 1;
    }
    return dimensions > 0 ? part / dimensions * static_cast<double>(problem.replicas()) : 0;
  }

  double total_share(std::size_t dimension) {
    if (total_share_.empty()) {
      total_share_.resize(board_.problem.width());
      for (std::uint32_t n = 0; n < board_.problem.nodes; ++n) {
        for (std::size_t d = 0; d < total_share_.size(); ++d)
          total_share_[d] += board_.problem.share[n * total_share_.size() + d];
      }
    }
    return total_share_[dimension];
  }

  // How far a replica is from an ideal load, in parts of the cluster's.
  double distance(std::uint32_t replica, const std::vector<double>& ideal) {
    double sum = 0;
    for (std::size_t d = 0; d < ideal.size(); ++d) {
      if (levels_.levelled(d)) sum += std::abs(load(replica, d) - ideal[d]) / (levels_.fair(d) * total_share(d));
    }
    return sum;
  }

  bool above_soft(std::uint32_t node) const { return levels_.above_soft(node) > 0; }
  bool hot(std::uint32_t node) const { return levels_.highest(node) > tolerance_ || above_soft(node); }

  // Nodes above the tolerance, the fullest first, give away until they are level, by shifts; what is still above then, by swaps.
  void relieve() {
    std::set<std::tuple<double, std::uint64_t, std::uint32_t>> active;
    std::vector<std::uint8_t> to_level(board_.problem.nodes);  // else only to the soft limit
    const auto key = [&](std::uint32_t n) { return std::tuple(-levels_.highest(n), board_.salt[n], n); };
    for (std::uint32_t n = 0; n < board_.problem.nodes; ++n) {
      if (board_.takes_part[n] == 0 || !hot(n)) continue;
      to_level[n] = levels_.highest(n) > tolerance_ ? 1 : 0;
      active.insert(key(n));
    }
    while (!active.empty() && !out()) {
      const std::uint32_t node = std::get<2>(*active.begin());
      active.erase(active.begin());
      if (to_level[node] == 0 && !above_soft(node)) continue;
      ceiling_ = levels_.highest(node);
      if (give(node) || (hot(node) && exchange(node))) active.insert(key(node));
    }
  }

  // A donor's replicas that may go; of many only some, other ones each time, since there are donors enough.
  std::span<const std::uint32_t> some_of(std::uint32_t donor) {
    constexpr std::size_t most = 32;
    const auto all = state_.replicas_on(donor);
    free_.clear();
    const bool few = board_.problem.nodes <= all_pairs_nodes || all.size() <= most;
    const std::size_t start = few ? 0 : mix64(board_.salt[donor], all.size()) % all.size();
    for (std::size_t i = 0; i < all.size() && (few || free_.size() < most); ++i) {
      const std::uint32_t replica = all[(start + i) % all.size()];
      if (free(replica)) free_.push_back(replica);
    }
    return free_;
  }

  std::span<const std::uint32_t> all_of(std::uint32_t node, std::vector<std::uint32_t>& found) {
    found.clear();
    for (const std::uint32_t replica : state_.replicas_on(node)) {
      if (free(replica)) found.push_back(replica);
    }
    return found;
  }

  bool give(std::uint32_t node) {
    all_of(node, free_);
    partners_of(node, false, nodes_);
    state_.count_evaluated(free_.size() * nodes_.size() / 16);  // looks at the level alone cost so much less
    candidates_.clear();
    for (const std::uint32_t to : nodes_) {
      best_.clear();
      for (const std::uint32_t replica : free_) keep(best_, {levels_.shift_gain(replica, node, to), replica, to, none});
      candidates_.insert(candidates_.end(), best_.begin(), best_.end());
    }
    return apply_best(candidates_, MoveReason::balance);
  }

  // Swaps: for each of the node's own the one of the partner's that is smaller by about half of what is between the two nodes, in the
  // dimension in which the node is fullest.
  bool exchange(std::uint32_t node) {
    const std::size_t d = levels_.fullest_dimension(node);
    // What costs nothing to move is levelled as finely as can be, while that takes but seconds.
    fresh_&& board_.problem.replicas() <= few_replicas ? all_of(node, free_) : some_of(node);
    partners_of(node, false, nodes_);
    state_.count_evaluated(free_.size() * nodes_.size() / 16);  // looks at the level alone cost so much less
    candidates_.clear();
    for (const std::uint32_t to : nodes_) {
      const double between = levels_.above_fair(node, d) - levels_.above_fair(to, d);
      if (between <= 0) continue;
      sort_by(d, all_of(to, others_));
      best_.clear();
      for (const std::uint32_t replica : free_) offer_swaps(replica, to, load(replica, d) - between / 2, d);
      candidates_.insert(candidates_.end(), best_.begin(), best_.end());
    }
    return apply_best(candidates_, MoveReason::balance);
  }

  double load(std::uint32_t replica, std::size_t d) const { return static_cast<double>(levels_.load(replica, d)); }

  void sort_by(std::size_t d, std::span<const std::uint32_t> replicas) {
    sorted_.clear();
    for (const std::uint32_t replica : replicas) sorted_.emplace_back(load(replica, d), replica);
    std::ranges::sort(sorted_);
  }

  void offer_swaps(std::uint32_t replica, std::uint32_t to, double ideal, std::size_t d) {
    constexpr std::ptrdiff_t near = 2;  // on either side
    const auto middle = std::ranges::lower_bound(sorted_, std::pair(ideal, std::uint32_t{0})) - sorted_.begin();
    const auto end = std::min<std::ptrdiff_t>(std::ssize(sorted_), middle + near);
    for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, middle - near); i < end; ++i) {
      const auto& [size, other] = sorted_[static_cast<std::size_t>(i)];
      if (size < load(replica, d)) keep(best_, {levels_.swap_gain(replica, other), replica, to, other});
    }
  }

  // Workloads that have more on a node than their fair part by more than the tolerance and a replica: it gives one to where they have least.
  void unbunch() {
    const Problem& problem = board_.problem;
    constexpr double tenths = 3e-3;  // what a workload's own balance may cost in the total's
    ceiling_ = fresh_ ? tenths : tolerance_;
    // One replica is what cannot be divided; what is there already is not moved for a second.
    const double some = fresh_ ? 1 : 2;
    for (std::uint32_t f = 0; f < problem.families.size() && problem.families.size() > 1; ++f) {
      if (problem.families[f].own_weight <= 0) continue;
      const auto [sum, largest] = family_total(f);
      if (sum <= 0) continue;
      const auto& share = problem.own_shares[problem.families[f].own_share];
      for (std::uint32_t n = 0; n < problem.nodes; ++n) {
        if (board_.takes_part[n] == 0) continue;
        const double bound = sum * share[n] * (1 + tolerance_) + some * largest;
        while (static_cast<double>(levels_.families().at(f, n)) > bound && !out() && give_of(f, n)) {
        }
      }
    }
  }

  // All of a family on nodes that take part and may hold it, made as if those were all nodes; and its largest replica.
  std::pair<double, double> family_total(std::uint32_t f) {
    const Problem& problem = board_.problem;
    double sum = 0, share = 0, largest = 0;
    const auto& part = problem.own_shares[problem.families[f].own_share];
    for (std::uint32_t n = 0; n < problem.nodes; ++n) {
      if (problem.able[problem.families[f].able][n] == 0) continue;
      sum += static_cast<double>(levels_.families().at(f, n));
      share += part[n];
    }
    const auto look = [&](std::uint32_t row) { largest = std::max(largest, static_cast<double>(problem.measures[row])); };
    look(board_.rows[f].base);
    for (std::uint32_t i = 0; i < board_.cluster->workloads[f].shard_loads.shards.size(); ++i) look(board_.rows[f].own_first + i);
    return {share > 0 ? sum / share : 0, largest};
  }

  bool give_of(std::uint32_t f, std::uint32_t node) {
    std::vector<std::uint32_t> own;
    for (const std::uint32_t replica : state_.replicas_on(node)) {
      if (family_of(board_.problem, replica) == f && free(replica)) own.push_back(replica);
    }
    if (own.empty()) return false;
    std::ranges::sort(own);
    best_.clear();
    for (std::uint32_t to = 0; to < board_.problem.nodes; ++to) {
      if (to == node || board_.problem.able[board_.problem.families[f].able][to] == 0) continue;
      for (const std::uint32_t replica : own) keep(best_, {levels_.shift_gain(replica, node, to), replica, to, none});
    }
    return apply_best(std::vector(best_), MoveReason::balance);
  }

  Board& board_;
  bool fresh_;
  State& state_;
  Levels levels_;
  Trial trial_;
  double setting_;    // the cluster's tolerance
  double tolerance_;  // from where on nodes give away
  std::vector<std::uint32_t> nodes_, free_, others_;
  std::vector<std::pair<double, std::uint32_t>> sorted_;
  std::vector<Candidate> best_, candidates_;
  std::vector<double> total_share_, family_fair_;
  std::vector<std::uint8_t> minded_;  // by family
  static constexpr double no_ceiling = 1e300;
  double ceiling_ = no_ceiling;
};

bool needed(const Board& board) {
  const double tolerance = static_cast<double>(board.cluster->settings.tolerance.millionths()) / 1e6;
  const Problem& problem = board.problem;
  const std::vector<double> fair = fair_levels(board);
  for (const auto& term : board.state->terms()) {
    if (term->name() == "affinity" || term->name() == "avoid" || term->name() == "family_level") return true;
  }
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    for (std::size_t d = 0; d < problem.width(); ++d) {
      const std::size_t cell = n * problem.width() + d;
      const auto usage = static_cast<double>(board.state->usage(n)[d]);
      if (problem.share[cell] <= 0) continue;
      if (fair[d] > 0 && std::abs(usage / (problem.share[cell] * fair[d]) - 1) > tolerance) return true;
      if (d < board.resources && board.state->usage(n)[d] > problem.soft[cell]) return true;
    }
  }
  return false;
}

}  // namespace

void level_fresh(Board& board) {
  if (std::ranges::none_of(board.spans, [](const Span& span) { return span.fresh_count > 0; })) return;
  // Later rounds leave it alone, so in small clusters, where one replica more or less matters, it is turned until nothing changes.
  const int turns = board.problem.nodes <= all_pairs_nodes ? 8 : 1;
  for (int turn = 0; turn < turns; ++turn) {
    Balancer(board, Balancer::Scope::fresh).run();
    if (!board.state->settle([&](std::uint32_t group) { return board.flags[group].fresh; })) break;
  }
}

void balance(Board& board) {
  if (!needed(board)) return;
  board.unsettled = true;
  Balancer(board, Balancer::Scope::all).run();
}

}  // namespace evenkeel::place::detail
