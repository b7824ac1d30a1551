#pragma once
// What a cluster and a workload ask of the controller: how patient, how careful, how fast. Plain values; every default is here.
//
// They are written beside the other settings of a cluster file: `settings: {rebalance_delay: 5m, …}`, and in a workload
// `{name: t1, shards: 64, replicas: 3, min_active: 2, acks: 2, …}`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/time.h"

namespace evenkeel {

// At most so many at once, and so many bytes a second; 0: no limit. Bytes are those of a shard's disk load.
struct Throttle {
  std::uint32_t copies = 0;  // or openings
  Quantity bytes_per_second{0};
  friend bool operator==(const Throttle&, const Throttle&) = default;
};

struct ControlSettings {
  Duration session_ttl = 10s;                   // of nodes
  Duration controller_ttl = 3s;                 // of controllers
  Duration rebalance_delay = 5min;              // a node that is gone is waited for so long
  std::optional<std::uint32_t> max_offline;     // more nodes gone than this: maintenance; none: the larger of 1 and 10 %
  std::optional<std::uint32_t> resume_offline;  // maintenance ends at so many; none: half of max_offline
  std::uint32_t extra_replicas = 1;             // of a shard, while it moves
  Duration permit = 10min;                      // a stop permit lasts so long
  Duration steady = 60s;                        // a node that was suspect gets no leaders for so long
  // Copies in flight. Recovery (too few replicas) and balance are counted apart.
  Throttle recovery{.copies = 100};
  Throttle balance{.copies = 50};
  Throttle recovery_per_node{.copies = 8};
  Throttle balance_per_node{.copies = 2};
  Throttle recovery_per_zone;
  Throttle balance_per_zone;
  Throttle recovery_per_workload;
  Throttle balance_per_workload;
  // Replicas that open where there is nothing to copy: of new shards, and after a restart with their data.
  Throttle openings;
  Throttle openings_per_node;
  Throttle openings_per_zone;
  Throttle openings_per_workload;
  Ratio errors_max = Ratio::percent(5);  // balance stops where more of all replicas are in error
  // Measured loads reach placement when some node carries so much more or less than placement knows; looked at as often as this.
  Ratio loads_margin = Ratio::percent(10);
  Duration loads_pause = 1min;
  friend bool operator==(const ControlSettings&, const ControlSettings&) = default;
};

enum class Fencing : std::uint8_t {
  session,  // a lost leader is followed once its session is provably over
  epoch,    // once enough replicas are sealed against it; the service passes the epoch to whatever it writes to
};
enum class KeyMap : std::uint8_t { hash, range };  // from a key to its shard
// As in files.
std::string_view name(Fencing fencing);
std::string_view name(KeyMap map);

constexpr std::size_t metadata_bytes_max = 16 << 10;

struct WorkloadControl {
  std::optional<std::uint32_t> min_active;  // none: replicas - 1, at least 1
  std::optional<Duration> rebalance_delay;  // over the cluster's
  Fencing fencing = Fencing::session;
  std::uint32_t acks = 0;   // copies that a write has before it is acknowledged, the leader's included; 0: not said
  Duration seal_wait = 1s;  // acks 0: how long to wait for holders that are gone, while they are more than those that are there
  // A planned hand-over begins when the new one is at most so far behind, in the service's own progress, and is given up after so long.
  std::uint64_t lag_max = 0;
  Duration hand_over = 10s;
  Duration linger = 5s;         // a replica that has left the view goes on answering for so long
  Duration transition = 10min;  // a transition that takes longer is overdue
  KeyMap key_map = KeyMap::hash;
  std::string metadata;  // the service's own, passed to every transition: UTF-8
  friend bool operator==(const WorkloadControl&, const WorkloadControl&) = default;
};

}  // namespace evenkeel
