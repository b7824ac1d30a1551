#pragma once
// Witness: proves that the identity which was there at the first look is over.
//
// It is over when the beat says `ended`, or when a newer identity's beat is in its place, since that takes over nothing but an ended one.
// If the beat has stood still for ttl × 1.02, counted from when this witness *received* it, it writes `ended` itself, comparing the
// revision: so what it saw on its own clock and what is there agree, or nothing is written.
//
// Somebody may delete the key under a living session. That proves nothing: the holder trusts itself until its deadline. But it cannot renew
// any more, so ttl × 1.02 after the beat was seen to be gone it is over too, whoever came meanwhile. (That the key was deleted and
// made anew shows in its create revision.)

#include "evenkeel/store/detail/beat.h"

namespace evenkeel::store::detail {

class Witness {
 public:
  struct Over {
    Ended ended;
    bool free = false;           // nobody alive has the key now
    std::optional<Revision> at;  // of what is there; none: nothing
  };
  struct Effects : Calls {
    std::optional<Revision> watch;     // begin to watch, from there
    std::optional<Result<Over>> over;  // the last of all effects
  };

  Witness(std::string key, Observer::Mode mode) : key_(std::move(key)), mode_(mode) {}

  Effects step(const Input& input, Instant now);

  // Whether no call is under way.
  bool idle() const { return call_ == Call::none; }
  const std::optional<Beat>& subject() const { return subject_; }
  // Why the latest call failed, if it did.
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  enum class Call : std::uint8_t { none, read, write };

  void on_read(const Result<Read>& read, Instant now, Effects& effects);
  void on_written(const Result<Committed>& done, Instant now, Effects& effects);
  void on_seen(const Seen& seen, Instant now, Effects& effects);
  void look_first(const Seen& seen, Instant now, Effects& effects);
  void look_again(const Seen& seen, Instant now, Effects& effects);
  void judge(const Seen& seen, const Beat& beat, Instant now, Effects& effects);
  void act(Instant now, Effects& effects);
  void act_on_standstill(Effects& effects);
  void failed(const Error& error, Instant now, Effects& effects);
  void finish(Effects& effects, Result<Over> over);
  Duration pause() const { return subject_ ? pause_of(subject_->ttl) : Duration(200ms); }

  std::string key_;
  Observer::Mode mode_;
  bool over_ = false;
  Call call_ = Call::none;
  Instant retry_ = Instant::min();  // no call before
  bool look_ = true;                // a look is due
  std::optional<Error> trouble_;
  std::optional<Seen> early_;  // the watch's latest word before the first look, which may be newer than that look

  std::optional<Beat> subject_;       // the latest beat of the identity in question
  Revision created_;                  // of its key
  bool gone_ = false;                 // the key was deleted under it
  std::optional<Revision> standing_;  // what is there: since when is said by since_, unless gone_. None: nothing
  bool free_ = false;                 // gone_: whoever is there now is over as well
  Revision as_of_;                    // up to which all this is
  Instant since_;
};

}  // namespace evenkeel::store::detail
