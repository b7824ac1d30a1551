#pragma once
// Keeper: what a holder does with its lock: renews it, knows until when it may be trusted, and gives it back. Pure, one call under way at most.
//
// Every step looks at the clock first: past the deadline an expiring lock is lost, whatever the input says, so an answer that lay in a
// suspended host's buffers changes nothing. The deadline moves only by a renewal that is known to be done, and counts from when that was
// sent. A session lock has no renewal and no deadline of its own: it is lost with its session.

#include <deque>
#include <variant>
#include <vector>

#include "evenkeel/locks/detail/acquirer.h"

namespace evenkeel::locks::detail {

class Keeper {
 public:
  // Inputs.
  struct Tick {};
  struct Got {
    Result<store::Read> read;
  };
  struct Wrote {
    Result<store::Committed> done;
  };
  struct Seen {  // the lock, by a watch
    std::optional<store::Entry> entry;
    store::Revision revision;
  };
  struct Renew {};  // of expiring locks
  struct Release {};
  struct SessionLost {};  // of session locks
  using Input = std::variant<Tick, Got, Wrote, Seen, Renew, Release, SessionLost>;

  struct Effects {
    std::optional<std::string> get;
    std::optional<store::Txn> write;
    Instant wake = Instant::max();
    std::vector<Result<Instant>> renewed;  // answers, in the order in which Renew came
    bool lost = false;                     // once
    std::optional<Result<>> released;      // once
  };

  Keeper(std::string path, const Acquired& acquired, Duration margin);

  Effects step(const Input& input, Instant now);

  const std::string& path() const { return path_; }
  const Record& record() const { return record_; }
  Token token() const { return record_.token; }
  Instant deadline() const { return deadline_; }  // Instant::max(): the session's
  bool lost() const { return lost_; }
  bool releasing() const { return releasing_; }
  bool released() const { return released_; }

 private:
  enum class Call : std::uint8_t { none, renew, lock, beat, release };
  struct Sent {
    std::uint64_t count = 0;
    Instant at;
  };

  void on_read(const Result<store::Read>& read, Instant now, Effects& effects);
  void on_lock(const store::Read& read, Instant now, Effects& effects);
  void on_beat(const store::Read& read, Instant now, Effects& effects);
  void on_renewed(const Result<store::Committed>& done, Instant now, Effects& effects);
  void on_released(const Result<store::Committed>& done, Instant now, Effects& effects);
  void on_seen(const Seen& seen, Instant now, Effects& effects);
  void on_release(Instant now, Effects& effects);
  void failed(const Error& error, Instant now, Effects& effects);
  void confirm(Instant sent, Effects& effects);
  void lose(Instant now, Effects& effects);
  void refuse_renewals(const Error& error, Effects& effects);
  void act(Instant now, Effects& effects);
  void renew(Instant now, Effects& effects);

  std::string path_;
  Record record_;
  Duration margin_;
  Instant deadline_ = Instant::max();
  bool lost_ = false;
  bool releasing_ = false;
  bool released_ = false;
  Instant give_up_ = Instant::max();  // on releasing

  Call call_ = Call::none;
  Instant retry_ = Instant::min();  // no call before
  std::deque<Instant> asked_;       // when each renewal was that is not answered
  store::Revision beat_;            // of the renewal's key
  std::uint64_t count_ = 0;
  bool doubtful_ = false;   // whether beat_ is still right: the keys are read first
  bool lock_read_ = false;  // doubtful_: the first of them was
  std::vector<Sent> sent_;  // which may be done; few, since the deadline bounds them
};

}  // namespace evenkeel::locks::detail
