#include "evenkeel/place/floors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace evenkeel::place {

namespace {

// The nodes that take part in one dimension's level. Sums are doubles: whole numbers of several resources may not fit 64 bits together.
struct Field {
  std::vector<double> share;  // by node; 0: takes no part
  std::vector<double> base;
  std::uint32_t nodes = 0;
  double share_sum = 0;
  double share_max = 0;
  double share_min = 0;
  double usage_sum = 0;
  double level_max = 0;       // the largest usage / share
  double base_level_max = 0;  // and base / share

  bool has(std::uint32_t node) const { return node != none && share[node] > 0; }
  double mean() const { return usage_sum / share_sum; }
  double mean_node() const { return usage_sum / nodes; }
  bool idle() const { return nodes == 0 || usage_sum <= 0; }
};

Field field_of(const State& state, std::uint32_t dimension) {
  const Problem& problem = state.problem();
  Field field;
  field.share.resize(problem.nodes);
  field.base.resize(problem.nodes);
  if (problem.share.empty()) return field;
  for (std::uint32_t node = 0; node < problem.nodes; ++node) {
    const std::size_t cell = node * problem.width() + dimension;
    const double share = problem.share[cell];
    if (share <= 0) continue;
    const auto usage = static_cast<double>(state.usage(node)[dimension]);
    field.share[node] = share;
    field.base[node] = static_cast<double>(problem.base[cell]);
    field.share_max = std::max(field.share_max, share);
    field.share_min = field.nodes == 0 ? share : std::min(field.share_min, share);
    field.share_sum += share;
    field.usage_sum += usage;
    field.level_max = std::max(field.level_max, usage / share);
    field.base_level_max = std::max(field.base_level_max, field.base[node] / share);
    ++field.nodes;
  }
  return field;
}

// What a family's groups hold outside any t domains at least: each of them is in d domains, so d - t of its replicas are elsewhere, and
// they may be the smallest ones.
class Outside {
 public:
  // A group of like replicas in d domains.
  void add(std::size_t d, double load) {
    if (alike_.size() <= d) alike_.resize(d + 1);
    alike_[d] += load;
  }
  // Any other; loads are in rising order.
  void add(std::size_t d, std::span<const double> loads) {
    if (least_.size() < d) least_.resize(d);
    double sum = 0;
    for (std::size_t i = 0; i < d; ++i) least_[d - 1 - i] += sum += loads[i];
  }
  void finish() {
    for (std::size_t d = 1; d < alike_.size(); ++d) {
      if (least_.size() < d) least_.resize(d);
      for (std::size_t t = 0; t < d; ++t) least_[t] += static_cast<double>(d - t) * alike_[d];
    }
    alike_.clear();
  }
  std::size_t size() const { return least_.size(); }
  double operator[](std::size_t t) const { return t < least_.size() ? least_[t] : 0; }

 private:
  std::vector<double> alike_;  // by d; until finish()
  std::vector<double> least_;  // by t
};

// Groups whose replicas may be on the same nodes and that spread over the same partition.
struct Kind {
  std::uint32_t able = 0;
  std::uint32_t partition = none;
  // By node: its domain, with a bit set if it is not able; or away, if it takes no part.
  static constexpr std::uint32_t away = none;
  static constexpr std::uint32_t unable = std::uint32_t{1} << 31;
  std::vector<std::uint32_t> where;
  Outside nodes;
  Outside domains;
  double leads = 0;             // what their leaders carry on top, wherever they are
  std::vector<double> largest;  // [k]: the largest replica that has k others in its group which are no smaller
};

// A set of nodes that take part, as bits.
using Bits = std::vector<std::uint64_t>;

bool within(const Bits& inner, const Bits& outer) {
  for (std::size_t i = 0; i < inner.size(); ++i)
    if ((inner[i] & ~outer[i]) != 0) return false;
  return true;
}

// At first everything is assumed to be as binding as it can be, without a look at where replicas are. If even then nothing is above the
// mean, as is usual in large clusters, that is the floor; else they are looked at.
class Floor {
 public:
  Floor(const State& state, const Field& field, std::uint32_t dimension);
  // As usage per share.
  double level() const { return level_; }
  // No replica that takes part is larger, leading or not.
  double replica_max() const { return replica_max_; }

 private:
  struct Cell {
    double share = 0;
    double base = 0;
  };

