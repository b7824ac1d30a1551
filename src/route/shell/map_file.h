#pragma once
// MapFile: a shard map in a file, written by atomic rename, and only when it changed.
//
//   MapFile file("/var/run/shard_map.json", MapFormat::rocksplicator);
//   router.on_change([&](const auto& table, const auto&) {
//     if (const auto written = file.update(*table); !written) log.warn(written.error().message);
//   });
//
// A file that is the same already, from a run before, is not touched: those who watch it are not woken for nothing. What another program
// makes of the file while this one runs is not looked at until the table changes. One thread.

#include <optional>
#include <string>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/result.h"
#include "evenkeel/route/shard_map.h"

namespace evenkeel::route {

constexpr Bytes map_file_bytes_max{1 << 30};

class MapFile {
 public:
  MapFile(std::string path, MapFormat format);
  // Writes it if its text is another than the file's; true if it was written. The old file stays whole if it cannot be, and the next call tries
  // again.
  Result<bool> update(const Table& table);

 private:
  std::string path_;
  MapFormat format_;
  std::optional<std::string> written_;  // what the file holds, as far as is known
};

}  // namespace evenkeel::route
