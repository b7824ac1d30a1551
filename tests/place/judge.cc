#include "tests/place/judge.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace evenkeel::place {
namespace {

using naive::Held;
using Row = std::vector<std::uint32_t>;

Row row_of(std::span<const NodeIndex> cells) {
  Row row;
  for (const NodeIndex node : cells) row.push_back(node.value());
  return row;
}
bool has(const Row& row, std::uint32_t node) { return std::ranges::find(row, node) != row.end(); }
Row sorted(Row row) {
  std::ranges::sort(row);
  return row;
}

// One shard's part in the problem and in the plan.
struct Shard {
  const Workload* workload = nullptr;
  std::uint32_t number = 0;
  bool is_new = false;  // it had no row
  Row before;
  Row after;
  std::vector<const Moving*> in_flight;  // those that go on
  std::vector<const Move*> moves;        // by step
  Row reached;                           // before, with in_flight and moves done
};

class Judge {
 public:
  Judge(const Cluster& before, const Plan& plan, const PlanOptions& options)
      : cluster_(before), plan_(plan), options_(options), peak_(before), final_(before) {}

  std::vector<std::string> run() {
    if (!well_formed()) return broken_;  // nothing else can be said about nodes and shards that do not exist
    collect();
    check_cancelled();
    check_keys_and_rows();
    check_moves_lead_there();
    check_steps();
    check_peaks();
    check_bounds_on_moves();
    for (const Shard& shard : shards_) {
      for (const Move* move : shard.moves) check_move(shard, *move);
      check_untouched(shard);
      check_leader(shard);
      check_explained(shard);
      check_required_violations(shard);
    }
    for (const Violation& violation : plan_.violations) check_violation(violation);
    for (const Refusal& refusal : plan_.refused) check_refusal(refusal);
    check_limits_reported();
    check_lists();
    check_stats();
    check_cores();
    if (options_.cores) check_fresh_cores();
    return broken_;
  }

 private:
  template <class... T>
  void say(fmt::format_string<T...> text, T&&... values) {
    broken_.push_back(fmt::format(text, std::forward<T>(values)...));
  }
  const Node& node(std::uint32_t index) const { return cluster_.nodes[index]; }
  std::string name(std::uint32_t index) const { return node(index).name.str(); }
  std::string name(const std::optional<NodeIndex>& index) const { return index ? name(index->value()) : "null"; }
  std::string name(const Row& row) const {
    std::string text;
    for (const std::uint32_t n : row) text += (text.empty() ? "" : " ") + name(n);
    return "[" + text + "]";
  }
  static std::string name(const Shard& shard) { return fmt::format("{}/{}", shard.workload->name, shard.number); }
  std::string name(const Move& move) const {
    return fmt::format("move {}/{} {} -> {} ({}, step {})", move.workload, move.shard, name(move.from), name(move.to),
                       place::name(move.reason), move.step);
  }
  const Workload* find(const WorkloadId& id) const {
    const auto found = std::ranges::find(cluster_.workloads, id, &Workload::name);
    return found == cluster_.workloads.end() ? nullptr : &*found;
  }
  const Shard* find(const WorkloadId& id, ShardIndex number) const {
    const auto found =
        std::ranges::find_if(shards_, [&](const Shard& s) { return s.workload->name == id && s.number == number.value(); });
    return found == shards_.end() ? nullptr : &*found;
  }
  bool allocates() const { return options_.only == Only::everything || options_.only == Only::allocate; }
  bool everything() const { return options_.only == Only::everything; }
  bool down(std::uint32_t n) const { return node(n).status == NodeStatus::down; }
  bool draining(std::uint32_t n) const { return node(n).status == NodeStatus::draining; }
  bool suits(const Shard& shard, std::uint32_t n) const { return naive::suits(node(n), *shard.workload); }
  bool barred(const Shard& shard, std::uint32_t n) const { return naive::is_barred(cluster_, *shard.workload, shard.number, n); }
  bool takes(const Shard& shard, std::uint32_t n) const { return naive::takes(node(n), *shard.workload) && !barred(shard, n); }
  std::string domain(const Shard& shard, std::uint32_t n) const { return naive::domain(cluster_, *shard.workload, n); }
  bool hard_spread(const Shard& shard) const { return naive::spread_is_hard(cluster_, *shard.workload); }
  bool pinned(const Shard& shard, std::uint32_t n) const {
    const auto row = shard.workload->pinned.find(ShardIndex(shard.number));
    return std::ranges::find(row, NodeIndex(n)) != row.end();
  }
  // More than half of its replicas are down.
  bool lost(const Shard& shard) const {
    const auto dead = std::ranges::count_if(shard.before, [&](std::uint32_t n) { return down(n); });
    return 2 * static_cast<std::size_t>(dead) > shard.before.size();
  }
  bool is_violated(const Shard& shard, Rule rule) const { return violation(shard, rule) != nullptr; }
  const Violation* violation(const Shard& shard, Rule rule) const {
    const auto found = std::ranges::find_if(plan_.violations, [&](const Violation& v) {
      return v.workload == shard.workload->name && v.shard == ShardIndex(shard.number) && v.rule == rule;
    });
    return found == plan_.violations.end() ? nullptr : &*found;
  }
  bool waits(const Shard& shard) const {
    return std::ranges::any_of(plan_.violations, [&](const Violation& v) {
      return v.workload == shard.workload->name && v.shard == ShardIndex(shard.number) && !v.reason.empty();
    });
  }

  bool known(const WorkloadId& id, std::optional<ShardIndex> shard, std::initializer_list<std::optional<NodeIndex>> nodes,
             const char* where) {
    const Workload* workload = find(id);
    if (workload == nullptr || (shard && shard->value() >= workload->shards)) {
      say("{} names an unknown workload or shard of {}", where, id);
      return false;
    }
    for (const auto& n : nodes) {
      if (n && n->value() >= cluster_.nodes.size()) return say("{} names an unknown node", where), false;
    }
    return true;
  }

