#pragma once
// Whether RocksDB's write-ahead logs are whole, looked at before RocksDB opens them: its recovery stops at the first record that is not, and
// drops all that comes after, silently.
//
// The engine syncs each write before the next begins. So a record may be torn only if it is the last: nothing of it was acknowledged, and
// it may go. If another record begins after a place that cannot be read, then what was there had been acknowledged: that is damage.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "evenkeel/base/result.h"

namespace evenkeel::store::embedded::detail {

// `torn`: numbers of logs in which a write is known to have failed and which were left behind then; their ends may be anything.
// Whether the end of another is torn: it must be added to those before RocksDB opens the folder, since that begins another log.
Result<bool> check_logs(const std::string& folder, const std::set<std::uint64_t>& torn);

// The numbers of the logs in a folder.
std::set<std::uint64_t> list_logs(const std::string& folder);

std::uint32_t crc32c(std::string_view bytes);

}  // namespace evenkeel::store::embedded::detail