  static constexpr std::size_t few = 32;  // replicas of a group; their domains are compared each with each
  struct Looked {
    std::uint32_t count = 0;    // replicas that take part
    std::uint32_t domains = 0;  // of those, if simple
    bool alike = true;
    bool able = true;
    bool simple = true;  // all of them take part, and they are few
    double largest = 0;
  };

  // Groups of one family and size, whose replicas are alike.
  struct Run {
    double sum = 0;  // of a replica of each
    double leads = 0;
    double largest = -1;
    double largest_leader = 0;
  };

  void make_kinds();
  void look_at(std::uint32_t group);
  void assume_all();
  void assume(std::uint32_t group, std::span<const std::uint32_t> rows, Run& run);
  void add_run(Kind& kind, std::uint32_t count, const Family& family, const Run& run);
  Looked look_at_row(std::uint32_t group, const Kind& kind);
  void take_loads(std::span<const std::uint32_t> rows, Looked& looked);
  void look_closer();
  void raise();
  std::uint32_t domains_of(std::uint32_t group, const Family& family);
  void add_alike(Kind& kind, std::uint32_t count, std::uint32_t domains, double load, double lead);
  void add_mixed(Kind& kind, std::uint32_t count, std::uint32_t domains, double lead);
  void note_large(double load, std::size_t times) {
    if (load >= large_from_) large_.insert(large_.end(), times, load);
  }
  void note_unit(Amount load) {
    if (unit_ != 1 && (unit_ == 0 || unit_ >= unit_min_)) unit_ = std::gcd(unit_, load);
  }
  void fixed_bound();
  void whole_bound();
  void largest_bound(const Kind& kind);
  void pair_bound();
  void class_bounds();
  void class_bound(const std::vector<const Kind*>& inside, std::vector<Cell> cells, std::uint32_t partition);
  void raise_outside(std::vector<Cell>& cells, std::size_t t, double forced);
  Bits bits_of(std::uint32_t of) const;
  std::vector<Cell> cells_of(const Bits& bits, std::uint32_t partition) const;
  bool able(std::uint32_t of, std::uint32_t node) const { return problem_.able.empty() || problem_.able[of][node] != 0; }
  Amount load(std::uint32_t row) const { return problem_.loads[row * problem_.width() + dimension_]; }

