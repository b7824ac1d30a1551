#include "evenkeel/place/search/detail/draw.h"

#include <algorithm>

namespace evenkeel::place {

namespace {

// In 1024: how often these are drawn; all others are shifts.
constexpr std::uint64_t of = 1024, swaps = 307, swaps_homing = 800, leads = 64;
// The thrifty manner has a price on being away, and needs this less.
constexpr std::uint64_t homecoming_bold = 512, homecoming_thrifty = 300, homecoming_homing = 256;
constexpr std::uint64_t homecoming_of(Manner manner) {
  return manner == Manner::fine ? 0 : manner == Manner::bold ? homecoming_bold : homecoming_thrifty;
}
constexpr int partners_looked_at = 3;
// Looking whether a pair is within reach costs about so much less than a change does.
constexpr std::uint64_t pairs_a_change = 16;
// Not more than a small part of what may be tried.
std::size_t pairs_for(const ImproveOptions& options) {
  return options.budget == 0 ? Reach::pairs_most
                             : std::min<std::size_t>(Reach::pairs_most / pairs_a_change, options.budget) * pairs_a_change;
}
constexpr std::uint64_t likes = 640;  // in 1024: partners that are about as large, of swaps that do not lead home

}  // namespace

ChangeDraw::ChangeDraw(State& state, Rng& rng, const ImproveOptions& options)
    : state_(state),
      rng_(rng),
      nodes_(state.problem().nodes),
      pick_(state, options.movable),
      reach_(state, pick_.movable(), pairs_for(options)) {
  set(options.manner);
  const Problem& problem = state.problem();
  if (problem.group_lead.empty() || options.manner == Manner::fine) return;  // those who lead go on to
  for (std::uint32_t g = 0; g < problem.groups(); ++g)
    if (problem.group_lead[g] != none && state.leader(g) != none && state.row(g).size() > 1) led_.push_back(g);
}

void ChangeDraw::set(Manner manner) {
  manner_ = manner;
  swaps_ = swaps;
  homecoming_ = homecoming_of(manner);
  pick_.prefer_away(manner != Manner::fine);
}

void ChangeDraw::set(double temperature, double progress, bool homing) {
  swaps_ = homing ? swaps_homing : swaps;
  homecoming_ = homing ? homecoming_homing : homecoming_of(manner_);
  pick_.set(state_, temperature, progress, homing);
}

bool ChangeDraw::next(Trial& trial) {
  const std::uint64_t kind = rng_.next() % of;
  if (kind < leads && !led_.empty()) return lead(trial);
  return kind < leads + swaps_ ? swap(trial) : shift(trial);
}

bool ChangeDraw::shift(Trial& trial) {
  const std::uint32_t replica = pick_.any(rng_);
  const std::uint32_t at = state_.at(replica), home = state_.home(replica);
  const bool goes_home = home != at && home != none && rng_.next() % of < homecoming_;
  const std::uint32_t to = goes_home ? home : reach_.any_node(replica, rng_);
  if (to == none || to == at) return false;
  trial.shift(replica, to);
  return true;
}

// Who is away often changes places with somebody at its home, rather one who is away too: where there is no room, nobody comes home otherwise.
std::uint32_t ChangeDraw::partner(std::uint32_t replica) {
  const std::uint32_t at = state_.at(replica), home = state_.home(replica);
  if (home == at || home == none || rng_.next() % of >= homecoming_)
    return rng_.next() % of < likes ? pick_.like(replica, rng_) : pick_.any(rng_);
  const auto there = state_.replicas_on(home);
  if (there.empty()) return replica;
  std::uint32_t other = there[rng_.below(there.size())];
  for (int i = 1; i < partners_looked_at && state_.home(other) == home; ++i) other = there[rng_.below(there.size())];
  return pick_.may_move(other) ? other : replica;
}

bool ChangeDraw::swap(Trial& trial) {
  const std::uint32_t one = pick_.any(rng_), other = partner(one);
  if (state_.at(one) == state_.at(other)) return false;
  trial.swap(one, other);
  return true;
}

bool ChangeDraw::lead(Trial& trial) {
  const std::uint32_t group = led_[rng_.below(led_.size())];
  const auto row = state_.row(group);
  const auto place = static_cast<std::uint32_t>(rng_.below(row.size()));
  const std::uint32_t replica = state_.problem().group_first[group] + place;
  if (replica == state_.leader(group) || row[place] == none) return false;
  trial.lead(group, replica);
  return true;
}

}  // namespace evenkeel::place
