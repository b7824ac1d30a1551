#include "evenkeel/store/backends/embedded/detail/hash.h"

#include <unordered_map>

#include "evenkeel/base/hash.h"
#include "evenkeel/store/backends/embedded/detail/check.h"

namespace evenkeel::store::embedded::detail {

namespace {

constexpr int tries_max = 10;

// A sum over the records, so that one that turns out to be superseded can be taken out again: of those that are not after the compaction,
// only a key's last counts, and only if it is a put.
Result<std::uint32_t> hash_records(const Disk& disk, std::int64_t compacted, std::int64_t last) {
  std::uint64_t sum = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> counted;  // by the key's hash
  auto scanned = disk.scan(0, last, [&](Stamp stamp, KeyValue&& entry) {
    const auto one = hash64(format_record(entry), hash64(record_key(stamp.revision, stamp.sub)));
    if (stamp.revision > compacted) return sum += one, true;
    auto& before = counted[hash64(entry.key)];
    sum -= before;
    before = stamp.erased ? 0 : one;
    sum += before;
    return true;
  });
  if (!scanned) return fail(std::move(scanned).error());
  return static_cast<std::uint32_t>(mix64(sum));
}

}  // namespace

// What is compacted while it reads may be gone, so then it reads again.
Result<std::pair<std::uint32_t, std::int64_t>> hash_of(const State& state, std::int64_t revision) {
  for (int tries = 0; tries < tries_max; ++tries) {
    const std::int64_t compacted = state.compacted;
    const std::int64_t current = state.revision;
    if (auto good = check_revision(revision, compacted, current); !good) return fail(std::move(good).error());
    const auto hash = hash_records(*state.disk, compacted, revision > 0 ? revision : current);
    if (!hash) return fail(hash.error());
    if (state.compacted == compacted) return std::pair(*hash, compacted);
  }
  return fail(Code::unavailable, "the store is compacted faster than it can be read");
}

}  // namespace evenkeel::store::embedded::detail