  const State& state_;
  const Problem& problem_;
  const Field& field_;
  std::uint32_t dimension_;
  double level_;
  double replica_max_ = 0;
  Amount unit_ = 0;  // all loads are multiples of it; below unit_min_ that says nothing, and is not followed further
  Amount unit_min_;
  double large_from_;  // smaller ones cannot make pair_bound() rise above the mean, so there are at most 2N of interest
  std::vector<double> large_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_of_;  // by family
  std::vector<double> loads_;           // of the group looked at; of like ones the first
  std::vector<std::uint32_t> rows_;     // and their rows, if they are unlike
  std::vector<std::uint32_t> seen_;     // domains of the group looked at
};

Floor::Floor(const State& state, const Field& field, std::uint32_t dimension)
    : state_(state),
      problem_(state.problem()),
      field_(field),
      dimension_(dimension),
      level_(field.mean()),
      unit_min_(static_cast<Amount>(field.mean_node() / 1e5) + 1),
      large_from_(field.mean() * field.share_max / 2) {
  make_kinds();
  assume_all();
  raise();
  if (level_ > field.mean()) look_closer();
  whole_bound();
}

void Floor::look_closer() {
  level_ = field_.mean();
  large_.clear();
  make_kinds();
  for (std::uint32_t group = 0; group < problem_.groups(); ++group) look_at(group);
  raise();
}

void Floor::raise() {
  fixed_bound();
  for (Kind& kind : kinds_) {
    kind.nodes.finish();
    kind.domains.finish();
    largest_bound(kind);
  }
  class_bounds();
  pair_bound();
}

void Floor::make_kinds() {
  kinds_.clear();
  kind_of_.clear();
  for (const Family& family : problem_.families) {
    const auto same = [&](const Kind& kind) { return kind.able == family.able && kind.partition == family.partition; };
    const auto found = std::ranges::find_if(kinds_, same);
    kind_of_.push_back(static_cast<std::uint32_t>(found - kinds_.begin()));
    if (found != kinds_.end()) continue;
    Kind kind;
    kind.able = family.able;
    kind.partition = family.partition;
    kind.where.assign(problem_.nodes, Kind::away);
    for (std::uint32_t node = 0; node < problem_.nodes; ++node) {
      if (field_.share[node] <= 0) continue;
      kind.where[node] = kind.partition == none ? 0 : problem_.partitions[kind.partition].domain[node];
      if (!able(kind.able, node)) kind.where[node] |= Kind::unable;
    }
    kinds_.push_back(std::move(kind));
  }
}

// Replicas on nodes that take no part stay where they are. A group with one on a node that is not able (rules changed, and its move waits)
// is counted as free to go anywhere: what it does now shall not be below the floor.
void Floor::look_at(std::uint32_t group) {
  const Family& family = problem_.families[problem_.group_family[group]];
  Kind& kind = kinds_[kind_of_[problem_.group_family[group]]];
  const Looked looked = look_at_row(group, kind);
  if (looked.count == 0) return;
  double lead = 0;
  if (!problem_.group_lead.empty() && problem_.group_lead[group] != none) {
    const std::uint32_t leader = state_.leader(group);
    if (leader != none && field_.has(state_.at(leader))) {
      note_unit(load(problem_.group_lead[group]));
      lead = static_cast<double>(load(problem_.group_lead[group]));
    }
  }
  replica_max_ = std::max(replica_max_, looked.largest + lead);
  if (!looked.able) return;
  std::uint32_t domains = 0;
  if (family.partition != none)
    domains = looked.simple ? std::min(looked.domains, family.spread_least) : domains_of(group, family);
  if (looked.alike)
    add_alike(kind, looked.count, domains, loads_[0], lead);
  else
    add_mixed(kind, looked.count, domains, lead);
}

// All of them take part, are able, and spread as well as can be, wherever they are. Runs of groups of one family and size are summed up
// together: this is a pass over the loads, and little more.
void Floor::assume_all() {
  std::uint32_t group = 0;
  while (group < problem_.groups()) {
    const std::uint32_t family = problem_.group_family[group];
    const std::uint32_t count = problem_.group_end(group) - problem_.group_first[group];
    Run run;
    for (; group < problem_.groups(); ++group) {
      const std::uint32_t first = problem_.group_first[group];
      if (problem_.group_family[group] != family || problem_.group_end(group) - first != count) break;
      if (count > 0) assume(group, std::span(problem_.replica_load.data() + first, count), run);
    }
    if (count > 0 && run.largest >= 0) add_run(kinds_[kind_of_[family]], count, problem_.families[family], run);
  }
}

void Floor::assume(std::uint32_t group, std::span<const std::uint32_t> rows, Run& run) {
  double lead = 0;
  if (!problem_.group_lead.empty() && problem_.group_lead[group] != none) {
    note_unit(load(problem_.group_lead[group]));
    lead = static_cast<double>(load(problem_.group_lead[group]));
  }
  bool alike = true;
  for (const std::uint32_t row : rows) alike &= row == rows[0];
  if (!alike) {
    Looked looked{
        .count = static_cast<std::uint32_t>(rows.size()), .domains = static_cast<std::uint32_t>(rows.size()), .alike = false};
    take_loads(rows, looked);
    replica_max_ = std::max(replica_max_, looked.largest + lead);
    add_mixed(kinds_[kind_of_[problem_.group_family[group]]], looked.count, looked.domains, lead);
    return;
  }
  const Amount amount = load(rows[0]);
  note_unit(amount);
  const auto each = static_cast<double>(amount);
  run.sum += each;
  run.leads += lead;
  run.largest = std::max(run.largest, each);
  run.largest_leader = std::max(run.largest_leader, each + lead);
  if (each + lead < large_from_) return;
  note_large(each + lead, 1);
  note_large(each, rows.size() - 1);
}

void Floor::add_run(Kind& kind, std::uint32_t count, const Family& family, const Run& run) {
  kind.nodes.add(count, run.sum);
  if (family.partition != none)
    kind.domains.add(std::min({count, family.spread_least, problem_.partitions[family.partition].domains}), run.sum);
  kind.leads += run.leads;
  if (kind.largest.size() < count) kind.largest.resize(count);
  kind.largest[0] = std::max(kind.largest[0], run.largest_leader);
  kind.largest[count - 1] = std::max(kind.largest[count - 1], run.largest);
  replica_max_ = std::max(replica_max_, run.largest_leader);
}

// This is nearly all of the time that a floor takes: plain pointers, and one look at a table for each replica.
Floor::Looked Floor::look_at_row(std::uint32_t group, const Kind& kind) {
  const auto row = state_.row(group);
  const std::uint32_t* rows = problem_.replica_load.data() + problem_.group_first[group];
  const std::uint32_t* where = kind.where.data();
  std::array<std::uint32_t, few> seen;
  std::uint32_t load_row = none;
  Looked looked;
  looked.simple = row.size() <= few;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == none) continue;
    const std::uint32_t domain = where[row[i]];
    if (domain == Kind::away) {
      looked.simple = false;
      continue;
    }
    looked.able &= (domain & Kind::unable) == 0;
    looked.alike &= looked.count == 0 || rows[i] == load_row;
    load_row = rows[i];
    ++looked.count;
    if (!looked.simple) continue;
    bool fresh = true;
    for (std::uint32_t j = 0; j < looked.domains; ++j) fresh &= seen[j] != domain;
    seen[looked.domains] = domain;
    looked.domains += fresh ? 1 : 0;
  }
  if (looked.count == 0) return looked;
  if (looked.alike) {
    take_loads(std::span(&load_row, 1), looked);
    return looked;
  }
  rows_.clear();
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i] != none && where[row[i]] != Kind::away) rows_.push_back(rows[i]);
  take_loads(rows_, looked);
  return looked;
}

