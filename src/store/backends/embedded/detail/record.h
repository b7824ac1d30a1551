#pragma once
// What the engine writes to disk, as bytes: a record for every change, by revision; leases; a few facts about the folder. Pure.
//
//   r <revision, 8 bytes> <sub, 4 bytes>  -> flags, key, and for a put: create revision, version, lease, value
//   l <lease, 8 bytes>                    -> ttl in nanoseconds, 8 bytes
//   m <name>                              -> a fact, as text
// Numbers in keys are big-endian, so that they sort; `sub` counts the changes of one revision from 0. Numbers in records are varints
// (seven bits a byte, the low ones first): most are small.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evenkeel/store/backends/embedded/engine.h"

namespace evenkeel::store::embedded::detail {

// Where a change is in the history.
struct Stamp {
  std::int64_t revision = 0;
  std::uint32_t sub = 0;
  bool erased = false;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

constexpr std::string_view format_number = "1";  // of all that is said here

std::string record_key(std::int64_t revision, std::uint32_t sub);
std::string lease_key(LeaseId id);
std::string fact_key(std::string_view name);

// Of a record's key; none: it is no such key.
std::optional<Stamp> parse_record_key(std::string_view key);
std::optional<LeaseId> parse_lease_key(std::string_view key);

// `entry.version` 0: an erasure. Its mod_revision is not in the bytes: it is in the key.
std::string format_record(const KeyValue& entry);
std::optional<KeyValue> parse_record(std::string_view bytes, std::int64_t revision);

std::string format_ttl(Duration ttl);
std::optional<Duration> parse_ttl(std::string_view bytes);

}  // namespace evenkeel::store::embedded::detail
