// New workloads and new shards: each request is placed wholly or not at all, on what the earlier left. What is there already does not
// move for it, and room that leavers will free does not count.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "evenkeel/base/hash.h"
#include "evenkeel/place/detail/deal.h"
#include "evenkeel/place/detail/family_sums.h"
#include "evenkeel/place/detail/node_rules.h"
#include "evenkeel/place/detail/pack.h"
#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

constexpr std::uint64_t replicas_in_all = std::uint64_t{1} << 27;

class Request {
 public:
  Request(Board& board, std::uint32_t workload)
      : board_(board),
        problem_(board.problem),
        workload_(workload),
        spec_(board.cluster->workloads[workload]),
        family_(board.problem.families[workload]),
        first_(board.spans[workload].count),
        shards_(spec_.shards - first_) {}

  // The refusal, or nothing: it is placed.
  std::optional<Refusal> run() {
    if (shards_ == 0) return std::nullopt;
    const std::uint64_t wanted = std::uint64_t{shards_} * spec_.replicas;
    if (wanted + problem_.replicas() > replicas_in_all) {
      return refuse(RefusalReason::too_large,
                    fmt::format("{} replicas, and {} are the most that one cluster may have", wanted, replicas_in_all));
    }
    if (auto no = too_few_nodes()) return no;
    look();
    if (auto no = alike() ? std::nullopt : too_much()) return no;
    if (auto no = place_pinned()) return no;
    if (auto no = too_few_left()) return no;
    if (auto no = alike() && !any_barred_ ? place_alike() : place_unlike()) {
      no->proved = no->proved && own_rows_.empty();  // the pinned ones' others might have gone elsewhere
      return no;
    }
    write_down();
    return std::nullopt;
  }

 private:
  Refusal refuse(RefusalReason reason, std::string detail, bool proved = true) const {
    Refusal refusal{.workload = spec_.name, .reason = reason, .detail = std::move(detail), .proved = proved};
    const auto load = problem_.load(board_.rows[workload_].base);
    for (std::uint32_t n = 0; n < problem_.nodes && refusal.nodes.size() < board_.options.reasons_max; ++n) {
      if (std::string why = why_not_new(board_, workload_, load, n); !why.empty())
        refusal.nodes.emplace_back(board_.cluster_node[n], std::move(why));
    }
    return refusal;
  }

  const std::vector<std::uint8_t>& able() const { return problem_.able[family_.able]; }

