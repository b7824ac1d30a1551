#pragma once
// What a Simulation does. simulation.cc: time, the timeline, questions; detail/hosts.cc: processes and their faults; detail/actions.cc: what stories
// ask for; detail/edits.cc: what operators write; detail/conditions.cc: what stories expect.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/control/shell/controller.h"
#include "evenkeel/node/participant.h"
#include "evenkeel/sim/checkers.h"
#include "evenkeel/sim/clients.h"
#include "evenkeel/sim/detail/host_loop.h"
#include "evenkeel/sim/detail/operator.h"
#include "evenkeel/sim/detail/seen.h"
#include "evenkeel/sim/ledger.h"
#include "evenkeel/sim/network.h"
#include "evenkeel/sim/service.h"
#include "evenkeel/sim/simulation.h"

namespace evenkeel::sim {

// One process of a node; destroying it is a crash. Members go in the opposite order, the participant first.
struct NodeProcess {
  std::shared_ptr<const void> token = std::make_shared<char>();  // for messages to it
  std::uint64_t pulses = 0;                                      // that were sent
  ControllerEpoch heard_by;                                      // the one that heard the latest of those that arrived
  std::uint64_t heard = 0;                                       // which that was
  std::shared_ptr<Disk> disk;
  std::unique_ptr<HostLoop> loop;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Service> service;
  std::unique_ptr<node::Participant> participant;
};

struct NodeHost {
  Node spec;
  std::shared_ptr<Disk> disk;
  HostClock clock;  // of its next process
  Knobs knobs;
  std::uint32_t starts = 0;
  std::uint32_t disks = 0;
  bool leaves = false;  // it was asked to: however it ends, nobody starts it again but the story
  bool left = false;
  bool restarts = false;          // it ended itself, and is about to be started again
  std::uint32_t ended_twins = 0;  // that ended themselves: who kills them later finds nothing
  bool killed = false;            // by the story: nobody starts it again but that
  std::unique_ptr<NodeProcess> main;
  std::vector<std::unique_ptr<NodeProcess>> twins;
};

struct ControllerProcess {
  std::shared_ptr<const void> token = std::make_shared<char>();
  std::unique_ptr<HostLoop> loop;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<control::Controller> controller;
};

struct ControllerHost {
  std::string name;  // "controller 1", for people and faults
  HostClock clock;
  std::uint32_t starts = 0;
  std::unique_ptr<ControllerProcess> process;
};

class Simulation::Work {
 public:
  explicit Work(SimOptions options);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // simulation.cc
  Duration elapsed() const { return loop_.now() - Instant{}; }
  void run_until(Instant until);
  bool run_until_holds(const Condition& condition, Duration most);
  std::optional<std::string> violation() const;
  void say(std::string who, std::string what);
  Calm calm() const;
  const control::Machine* active() const;
  Sample sample() const;  // samples.cc

  // actions.cc, conditions.cc
  Result<> perform(const Action& action);
  bool holds(const Condition& condition) const;
  std::string explain(const Condition& condition) const;

  SimOptions options_;
  const Keys keys_;
  VirtualLoop loop_;
  std::vector<Moment> timeline_;
  std::function<void(const Moment&)> on_moment_;
  std::uint64_t digest_ = 0;
  std::optional<store::World> world_;
  Seen seen_;

 private:
  // simulation.cc
  void on_commit(const std::string& client, const store::Txn& txn, const store::Committed& done);
  void write_first_documents();
  void make_workloads();
  void note_revision();
  void note_standstill();
  void take_log(std::string_view line);
  std::optional<WorkloadFacts> facts(const WorkloadId& workload) const;
  std::optional<ShardId> pick_shard(Rng& rng) const;
  ShardId home_of(const ShardId& key, Rng& rng) const;

  // hosts.cc
  NodeHost& add_host(Node node);
  HostClock draw_clock(std::string_view name) const;
  std::shared_ptr<Disk> new_disk(NodeHost& host);
  std::unique_ptr<NodeProcess> start_process(NodeHost& host, std::shared_ptr<Disk> disk);
  node::ParticipantOptions participant_options(NodeHost& host, NodeProcess& process);
  void start(NodeHost& host);
  void kill(NodeHost& host, NodeProcess* process);
  void start_controller(ControllerHost& host);
  void kill_controller(ControllerHost& host);
  void send_pulse(NodeProcess& process, const Pulse& pulse);
  bool must_pulse_all(const NodeProcess& process) const;
  void break_pulse(const NodeId& node);
  static std::string describe(const control::Event& event);
  void cut_store(const std::string& client, Duration time);
  void cut_network(const std::string& host, Duration time);
  void cut_network(const std::string& one, const std::string& other, Duration time);
  std::vector<NodeProcess*> processes(NodeHost& host) const;

  // actions.cc
  Result<NodeHost*> host(const NodeId& node);
  Result<ControllerHost*> controller(std::uint64_t number);
  Result<> perform_on_node(const Action& action);
  Result<> perform_on_service(const Action& action);
  Result<> perform_on_controller(const Action& action);
  Result<> perform_on_store(const Action& action);
  Result<> set_load(const Action& action);
  Amounts load_of(const ShardId& shard, bool leads) const;
  Result<> leave(NodeHost& host);
  Result<> start_node(NodeHost& host, bool on_a_new_disk);
  Result<> lose(Duration time);
  Result<> after_loss();
  void tell_checkers(const Action& action);

  // edits.cc
  Result<> edit_node(const Action& action);
  Result<> edit_config(const Action& action);
  Result<> edit_spec(const Action& action);
  Result<> split(const WorkloadId& workload);
  Result<> edit_order(const Action& action);
  Result<> adopt_orphans();
  void write_workload(const Workload& workload);
  void edit_node_document(const NodeId& node, std::function<void(NodeDocument&)> change);
  void edit_config_document(std::function<void(ConfigDocument&)> change);
  void edit_workload_document(const WorkloadId& workload, std::function<void(WorkloadDocument&)> change);
  void edit_order_document(const ShardId& shard, std::function<void(OrderDocument&)> change);

  // conditions.cc. Empty: it holds, overlooking `negated`.
  std::string why_not(const Condition& condition) const;
  std::string why_not_settled() const;
  std::string why_not_all_led() const;
  std::string why_not_shard(const Condition& condition) const;
  std::string why_not_count(const Condition& condition) const;
  std::string why_not_node(const Condition& condition) const;
  std::string why_not_cluster(const Condition& condition) const;
  const ControllerHost* active_host() const;
  std::optional<NodeId> leader_of(const ShardId& shard) const;

  std::optional<std::string> violation_;
  Instant moment_;             // of the callback that ran last
  std::uint64_t ran_now_ = 0;  // callbacks, in that moment
  Cluster spec_;               // as operators have it
  bool begun_ = false;         // its workloads are made
  struct Loads {
    Amounts all;  // empty: not measured
    std::map<ShardIndex, Amounts> shards;
  };
  std::map<WorkloadId, Loads> loads_;  // as they are in truth
  std::uint64_t stops_ = 0;            // of the store
  struct Known {
    Duration at = {};
    store::Revision revision;
  };
  std::deque<Known> revisions_;  // of the store, each second
  std::optional<Log> node_log_;
  std::optional<Network> network_;
  Ledger ledger_;
  std::optional<Checkers> checkers_;
  std::optional<Services> services_;
  std::map<NodeId, NodeHost> hosts_;
  std::vector<ControllerHost> controllers_;
  std::optional<Operator> operator_;
  std::optional<Clients> clients_;
  std::map<std::string, Instant> store_cut_until_;
};

}  // namespace evenkeel::sim
