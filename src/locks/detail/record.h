#pragma once
// Record: what a lock's keys hold, and the txns that change them.
//
//   PATH            {"format":1,"owner":"…","kind":"expiring","ttl":"30s","meta":"…","beat":"PATH.renewal","identity":"…"}
//                   {"format":1,"owner":"","token":17} when nobody has it; 17 is the token of who had it last
//   PATH.renewal    the beat of an expiring lock, in a session's form (session.h): so an Observer can end it, with proof
//   PATH.queue/ID   the beat of somebody who waits in the fair queue; they are in order of their create revisions
//
// PATH is written by an acquisition and by its end, and by nothing else: so its revision is the token, and comparing it is the guard. All
// that a holder writes compares it.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/overloaded.h"
#include "evenkeel/locks/locks.h"

namespace evenkeel::locks::detail {

constexpr Duration ttl_min = 300ms;
constexpr std::size_t meta_bytes_max = 16 << 10;

struct Record {
  std::string owner;  // of one acquisition, never used again; empty: nobody has it, and only `token` says something
  Token token;        // of the latest acquisition. Not in the value of a held lock, whose revision it is
  Kind kind = Kind::expiring;
  Duration ttl = {};
  std::string meta;
  std::string beat;      // the key whose standstill ends it
  std::string identity;  // in that beat
  bool held() const { return !owner.empty(); }
  friend bool operator==(const Record&, const Record&) = default;
};

std::string format(const Record& record);
// Code::invalid, with the key, if it is something else.
Result<Record> parse_record(const store::Entry& entry);
// Nothing there is a lock that nobody ever had.
Result<Record> parse_record(const std::optional<store::Entry>& entry);

struct Beat {
  std::string identity;
  std::uint64_t count = 0;
  Duration ttl = {};
  std::string meta;
  bool ended = false;
  friend bool operator==(const Beat&, const Beat&) = default;
};

std::string format(const Beat& beat);
Result<Beat> parse_beat(const store::Entry& entry);

inline std::string renewal_key(const std::string& path) { return path + ".renewal"; }
inline std::string queue_prefix(const std::string& path) { return path + ".queue/"; }
// The folder in which a key is, as a prefix.
inline std::string folder_of(const std::string& key) { return key.substr(0, key.rfind('/') + 1); }
Result<> check_path(const std::string& path);

// How long a renewal must have stood still: as a session's (session.h).
constexpr Duration stands_still_for(Duration ttl) { return ttl + ttl / 50; }
// Between two attempts, when the store does not answer.
constexpr Duration pause_of(Duration ttl) { return std::clamp(ttl / 20, Duration(10ms), Duration(1s)); }
inline bool may_pass(Code code) { return code == Code::unavailable || code == Code::unknown_outcome || code == Code::conflict; }

// The lock as it was seen: nothing there, or an entry's revision.
store::Compare as_seen(const std::string& path, std::optional<store::Revision> modified);

// Emptied, with the end of its renewal if it has one of its own. Only if the lock is as it was seen.
store::Txn empty_lock(const std::string& path, std::optional<store::Revision> modified, const Record& last);

// Who is before `own` in the queue.
struct Place {
  bool gone = false;                  // own is no longer in it
  std::size_t before = 0;             // how many
  std::optional<store::Entry> ahead;  // the nearest of them
};
Place place_in(const std::vector<store::Entry>& queue, const std::string& own);

}  // namespace evenkeel::locks::detail
