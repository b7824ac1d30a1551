#pragma once
// The store's documents: under which keys they are, and what they look like.
//
// Everything durable about a cluster is below /evenkeel/<cluster>/, as JSON that people can read:
//
//   config                              operator      settings, state models, freeze, maintenance by hand
//   nodes/<node>                        operator      what shall be done with a node; wins over what the node says
//   workloads/<w>                       operator      spec; a deleted one leaves its highest epoch
//   live/<node>                         node          who it is, where, what it has (ephemeral: a hint)
//   members/<node>                      node          the same, kept: what is known of one that is gone
//   beats/<node>                        node          its session (store/session.h)
//   reports/<node>/<w>/<bucket>         node          what is true there
//   shards/<w>/<bucket>                 controller    the truth
//   targets/<node>/<w>/<bucket>         controller    derived: what the node must make true
//   view/<w>/<bucket>                   controller    derived: what clients route by
//   controller                          controllers   the election (locks/election.h)
//   controller_epoch                    controllers   raised by each that is elected; compared in every write
//   waits                               controller    how long it has waited for what
//   permits/<node>                      both          a node that wants to stop, and whether it may
//   orders/<w>/<shard>                  operator      done once, then removed by the controller
//
//   const Keys keys(ClusterId("pages"));
//   store.put(keys.live(node), format(live), …);
//   if (const auto key = keys.parse(entry.key); key && key->kind == Key::Kind::live) live = parse_live(entry.value);
//
// Every document has a field `format`. A reader refuses a higher one than it knows with Code::refused (somebody newer wrote it), anything else
// that is wrong with Code::invalid, naming the place; fields that it does not know it overlooks, for the same format may gain some.
// format() and parse are exact inverses, and the text of equal values is equal; bytes that are not UTF-8 in free texts (an error, a reason)
// are replaced. docs/documents.md shows each. Values; no I/O.
//
// Cost: linear. A bucket of 32 records with three holders each is 21 KB; it takes 30 µs to format and 80 µs to parse.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/model/exchange.h"

namespace evenkeel {

constexpr std::uint32_t format_written = 1;  // of the documents that this version writes
constexpr std::uint32_t format_split =
    2;  // of what speaks of a split: who reads only the first would take half of the keys for all of them
constexpr std::size_t document_bytes_max = 256 << 10;

// 1. Keys.

struct Key {
  enum class Kind : std::uint8_t {
    config,
    node,
    workload,
    live,
    member,
    beat,
    report,
    shards,
    target,
    view,
    controller_epoch,
    waits,
    permit,
    order,
  };
  Kind kind = Kind::config;
  NodeId node;
  WorkloadId workload;
  Bucket bucket;
  ShardIndex shard;  // of an order
  friend bool operator==(const Key&, const Key&) = default;
};

class Keys {
 public:
  explicit Keys(const ClusterId& cluster);

  const std::string& root() const { return root_; }  // with '/' at its end: what a controller watches
  std::string config() const;
  std::string node(const NodeId& node) const;
  std::string workload(const WorkloadId& workload) const;
  std::string live(const NodeId& node) const;
  std::string live_prefix() const;
  std::string member(const NodeId& node) const;
  std::string beat(const NodeId& node) const;
  std::string beat_prefix() const;
  std::string report(const NodeId& node, const WorkloadId& workload, Bucket bucket) const;
  std::string report_prefix(const NodeId& node) const;
  std::string shards(const WorkloadId& workload, Bucket bucket) const;
  std::string target(const NodeId& node, const WorkloadId& workload, Bucket bucket) const;
  std::string target_prefix(const NodeId& node) const;
  std::string view(const WorkloadId& workload, Bucket bucket) const;
  std::string view_prefix() const;
  std::string controller() const;
  std::string controller_epoch() const;
  std::string waits() const;
  std::string permit(const NodeId& node) const;
  std::string order(const ShardId& shard) const;

  // Nothing for a key that is none of these, or not of this cluster.
  std::optional<Key> parse(std::string_view key) const;

