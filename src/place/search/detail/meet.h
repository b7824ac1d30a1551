#pragma once
// Searches side by side that meet: on the way through one limit they compare what they have, and go on from the better.
//
// Where room is tight, one search ends percents above another that only drew other numbers, and which of two will be the better one is seen
// long before the end: large replicas are in their places while it is still hot. So who is behind halfway goes on from where the other is. The two
// draw differently from there, and at the next point it is seen again who is ahead.
//
// Before that there is a pilot: a short cooling in each one's own manner. If a bold one comes out of it ahead, all go on boldly, each from the
// start. The other way round nothing follows: the thrifty manner is always ahead when time is short, and the bold one may still
// overtake it. Then manners stay as they are, and nobody meets again, since states at different temperatures do not compare.
//
// Cost: O(replicas) at each of a handful of points, and what counting the state from nothing takes (engine.h).

#include <cstdint>
#include <functional>

#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/best.h"

namespace evenkeel::place {

class Meet {
 public:
  static constexpr double pilot_part = 0.04;  // of the limit

  // `hand_over` is ImproveOptions::meet, which may be empty: then there is nobody to meet.
  explicit Meet(const std::function<Meeting(Meeting)>& hand_over) : hand_over_(hand_over) {}

  bool anybody() const { return hand_over_ != nullptr; }
  // After the pilot, which cost so much at its best: the manner to go on in.
  Manner agree(Manner own, const Cost& reached);
  // How far the cooling is. Where it is time to meet, the state becomes the best one's, and what differed is listed as touched: true.
  bool exchange(State& state, const Cost& cost, double progress, Best& best);

 private:
  const std::function<Meeting(Meeting)>& hand_over_;
  bool together_ = false;  // in one manner
  int met_ = 0;            // the last point
};

// What is where now, in the form in which it is handed over.
Meeting arrangement(const State& state);
// Makes the state so; what differed is listed as touched.
void arrange(State& state, const Meeting& like, Best& best);

}  // namespace evenkeel::place