void Floor::take_loads(std::span<const std::uint32_t> rows, Looked& looked) {
  loads_.clear();
  for (const std::uint32_t row : looked.alike ? rows.first(1) : rows) {
    note_unit(load(row));
    loads_.push_back(static_cast<double>(load(row)));
    looked.largest = std::max(looked.largest, loads_.back());
  }
}

// In how many domains those replicas of a group are, and will be, that take part: without the domains where others of it stay.
std::uint32_t Floor::domains_of(std::uint32_t group, const Family& family) {
  const auto& domain = problem_.partitions[family.partition].domain;
  const auto row = state_.row(group);
  seen_.clear();
  std::uint32_t staying = 0;
  for (const bool takes_part : {false, true}) {
    for (const std::uint32_t node : row) {
      if (node == none || (field_.share[node] > 0) != takes_part) continue;
      if (row.size() > few || std::ranges::find(seen_, domain[node]) == seen_.end()) seen_.push_back(domain[node]);
    }
    if (row.size() > few) {
      std::ranges::sort(seen_);
      seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
    }
    if (!takes_part) staying = static_cast<std::uint32_t>(seen_.size());
  }
  const auto all = std::min(static_cast<std::uint32_t>(seen_.size()), family.spread_least);
  return all - std::min(all, staying);
}

void Floor::add_alike(Kind& kind, std::uint32_t count, std::uint32_t domains, double load, double lead) {
  kind.nodes.add(count, load);
  if (domains > 0) kind.domains.add(domains, load);
  kind.leads += lead;
  if (kind.largest.size() < count) kind.largest.resize(count);
  kind.largest[0] = std::max(kind.largest[0], load + lead);
  kind.largest[count - 1] = std::max(kind.largest[count - 1], load);
  note_large(load + lead, 1);
  note_large(load, count - 1);
}

// Whoever leads, the largest is no smaller than the largest without a leader's part nor than the smallest with it, and the others are no
// smaller than without.
void Floor::add_mixed(Kind& kind, std::uint32_t count, std::uint32_t domains, double lead) {
  const std::span<double> loads(loads_.data(), count);
  std::ranges::sort(loads);
  kind.nodes.add(count, loads);
  if (domains > 0) kind.domains.add(domains, loads);
  kind.leads += lead;
  if (kind.largest.size() < count) kind.largest.resize(count);
  for (std::uint32_t k = 0; k < count; ++k) {
    const double at_least = k == 0 ? std::max(loads[count - 1], loads[0] + lead) : loads[count - 1 - k];
    kind.largest[k] = std::max(kind.largest[k], at_least);
    note_large(at_least, 1);
  }
}

void Floor::fixed_bound() {
  std::vector<double> fixed = field_.base;
  if (!problem_.frozen.empty())
    for (std::uint32_t replica = 0; replica < problem_.replicas(); ++replica)
      if (problem_.frozen[replica] != 0 && field_.has(state_.at(replica)))
        fixed[state_.at(replica)] += static_cast<double>(load(problem_.replica_load[replica]));
  for (std::uint32_t node = 0; node < problem_.nodes; ++node)
    if (field_.share[node] > 0) level_ = std::max(level_, fixed[node] / field_.share[node]);
}

