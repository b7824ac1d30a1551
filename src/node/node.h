#pragma once
// node: what a service links to become a node of a cluster.
//
//   Pages handler;
//   auto node = Node::join({.store = "etcd://10.0.0.9:2379", .cluster = ClusterId("pages"), .name = NodeId("n1"), .address = "10.0.0.1:9090",
//                           .zone = "dc1/r1", .data = "/var/lib/pages"}, handler);
//   …
//   if ((*node)->may_lead(shard, epoch)) write();          // before each write, and before each answer
//   …
//   (*node)->leave(30s);                                   // leaders away, replicas offline, goodbye
//
// It holds a session, tells what is on disk, and then makes true what its targets say: one transition after the other for each shard, many
// shards at once, leadership and seals before everything slow. Slow transitions ask the node's resource broker first.
//
// Self-fencing. may_lead() is local and takes no lock: it is true only while this node was told to lead that shard at that epoch, nothing newer
// was read, and its session cannot be over anywhere. So it turns false before anybody else can lead. (Not with `fencing: epoch`: see below.) A
// step-down that is not done half a ttl after it was told, or after the session was lost, ends the process (OnStuck::exit).
// Assumed: clock rates within 1 %. A host that can be frozen or cloned as a whole needs `fencing: epoch`.
//
// When the session is lost, replicas in bounded states step down; the others serve on, marked stale, until a new session, which is a new
// incarnation, is told what to do. With `fencing: epoch` leaders go on until they are sealed or a peer refuses them.
//
//   handler.h       what the service writes
//   reconciler.h    the pure core: targets, answers and session events in; transitions, seals and reports out
//   participant.h   the core on a loop and a store; what Node runs, and the simulator too
// Threads: Node's calls may be made by any thread. Core and participant belong to their loop.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evenkeel/base/log.h"
#include "evenkeel/base/result.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/node/handler.h"

namespace evenkeel {
class Loop;
}
namespace evenkeel::broker {
class Client;
}
namespace evenkeel::store {
class Store;
}

namespace evenkeel::node {

enum class OnStuck : std::uint8_t { exit, report };

struct NodeOptions {
  std::string store;  // URL
  // For a service that brings its own store: called once, on the thread of the loop. The URL is not used then.
  std::function<Result<std::unique_ptr<store::Store>>(Loop&)> open_store;
  ClusterId cluster;
  NodeId name;
  std::string address;  // what clients connect to
  std::string zone;
  Labels labels;
  std::vector<Taint> taints;
  std::uint32_t cores = 0;
  Amounts capacity;
  Amounts used;
  Quantity power{1};
  std::vector<StateModelId> state_models;  // that the handler can carry; empty: any
  // Folder: the data id, and a lock. While another process has the lock this one takes no part, and asks the handler for nothing. Who gets it need not wait
  // for the end of a session that another process had with this folder: that process is dead. Empty: nothing is kept, and each process is a new disk.
  std::string data;
  Duration session_ttl = 10s;  // at least 300ms
  OnStuck on_stuck = OnStuck::exit;
  std::uint32_t threads = 8;               // for transitions; as many more, at least two, for urgent ones
  std::uint32_t transitions_at_once = 64;  // that are started and not answered; urgent ones do not count
  std::uint32_t tries = 5;                 // of a failing transition, with pauses of 1 s doubling to 1 min
  broker::Client* broker = nullptr;        // for slow transitions; null: only the number above limits them
  Log* log = nullptr;
};

class Node {
 public:
  static Result<std::unique_ptr<Node>> join(NodeOptions options, ShardHandler& handler);
  virtual ~Node() = default;  // without leave(): as after a crash, but that it waits for what runs, which is asked to stop

  // Cheap enough for every write; any thread.
  virtual bool may_lead(const ShardId& shard, Epoch epoch) const = 0;
  // Whether the session is valid: if not, what is served is stale.
  virtual bool is_current() const = 0;
  // Blocks until it has joined and everything that it was told first is done, or the timeout is over: Code::unavailable, with what is not. What is on
  // disk of workloads that are there has to be told about first; so where no controller acts, a node is ready only if it holds nothing.
  virtual Result<> ready(Duration timeout) = 0;
  // Asks for a permit, hands leaders over, closes replicas, ends the session. Says what it could not finish in time; it is gone then anyway.
  virtual Result<> leave(Duration timeout) = 0;
  // A peer, or a third system, refuses what this node says of the shard, since it knows of an epoch `by` that is higher: may_lead() soon turns false
  // for all that are older. With `fencing: epoch` and without a session nothing else tells a leader that it has a successor.
  virtual void refused(const ShardId& shard, Epoch by) = 0;
  // Loads and progress changed a lot: a pulse is sent now, rather than when the next one is due. Nothing comes of it while no controller is connected.
  virtual void touch(const ShardId& shard) = 0;
};

}  // namespace evenkeel::node
