// Any bytes as a shard map: refused with a place, or a whole table, which is written and read again as the same.

#include "evenkeel/route/shard_map.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  using namespace evenkeel::route;
  const auto table = parse_map({reinterpret_cast<const char*>(data), size}, "map.json");
  if (!table) {
    ensure(!table.error().message.empty(), "a refusal says why");
    return 0;
  }
  const std::string text = format_map(*table, MapFormat::json);
  const auto again = parse_map(text, "again.json");
  ensure(again.has_value() && *again == *table, "a table survives being written and read");
  ensure(format_map(*again, MapFormat::json) == text, "equal tables give equal bytes");
  ensure(!format_map(*table, MapFormat::rocksplicator).empty(), "every table has its form for Rocksplicator");
  return 0;
}
