#pragma once
// Beat: the value of a session's key, and what the step machines of its holder, of those who watch it and of those who open one have in common.
//
// The machines are pure: an input and the instant at which it came in, effects out. The shell (session.cc) performs the effects and feeds
// the answers back. A machine waits for one answer at most, so answers need no names.
//   Holder  (holder.h)   keeps one session alive, and knows when it is not
//   Witness (witness.h)  proves that an identity is over, by ending it if need be
//   Opener  (opener.h)   from "I want this key" to a Holder

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "evenkeel/base/overloaded.h"
#include "evenkeel/base/time.h"
#include "evenkeel/store/session.h"
#include "evenkeel/store/store.h"

namespace evenkeel::store::detail {

constexpr std::size_t identity_bytes_max = 256;
constexpr std::size_t meta_bytes_max = 16 << 10;
constexpr Duration ttl_min = 300ms;

// {"format":1,"identity":"…","count":7,"ttl":"10s","meta":"…","ended":false}. Fields of a later version are overlooked.
std::string format(const Beat& beat);
// Code::invalid, with the key, if it is something else.
Result<Beat> parse_beat(const Entry& entry);

// How long a beat must have stood still. No clock's rate is off by 1 %, so what is 1.02 ttl on one is more than ttl on any other.
constexpr Duration stands_still_for(Duration ttl) { return ttl + ttl / 50; }
// Between two attempts, when the store does not answer.
constexpr Duration pause_of(Duration ttl) { return ttl / 20; }

// A write that was sent, and may be done. A beat that is read says by its count which one it was.
struct Sent {
  std::uint64_t count = 0;
  Instant at;
};

// Inputs.
struct Tick {};  // the first one starts the machine
struct Got {
  Result<Read> read;
};
struct Wrote {
  Result<Committed> done;
};
struct Seen {  // by a watch
  std::optional<Entry> entry;
  Revision revision;         // the key is so as of then
  bool interrupted = false;  // the watch had lost its place: how long it has been so is not known
};
struct End {};  // Holder: the proper end
using Input = std::variant<Tick, Got, Wrote, Seen, End>;

// Effects that all machines have.
struct Calls {
  bool abandon = false;      // the answer to the call that is under way is no longer wanted, and does not come in
  bool read = false;         // get the key, and give back Got
  std::optional<Txn> write;  // commit, and give back Wrote
  // A Tick is due then, unless a later step says otherwise.
  Instant wake = Instant::max();
};

// Whether trying again may help: not if the call itself is wrong, or not allowed.
inline bool may_pass(Code code) { return code == Code::unavailable || code == Code::unknown_outcome || code == Code::conflict; }

}  // namespace evenkeel::store::detail
