#pragma once
// Opener: from "I want this key" to a Holder of it.
//
// It looks, by a Witness, until nobody alive has the key, ending a predecessor that stands still; then it takes the key, comparing what it
// saw. A take whose outcome is not known is looked for by reading. If it is found, but too late to be trusted, it is renewed before the
// session is handed out; so what comes out is valid. If it may have been done, stood still and been proved over by others before this one
// could look, its identity is used up: what is over stays over.
// `until` bounds the waiting, not the calls: what is under way is waited for, and an attempt that can still succeed is made.

#include "evenkeel/store/detail/holder.h"
#include "evenkeel/store/detail/witness.h"

namespace evenkeel::store::detail {

class Opener {
 public:
  struct Effects : Calls {
    std::optional<Revision> watch;       // begin to watch, from there; once is enough
    std::optional<Result<Holder>> done;  // the last of all effects
    bool used_up = false;                // done: an error, which another identity would not have
  };

  // Of options that were checked, with an identity and a margin.
  Opener(const SessionOptions& options, Instant until);

  Effects step(const Input& input, Instant now);

 private:
  enum class Phase : std::uint8_t { looking, taking, finding, done };

  void look(const Input& input, Instant now, Effects& effects);
  void on_over(const Result<Witness::Over>& over, Instant now, Effects& effects);
  void look_anew(const Input& input, Instant now, Effects& effects);
  void take(std::optional<Revision> at, Instant now, Effects& effects);
  bool may_be_over(std::optional<Revision> at, Instant now) const;
  void refuse(Effects& effects);
  void on_taken(const Result<Committed>& done, Instant now, Effects& effects);
  void find(Instant now, Effects& effects);
  void on_found(const Result<Read>& read, Instant now, Effects& effects);
  void have(Revision revision, Sent sent, Instant now, Effects& effects);
  void finish(Effects& effects, Result<Holder> done);
  const Sent* sent_as(const Result<Read>& read) const;
  Instant deadline(Instant sent) const { return sent + beat_.ttl - margin_; }

  std::string key_;
  Duration margin_;
  Instant until_;
  Beat beat_;                         // the latest one sent, or to be sent
  std::vector<Sent> sent_;            // which may be done
  Instant first_sent_;                // of those, and of more that are dead by comparison
  std::optional<Revision> compared_;  // by the latest; none: that there is no such key
  std::optional<Error> doubt_;        // what the store said of the latest one that may be done
  Phase phase_ = Phase::looking;
  Witness witness_;
  bool calling_ = false;  // finding: the read is under way
  Instant retry_;         // finding: no call before
};

}  // namespace evenkeel::store::detail
