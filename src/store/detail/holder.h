#pragma once
// Holder: keeps one session alive, knows until when it is, and ends it.
//
// The deadline counts from when a write was *sent*, and moves only when that write is known to be done: by its answer, or by reading the beat
// and finding its count. Whoever sees that write sees it later than it was sent, so it waits beyond the deadline.
// The beat is written by its holder alone, until somebody ends it. Found otherwise, it says that the store has lost what was in it, or that
// somebody who knows of such a loss has touched it: the session is lost.
// Every step looks at the clock first: past the deadline the session is lost, whatever the input says. So a host that was suspended cannot
// come back to life by an answer that lay in its buffers. Lost is final.

#include <vector>

#include "evenkeel/store/detail/beat.h"

namespace evenkeel::store::detail {

class Holder {
 public:
  struct Effects : Calls {
    std::vector<Session::Event> events;
    std::optional<Result<Revision>> ended;  // the answer to End
  };

  // After the beat was taken by a write that was sent then; `revision` is its own.
  Holder(std::string key, Beat beat, Revision revision, Instant sent, Duration margin);

  Effects step(const Input& input, Instant now);

  const Identity& identity() const { return beat_.identity; }
  Instant deadline() const { return deadline_; }
  bool lost() const { return lost_; }

 private:
  void on_written(const Result<Committed>& done, Instant now, Effects& effects);
  void on_read(const Result<Read>& read, Instant now, Effects& effects);
  void on_end(Instant now, Effects& effects);
  void failed(const Error& error, Instant now, Effects& effects);
  void confirm(Instant sent, Instant now, Effects& effects);
  void lose(Instant now, Effects& effects);
  void finish(Effects& effects, Result<Revision> ended);
  void act(Instant now, Effects& effects);
  void write(Instant now, Effects& effects);
  Instant expiring_at() const { return answered_ + (beat_.ttl - margin_) * 2 / 3; }

  std::string key_;
  Duration margin_;
  std::uint64_t done_;  // the count of the latest write that is known to be done
  Beat beat_;           // the latest one sent
  Revision revision_;   // the latest known of the key
  bool known_ = true;   // whether the next write may compare it; else it is read first
  bool calling_ = false;
  Instant next_;            // no call before
  std::vector<Sent> sent_;  // which may be done; few, since the deadline bounds them
  Instant answered_;        // when the latest write that is known to be done was sent
  Instant deadline_;
  bool expiring_ = false;
  bool lost_ = false;

  bool ending_ = false;            // `ended` is to be written, and is not yet answered
  Instant give_up_;                // ending: then others will do it
  std::optional<Revision> ended_;  // known to be over, by that write or somebody's later one
};

}  // namespace evenkeel::store::detail