  std::optional<Refusal> too_few_nodes() const {
    std::uint64_t up = 0, fit = 0;
    std::set<std::uint32_t> domains;
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      up += board_.takes_part[n];
      fit += able()[n];
      if (able()[n] != 0 && family_.partition != none) domains.insert(problem_.partitions[family_.partition].domain[n]);
    }
    if (up < spec_.replicas) return refuse(RefusalReason::nodes, fmt::format("needs {} nodes; {} are up", spec_.replicas, up));
    if (fit < spec_.replicas) {
      return refuse(RefusalReason::labels,
                    fmt::format("needs {} nodes with its labels and tolerated taints; {} have them", spec_.replicas, fit));
    }
    if (family_.spread_hard && family_.partition != none && domains.size() < spec_.replicas) {
      return refuse(RefusalReason::spread,
                    fmt::format("needs {} domains of level {}; {} have an able node", spec_.replicas, level(), domains.size()));
    }
    return std::nullopt;
  }

  const std::string& level() const { return spread_of(board_.cluster->settings, spec_).level; }

  // Usage and room as they are, in arrays that the request fills up.
  void look() {
    const std::size_t cells = problem_.nodes * problem_.width();
    usage_.resize(cells), room_.resize(cells), soft_room_.resize(cells);
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      for (std::size_t d = 0; d < problem_.width(); ++d) {
        const std::size_t cell = n * problem_.width() + d;
        usage_[cell] = board_.state->usage(n)[d];
        room_[cell] = problem_.limit[cell] - board_.state->peak(n)[d];
        soft_room_[cell] = problem_.soft[cell] - usage_[cell];
      }
    }
    own_.assign(problem_.nodes, 0);
    const Span& span = board_.spans[workload_];
    for (std::uint32_t r = problem_.group_first[span.first]; r < problem_.group_first[span.first + span.count]; ++r) {
      if (board_.state->at(r) != none) own_[board_.state->at(r)] += problem_.measures[problem_.replica_load[r]];
    }
    domains_ =
        family_.partition == none ? std::vector<std::uint32_t>(problem_.nodes) : problem_.partitions[family_.partition].domain;
    if (family_.partition == none) std::iota(domains_.begin(), domains_.end(), 0);
    for (const std::uint64_t salt : board_.salt) salt_.push_back(mix64(salt, hash64(spec_.name.str())));
    find_avoided();
  }

  // More in all than there is room in all: said before anything is made for the shards.
  std::optional<Refusal> too_much() const {
    for (std::size_t d = 0; d < problem_.width(); ++d) {
      Int128 room = 0, wanted = 0;
      for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
        if (able()[n] != 0) room += std::max<Amount>(0, room_[n * problem_.width() + d]);
      }
      const ShardLoads& own = spec_.shard_loads;
      const auto from = static_cast<std::uint32_t>(std::ranges::lower_bound(own.shards, ShardIndex(first_)) - own.shards.begin());
      const auto others = static_cast<Int128>(own.shards.size() - from);
      for (std::uint32_t i = from; i < own.shards.size(); ++i) wanted += problem_.load(board_.rows[workload_].own_first + i)[d];
      wanted = (wanted + (shards_ - others) * problem_.load(board_.rows[workload_].base)[d]) * spec_.replicas;
      if (const std::uint32_t lead = board_.rows[workload_].lead; lead != none)
        wanted += Int128{shards_} * problem_.load(lead)[d];
      if (wanted <= room) continue;
      const Dimension& dimension = problem_.dimensions[d];
      if (dimension.counts) {
        return refuse(RefusalReason::count,
                      fmt::format("needs {} slots; {} are free", static_cast<double>(wanted), static_cast<double>(room)));
      }
      return refuse(RefusalReason::capacity,
                    room == 0 ? fmt::format("no {} is free", dimension.name)
                              : fmt::format("needs {:.4g} times the {} that is free",
                                            static_cast<double>(wanted) / static_cast<double>(room), dimension.name));
    }
    return std::nullopt;
  }

  // Nodes with an untolerated soft taint, with replicas that it should be apart from, or without those that it should be close to.
  void find_avoided() {
    avoided_ = problem_.avoid[family_.able];
    avoided_.resize(problem_.nodes);
    if (family_.apart_from.empty() && family_.close_to.empty()) return;
    std::vector<std::uint8_t> apart(problem_.nodes), close(problem_.nodes);
    for (std::uint32_t r = 0; r < problem_.replicas(); ++r) {
      if (board_.state->at(r) == none) continue;
      const std::uint32_t f = family_of(problem_, r);
      if (std::ranges::find(family_.apart_from, f) != family_.apart_from.end()) apart[board_.state->at(r)] = 1;
      if (std::ranges::find(family_.close_to, f) != family_.close_to.end()) close[board_.state->at(r)] = 1;
    }
    const bool any_close = std::ranges::find(close, 1) != close.end();
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      if (apart[n] != 0 || (any_close && close[n] == 0)) avoided_[n] = 1;
    }
  }

  std::uint32_t load_row(std::uint32_t shard) const { return board_.load_row(workload_, shard); }

  bool fits(std::uint32_t node, std::uint32_t row, bool leads) const {
    for (std::size_t d = 0; d < problem_.width(); ++d) {
      Amount load = problem_.load(row)[d];
      if (leads && board_.rows[workload_].lead != none) load += problem_.load(board_.rows[workload_].lead)[d];
      if (load > 0 && load > room_[node * problem_.width() + d]) return false;
    }
    return true;
  }

  void fill(std::uint32_t node, std::uint32_t row) {
    for (std::size_t d = 0; d < problem_.width(); ++d) {
      const std::size_t cell = node * problem_.width() + d;
      usage_[cell] += problem_.load(row)[d], room_[cell] -= problem_.load(row)[d], soft_room_[cell] -= problem_.load(row)[d];
    }
  }

  // Shards with pinned replicas come first: those where they are pinned, the others of the shard where there is most room.
  std::optional<Refusal> place_pinned() {
    const Pins& pins = spec_.pinned;
    for (std::size_t i = 0; i < pins.shards.size(); ++i) {
      const std::uint32_t shard = pins.shards[i].value();
      if (shard < first_ || shard >= spec_.shards) continue;
      std::vector<std::uint32_t>& row = own_rows_[shard];
      for (const NodeIndex node : pins.nodes[i]) {
        const std::uint32_t n = board_.board_node[node.value()];
        if (row.size() == spec_.replicas) break;
        if (!may_add(shard, row, n)) {
          return refuse(RefusalReason::capacity,
                        fmt::format("shard {} is pinned to {}, which cannot take it", shard, board_.node(n).name));
        }
        add(shard, row, n);
      }
      while (row.size() < spec_.replicas) {
        const std::uint32_t n = roomiest(shard, row);
        if (n == none) return refuse(RefusalReason::capacity, fmt::format("no room for the pinned shard {}", shard), false);
        add(shard, row, n);
      }
    }
    return std::nullopt;
  }

  // Shards of those that are still to be placed that are barred from nodes, each with the first of its entries.
  template <class Visit>
  void each_barred(const Visit& visit) const {
    const auto end = std::ranges::lower_bound(board_.barred, BarredShard{workload_, spec_.shards, 0});
    for (auto at = std::ranges::lower_bound(board_.barred, BarredShard{workload_, first_, 0}); at < end;) {
      const auto nodes = board_.barred_of(workload_, at->shard);
      if (!own_rows_.contains(at->shard)) visit(at->shard, nodes);
      at += static_cast<std::ptrdiff_t>(nodes.size());
    }
  }

  std::optional<Refusal> too_few_left() {
    std::optional<Refusal> no;
    each_barred([&](std::uint32_t shard, std::span<const BarredShard>) {
      any_barred_ = true;
      if (!no) no = too_few_left(shard);
    });
    return no;
  }

  // Whatever the load: too few nodes, or domains, that the shard is not barred from.
  std::optional<Refusal> too_few_left(std::uint32_t shard) const {
    std::set<std::uint32_t> domains;
    std::uint64_t left = 0;
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      if (able()[n] == 0 || board_.is_barred(workload_, shard, n)) continue;
      ++left;
      domains.insert(domains_[n]);
    }
    if (left < spec_.replicas) {
      return refuse_barred(shard, fmt::format("needs {} nodes; shard {} is not barred from {} of those that are able",
                                              spec_.replicas, shard, left));
    }
    if (family_.spread_hard && family_.partition != none && domains.size() < spec_.replicas) {
      return refuse_barred(shard,
                           fmt::format("needs {} domains of level {}; {} have an able node that shard {} is not barred from",
                                       spec_.replicas, level(), domains.size(), shard));
    }
    return std::nullopt;
  }

  // One shard's bars are why the whole request is refused.
  Refusal refuse_barred(std::uint32_t shard, std::string detail) const {
    Refusal refusal{.workload = spec_.name, .reason = RefusalReason::barred, .detail = std::move(detail)};
    const auto load = problem_.load(load_row(shard));
    for (std::uint32_t n = 0; n < problem_.nodes && refusal.nodes.size() < board_.options.reasons_max; ++n) {
      std::string why = why_not_new(board_, workload_, load, n);
      if (able()[n] != 0 && board_.is_barred(workload_, shard, n)) why = fmt::format("shard {} is barred from it", shard);
      if (!why.empty()) refusal.nodes.emplace_back(board_.cluster_node[n], std::move(why));
    }
    return refusal;
  }

  bool may_add(std::uint32_t shard, const std::vector<std::uint32_t>& row, std::uint32_t n) const {
    if (able()[n] == 0 || board_.is_barred(workload_, shard, n)) return false;
    if (std::ranges::find(row, n) != row.end() || !fits(n, load_row(shard), row.empty())) return false;
    return !family_.spread_hard || std::ranges::none_of(row, [&](std::uint32_t other) { return domains_[other] == domains_[n]; });
  }

  void add(std::uint32_t shard, std::vector<std::uint32_t>& row, std::uint32_t n) {
    fill(n, load_row(shard));
    if (row.empty() && board_.rows[workload_].lead != none) fill(n, board_.rows[workload_].lead);
    own_[n] += problem_.measures[load_row(shard)];
    row.push_back(n);
  }

  std::uint32_t roomiest(std::uint32_t shard, const std::vector<std::uint32_t>& row) const {
    std::uint32_t best = none;
    std::tuple<bool, double, std::uint64_t> best_key;
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      if (!may_add(shard, row, n)) continue;
      const bool shares = std::ranges::any_of(row, [&](std::uint32_t other) { return domains_[other] == domains_[n]; });
      const auto [slope, rise] = marginal(n, load_row(shard));
      const std::tuple key(shares, slope + rise, mix64(salt_[n], shard));
      if (best == none || key < best_key) best = n, best_key = key;
    }
    return best;
  }

  // What the level goals say of one more replica here: slope + rise · (replicas more).
  std::pair<double, double> marginal(std::uint32_t n, std::uint32_t row) const {
    double slope = 0, rise = 0;
    for (std::size_t d = 0; d < problem_.width(); ++d) {
      const std::size_t cell = n * problem_.width() + d;
      if (problem_.share[cell] <= 0) continue;
      const double load = static_cast<double>(problem_.load(row)[d]),
                   weight = problem_.dimensions[d].level_weight / problem_.share[cell];
      slope += weight * load * static_cast<double>(usage_[cell]);
      rise += weight * load * load;
    }
    const double share = problem_.own_shares[family_.own_share][n];
    if (share <= 0) return {slope, 0};
    const auto measure = static_cast<double>(problem_.measures[row]);
    slope += family_.own_weight * measure * static_cast<double>(own_[n]) / share;
    rise += family_.own_weight * measure * measure / share;
    return {slope, rise};
  }

  bool alike() const {
    if (board_.rows[workload_].lead != none) return false;
    const auto from = std::ranges::lower_bound(spec_.shard_loads.shards, ShardIndex(first_));
    return from == spec_.shard_loads.shards.end();
  }

  // How many shards are placed one by one, because they are pinned.
  std::uint32_t own() const { return static_cast<std::uint32_t>(own_rows_.size()); }
  // The others, in order.
  std::vector<std::uint32_t> others() const {
    std::vector<std::uint32_t> shards;
    shards.reserve(shards_ - own());
    for (std::uint32_t i = 0; i < shards_; ++i) {
      if (!own_rows_.contains(first_ + i)) shards.push_back(first_ + i);
    }
    return shards;
  }

  std::uint64_t slots(std::uint32_t n, bool soft) const {
    if (able()[n] == 0) return 0;
    const auto load = problem_.load(board_.rows[workload_].base);
    std::uint64_t slots = std::uint64_t{1} << 62;
    for (std::size_t d = 0; d < problem_.width(); ++d) {
      const std::size_t cell = n * problem_.width() + d;
      if (load[d] <= 0) continue;
      const Amount room = soft ? std::min(room_[cell], soft_room_[cell]) : room_[cell];
      slots = std::min(slots, static_cast<std::uint64_t>(std::max<Amount>(0, room) / load[d]));
    }
    return slots;
  }

  // Soft wishes are kept if they can be: first without the nodes to avoid and below the soft limits, at last with all that may be.
  std::optional<Refusal> place_alike() {
    std::vector<double> share(problem_.nodes), level(problem_.nodes);
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      const auto [slope, rise] = marginal(n, board_.rows[workload_].base);
      share[n] = rise > 0 ? 1 / rise : 0;
      level[n] = rise > 0 ? slope / rise : 0;
    }
    const double mean = std::max(1e-300, *std::ranges::max_element(share));
    for (double& s : share) s /= mean;
    std::vector<std::uint64_t> slots(problem_.nodes);
    Deal request{.shards = shards_ - own(),
                 .replicas = spec_.replicas,
                 .hard = family_.spread_hard && family_.partition != none,
                 .slots = slots,
                 .domains = domains_,
                 .share = share,
                 .fill = level,
                 .salt = salt_,
                 .leads = board_.may_lead};
    if (request.shards == 0) return std::nullopt;
    std::optional<NoDeal> no;
    for (const auto& [avoid, soft] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true), std::pair(false, false)}) {
      if (avoid && !worth_avoiding()) continue;
      for (std::uint32_t n = 0; n < problem_.nodes; ++n) slots[n] = avoid && avoided_[n] != 0 ? 0 : this->slots(n, soft);
      no = why_no_deal(request);
      if (!no) break;
    }
    if (no) return refuse(*no);
    rows_ = deal(request).rows;
    return std::nullopt;
  }

  // Some nodes are to be avoided, and without them the shards can still be spread as well as with them.
  bool worth_avoiding() const {
    std::set<std::uint32_t> all, without;
    bool any = false;
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      if (slots(n, false) == 0) continue;
      all.insert(domains_[n]);
      if (avoided_[n] == 0) without.insert(domains_[n]);
      any = any || avoided_[n] != 0;
    }
    return !any || without.size() >= std::min<std::size_t>(all.size(), spec_.replicas);
  }

  Refusal refuse(const NoDeal& no) const {
    // Which of the limits it is: slots that only the number of replicas bounds would do, if that is not what binds.
    const auto load = problem_.load(board_.rows[workload_].base);
    std::uint64_t by_count = 0, free = 0;
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      if (able()[n] == 0) continue;
      const std::size_t cell = n * problem_.width() + board_.resources;
      const bool counted = load[board_.resources] > 0;
      by_count +=
          counted ? std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max<Amount>(0, room_[cell])), shards_) : shards_;
      free += !counted || room_[cell] > 0 ? 1 : 0;
    }
    const bool count = by_count < std::uint64_t{shards_ - own()} * spec_.replicas || free < spec_.replicas;
    const RefusalReason reason = count ? RefusalReason::count : RefusalReason::capacity;
    switch (no.bound) {
      case NoDeal::Bound::nodes:
        return refuse(reason,
                      fmt::format("needs {} nodes with 1 slot; {} {} one", no.needed, no.found, no.found == 1 ? "has" : "have"));
      case NoDeal::Bound::spread:
        return refuse(RefusalReason::spread, fmt::format("needs {} domains of level {} with 1 slot; {} {} one", no.needed,
                                                         level(), no.found, no.found == 1 ? "has" : "have"));
      case NoDeal::Bound::slots:
        break;
    }
    const std::string_view where = spec_.replicas == 1   ? ""
                                   : family_.spread_hard ? " on different domains"
                                                         : " on different nodes";
    return refuse(reason, fmt::format("needs {} slots{}; {} are free", no.needed, where, no.found));
  }

  std::optional<Refusal> place_unlike() {
    const auto shards = others();
    std::vector<Amount> loads, measures;
    loads.reserve(shards.size() * problem_.width());
    for (const std::uint32_t shard : shards) {
      const std::uint32_t row = load_row(shard);
      loads.insert(loads.end(), problem_.load(row).begin(), problem_.load(row).end());
      measures.push_back(problem_.measures[row]);
    }
    std::vector<Amount> lead(problem_.width());
    if (const std::uint32_t row = board_.rows[workload_].lead; row != none) {
      std::ranges::copy(problem_.load(row), lead.begin());
    }
    std::vector<double> weight;
    for (const Dimension& dimension : problem_.dimensions) weight.push_back(dimension.level_weight);
    std::vector<Bar> barred;
    each_barred([&](std::uint32_t shard, std::span<const BarredShard> nodes) {
      const auto row = static_cast<std::uint32_t>(std::ranges::lower_bound(shards, shard) - shards.begin());
      for (const BarredShard& one : nodes) barred.push_back({row, one.node});
    });
    const Pack request{.shards = static_cast<std::uint32_t>(shards.size()),
                       .replicas = spec_.replicas,
                       .hard = family_.spread_hard && family_.partition != none,
                       .width = problem_.width(),
                       .loads = loads,
                       .lead = lead,
                       .barred = barred,
                       .able = able(),
                       .leads = board_.may_lead,
                       .avoid = avoided_,
                       .domains = domains_,
                       .salt = salt_,
                       .usage = usage_,
                       .room = room_,
                       .soft_room = soft_room_,
                       .share = problem_.share,
                       .weight = weight,
                       .measures = measures,
                       .own_share = problem_.own_shares[family_.own_share],
                       .own_weight = family_.own_weight};
    if (shards.empty()) return std::nullopt;
    Packed packed = pack(request);
    board_.state->count_evaluated(packed.evaluated);
    if (!packed.found) {
      if (packed.bound) {
        Refusal refusal = refuse(*packed.bound);
        refusal.proved = packed.proved;
        return refusal;
      }
      const Dimension& dimension = problem_.dimensions[std::min(packed.dimension, problem_.width() - 1)];
      return refuse(dimension.counts ? RefusalReason::count : RefusalReason::capacity,
                    fmt::format("no room for {} replicas: {} binds", std::uint64_t{shards_} * spec_.replicas, dimension.name),
                    packed.proved);
    }
    rows_ = std::move(packed.rows);
    return std::nullopt;
  }

  void write_down() {
    Problem& problem = board_.problem;
    Span& span = board_.spans[workload_];
    span.fresh_first = problem.groups();
    span.fresh_count = shards_;
    auto pinned = own_rows_.begin();
    std::size_t next = 0;  // row of the others
    for (std::uint32_t shard = first_; shard < spec_.shards; ++shard) {
      const std::uint32_t first = problem.replicas();
      append_group(board_, workload_, shard, spec_.replicas);
      board_.flags.back().fresh = true;
      if (pinned != own_rows_.end() && pinned->first == shard) {
        std::ranges::copy(pinned->second, problem.origin.begin() + first);
        freeze(shard, first);
        ++pinned;
      } else {
        std::ranges::transform(rows_[next++], problem.origin.begin() + first, [](NodeIndex node) { return node.value(); });
      }
      problem.origin_leader.back() = problem.origin[first];
    }
    board_.state->grow();
  }

  void freeze(std::uint32_t shard, std::uint32_t first) {
    board_.problem.frozen.resize(problem_.replicas());
    for (const NodeIndex node : spec_.pinned.find(ShardIndex(shard))) {
      for (std::uint32_t r = first; r < problem_.replicas(); ++r) {
        if (problem_.origin[r] == board_.board_node[node.value()]) board_.problem.frozen[r] = 1;
      }
    }
  }

  Board& board_;
  const Problem& problem_;
  std::uint32_t workload_;
  const Workload& spec_;
  const Family& family_;
  std::uint32_t first_;   // of the new shards
  std::uint32_t shards_;  // how many
  std::vector<Amount> usage_, room_, soft_room_, own_;
  std::vector<std::uint32_t> domains_;
  std::vector<std::uint64_t> salt_;
  std::vector<std::uint8_t> avoided_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> own_rows_;  // by shard: those that are pinned
  bool any_barred_ = false;                                       // among those that are not pinned
  Rows<NodeIndex> rows_;                                          // of the other new shards, in order
};

}  // namespace

void allocate(Board& board, std::uint32_t end) {
  const auto workloads = static_cast<std::uint32_t>(board.cluster->workloads.size());
  for (std::uint32_t w = 0; w < std::min(end, workloads); ++w) {
    if (auto no = Request(board, w).run()) board.refused.push_back(*std::move(no));
  }
}

}  // namespace evenkeel::place::detail