 private:
  std::string root_;
};

// How many buckets a workload of so many shards gets when it is made: a power of two, about 32 shards each.
std::uint32_t buckets_for(std::uint32_t shards);
// By a hash that is fixed for ever. With twice as many buckets a shard is in bucket b or b + buckets.
Bucket bucket_of(const ShardId& shard, std::uint32_t buckets);

// 2. What operators write.

struct Freeze {
  bool keep_leaders = false;  // fail-over goes on
  std::string reason;
  std::optional<Duration> timeout;
  friend bool operator==(const Freeze&, const Freeze&) = default;
};
struct Maintenance {
  std::string reason;
  std::optional<Duration> timeout;
  friend bool operator==(const Maintenance&, const Maintenance&) = default;
};

struct ConfigDocument {
  Settings settings;
  std::vector<StateModel> state_models;
  std::optional<Freeze> freeze;
  std::optional<Maintenance> maintenance;
  bool compact = false;  // kept for who writes it; nothing acts on it
  friend bool operator==(const ConfigDocument&, const ConfigDocument&) = default;
};

enum class Operation : std::uint8_t { none, cordon, drain, swap, no_leaders, forget, remove };
std::string_view name(Operation operation);  // "no-leaders"

struct NodeDocument {
  Operation operation = Operation::none;
  std::optional<NodeId> swap_with;   // swap: the new one, which takes exactly this one's place
  std::string reason;                // the operator's words
  std::optional<DataId> data;        // remove: a tombstone; this disk does not come back under the name
  std::optional<Incarnation> since;  // forget: the incarnation that is not waited for
  std::optional<Duration> rebalance_delay;
  std::optional<Amounts> capacity;  // over the node's own
  std::optional<Quantity> power;
  std::optional<Labels> labels;
  std::optional<std::vector<Taint>> taints;
  std::vector<ShardId> disabled;  // those may not be here; sorted
  friend bool operator==(const NodeDocument&, const NodeDocument&) = default;
};

struct WorkloadDocument {
  Workload spec;  // pins by node name in the text; their indexes are meaningless here
  std::map<ShardIndex, std::vector<NodeId>> pinned;
  std::uint32_t buckets = 1;  // fixed at creation, only doubled
  std::uint32_t split_from =
      0;                 // so many shards become the twice as many of the spec, each when it is its turn; 0: all are there
  bool deleted = false;  // its replicas are dropped; then only this is left
  Epoch highest;         // of a deleted one: where a new one of this name begins
  friend bool operator==(const WorkloadDocument&, const WorkloadDocument&) = default;
};

struct OrderDocument {
  std::optional<NodeId> lead;  // shall lead, if it can
  bool accept_loss = false;    // even if acknowledged writes may be lost
  std::vector<NodeId> reset;   // replicas whose errors are forgotten
  std::vector<NodeId> adopt;   // orphans that become replicas
  std::vector<NodeId> drop;    // orphans that are dropped
  friend bool operator==(const OrderDocument&, const OrderDocument&) = default;
};

// 3. What nodes write; reports are in exchange.h.

struct LiveDocument {
  NodeId node;
  Incarnation incarnation;
  DataId data;
  std::string address;                 // what clients connect to
  std::string version;                 // of the program, for people
  std::uint32_t reads = format_split;  // the highest format that it reads
  std::string zone;
  Labels labels;
  std::vector<Taint> taints;
  std::uint32_t cores = 0;
  Amounts capacity;
  Amounts used;
  Quantity power{1};
  std::vector<StateModelId> state_models;  // those that it can carry; empty: any
  std::uint32_t inventory = 0;             // report documents of this incarnation that were written before this one
  bool leaving = false;                    // it wants to go: takes nothing new
  friend bool operator==(const LiveDocument&, const LiveDocument&) = default;
};

struct PermitDocument {
  enum class Stage : std::uint8_t { asked, granted, go, refused };
  Incarnation incarnation;
  Stage stage = Stage::asked;
  bool allow_outage = false;
  std::optional<Duration> timeout;
  std::string reason;  // why it is refused, or what it waits for
  friend bool operator==(const PermitDocument&, const PermitDocument&) = default;
};
std::string_view name(PermitDocument::Stage stage);

// 4. What only the controller writes; records, targets and view are in exchange.h.

// A shard does not come again so soon to a node where it failed for good.
struct Ban {
  ShardId shard;
  NodeId node;
  Duration waited = {};
  friend bool operator==(const Ban&, const Ban&) = default;
};
struct ShardWait {
  ShardId shard;
  Duration waited = {};
  friend bool operator==(const ShardWait&, const ShardWait&) = default;
};
// Time that was waited, not moments: a successor goes on from there, and no clocks are compared.
struct WaitsDocument {
  std::map<NodeId, Duration> gone;
  std::map<NodeId, Duration> permits;
  std::optional<Duration> maintenance;  // how long it is in it
  bool entered = false;                 // by the controller itself, not by hand
  std::optional<Duration> freeze;
  std::map<NodeId, Duration> steady;  // for how long those that were suspect are heard of again
  // Sorted. Where there are very many, only those that end last are kept.
  std::vector<Ban> bans;
  std::vector<ShardWait> given_up;   // since a hand-over failed
  std::vector<ShardWait> timed_out;  // since one took too long
  bool measured = false;             // loads: a successor levels nothing before it has measured them too
  // The store once lost what it had said: grants are above this, and so many shards of these workloads had data that records may not know of.
  Epoch epochs_above;
  std::map<WorkloadId, std::uint32_t> lost;
  friend bool operator==(const WaitsDocument&, const WaitsDocument&) = default;
};

// 5. Text and back.

std::string format(const ConfigDocument& document);
std::string format(const NodeDocument& document);
std::string format(const WorkloadDocument& document);
std::string format(const OrderDocument& document);
std::string format(const LiveDocument& document);
std::string format(const PermitDocument& document);
std::string format(const WaitsDocument& document);
std::string format(const RecordBucket& document);
std::string format(const Target& document);
std::string format(const Report& document);
std::string format(const ViewBucket& document);
std::string format_controller_epoch(ControllerEpoch epoch);

// `where` is the document's key, for messages. Names in a key (node, workload, bucket) are not repeated in the text: the caller's are used.
Result<ConfigDocument> parse_config(std::string_view text, std::string_view where);
Result<NodeDocument> parse_node(std::string_view text, std::string_view where);
Result<WorkloadDocument> parse_workload(std::string_view text, const WorkloadId& workload, std::string_view where);
Result<OrderDocument> parse_order(std::string_view text, std::string_view where);
Result<LiveDocument> parse_live(std::string_view text, const NodeId& node, std::string_view where);
Result<PermitDocument> parse_permit(std::string_view text, std::string_view where);
Result<WaitsDocument> parse_waits(std::string_view text, std::string_view where);
Result<RecordBucket> parse_records(std::string_view text, const WorkloadId& workload, Bucket bucket, std::string_view where);
Result<Target> parse_target(std::string_view text, const Key& key, std::string_view where);
Result<Report> parse_report(std::string_view text, const Key& key, std::string_view where);
Result<ViewBucket> parse_view(std::string_view text, const WorkloadId& workload, Bucket bucket, std::string_view where);
Result<ControllerEpoch> parse_controller_epoch(std::string_view text, std::string_view where);

// The pulse, which is sent and not stored, in the same form.
std::string format(const Pulse& pulse);
Result<Pulse> parse_pulse(std::string_view text);

}  // namespace evenkeel
