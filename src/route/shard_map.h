#pragma once
// The table as a file for programs that do not link this library. Equal tables give equal bytes.
//
//   json           {"format": 1,
//                   "workloads": {"t1": {"shards": 3, "key_map": "hash", "hash_version": 1,
//                     "replicas": [{"shard": 0, "epoch": 4, "change": 2, "leader": "n1", "others": {"n2": "follower"}}, …]}},
//                   "nodes": {"n1": {"address": "10.0.0.1:9090", "zone": "dc1/r1"}}}
//                  A workload's `idle` lists states in which replicas wait and do not serve (a standby's). A shard's `next`, who is told to lead and has not said so yet, and a node's `"live": false` are there where they apply.
//                  `"split_from": 3` beside 6 shards: one of the last three that is not in the list is still part of the one three before it.
//
//   yaml           the same
//
//   rocksplicator  {"t1": {"num_shards": 3, "10.0.0.1:9090:us-east-1a_0": ["00000:M", "00002:S"]}}
//                  A host is ADDRESS:PORT:ZONE_GROUP, of which its clients take the zone to find what is near: the zone is the outermost part of
//                  the node's zone path, the group the last one of several, else 0. M leads, S serves beside a leader; where there are no leaders
//                  neither is written, which clients read as "everybody may be asked for everything".
//                  Its clients refuse the whole file for one host that is not IPV4:PORT, so nodes with another address are not in it: left_out
//                  names them.
//
// Hosts that are being deployed are in neither: at the `go` of a stop permit the controller takes a node out of the view.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/route/table.h"

namespace evenkeel::route {

enum class MapFormat : std::uint8_t { json, yaml, rocksplicator };

std::string format_map(const Table& table, MapFormat format);
// Nodes that serve and are not in the map, since it cannot name them; by name. Those whose address is not known are among them.
std::vector<NodeId> left_out(const Table& table, MapFormat format);
// The JSON form back, for routers that follow a file. A higher format than this program knows is Code::refused; fields that it does not know
// are overlooked.
Result<Table> parse_map(std::string_view text, std::string_view where);

}  // namespace evenkeel::route
