#pragma once
// Progress: how far something is that takes long, told on standard error. On a terminal a bar that is drawn over itself, and never longer than a line; elsewhere
// a line of words for each change.
//
//   Progress progress(session, *outside);
//   progress.tell({.done = 12, .all = 30}, "12 of 30 replicas have left n3");
//   session.say("…");                                    // begins a line of its own

#include <cstdint>
#include <string>

#include "evenkeel/cli/command.h"

namespace evenkeel::cli {

struct Part {
  std::uint64_t done = 0, all = 0;
};

class Progress {
 public:
  Progress(Session& session, const Outside& outside) : session_(session), outside_(outside) {}
  // Nothing if it is as it was told last.
  void tell(Part part, const std::string& words);

 private:
  Session& session_;
  const Outside& outside_;
  std::string told_;
};

// "[######....] words", in so many columns: the bar is left out where it would take the words' place.
std::string bar_of(Part part, const std::string& words, std::size_t columns);

}  // namespace evenkeel::cli
