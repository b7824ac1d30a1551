#pragma once
// What operators ask of a cluster, as pure functions: what is known in, documents to be written out.
//
//   Snapshot seen;                                            // take() each document that was read
//   Result<Changes> changes = operate(seen, NodeId("n1"), Operation::drain, "old disk");
//   if (!changes) …                                           // refused, with what to do; nothing is written
//   for (const Write& write : changes->writes) …              // in a txn that compares the revision at which its key was read
//
// The command line and the HTTP interface call the same functions, so that both refuse the same and with the same words. A function that
// finds everything as it was asked for gives no writes, and a note that says so. Whoever writes must compare each key that is written with what
// was read: the functions are sure of nothing that was read later.
//
// What is refused here the controller refuses too, where it matters: these are early answers, not the guard.
// Pure; values. Cost: linear in what was read; obstacles() makes a plan.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/control/machine.h"
#include "evenkeel/model/documents.h"

namespace evenkeel::control {

// A cluster's documents, or those of them that a question needs.
struct Snapshot {
  using BucketKey = std::pair<WorkloadId, Bucket>;

  ClusterId cluster;
  std::optional<ConfigDocument> config;
  std::map<NodeId, NodeDocument> nodes;
  std::map<WorkloadId, WorkloadDocument> workloads;
  std::map<NodeId, LiveDocument> live;
  std::map<NodeId, LiveDocument> members;  // the same, kept
  std::map<NodeId, BeatSeen> beats;
  std::map<NodeId, PermitDocument> permits;
  std::map<ShardId, OrderDocument> orders;
  std::map<BucketKey, RecordBucket> records;
  std::map<BucketKey, ViewBucket> views;
  std::vector<Report> reports;
  std::optional<WaitsDocument> waits;

  void take(const Key& key, Document document);
  bool empty() const;  // nothing is there: no such cluster
  // What a node says of itself; of one that is gone, what it said last; or null.
  const LiveDocument* said(const NodeId& node) const;
  // By its name, or null.
  const ShardRecord* record(const ShardId& shard) const;
  const ShardView* view(const ShardId& shard) const;
};

struct Write {
  Key key;
  std::string text;  // the whole document; empty: it goes
  friend bool operator==(const Write&, const Write&) = default;
};
struct Changes {
  std::vector<Write> writes;
  std::vector<std::string> notes;  // for people: what else they should know
  friend bool operator==(const Changes&, const Changes&) = default;
};

// Code::not_found for what does not exist, with what was probably meant. A deleted workload does not.
Result<> check_node(const Snapshot& seen, const NodeId& node);
Result<> check_workload(const Snapshot& seen, const WorkloadId& workload);
Result<> check_shard(const Snapshot& seen, const ShardId& shard);

// 1. Nodes.

// All that anything names, by name; and whether one is there: its session is not over, and it has said who it is.
std::vector<NodeId> known_nodes(const Snapshot& seen);
bool is_there(const Snapshot& seen, const NodeId& node);
// What is in force: an order to forget an earlier join is not.
Operation operation_of(const Snapshot& seen, const NodeId& node);

// cordon, drain, no_leaders, forget or remove. One operation is in force at a time; a stronger one takes the place of a weaker one, with a note.
Result<Changes> operate(const Snapshot& seen, const NodeId& node, Operation operation, const std::string& reason);
Result<Changes> swap_nodes(const Snapshot& seen, const NodeId& from, const NodeId& to, const std::string& reason);
// Takes an operation away, if it is one of these; any, if there are none.
Result<Changes> undo(const Snapshot& seen, const NodeId& node, std::span<const Operation> which);
// Forbids, or allows, a shard on a node.
Result<Changes> bar(const Snapshot& seen, const NodeId& node, const ShardId& shard, bool barred);
// What the node's document is to say of capacity, power, labels, taints and delay; its operation stays.
Result<Changes> override_node(const Snapshot& seen, const NodeId& node, NodeDocument wanted);
// Why replicas cannot leave a node, as a controller that reads this now would plan it: a line for each shard, at most `most`. Empty: nothing is in
// the way.
std::vector<std::string> obstacles(const Snapshot& seen, const NodeId& node, std::size_t most = 10);
// Why nothing moves anywhere, and what ends that; nothing if things move. The first of the obstacles, and then the only one.
std::optional<std::string> standstill(const Snapshot& seen);

// Whether these could stop now, all of them together, as a controller that reads this would say. Makes a plan if they could not.
Stoppable stoppable(const Snapshot& seen, const std::vector<NodeId>& nodes);
// The same for several sets, each for itself, at little more than the cost of one.
std::vector<Stoppable> each_stoppable(const Snapshot& seen, const std::vector<std::vector<NodeId>>& sets);
// Asks for a stop permit on behalf of a node, for who is about to stop it; the controller answers in the permit. A node asks for its own when it leaves, and
// finds the one that was given.
struct PermitWish {
  bool allow_outage = false;
  std::optional<Duration> timeout;  // from when it may stop; else the cluster's
  friend bool operator==(const PermitWish&, const PermitWish&) = default;
};
Result<Changes> ask_permit(const Snapshot& seen, const NodeId& node, const PermitWish& wish);
// Takes it back. Of one that may stop already only who would stop it knows whether that is still true: then there is a note.
Result<Changes> revoke_permit(const Snapshot& seen, const NodeId& node);

// 2. The cluster.

// What is in force, or null: one whose time is over stays in the config until somebody takes it away. Times are as the controller has saved them.
const Freeze* freeze_in_force(const Snapshot& seen);
const Maintenance* maintenance_in_force(const Snapshot& seen);  // by hand
// One that is over has to be taken away before the same is asked for again: the controller would see nothing new.
Result<Changes> freeze(const Snapshot& seen, const Freeze& freeze);
Result<Changes> unfreeze(const Snapshot& seen);
Result<Changes> maintain(const Snapshot& seen, const std::optional<Maintenance>& maintenance);
Result<Changes> set_settings(const Snapshot& seen, const Settings& settings);

// 3. Workloads.

Result<Changes> delete_workload(const Snapshot& seen, const WorkloadId& workload);
// Twice as many shards, each of the new ones a copy of an old one, while it serves. Refused while it is being split, where keys are in ranges, and if
// a bucket of its shards would not fit into a document any more.
Result<Changes> split_workload(const Snapshot& seen, const WorkloadId& workload);

// What a cluster file says, as documents. A document that it names is as the file says, whole; what it does not name stays. Nodes: only what stands over
// their own (capacity, power, labels, taints, an operation), where that differs. Where everything is, is the controller's: it is left out, with a note.
struct FileParts {
  bool settings = true;   // the file has such a section
  bool only_new = false;  // workloads that are there already are a conflict, and nothing else is looked at
};
Result<Changes> apply_file(const Snapshot& seen, const Cluster& file, const FileParts& parts);

// 4. Single shards. An order that waits to be carried out is added to.

Result<Changes> lead(const Snapshot& seen, const ShardId& shard, const std::optional<NodeId>& node, bool accept_loss);
Result<Changes> reset(const Snapshot& seen, const ShardId& shard, std::span<const NodeId> nodes);
enum class Fate : std::uint8_t { adopt, drop };
Result<Changes> settle_orphans(const Snapshot& seen, const ShardId& shard, std::span<const NodeId> nodes, Fate fate);

// What nodes hold and no record knows, by shard and node.
std::vector<OrphanState> orphans_of(const Snapshot& seen);
// An order for each shard that is an orphan on a node that is there.
Result<Changes> adopt_all(const Snapshot& seen);

}  // namespace evenkeel::control