// Of k+1 replicas of one group one is on a node that takes it no better than the k+1st best.
void Floor::largest_bound(const Kind& kind) {
  double load = 0;
  std::vector<double> levels;
  for (std::size_t k = kind.largest.size(); k-- > 0;) {
    load = std::max(load, kind.largest[k]);
    if (field_.base_level_max + load / field_.share_min <= level_) continue;  // nearly always: no node is raised so far by it
    levels.clear();
    for (std::uint32_t node = 0; node < problem_.nodes; ++node)
      if (field_.share[node] > 0 && able(kind.able, node)) levels.push_back((field_.base[node] + load) / field_.share[node]);
    if (levels.size() <= k) continue;
    std::ranges::nth_element(levels, levels.begin() + static_cast<std::ptrdiff_t>(k));
    level_ = std::max(level_, levels[k]);
  }
}

void Floor::pair_bound() {
  if (large_.size() <= field_.nodes) return;
  const auto last = large_.begin() + field_.nodes;
  std::ranges::nth_element(large_, last, std::greater<>());
  const double next_to_last = *std::min_element(large_.begin(), last);
  level_ = std::max(level_, (next_to_last + *last) / field_.share_max);
}

// Loads are multiples of one unit, so nodes are filled in steps of it: ten like replicas on three nodes are four on one of them. The level
// is between one at which all units do not fit and the present one.
void Floor::whole_bound() {
  if (unit_ < unit_min_) return;
  const auto unit = static_cast<double>(unit_);
  double units = field_.usage_sum / unit;
  for (std::uint32_t node = 0; node < problem_.nodes; ++node) units -= field_.base[node] / unit;
  constexpr double slack = 1e-6;  // of a unit: rounding may make a floor lower, never higher
  const auto fits = [&](double level) {
    double room = slack;
    for (std::uint32_t node = 0; node < problem_.nodes; ++node)
      if (field_.share[node] > 0)
        room += std::floor(std::max(0.0, level * field_.share[node] - field_.base[node]) / unit + slack);
    return room >= units;
  };
  double high = field_.level_max;
  constexpr int halvings = 40;
  for (int i = 0; i < halvings && !fits(level_); ++i) {
    const double middle = level_ + (high - level_) / 2;
    (fits(middle) ? high : level_) = middle;
  }
}

Bits Floor::bits_of(std::uint32_t of) const {
  Bits bits((problem_.nodes + 63) / 64);
  for (std::uint32_t node = 0; node < problem_.nodes; ++node)
    if (field_.share[node] > 0 && (of == none || able(of, node))) bits[node / 64] |= std::uint64_t{1} << node % 64;
  return bits;
}

// Shares and bases of those nodes, summed over the domains of a partition; without one, node by node.
std::vector<Floor::Cell> Floor::cells_of(const Bits& bits, std::uint32_t partition) const {
  std::vector<Cell> cells(partition == none ? problem_.nodes : problem_.partitions[partition].domains);
  for (std::uint32_t node = 0; node < problem_.nodes; ++node) {
    if ((bits[node / 64] >> node % 64 & 1) == 0) continue;
    Cell& cell = cells[partition == none ? node : problem_.partitions[partition].domain[node]];
    cell.share += field_.share[node];
    cell.base += field_.base[node];
  }
  std::erase_if(cells, [](const Cell& cell) { return cell.share <= 0; });
  return cells;
}

// Whatever t cells are left out, `forced` is in the others. Which are best left out depends on the level that shows: those that have the
// most room at it. A few rounds of choosing and raising the level find the best choice.
void Floor::raise_outside(std::vector<Cell>& cells, std::size_t t, double forced) {
  constexpr int rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    const auto room = [this](const Cell& cell) { return level_ * cell.share - cell.base; };
    const auto rest = cells.begin() + static_cast<std::ptrdiff_t>(t);
    if (t > 0) std::ranges::nth_element(cells, rest, std::greater<>(), room);
    Cell sum;
    for (auto cell = rest; cell != cells.end(); ++cell) {
      sum.share += cell->share;
      sum.base += cell->base;
    }
    const double level = (forced + sum.base) / sum.share;
    if (level <= level_) return;
    level_ = level;
  }
}

// What can only be on these nodes, and outside the best t domains of them.
void Floor::class_bound(const std::vector<const Kind*>& inside, std::vector<Cell> cells, std::uint32_t partition) {
  std::size_t most = 1;
  for (const Kind* kind : inside) most = std::max(most, partition == none ? kind->nodes.size() : kind->domains.size());
  for (std::size_t t = 0; t < std::min(most, cells.size()); ++t) {
    double forced = 0;
    for (const Kind* kind : inside) {
      if (t == 0)
        forced += kind->nodes[0] + kind->leads;
      else if (partition == none)
        forced += kind->nodes[t];
      else if (kind->partition == partition)
        forced += kind->domains[t];
    }
    raise_outside(cells, t, forced);
  }
}

