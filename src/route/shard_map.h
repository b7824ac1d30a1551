#pragma once
// The table as a file for programs that do not link this library.
//
//   json           {"format": 1, "workloads": {"t1": {"shards": 3, "replicas": [{"shard": 0, "epoch": 4, …}]}}, "nodes": {"n1": {"address": …}}}
//   rocksplicator  {"t1": {"num_shards": 3, "10.0.0.1:9090:us-east-1a_0": ["00000:M", "00002:S"]}}
//
// Rocksplicator's form has M and S only for workloads with a leader; hosts that are being deployed (on a stop permit) are left out. Equal tables
// give equal bytes.

#include <string>
#include <string_view>

#include "evenkeel/base/result.h"
#include "evenkeel/route/table.h"

namespace evenkeel::route {

enum class MapFormat : std::uint8_t { json, rocksplicator };

std::string format_map(const Table& table, MapFormat format);
// The JSON form back: for routers that follow a file.
Result<Table> parse_map(std::string_view text, std::string_view where);

}  // namespace evenkeel::route
