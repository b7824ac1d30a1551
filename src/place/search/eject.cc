#include "evenkeel/place/search/detail/eject.h"

#include <algorithm>

namespace evenkeel::place {

namespace {

constexpr std::size_t steps_most = 33;    // the forced one and those that leave for it
constexpr std::size_t leavers_tried = 8;  // per ejection, out of those on the node
constexpr std::size_t havens_tried = 10;  // nodes looked at for each that leaves
constexpr std::size_t nodes_drawn = 4;    // the one that carries most of so many gives a replica away,
constexpr std::size_t givers_drawn = 3;   // the largest of so many there

}  // namespace

Eject::Eject(State& state, Rng& rng, const ChangeDraw& draw)
    : state_(state), rng_(rng), pick_(draw.pick()), reach_(draw.reach()), probe_(state), by_size_(draw.pick().movable()) {
  const Problem& problem = state.problem();
  const std::size_t width = problem.width();
  soft_ = std::ranges::any_of(problem.dimensions, [](const Dimension& dimension) { return dimension.soft_weight > 0; });
  std::vector<double> all(width);
  for (const std::uint32_t row : problem.replica_load)
    for (std::size_t d = 0; d < width; ++d) all[d] += static_cast<double>(problem.load(row)[d]);
  for (const double amount : all) part_.push_back(1 / std::max(amount, 1.0));
  for (std::uint32_t r = 0; r < problem.replicas(); ++r) {
    double size = 0;
    for (std::size_t d = 0; d < width; ++d) size += part_[d] * static_cast<double>(problem.load(problem.replica_load[r])[d]);
    size_.push_back(size);
  }
  std::ranges::stable_sort(by_size_, std::ranges::greater(), [&](std::uint32_t r) { return size_[r]; });
}

// What the node pays for what is on it.
double Eject::burden(std::uint32_t node) const {
  const Problem& problem = state_.problem();
  const std::size_t width = problem.width();
  double sum = 0;
  for (std::size_t d = 0; d < width; ++d) {
    const Dimension& dimension = problem.dimensions[d];
    const Amount usage = state_.usage(node)[d];
    if (dimension.soft_weight > 0)
      sum += dimension.soft_weight * static_cast<double>(std::max<Amount>(0, usage - problem.soft[node * width + d]));
    if (dimension.level_weight > 0 && problem.share[node * width + d] > 0)
      sum += dimension.level_weight * static_cast<double>(usage) * static_cast<double>(usage) / problem.share[node * width + d];
  }
  return sum;
}

std::uint32_t Eject::any_replica() {
  if (rng_.below(2) == 0) {
    const double part = rng_.unit();
    return by_size_[static_cast<std::size_t>(part * part * part * static_cast<double>(by_size_.size()))];
  }
  const std::uint32_t nodes = state_.problem().nodes;
  auto giver = static_cast<std::uint32_t>(rng_.below(nodes));
  for (std::size_t i = 1; i < nodes_drawn; ++i) {
    const auto other = static_cast<std::uint32_t>(rng_.below(nodes));
    if (burden(other) > burden(giver)) giver = other;
  }
  const auto there = state_.replicas_on(giver);
  std::uint32_t best = none;
  for (std::size_t i = 0; i < givers_drawn && !there.empty(); ++i) {
    const std::uint32_t replica = there[rng_.below(there.size())];
    if (pick_.may_move(replica) && (best == none || size_[replica] > size_[best])) best = replica;
  }
  return best;
}

// The dimension in which the forced node is over its limit, or else its soft limit if that is asked too, by the largest part.
Eject::Excess Eject::excess(std::uint32_t node, bool soft) const {
  const Problem& problem = state_.problem();
  const std::size_t width = problem.width();
  const auto peak = state_.peak(node);
  Excess worst;
  double worst_part = 0;
  const auto look = [&](std::size_t d, Amount over, bool hard) {
    const double part = static_cast<double>(over) * part_[d];
    if (over <= 0 || part <= worst_part) return;
    worst = {d, over, hard};
    worst_part = part;
  };
  for (std::size_t d = 0; d < width && !problem.limit.empty(); ++d)
    if (peak[d] > peak_before_[d]) look(d, peak[d] - problem.limit[node * width + d], true);
  for (std::size_t d = 0; soft && !worst.hard && d < width; ++d)
    if (problem.dimensions[d].soft_weight > 0) look(d, state_.usage(node)[d] - problem.soft[node * width + d], false);
  return worst;
}

// The smallest of some that alone makes room, else the largest of them; one that would still hold its room here is of no use.
std::uint32_t Eject::leaver(std::uint32_t node, std::uint32_t forced, const Excess& excess) {
  const Problem& problem = state_.problem();
  const bool held = excess.hard && problem.dimensions[excess.dimension].held;
  const auto there = state_.replicas_on(node);
  std::uint32_t best = none;
  Amount best_load = 0;
  for (std::size_t i = 0; i < leavers_tried; ++i) {
    const std::uint32_t replica = there[rng_.below(there.size())];
    if (replica == forced || (held && state_.home(replica) == node)) continue;
    if (!pick_.may_move(replica)) continue;
    const Amount load = problem.load(problem.replica_load[replica])[excess.dimension];
    const bool enough = load >= excess.amount, best_enough = best_load >= excess.amount;
    if (load > 0 &&
        (best == none || (enough && !best_enough) || (enough == best_enough && (enough ? load < best_load : load > best_load)))) {
      best = replica;
      best_load = load;
    }
  }
  return best;
}

// The best of a few nodes that would take it: its home, the node that the forced one has left, some others.
std::uint32_t Eject::haven(std::uint32_t replica, std::uint32_t emptied) {
  std::uint32_t best = none;
  Cost best_cost;
  for (std::size_t i = 0; i < havens_tried; ++i) {
    const std::uint32_t node = i == 0 ? state_.home(replica) : i == 1 ? emptied : reach_.any_node(replica, rng_);
    if (node == none || node == state_.at(replica) || node == best) continue;
    ++probes_;
    if (!state_.has_room(probe_.shift(replica, node))) continue;
    const Cost cost = state_.delta(probe_);
    if ((best != none && !(cost < best_cost)) || !state_.allowed_but_for_room(probe_)) continue;
    best = node;
    best_cost = cost;
  }
  return best;
}

// What the probe says is done, and noted.
void Eject::take() {
  cost_ += state_.delta(probe_);
  away_ += more_away(state_, probe_.steps()[0]);
  steps_.push_back(probe_.steps()[0]);
  state_.apply(probe_);
}

void Eject::undo() {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) state_.apply(probe_.shift(step->replica, step->from));
  steps_.clear();
}

