#include "evenkeel/route/shell/map_file.h"

#include "evenkeel/base/file.h"

namespace evenkeel::route {

MapFile::MapFile(std::string path, MapFormat format) : path_(std::move(path)), format_(format) {}

Result<bool> MapFile::update(const Table& table) {
  std::string text = format_map(table, format_);
  if (!written_) {
    auto there = read_file(path_, map_file_bytes_max);
    if (there) written_ = *std::move(there);
  }
  if (written_ == text) return false;
  const auto done = replace_file(path_, text);
  if (!done) {
    written_.reset();  // the new text may be in place although not safely: look before the next try
    return fail(done.error().in("shard map"));
  }
  written_ = std::move(text);
  return true;
}

}  // namespace evenkeel::route
