#pragma once
// Acquirer: from "I want this lock" to a token, or to a reason why not. Pure: an input and the instant at which it came in, effects out.
//
// It reads the lock. If somebody has it, it looks at the holder's beat, and has an Observer end that once it stands still; if nobody has it
// any more, it takes it, by a txn that compares the lock's revision. It has one call under way at most.
//
// A take whose answer is lost may be done, or may be done later. So the lock is read before anything else; and whoever gives up with such
// a take in the air first makes sure of it, even if the caller has its answer by then: it moves the lock's revision, so that the take fails
// when it arrives, or releases what it finds taken. No lock is left behind that nobody knows of.

#include <variant>

#include "evenkeel/locks/detail/record.h"

namespace evenkeel::locks::detail {

struct Wish {
  std::string path;
  Record record;       // to be written; a session lock's ttl is found out
  Duration margin;     // of an expiring lock's deadline
  Instant until;       // bounds the waiting, not the calls: one attempt is made
  std::string queued;  // a key that must be there, and goes with the taking; empty: none
};

struct Acquired {
  Token token;
  Instant sent;  // before which nobody has seen it
  Record record;
};

class Acquirer {
 public:
  // Inputs.
  struct Tick {};  // the first one starts it
  struct Got {
    Result<store::Read> read;
  };
  struct Wrote {
    Result<store::Committed> done;
  };
  struct Seen {  // by a watch: something happened to the lock
    std::optional<store::Entry> entry;
    store::Revision revision;
  };
  struct Over {  // by the Observer
    Result<store::Ended> ended;
  };
  struct Stop {  // the caller wants no more of it, and gets this for an answer
    Error error;
  };
  using Input = std::variant<Tick, Got, Wrote, Seen, Over, Stop>;

  struct Effects {
    std::optional<std::string> get;
    std::optional<store::Txn> write;
    Instant wake = Instant::max();         // a Tick is due then, unless a later step says otherwise
    std::optional<std::string> observe;    // that beat, and no other; empty: none
    std::optional<Result<Acquired>> done;  // the answer, once
    bool displaced = false;                // instead of an answer: it is no longer in the queue
  };

  explicit Acquirer(Wish wish) : wish_(std::move(wish)) {}

  Effects step(const Input& input, Instant now);

  // Nothing more is to be done.
  bool finished() const { return answered_ && call_ == Call::none && !in_doubt_ && !mine_; }
  const Record& record() const { return wish_.record; }

 private:
  enum class Call : std::uint8_t { none, own_beat, lock, beat, take, undo };

  void on_read(const Result<store::Read>& read, Instant now, Effects& effects);
  void on_own_beat(const store::Read& read, Effects& effects);
  void on_lock(const store::Read& read, Instant now, Effects& effects);
  void on_beat(const store::Read& read, Instant now, Effects& effects);
  void on_written(const Result<store::Committed>& done, Instant now, Effects& effects);
  void on_taken(const Result<store::Committed>& done, Instant now, Effects& effects);
  void on_undone(const Result<store::Committed>& done, Instant now, Effects& effects);
  void on_seen(const Seen& seen);
  void on_over(const Result<store::Ended>& ended, Instant now, Effects& effects);
  void failed(const Error& error, Instant now, Effects& effects);
  void leave_queue(Effects& effects);
  void see(std::optional<store::Revision> modified, Record record, Effects& effects);
  void missing_beat(Instant now);
  void have(Token token, Instant sent, Instant now, Effects& effects);
  void answer(Effects& effects, Result<Acquired> done);
  void act(Instant now, Effects& effects);
  void act_on_holder(Instant now, Effects& effects);
  void undo(Effects& effects);
  void take(Instant now, Effects& effects);
  void get(Call call, const std::string& key, Effects& effects);

  Wish wish_;
  Call call_ = Call::none;
  Instant retry_ = Instant::min();  // no call before
  bool answered_ = false;

  // The lock, as it was read.
  bool known_ = false;  // and not heard to have changed since
  bool ever_known_ = false;
  std::optional<store::Revision> modified_;  // none: it was never taken
  Record there_;
  store::Revision as_of_;
  store::Revision hinted_;  // it changed then, by the watch

  // Who has it.
  bool over_ = false;  // nobody, with proof
  bool observing_ = false;
  bool looked_ = false;                // its beat was read once
  Instant look_ = Instant::min();      // when its beat is to be read again
  std::optional<Instant> gone_since_;  // the beat was not there, or not its own

  // What was sent.
  std::uint64_t takes_ = 0;
  Instant sent_;                     // the latest
  bool refused_ = false;             // the latest take's compares did not hold
  std::optional<Instant> in_doubt_;  // when the first of those takes was sent that may still be done, comparing modified_
  std::string doubt_;                // what the store said of the latest of those
  std::optional<Token> mine_;        // taken, and to be given back
  std::optional<Instant> give_up_;   // on giving it back
};

}  // namespace evenkeel::locks::detail
