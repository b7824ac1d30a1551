#pragma once
// The simulated service: what runs on each simulated node behind node::Participant. Its replicas keep a log of writes (write_log.h).
//
//   Services services(network, ledger, times, {.facts = …, .load = …});          // one for the simulation
//   Disk disk;                                                                   // one for each disk; outlives processes
//   Knobs knobs;                                                                 // one for each node: what is wrong with it
//   Service service(services, {.node = NodeId("n1"), .loop = &host_loop, .disk = &disk, .knobs = &knobs, .rng = rng.split("n1")});   // one for each process
//   node::Participant participant(store, service, …);
//   service.set_may_lead([&](const ShardId& shard, Epoch epoch) { return participant.may_lead(shard, epoch); });
//   …                                                                            // a crash: destroy the participant, then the service
//
// It does what the documentation asks of a service, and nothing more:
//   - A leader takes a write only while may_lead() says so, and asks again before it acknowledges. A write is acknowledged when `acks` copies have it,
//     its own included; of its peers only those count that are in a state with data in the version that it has taken up.
//   - A replica takes nothing from a leader of an epoch below its seal, or below the newest leader that it has followed; that is written down. From a new
//     leader it takes the whole log: what it had beside that goes.
//   - A first copy comes from `copy_from`, over the network, and takes `copy`. A source that does not answer, or has less than the seal asks for, is asked
//     again; in the end the transition fails.
//   - Followers that missed something are sent it again.
//   - A shard that is split off begins with the log that its node has of the other one, as of when its transition ends. A leader that knows of a split refuses
//     writes whose key is the other shard's.
//   - With `fencing: epoch` a leader goes on until a peer refuses it, or it is sealed: may_lead says so.
// States are the model's: `data` says that a replica has a log; the one state that only one replica may be in is the one that leads, the others follow.
// Everything of one process runs on its host's loop. Deterministic. One thread.
// Cost: a write costs a message and an answer for each peer; an idle replica costs nothing.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/model/state_model.h"
#include "evenkeel/node/handler.h"
#include "evenkeel/sim/ledger.h"
#include "evenkeel/sim/network.h"
#include "evenkeel/sim/service_times.h"
#include "evenkeel/sim/shard_map.h"
#include "evenkeel/sim/write_log.h"

namespace evenkeel::sim {

// What outlives a process.
struct Disk {
  struct Replica {
    WriteLog log;
    Version told;   // the last
    Epoch last;     // of the leader whose data it has taken last, or of its own leading
    Epoch refuses;  // whatever is older than this
  };
  DataId id;
  ShardMap<Replica> replicas;
};

// What is wrong with a node; set by actions, looked at when a transition begins, and each second by one that hangs.
struct Knobs {
  std::uint64_t slow = 1;          // transitions take so many times longer
  std::uint32_t fail_percent = 0;  // of transitions
  std::set<ShardId> failing;
  std::set<ShardId> hanging;
  bool copies_nothing = false;  // it does not know of splits
};

// What a service knows of a workload beside what transitions say.
struct WorkloadFacts {
  const StateModel* model = nullptr;
  std::uint32_t acks = 0;
  Fencing fencing = Fencing::session;
};

// The state that leads: the best one that a shard has one replica in. Nothing: nobody leads, and clients have nothing to write to.
std::optional<StateId> lead_state(const StateModel& model);

struct ServiceLookups {
  // Nothing: there is no such workload (any more). Transitions go on all the same: its states are taken for leader-follower's.
  std::function<std::optional<WorkloadFacts>(const WorkloadId&)> facts;
  std::function<Amounts(const ShardId&, bool leads)> load;  // of a replica of it; empty: none
};

class Service;

// What a client hears.
enum class WriteAnswer : std::uint8_t {
  acknowledged,
  refused,  // not taken: it does not lead
  unknown,  // taken, and not acknowledged before the leadership ended
};

// All processes of a simulation, and what they share.
class Services {
 public:
  Services(Network& network, Ledger& ledger, ServiceTimes times, ServiceLookups lookups);

  Network& network() { return network_; }
  Ledger& ledger() { return ledger_; }
  const ServiceTimes& times() const { return times_; }
  void set_times(ServiceTimes times) { times_ = times; }

  // What replicas of the workload carry is another load from now on: the next pulses say so.
  void measure(const WorkloadId& workload);

  // A client's write, from the outside loop. The answer comes on the outside loop, or never.
  void write(const std::string& client, const NodeId& node, const ShardId& shard,
             std::move_only_function<void(WriteAnswer)> answer) {
    write(client, node, shard, shard.shard, std::move(answer));
  }
  // The same, of a key whose shard is `key` when all are split: it is sent to one that may not be split yet.
  void write(const std::string& client, const NodeId& node, const ShardId& shard, ShardIndex key,
             std::move_only_function<void(WriteAnswer)> answer);

 private:
  friend class Service;
  // The process that has the name now: of two the one that joined last, also when its session is lost; null: none.
  Service* at(const NodeId& node);

  Network& network_;
  Ledger& ledger_;
  ServiceTimes times_;
  ServiceLookups lookups_;
  std::map<NodeId, std::vector<Service*>> processes_;  // in order of starting
  std::map<NodeId, Service*> known_;                   // the latest of them that had the name
};

struct ServiceOptions {
  NodeId node;
  Loop* loop = nullptr;  // the host's; outlives the service
  Disk* disk = nullptr;
  const Knobs* knobs = nullptr;
  Rng rng{0};
};

class Service final : public node::AsyncHandler, public Acting {
 public:
  Service(Services& services, ServiceOptions options);
  ~Service() override;  // a crash: what runs is not answered, the disk stays
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // The participant's; before it is set nothing may lead.
  void set_may_lead(std::function<bool(const ShardId&, Epoch)> may_lead);
  void set_refused(std::function<void(const ShardId&, Epoch)> refused);
  // Whether this process has the node's name now, for twins: the participant's is_current(). Unset: yes.
  void set_current(std::function<bool()> current);

  void transition(node::Transition transition, node::Turn turn, std::stop_token stop,
                  std::move_only_function<void(Result<>)> answer) override;
  void seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) override;
  node::Status report(const ShardId& shard) override;
  std::vector<node::Held> inventory() override;
  std::optional<std::vector<ShardId>> changed() override;

  // It is in the bounded state at that epoch, was not refused, and may lead.
  bool acts(const ShardId& shard, Epoch epoch) const override;
  const NodeId& node() const;
  StateId state(const ShardId& shard) const;  // the model's initial one, or "offline": it is not open here
  const WriteLog& log(const ShardId& shard) const;
  Address address() const;

 private:
  friend class Services;
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::sim