  bool well_formed() {
    bool ok = true;
    for (const Move& m : plan_.moves) ok &= known(m.workload, m.shard, {m.from, m.to}, "a move");
    for (const LeaderChange& c : plan_.leaders) ok &= known(c.workload, c.shard, {c.from, c.to}, "a leader change");
    for (const Cancelled& c : plan_.cancelled) ok &= known(c.workload, c.shard, {c.from, c.to}, "a cancelled move");
    for (const Refusal& r : plan_.refused) ok &= known(r.workload, r.shard, {r.node}, "a refusal");
    for (const Violation& v : plan_.violations) ok &= known(v.workload, v.shard, {}, "a violation");
    for (const auto& [id, rows] : plan_.placement) {
      ok &= known(id, std::nullopt, {}, "the placement");
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const NodeIndex n : rows[i]) ok &= known(id, std::nullopt, {n}, "the placement");
        const Row row = sorted(row_of(rows[i]));
        if (std::ranges::adjacent_find(row) != row.end()) say("{}/{} has two replicas on one node: {}", id, i, name(row));
      }
    }
    return ok;
  }

  bool is_cancelled(const Moving& moving) const {
    return std::ranges::any_of(plan_.cancelled, [&](const Cancelled& c) {
      return c.workload == moving.workload && c.shard == moving.shard && c.from == moving.from && c.to == moving.to;
    });
  }

  void collect() {
    for (const Workload& workload : cluster_.workloads) {
      const auto had = cluster_.placement.find(workload.name);
      const auto gets = plan_.placement.find(workload.name);
      const std::size_t rows = std::max(had == cluster_.placement.end() ? 0 : had->second.size(),
                                        gets == plan_.placement.end() ? 0 : gets->second.size());
      for (std::uint32_t number = 0; number < rows; ++number) {
        Shard shard{.workload = &workload, .number = number};
        shard.is_new = had == cluster_.placement.end() || number >= had->second.size();
        if (!shard.is_new) shard.before = row_of(had->second[number]);
        if (gets != plan_.placement.end() && number < gets->second.size()) shard.after = row_of(gets->second[number]);
        shards_.push_back(std::move(shard));
      }
    }
    for (Shard& shard : shards_) collect(shard);
    for (const Move& move : plan_.moves) {
      if (find(move.workload, move.shard) == nullptr) say("{}: there is no such row", name(move));
      last_step_ = std::max(last_step_, move.step);
    }
  }
  void collect(Shard& shard) {
    const auto mine = [&](const auto& item) {
      return item.workload == shard.workload->name && item.shard.value() == shard.number;
    };
    shard.reached = shard.before;
    for (const Moving& moving : cluster_.moving) {
      if (!mine(moving) || is_cancelled(moving)) continue;
      shard.in_flight.push_back(&moving);
      apply(shard, moving.from, moving.to, "the move in flight");
    }
    for (const Move& move : plan_.moves) {
      if (mine(move)) shard.moves.push_back(&move);
    }
    std::ranges::stable_sort(shard.moves, {}, &Move::step);
    for (const Move* move : shard.moves) apply(shard, move->from, move->to, "the move");
  }
  // In the row the new replica takes the old one's place, so that a leader that moves still leads.
  void apply(Shard& shard, const std::optional<NodeIndex>& from, const std::optional<NodeIndex>& to, const char* what) {
    if (to && has(shard.reached, to->value())) say("{} of {} to {} goes where one is already", what, name(shard), name(to));
    if (!from) return shard.reached.push_back(to ? to->value() : 0);
    const auto place = std::ranges::find(shard.reached, from->value());
    if (place == shard.reached.end()) return say("{} of {} leaves {}, where none is", what, name(shard), name(from));
    if (to) {
      *place = to->value();
    } else {
      shard.reached.erase(place);
    }
  }

  void check_cancelled() {
    for (const Moving& moving : cluster_.moving) {
      const Workload& workload = *find(moving.workload);
      const bool leads_nowhere = moving.to && (!naive::takes(node(moving.to->value()), workload) ||
                                               naive::is_barred(cluster_, workload, moving.shard.value(), moving.to->value()));
      const bool cancelled = is_cancelled(moving);
      if (cancelled && !leads_nowhere)
        say("the move in flight {}/{} {} -> {} is cancelled without need", moving.workload, moving.shard, name(moving.from),
            name(moving.to));
      if (!cancelled && leads_nowhere && everything())
        say("the move in flight {}/{} {} -> {} leads nowhere and is not cancelled", moving.workload, moving.shard,
            name(moving.from), name(moving.to));
    }
    for (const Cancelled& c : plan_.cancelled) {
      const bool there = std::ranges::any_of(cluster_.moving, [&](const Moving& m) {
        return m.workload == c.workload && m.shard == c.shard && m.from == c.from && m.to == c.to;
      });
      if (!there) say("cancels {}/{} {} -> {}, which is not in flight", c.workload, c.shard, name(c.from), name(c.to));
      if (c.reason.empty()) say("cancels {}/{} without a reason", c.workload, c.shard);
    }
  }

  std::size_t whole_refusals(const Workload& workload, std::size_t first_new) const {
    return static_cast<std::size_t>(std::ranges::count_if(plan_.refused, [&](const Refusal& r) {
      return r.workload == workload.name && (!r.shard || r.shard->value() >= first_new);
    }));
  }
  // All or nothing: new workloads, and new shards of old ones.
  void check_keys_and_rows() {
    for (const Workload& workload : cluster_.workloads) {
      const auto had = cluster_.placement.find(workload.name);
      const auto gets = plan_.placement.find(workload.name);
      const bool is_new = had == cluster_.placement.end();
      const std::size_t old_rows = is_new ? 0 : had->second.size();
      const std::size_t refusals = whole_refusals(workload, old_rows);
      if (gets == plan_.placement.end()) {
        if (!is_new) say("{} was placed and has no key in the placement", workload.name);
        if (is_new && workload.shards > 0 && allocates() && refusals != 1)
          say("the new workload {} has no key and {} refusals instead of 1", workload.name, refusals);
        continue;
      }
      const std::size_t rows = gets->second.size();
      if (rows != workload.shards && (is_new || rows != old_rows))
        say("{} has {} rows: neither the {} it had nor the {} asked for", workload.name, rows, old_rows, workload.shards);
      if (rows == workload.shards && refusals > 0) say("{} is refused and placed", workload.name);
      if (rows != workload.shards && allocates() && refusals != 1)
        say("new shards of {} are missing, with {} refusals instead of 1", workload.name, refusals);
      if (!allocates() && rows != old_rows) say("{} gets new shards though that was not asked for", workload.name);
    }
    for (const Shard& shard : shards_) {
      if (shard.is_new && shard.after.size() != shard.workload->replicas)
        say("the new shard {} has {} of {} replicas", name(shard), shard.after.size(), shard.workload->replicas);
    }
  }

  void check_moves_lead_there() {
    for (const Shard& shard : shards_) {
      if (shard.is_new) {
        if (!shard.moves.empty()) say("{} is new and has moves", name(shard));
      } else if (sorted(shard.reached) != sorted(shard.after)) {
        say("{}: the moves lead to {}, the placement says {}", name(shard), name(shard.reached), name(shard.after));
      }
    }
  }

  void check_steps() {
    std::set<std::uint32_t> steps;
    for (const Move& move : plan_.moves) steps.insert(move.step);
    // Where all are listed, the first step may be that of the moves in flight alone.
    std::size_t in_flight = 0;
    for (const Shard& shard : shards_) in_flight += shard.in_flight.size();
    const Settings& settings = cluster_.settings;
    const bool full =
        (settings.moves_max > 0 && in_flight >= settings.moves_max) || (settings.moves_per_node_max > 0 && in_flight > 0);
    if (options_.all && full && !steps.empty()) steps.insert(1);
    if (!steps.empty() && (*steps.begin() != 1 || *steps.rbegin() != steps.size()))
      say("the steps of the moves have gaps or do not start at 1");
    for (const Shard& shard : shards_) {
      for (std::size_t i = 1; i < shard.moves.size(); ++i) {
        if (shard.moves[i]->step == shard.moves[i - 1]->step) say("two moves of {} are in one step", name(shard));
      }
      if (!shard.moves.empty() && !shard.in_flight.empty()) say("{} has a move in flight and gets one", name(shard));
    }
  }

  bool passes_leadership(const Shard& shard) const {
    return std::ranges::any_of(plan_.leaders, [&](const LeaderChange& change) {
      return change.workload == shard.workload->name && change.shard.value() == shard.number;
    });
  }

  // Limits at their worst: within a step everything has arrived and nothing has left.
  void check_peaks() {
    std::map<std::pair<const Shard*, std::uint32_t>, bool> there;  // whether it counts as the leader
    Held now(cluster_);
    const auto add = [&](const Shard& shard, std::uint32_t n, bool leads) {
      there[{&shard, n}] = leads;
      now.add(n, *shard.workload, shard.number, leads);
    };
    for (const Shard& shard : shards_) {
      const Row& row = shard.is_new ? shard.after : shard.before;
      for (std::size_t i = 0; i < row.size(); ++i) add(shard, row[i], i == 0);
      for (const Moving* moving : shard.in_flight) {
        if (moving->to) add(shard, moving->to->value(), moving->from && moving->from->value() == row.front());
      }
    }
    peak_ = now;
    for (std::uint32_t step = 1; step <= std::max(last_step_, 1u); ++step) {
      std::set<std::uint32_t> receivers;
      Held arrived(cluster_);
      for (const Shard& shard : shards_) {
        for (std::size_t i = 0; shard.is_new && step == 1 && i < shard.after.size(); ++i) {
          receivers.insert(shard.after[i]);
          arrived.add(shard.after[i], *shard.workload, shard.number, i == 0);
        }
        for (const Move* move : shard.moves) {
          if (move->step != step || !move->to) continue;
          const std::uint32_t to = move->to->value();
          const bool leads =
              !passes_leadership(shard) && move->from && !shard.before.empty() && shard.before.front() == move->from->value();
          if (there.contains({&shard, to})) say("{}: one is still there", name(*move));
          add(shard, to, leads);
          peak_.add(to, *shard.workload, shard.number, leads);
          arrived.add(to, *shard.workload, shard.number, leads);
          receivers.insert(to);
        }
      }
      for (const std::uint32_t n : receivers) check_peak(now, arrived, n, step);
      for (const Shard& shard : shards_) {
        for (const Move* move : shard.moves) {
          if (move->step != step || !move->from) continue;
          const auto leaver = there.find({&shard, move->from->value()});
          if (leaver == there.end()) continue;
          now.remove(move->from->value(), *shard.workload, shard.number, leaver->second);
          there.erase(leaver);
        }
      }
    }
    count_leadership();
    final_ = naive::held(cluster_, plan_.placement);
  }
  // What a node carries once it leads what it did not lead; whoever led before may still do so.
  void count_leadership() {
    for (const Shard& shard : shards_) {
      if (shard.is_new || shard.after.empty() || !passes_leadership(shard)) continue;
      peak_.remove(shard.after.front(), *shard.workload, shard.number, false);
      peak_.add(shard.after.front(), *shard.workload, shard.number, true);
    }
  }
  void check_peak(const Held& now, const Held& arrived, std::uint32_t n, std::uint32_t step) {
    // When leadership passes is not said, so where it does, what it carries may be there or not.
    const bool passes = std::ranges::any_of(shards_, [&](const Shard& shard) {
      return !shard.workload->leader_load.empty() && passes_leadership(shard) && (has(shard.before, n) || has(shard.after, n));
    });
    if (!passes && !now.fits_what_arrived(n, arrived)) say("step {}: {} receives and is above its hard limit", step, name(n));
    const bool counts = std::ranges::any_of(shards_, [&](const Shard& shard) {
      if (shard.workload->system) return false;
      return (shard.is_new && has(shard.after, n)) ||
             std::ranges::any_of(shard.moves, [&](const Move* m) { return m->to == NodeIndex(n) && m->step == step; });
    });
    if (counts && !now.count_fits(n)) say("step {}: {} receives and has {} replicas, too many", step, name(n), now.count(n));
  }

  void check_bounds_on_moves() {
    std::size_t in_flight = 0;
    std::map<std::uint32_t, std::size_t> ends_in_flight;
    for (const Shard& shard : shards_) {
      for (const Moving* moving : shard.in_flight) {
        ++in_flight;
        if (moving->to) ++ends_in_flight[moving->to->value()];
        if (moving->from && !down(moving->from->value())) ++ends_in_flight[moving->from->value()];
      }
    }
    std::map<std::uint32_t, std::size_t> by_step;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_node;  // step, node
    for (const Move& move : plan_.moves) {
      const std::uint32_t step = options_.all ? move.step : 1;
      ++by_step[step];
      if (move.to) ++by_node[{step, move.to->value()}];
      if (move.from && !down(move.from->value())) ++by_node[{step, move.from->value()}];
    }
    const std::size_t most = cluster_.settings.moves_max;
    for (const auto& [step, moves] : by_step) {
      if (most != 0 && moves + (step == 1 ? in_flight : 0) > most)
        say("step {}: {} moves and {} in flight, more than moves_max", step, moves, in_flight);
    }
    const std::size_t node_most = cluster_.settings.moves_per_node_max;
    bound_reached_ = node_most != 0 || (most != 0 && plan_.moves.size() + in_flight >= most);
    for (const auto& [key, moves] : by_node) {
      const std::size_t all = moves + (key.first == 1 ? ends_in_flight[key.second] : 0);
      if (node_most != 0 && all > node_most)
        say("{} takes part in {} moves, more than moves_per_node_max", name(key.second), all);
    }
  }

  void check_move(const Shard& shard, const Move& move) {
    if (!move.from && !move.to) return say("{} moves nothing", name(move));
    if ((move.reason == MoveReason::grow) != !move.from) say("{}: exactly growth has no from", name(move));
    if ((move.reason == MoveReason::shrink) != !move.to) say("{}: exactly shrinking has no to", name(move));
    if (move.from == move.to) say("{} goes nowhere", name(move));
    if (move.to) check_destination(shard, move);
    if (move.from) check_source(shard, move);
    if (lost(shard) && !options_.force) say("{}: the shard has lost its quorum", name(move));
  }
  void check_destination(const Shard& shard, const Move& move) {
    const std::uint32_t to = move.to->value();
    if (!takes(shard, to)) say("{} goes to a node that is not able", name(move));
    // Where the shard is once this step is done; a dead replica is no neighbour.
    Row others = shard.before;
    for (const Move* earlier : shard.moves) {
      if (earlier->step > move.step) break;
      if (earlier->from) std::erase(others, earlier->from->value());
      if (earlier != &move && earlier->to) others.push_back(earlier->to->value());
    }
    for (const std::uint32_t other : others) {
      if (hard_spread(shard) && !down(other) && other != to && domain(shard, other) == domain(shard, to))
        say("{} breaks hard spread beside {}", name(move), name(other));
    }
    // Others may go up to the hard limit, and leaders carry more: only where balance alone filled the node is it to blame. One of those
    // others, or of a new shard, that ends where this one was may have been exchanged for it.
    const bool balance_alone =
        std::ranges::none_of(shards_,
                             [&](const Shard& s) { return s.is_new && move.from && has(s.after, move.from->value()); }) &&
        std::ranges::none_of(
            plan_.moves,
            [&](const Move& m) { return (m.to == move.to || (m.to && m.to == move.from)) && m.reason != MoveReason::balance; }) &&
        std::ranges::none_of(plan_.leaders, [&](const LeaderChange& change) { return change.to == *move.to; });
    if (move.reason == MoveReason::balance && balance_alone) {
      for (const auto& [resource, amount] : naive::load(*shard.workload, shard.number, false)) {
        if (amount > Quantity() && !final_.fits(to, resource, true) && balance_adds(to, resource))
          say("{} brings {} above the soft limit of {}", name(move), name(to), resource);
      }
    }
  }
  // Whether balance brings more to a node than it takes away.
  bool balance_adds(std::uint32_t n, const ResourceId& resource) const {
    Quantity in, out;
    for (const Shard& shard : shards_) {
      for (const Move* move : shard.moves) {
        if (move->reason != MoveReason::balance || !move->from || shard.before.empty()) continue;
        const bool leads = move->from->value() == shard.before.front() && !passes_leadership(shard);
        const Amounts load = naive::load(*shard.workload, shard.number, leads);
        const auto amount = load.find(resource);
        if (amount == load.end()) continue;
        if (move->to == NodeIndex(n)) in += amount->second;
        if (move->from == NodeIndex(n)) out += amount->second;
      }
    }
    return in > out;
  }
  void check_source(const Shard& shard, const Move& move) {
    const std::uint32_t from = move.from->value();
    const bool arrived =
        std::ranges::any_of(shard.moves, [&](const Move* m) { return m->to == move.from && m->step < move.step; });
    if (arrived) say("{} moves a replica that this plan has moved already", name(move));
    const bool soft = move.reason == MoveReason::balance || (move.reason == MoveReason::spread && !hard_spread(shard));
    const bool is_recent = std::ranges::any_of(cluster_.recent, [&](const Recent& r) {
      return r.workload == move.workload && r.shard == move.shard && r.node.value() == from;
    });
    if (soft && is_recent) say("{} moves what moved lately", name(move));
    const bool lost_copy = move.reason == MoveReason::shrink && down(from);  // nothing is left to keep there
    if ((soft || move.reason == MoveReason::room || move.reason == MoveReason::shrink) && pinned(shard, from) && !lost_copy)
      say("{} moves what is pinned", name(move));
    const NodeStatus status = node(from).status;
    switch (move.reason) {
      case MoveReason::repair:
        if (status != NodeStatus::down) say("{}: the node is not down", name(move));
        break;
      case MoveReason::drain:
        if (status != NodeStatus::draining && suits(shard, from)) say("{}: the node is not draining", name(move));
        break;
      case MoveReason::balance:
        if (status != NodeStatus::up && status != NodeStatus::no_leaders) say("{}: balance leaves the node alone", name(move));
        if (!suits(shard, from)) say("{}: the node is not able, which is the reason", name(move));
        if (barred(shard, from)) say("{}: the shard is barred from the node, which is the reason", name(move));
        break;
      case MoveReason::spread:
        check_spread_reason(shard, move);
        break;
      case MoveReason::limit:
        // It may be the leader elsewhere that is too much, and leads from the new place.
        if (std::ranges::all_of(shard.before, [&](std::uint32_t n) { return peak_.fits(n, true) && peak_.count_fits(n); }))
          say("{}: the node is below its limits", name(move));
        break;
      default:
        break;
    }
    if (status == NodeStatus::down && move.reason != MoveReason::repair && move.reason != MoveReason::shrink)
      say("{}: from a down node it is a repair", name(move));
  }
  void check_spread_reason(const Shard& shard, const Move& move) {
    Row row = shard.before;
    for (const Move* earlier : shard.moves) {
      if (earlier->step >= move.step) break;
      if (earlier->from) std::erase(row, earlier->from->value());
      if (earlier->to) row.push_back(earlier->to->value());
    }
    const auto sharing =
        std::ranges::count_if(row, [&](std::uint32_t n) { return domain(shard, n) == domain(shard, move.from->value()); });
    if (sharing < 2) say("{}: it shared no domain", name(move));
  }

  void check_untouched(const Shard& shard) {
    if (shard.is_new || !lost(shard) || options_.force || !shard.in_flight.empty()) return;
    if (shard.after != shard.before) say("{} has lost its quorum and is touched", name(shard));
  }

  // Whether this replica could lead without going above a hard limit, even if everything arrived and nothing left.
  bool could_lead(const Shard& shard, std::uint32_t n) const {
    if (!naive::may_lead(node(n))) return false;
    Held with = peak_;
    with.remove(n, *shard.workload, shard.number, false);
    with.add(n, *shard.workload, shard.number, true);
    return shard.workload->leader_load.empty() || with.fits(n, false);
  }
  void check_leader(const Shard& shard) {
    if (shard.after.empty()) return;
    const std::uint32_t leader = shard.after.front();
    const auto listed = std::ranges::find_if(plan_.leaders, [&](const LeaderChange& c) {
      return c.workload == shard.workload->name && c.shard.value() == shard.number;
    });
    if (shard.is_new || shard.before.empty()) {
      if (listed != plan_.leaders.end()) say("{} had no leader, and a change is listed", name(shard));
    } else {
      check_leader_change(shard, listed == plan_.leaders.end() ? nullptr : &*listed);
    }
    if (!shard.is_new && ((lost(shard) && !options_.force) || !shard.in_flight.empty())) return;
    if (!everything()) return;
    if (down(leader) && std::ranges::any_of(shard.after, [&](std::uint32_t n) { return !down(n); }))
      say("{} is led from {}, which is down", name(shard), name(leader));
    if (!naive::may_lead(node(leader)) && !down(leader)) {
      for (const std::uint32_t other : shard.after) {
        if (could_lead(shard, other) && !draining(other) && (has(shard.before, other) || shard.is_new))
          return say("{} is led from {}, which should have no leaders; {} could", name(shard), name(leader), name(other));
      }
    }
  }
  void check_leader_change(const Shard& shard, const LeaderChange* listed) {
    const std::uint32_t old = shard.before.front();
    const std::uint32_t leader = shard.after.front();
    // Where the old leader's replica is now.
    std::uint32_t heir = old;
    const auto follow = [&](const std::optional<NodeIndex>& from, const std::optional<NodeIndex>& to) {
      if (from && from->value() == heir && to) heir = to->value();
    };
    for (const Moving* m : shard.in_flight) follow(m->from, m->to);
    for (const Move* m : shard.moves) follow(m->from, m->to);
    if (leader != old && leader != heir && listed == nullptr && shard.in_flight.empty())
      say("{}: the change of its leader is not listed", name(shard));
    if (listed != nullptr && listed->to.value() != leader)
      say("{}: leadership is listed to go to {}, and {} leads", name(shard), name(listed->to), name(leader));
    if (listed != nullptr && listed->from.value() != old && listed->from.value() != heir)
      say("{}: leadership is listed to come from {}, where it was not", name(shard), name(listed->from));
    if (listed != nullptr && listed->from == listed->to) say("{}: leadership goes from a node to itself", name(shard));
    // A replica that comes only now has no data: one that is there leads.
    const bool others_live =
        std::ranges::any_of(shard.before, [&](std::uint32_t n) { return has(shard.after, n) && could_lead(shard, n); });
    if (down(old) && !has(shard.before, leader) && others_live && shard.in_flight.empty())
      say("{}: {} leads, which holds it only after the move, though a live replica could", name(shard), name(leader));
  }

  // Of a replica on that node, or of one that is nowhere yet.
  bool is_refused(const Shard& shard, std::uint32_t n) const {
    return is_refused(shard) || std::ranges::any_of(plan_.refused, [&](const Refusal& r) {
             return is_of(r, shard) && r.node.has_value() && r.node->value() == n;
           });
  }
  bool is_refused(const Shard& shard) const {
    return std::ranges::any_of(plan_.refused, [&](const Refusal& r) { return is_of(r, shard) && !r.node.has_value(); });
  }
  static bool is_of(const Refusal& r, const Shard& shard) {
    return r.workload == shard.workload->name && r.shard == ShardIndex(shard.number);
  }
  // Every replica that was to be placed, repaired or drained, and was not, is accounted for.
  void check_explained(const Shard& shard) {
    if (!everything() || shard.is_new) return;
    const bool excused = !shard.in_flight.empty() || (lost(shard) && !options_.force);
    if (shard.after.size() < shard.workload->replicas && !excused && !is_refused(shard) && !waits(shard))
      say("{} has {} of {} replicas, neither refused nor waiting", name(shard), shard.after.size(), shard.workload->replicas);
    if (shard.after.size() > shard.workload->replicas && !excused && !waits(shard))
      say("{} has {} replicas instead of {}, and waits for nothing", name(shard), shard.after.size(), shard.workload->replicas);
    for (const std::uint32_t n : shard.after) {
      const bool should_leave = down(n) || draining(n) || !suits(shard, n) || barred(shard, n);
      if (should_leave && !excused && !pinned(shard, n) && !is_refused(shard, n) && !waits(shard))
        say("{} stays on {}, neither refused nor waiting", name(shard), name(n));
    }
  }

  void require(const Shard& shard, Rule rule, std::optional<bool> hard) {
    const Violation* found = violation(shard, rule);
    if (found == nullptr) return say("{} breaks the rule {}, and no violation says so", name(shard), place::name(rule));
    if (hard && found->hard != *hard)
      say("{}: its violation of {} should be {}", name(shard), place::name(rule), *hard ? "hard" : "soft");
  }
  std::size_t domains_of(const Shard& shard, const Row& row) const {
    std::set<std::string> domains;
    for (const std::uint32_t n : row) domains.insert(domain(shard, n));
    return domains.size();
  }
  std::size_t domains_that_take(const Shard& shard) const {
    Row able;
    for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
      if (takes(shard, n)) able.push_back(n);
    }
    return domains_of(shard, able);
  }
  void check_required_violations(const Shard& shard) {
    if (shard.after.empty() && shard.is_new) return;
    const bool quorum_lost = !shard.is_new && lost(shard) && shard.in_flight.empty() && !options_.force;
    if (quorum_lost) require(shard, Rule::quorum, true);
    const auto any = [&](auto&& broken) { return std::ranges::any_of(shard.after, broken); };
    if (any([&](std::uint32_t n) { return down(n); })) require(shard, Rule::down, true);
    if (any([&](std::uint32_t n) { return draining(n); })) require(shard, Rule::draining, true);
    const auto unsuited = [&](std::uint32_t n) { return !suits(shard, n) && !down(n) && !draining(n); };
    if (any([&](std::uint32_t n) { return unsuited(n) && !pinned(shard, n); })) require(shard, Rule::able, true);
    if (any([&](std::uint32_t n) { return unsuited(n) && pinned(shard, n); })) require(shard, Rule::able, std::nullopt);
    if (any([&](std::uint32_t n) { return barred(shard, n) && suits(shard, n) && !down(n) && !draining(n); }))
      require(shard, Rule::barred, true);
    // What is refused is said to be unmet by that.
    if (shard.after.size() < shard.workload->replicas)
      require(shard, Rule::replicas, is_refused(shard) ? std::nullopt : std::optional(true));
    Row live = shard.after;
    std::erase_if(live, [&](std::uint32_t n) { return down(n); });
    const std::size_t domains = domains_of(shard, live);
    if (hard_spread(shard) ? domains < live.size() : domains < std::min(live.size(), domains_that_take(shard)))
      require(shard, Rule::spread, hard_spread(shard));
    for (const NodeIndex n : shard.workload->pinned.find(ShardIndex(shard.number))) {
      if (!has(shard.after, n.value())) {
        require(shard, Rule::pinned, std::nullopt);
        break;
      }
    }
    if (!shard.after.empty() && !down(shard.after.front()) && !naive::may_lead(node(shard.after.front())))
      require(shard, Rule::leaders, std::nullopt);
    if (!shard.in_flight.empty() && any([&](std::uint32_t n) { return down(n) || draining(n); }))
      require(shard, Rule::moving, std::nullopt);
    if (breaks_apart(shard)) require(shard, Rule::apart_from, false);
  }
  bool holds(std::uint32_t n, const WorkloadId& id) const {
    return std::ranges::any_of(shards_, [&](const Shard& s) { return s.workload->name == id && has(s.after, n); });
  }
  bool breaks_apart(const Shard& shard) const {
    return std::ranges::any_of(shard.workload->apart_from, [&](const WorkloadId& other) {
      return std::ranges::any_of(shard.after, [&](std::uint32_t n) { return holds(n, other); });
    });
  }
  // The same, seen from the workload that is to be kept apart from.
  bool is_kept_apart(const Shard& shard) const {
    return std::ranges::any_of(cluster_.workloads, [&](const Workload& other) {
      return std::ranges::find(other.apart_from, shard.workload->name) != other.apart_from.end() &&
             std::ranges::any_of(shard.after, [&](std::uint32_t n) { return holds(n, other.name); });
    });
  }

  // A violation that is listed is one.
  void check_violation(const Violation& v) {
    const std::string what = fmt::format("the violation of {} by {}/{}", place::name(v.rule), v.workload,
                                         v.shard ? std::to_string(v.shard->value()) : "null");
    if (v.detail.empty()) say("{} has no detail", what);
    if (v.reason == "moves_max" && !bound_reached_) say("{} waits for moves_max, which is not reached", what);
    if (!v.shard) return;
    const Shard* shard = find(v.workload, *v.shard);
    if (shard == nullptr) return say("{} names a shard that is not placed", what);
    if (!is_broken(*shard, v)) say("{} is none: {}", what, v.detail);
  }
  bool is_broken(const Shard& shard, const Violation& v) const {
    const auto any = [&](auto&& broken) { return std::ranges::any_of(shard.after, broken); };
    switch (v.rule) {
      case Rule::spread:
        return domains_of(shard, shard.after) < shard.after.size();
      case Rule::down:
        return any([&](std::uint32_t n) { return down(n); });
      case Rule::draining:
        return any([&](std::uint32_t n) { return draining(n); });
      case Rule::able:
        return any([&](std::uint32_t n) { return !suits(shard, n) || (!v.hard && !node(n).taints.empty()); });
      case Rule::barred:
        return any([&](std::uint32_t n) { return barred(shard, n); });
      case Rule::capacity:
        return any([&](std::uint32_t n) { return !final_.fits(n, !v.hard); });
      case Rule::count:
        return any([&](std::uint32_t n) { return !final_.count_fits(n); });
      case Rule::quorum:
        return lost(shard);
      case Rule::replicas:
        return shard.after.size() != shard.workload->replicas;
      case Rule::pinned:
        return std::ranges::any_of(shard.workload->pinned.find(ShardIndex(shard.number)),
                                   [&](NodeIndex n) { return !has(shard.after, n.value()) || !takes(shard, n.value()); });
      case Rule::leaders:
        return !shard.after.empty() && !naive::may_lead(node(shard.after.front()));
      case Rule::apart_from:
        return breaks_apart(shard) || is_kept_apart(shard);
      case Rule::moving:
        return !shard.in_flight.empty();
    }
    return false;
  }

  // Somewhere in plain sight: a node that could take one more even if everything arrived and nothing left.
  std::optional<std::uint32_t> home(const Shard& shard, const std::optional<std::uint32_t>& from) const {
    for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
      if (!takes(shard, n) || has(shard.before, n) || has(shard.after, n)) continue;
      if (std::ranges::any_of(shard.moves, [&](const Move* m) { return m->to == NodeIndex(n); })) continue;
      const auto beside = [&](std::uint32_t other) { return other != from && domain(shard, other) == domain(shard, n); };
      if (hard_spread(shard) && (std::ranges::any_of(shard.before, beside) || std::ranges::any_of(shard.after, beside))) continue;
      Held with = peak_;
      with.add(n, *shard.workload, shard.number, from && !shard.before.empty() && shard.before.front() == *from);
      if (with.fits(n, false) && with.count_fits(n)) return n;
    }
    return std::nullopt;
  }
  void check_refusal(const Refusal& refusal) {
    if (refusal.detail.empty()) say("a refusal of {} has no detail", refusal.workload);
    if (refusal.nodes.size() > options_.reasons_max)
      say("a refusal of {} names {} nodes", refusal.workload, refusal.nodes.size());
    const Workload& workload = *find(refusal.workload);
    const auto had = cluster_.placement.find(workload.name);
    const std::size_t old_rows = had == cluster_.placement.end() ? 0 : had->second.size();
    if (!refusal.shard || refusal.shard->value() >= old_rows)
      return check_refused_request(refusal, workload, workload.shards - old_rows);
    const Shard* shard = find(refusal.workload, *refusal.shard);
    if (shard == nullptr) return;
    const std::string what = fmt::format("the refusal of {} on {}", name(*shard), name(refusal.node));
    if (refusal.node) {
      const std::uint32_t n = refusal.node->value();
      if (!has(shard->after, n)) say("{}: it is not there in the end", what);
      if (!down(n) && !draining(n) && suits(*shard, n) && !barred(*shard, n)) say("{}: it need not leave", what);
    } else if (shard->after.size() >= shard->workload->replicas) {
      say("{}: it has all its replicas", what);
    }
    if (cluster_.settings.moves_per_node_max != 0) return;
    const auto from = refusal.node ? std::optional(refusal.node->value()) : std::nullopt;
    if (const auto found = home(*shard, from)) say("{}: {} could take it", what, name(*found));
  }
  // How many more replicas of one load a node holds, at most `most`.
  std::uint64_t slots(const Workload& workload, std::uint32_t n, std::uint64_t most) const {
    if (!naive::takes(node(n), workload)) return 0;
    Held with = peak_;
    for (std::uint64_t slot = 0; slot < most; ++slot) {
      with.add(n, workload, workload.shards, false);
      if (!with.fits(n, false) || (!workload.system && !with.count_fits(n))) return slot;
    }
    return most;
  }
  // Replicas all alike are refused only if they cannot be placed: each domain holds at most one of a shard.
  void check_refused_request(const Refusal& refusal, const Workload& workload, std::uint64_t shards) {
    if (!workload.shard_loads.empty() || !workload.leader_load.empty() || !workload.pinned.shards.empty()) return;
    if (shards > 1000) return;
    // Shards that are barred from nodes are placed one by one.
    if (std::ranges::find(cluster_.barred, workload.name, &Barred::workload) != cluster_.barred.end()) return;
    // What an earlier request got may have been levelled since, so the room that was there is not known.
    const bool first = std::ranges::none_of(shards_, [&](const Shard& s) { return s.is_new && s.workload < &workload; });
    if (!first) return;
    std::map<std::string, std::uint64_t> by_domain;
    for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
      const std::string where = naive::spread_is_hard(cluster_, workload) ? naive::domain(cluster_, workload, n) : name(n);
      by_domain[where] += slots(workload, n, shards);
    }
    std::uint64_t room = 0;
    for (const auto& [where, found] : by_domain) room += std::min(found, shards);
    if (room >= shards * workload.replicas)
      say("{} is refused ({}), and there is room for all of it", workload.name, refusal.detail);
  }

  // A node above a hard limit is spoken of, with one of those it holds.
  void check_limits_reported() {
    const auto check = [&](std::uint32_t n, Rule rule) {
      const bool spoken = std::ranges::any_of(plan_.violations, [&](const Violation& v) {
        if (v.rule != rule || !v.hard) return false;
        return std::ranges::any_of(shards_, [&](const Shard& s) {
          return s.workload->name == v.workload && (!v.shard || v.shard->value() == s.number) && has(s.after, n);
        });
      });
      if (!spoken) say("{} is above its limit of {} in the end, and no violation says so", name(n), place::name(rule));
    };
    for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
      const bool held = std::ranges::any_of(shards_, [&](const Shard& s) { return has(s.after, n); });
      if (!held || down(n)) continue;
      if (!final_.fits(n, false)) check(n, Rule::capacity);
      if (!final_.count_fits(n)) check(n, Rule::count);
    }
  }

  template <class T, class Key>
  void check_once(const std::vector<T>& items, const char* what, const Key& key) {
    using K = decltype(key(items.front()));
    std::set<K> seen;
    for (const T& item : items) {
      if (!seen.insert(key(item)).second) say("the list of {} has {}/{} twice", what, item.workload, shard_text(item.shard));
    }
  }
  static std::string shard_text(const std::optional<ShardIndex>& shard) {
    return shard ? std::to_string(shard->value()) : "null";
  }
  void check_lists() {
    check_once(plan_.moves, "moves", [](const Move& m) { return std::tuple(m.workload, m.shard, m.from, m.to); });
    check_once(plan_.leaders, "leaders", [](const LeaderChange& c) { return std::tuple(c.workload, c.shard); });
    check_once(plan_.cancelled, "cancelled", [](const Cancelled& c) { return std::tuple(c.workload, c.shard, c.from, c.to); });
    check_once(plan_.refused, "refused", [](const Refusal& r) { return std::tuple(r.workload, r.shard, r.node); });
    check_once(plan_.violations, "violations", [](const Violation& v) { return std::tuple(v.workload, v.shard, v.rule); });
  }

  // Nodes that take part in balance, by their fair share.
  void check_stats() {
    if (plan_.stats.moves != plan_.moves.size()) say("stats count {} moves of {}", plan_.stats.moves, plan_.moves.size());
    for (const auto& [resource, balance] : plan_.stats.balance) {
      if (balance.max_over_mean < balance.floor - 1e-9)
        say("{}: max over mean {} is below its floor {}", resource, balance.max_over_mean, balance.floor);
      double load = 0, share = 0, most = 0;
      for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
        if (node(n).status != NodeStatus::up && node(n).status != NodeStatus::no_leaders) continue;
        const auto capacity = final_.capacity(n, resource);
        const double own = (capacity ? capacity->value() : 1.0) * node(n).power.to_double();
        const double held = final_.load(n, resource).to_double();
        load += held;
        share += own;
        if (own > 0) most = std::max(most, held / own);
      }
      if (load <= 0 || share <= 0) continue;
      const double found = most / (load / share);
      if (std::abs(found - balance.max_over_mean) > 1e-6 * found)
        say("{}: max over mean is {}, not {}", resource, found, balance.max_over_mean);
    }
  }

  void check_cores() {
    if (!options_.cores) {
      if (!plan_.cores.empty()) say("cores are there, unasked for");
      return;
    }
    for (const Shard& shard : shards_) {
      const auto cores = plan_.cores.find(shard.workload->name);
      if (!plan_.placement.contains(shard.workload->name) || (shard.is_new && shard.after.empty())) continue;
      if (cores == plan_.cores.end() || cores->second.size() <= shard.number ||
          cores->second[shard.number].size() != shard.after.size()) {
        say("{} has not one core for each replica", name(shard));
        continue;
      }
      for (std::size_t i = 0; i < shard.after.size(); ++i) check_core(shard, shard.after[i], cores->second[shard.number][i]);
    }
  }
  void check_core(const Shard& shard, std::uint32_t n, Core core) {
    if (core.value() >= std::max(1u, node(n).cores)) say("{}: {} has no core {}", name(shard), name(n), core);
    const auto old = cluster_.cores.find(shard.workload->name);
    if (old == cluster_.cores.end() || shard.is_new) return;
    for (std::size_t i = 0; i < shard.before.size(); ++i) {
      if (shard.before[i] == n && old->second[shard.number][i] != core)
        say("{}: its replica on {} changes its core", name(shard), name(n));
    }
  }

  // On a node that held nothing every core was chosen by the rule: level for each workload, core 0 last.
  void check_fresh_cores() {
    for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
      const bool fresh = std::ranges::none_of(shards_, [&](const Shard& s) { return has(s.before, n) || s.workload->system; });
      if (!fresh || node(n).cores < 2) continue;
      std::vector<std::uint64_t> all(node(n).cores);
      for (const auto& [id, cores] : plan_.cores) {
        std::vector<std::uint64_t> own(node(n).cores);
        const auto rows = plan_.placement.find(id);
        if (rows == plan_.placement.end() || rows->second.size() != cores.size()) continue;  // said already
        for (std::size_t shard = 0; shard < cores.size(); ++shard) {
          const auto row = rows->second[shard];
          for (std::size_t i = 0; i < std::min(row.size(), cores[shard].size()); ++i) {
            if (row[i].value() == n && cores[shard][i].value() < own.size()) ++own[cores[shard][i].value()];
          }
        }
        const auto [least, most] = std::ranges::minmax(std::span(own).subspan(1));
        if (most > least + 1) say("{}: the cores of {} are not level", id, name(n));
        for (std::size_t core = 0; core < own.size(); ++core) all[core] += own[core];
      }
      const std::uint64_t least = std::ranges::min(std::span(all).subspan(1));
      if (all[0] > 0 && all[0] - 1 + cluster_.settings.core0_reserve > least)
        say("core 0 of {} holds {} and the reserve, another only {}", name(n), all[0], least);
    }
  }

  const Cluster& cluster_;
  const Plan& plan_;
  const PlanOptions& options_;
  std::vector<Shard> shards_;
  Held peak_;   // everything that ever arrives, leadership too, and nothing left
  Held final_;  // where everything ends
  std::uint32_t last_step_ = 0;
  bool bound_reached_ = false;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> judge(const Cluster& before, const Plan& plan, const PlanOptions& options) {
  return Judge(before, plan, options).run();
}

}  // namespace evenkeel::place
