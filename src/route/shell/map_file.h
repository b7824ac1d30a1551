#pragma once
// MapFile: a shard map in a file, written by atomic rename, and only when it changed.

#include <string>

#include "evenkeel/base/result.h"
#include "evenkeel/route/shard_map.h"

namespace evenkeel::route {

class MapFile {
 public:
  MapFile(std::string path, MapFormat format);
  // Writes it if its text is another than the file's; true if it was written. The old file stays whole if it cannot be.
  Result<bool> update(const Table& table);

 private:
  std::string path_;
  MapFormat format_;
  std::string written_;
};

}  // namespace evenkeel::route