bool Eject::may_stay() const { return takes(cost_ + Cost::of(Cost::level, away_ * away_price_), allowance_); }

// Moves others out of the node; false: it is above a limit and nothing more can be done.
bool Eject::make_room(std::uint32_t node) {
  const Trial::Step forced = steps_.front();
  const bool soft = soft_ && rng_.below(2) == 0;
  while (true) {
    const Excess over = excess(node, soft);
    if (over.amount == 0 || (!over.hard && may_stay())) return true;
    if (steps_.size() == steps_most) return !over.hard;
    const std::uint32_t out = leaver(node, forced.replica, over);
    const std::uint32_t to = out == none ? none : haven(out, forced.from);
    if (to == none) return !over.hard;
    probe_.shift(out, to);
    if (!over.hard && !(state_.delta(probe_) < Cost{})) return true;
    take();
  }
}

std::optional<Cost> Eject::force(std::uint32_t replica, std::uint32_t to, const Anneal& anneal) {
  if (to == state_.at(replica) || !reach_.could(replica, to) || !state_.allowed_but_for_room(probe_.shift(replica, to)))
    return std::nullopt;
  ++probes_;
  steps_.clear();
  cost_ = {};
  away_ = 0;
  away_price_ = anneal.away_price();
  allowance_ = anneal.allowance(rng_);
  peak_before_.assign(state_.peak(to).begin(), state_.peak(to).end());
  take();
  if (make_room(to) && may_stay()) return cost_;
  undo();
  return std::nullopt;
}

std::optional<Cost> Eject::next(const Anneal& anneal) {
  const std::uint32_t replica = any_replica();
  if (replica == none) return std::nullopt;
  const std::uint32_t to = reach_.any_node(replica, rng_);
  return to == none ? std::nullopt : force(replica, to, anneal);
}

}  // namespace evenkeel::place