// For every class of nodes, and for all nodes together.
void Floor::class_bounds() {
  std::vector<Bits> bits;
  bits.reserve(kinds_.size());
  for (const Kind& kind : kinds_) bits.push_back(bits_of(kind.able));
  const Bits everywhere = bits_of(none);
  std::vector<std::pair<Bits, std::uint32_t>> asked;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    for (const std::uint32_t partition : {none, kinds_[i].partition}) {
      for (const Bits& nodes : {std::cref(bits[i]), std::cref(everywhere)}) {
        std::pair question(nodes, partition);
        if (std::ranges::find(asked, question) == asked.end()) asked.push_back(std::move(question));
      }
    }
  }
  for (const auto& [nodes, partition] : asked) {
    std::vector<const Kind*> inside;
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      if (within(bits[i], nodes)) inside.push_back(&kinds_[i]);
    class_bound(inside, cells_of(nodes, partition), partition);
  }
}

// The present level is one that can be reached; without it rounding could lift a floor above it by a last bit.
double over_mean(const Floor& floor, const Field& field) {
  return std::max(1.0, std::min(floor.level(), field.level_max) / field.mean());
}

// Calls back with every replica that takes part and what it holds, its leader's part included.
template <class Visit>
void each_replica(const State& state, const Field& field, std::uint32_t dimension, const Visit& visit) {
  const Problem& problem = state.problem();
  for (std::uint32_t group = 0; group < problem.groups(); ++group) {
    const std::uint32_t lead = problem.group_lead.empty() ? none : problem.group_lead[group];
    const std::uint32_t leader = lead == none ? none : state.leader(group);
    for (std::uint32_t replica = problem.group_first[group]; replica < problem.group_end(group); ++replica) {
      const std::uint32_t node = state.at(replica);
      if (!field.has(node)) continue;
      Amount load = problem.loads[problem.replica_load[replica] * problem.width() + dimension];
      if (replica == leader) load += problem.loads[lead * problem.width() + dimension];
      visit(node, static_cast<double>(load));
    }
  }
}

std::vector<std::uint32_t> giants_of(const State& state, const Field& field, std::uint32_t dimension) {
  std::vector<std::uint32_t> nodes;
  if (field.idle()) return nodes;
  each_replica(state, field, dimension, [&](std::uint32_t node, double load) {
    if (load > field.mean_node()) nodes.push_back(node);
  });
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

double stddev_of(const State& state, const Field& field, std::uint32_t dimension) {
  double sum = 0;
  for (std::uint32_t node = 0; node < state.problem().nodes; ++node) {
    if (field.share[node] <= 0) continue;
    const double off = static_cast<double>(state.usage(node)[dimension]) / field.share[node] / field.mean() - 1;
    sum += field.share[node] * off * off;
  }
  return std::sqrt(sum / field.share_sum);
}

}  // namespace

double level_floor(const State& state, std::uint32_t dimension) {
  const Field field = field_of(state, dimension);
  return field.idle() ? 1 : over_mean(Floor(state, field, dimension), field);
}

std::vector<std::uint32_t> nodes_with_giants(const State& state, std::uint32_t dimension) {
  return giants_of(state, field_of(state, dimension), dimension);
}

Balance balance_of(const State& state, std::uint32_t dimension) {
  const Field field = field_of(state, dimension);
  Balance balance;
  if (field.idle()) return balance;
  balance.max_over_mean = field.level_max / field.mean();
  balance.stddev_over_mean = stddev_of(state, field, dimension);
  const Floor floor(state, field, dimension);
  balance.floor = over_mean(floor, field);
  if (floor.replica_max() <= field.mean_node()) return balance;
  const std::vector<std::uint32_t> giants = giants_of(state, field, dimension);
  if (giants.empty() || giants.size() == field.nodes) return balance;
  double level = 0;
  for (std::uint32_t node = 0; node < state.problem().nodes; ++node)
    if (field.share[node] > 0 && !std::ranges::binary_search(giants, node))
      level = std::max(level, static_cast<double>(state.usage(node)[dimension]) / field.share[node]);
  if (level > 0) balance.max_over_mean_without_giants = level / field.mean();
  return balance;
}

}  // namespace evenkeel::place
