// From a key to its shard. Stored data lies where these functions say, so they never change; a better one would be another hash version.

#include "evenkeel/base/hash.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/route/table.h"

namespace evenkeel::route {

namespace {

std::uint64_t first_bytes(std::string_view key) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0U);
  return number;
}

}  // namespace

ShardIndex shard_of(std::string_view key, std::uint32_t shards, KeyMap key_map, std::uint32_t hash_version) {
  ensure(shards > 0, "a workload of which a shard is asked for has shards");
  ensure(hash_version == 1, "keys are mapped only by a hash version that is known");
  if (key_map == KeyMap::range) return ShardIndex(static_cast<std::uint32_t>(UInt128{first_bytes(key)} * shards >> 64));
  return ShardIndex(static_cast<std::uint32_t>(hash64(key) % shards));
}

}  // namespace evenkeel::route
