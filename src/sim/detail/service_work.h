#pragma once
// One process of the simulated service: its replicas, the transitions that run, and what it says to its peers.
//
//   service.cc      what is asked of it: transitions from beginning to end, seals, reports
//   replication.cc  what goes over the network: clients' writes, the leader's log to its peers, copies

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/sim/service.h"

namespace evenkeel::sim {

class Service::Work {
 public:
  Work(Services& services, Service& self, ServiceOptions options);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  using Done = std::move_only_function<void(Result<>)>;
  using Reply = std::move_only_function<void(WriteAnswer)>;

  void transition(node::Transition transition, std::stop_token stop, Done answer);
  Sealed seal(const ShardId& shard, Epoch epoch);
  node::Status report(const ShardId& shard) const;
  std::vector<node::Held> inventory() const;
  std::vector<ShardId> changed();
  void measure(const WorkloadId& workload);  // all replicas of it

  bool acts(const ShardId& shard, Epoch epoch) const;
  bool is_current() const { return !current || current(); }
  Address address() const { return {.host = options_.node.str(), .loop = options_.loop, .alive = alive_}; }
  const NodeId& node() const { return options_.node; }
  StateId state(const ShardId& shard) const;
  const WriteLog& log(const ShardId& shard) const;
  Loop& loop() const { return *options_.loop; }

  // A client's; `client` is its host.
  void take_write(const std::string& client, const ShardId& shard, ShardIndex key, Reply reply);

  std::function<bool(const ShardId&, Epoch)> may_lead;
  std::function<void(const ShardId&, Epoch)> tell_refused;
  std::function<bool()> current;

 private:
  using Log = std::shared_ptr<const WriteLog>;

  // A leader's.
  struct Copy {
    DataId data;               // of the disk that has it
    std::uint64_t length = 0;  // so many of this leader's writes, at this epoch
  };
  struct Write {
    std::uint64_t position = 0;
    std::string client;
    Reply reply;
  };
  struct Leading {
    Epoch epoch;
    bool over = false;         // it takes and acknowledges nothing more; its peers are still sent what they lack
    std::uint32_t shards = 0;  // keys that are another one's among so many are refused; 0: none are
    std::vector<Peer> peers;
    std::map<NodeId, Copy> copies;  // of peers that count
    std::deque<Write> waiting;      // to be acknowledged, by position
    Duration resend = {};           // the pause before peers that lack something are sent it again
    Instant resend_at = Instant::max();
  };

  // A transition that runs.
  struct Run {
    Run(std::uint64_t number, node::Transition what, Done done)
        : id(number), transition(std::move(what)), answer(std::move(done)) {}
    std::uint64_t id;
    node::Transition transition;
    Done answer;
    std::uint32_t tries = 0;  // to get a copy; to let peers have all, of a leader that steps down
    std::uint32_t asked = 0;  // which question is open
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
  };

  struct Replica {
    StateId state;  // empty: nothing was asked of it yet but a seal
    Epoch refuses;  // what is older than this; the disk's, if there is something on it
    std::unique_ptr<Leading> leading;
    std::unique_ptr<Run> run;
  };

  // What a peer says to the leader's log.
  struct Taken {
    NodeId node;
    DataId data;
    Epoch epoch;
    std::uint64_t length = 0;
    Epoch refused;  // it knows of this newer one, and has taken nothing; 0: it has
  };
  // What the source of a copy says.
  struct Source {
    bool has = false;
    Epoch last;
    bool leads = false;  // at `last`
    Log log;
  };

  // service.cc
  WorkloadFacts facts(const ShardId& shard) const;
  bool has_data(const WorkloadFacts& facts, const StateId& state) const;
  bool leads(const WorkloadFacts& facts, const StateId& state) const;
  bool is_better(const WorkloadFacts& facts, const StateId& one, const StateId& other) const;
  Disk::Replica* on_disk(const ShardId& shard) const;
  bool holds_data(const WorkloadFacts& facts, const ShardId& shard) const;
  Epoch refuses(const ShardId& shard) const;
  void refuse_below(const ShardId& shard, Epoch epoch);
  Duration draw(Duration time);
  Duration time_of(const node::Transition& transition) const;
  bool wants_copy(const node::Transition& transition) const;
  bool fails(const ShardId& shard);

  // Calls back on the host's loop, if the process is there then.
  void later_on(Duration delay, std::move_only_function<void()> call);
  // The run, if it is still the one that runs.
  Run* running(const ShardId& shard, std::uint64_t id);
  void proceed(const ShardId& shard, std::uint64_t id);
  void carry_out(const ShardId& shard, std::uint64_t id);
  void copy_parent(const ShardId& shard, std::uint64_t id);
  void flush(const ShardId& shard, std::uint64_t id);
  void finish(const ShardId& shard, std::uint64_t id);
  void come_to(const node::Transition& transition, Replica& replica);
  Result<> begin_to_lead(const node::Transition& transition, Replica& replica);
  void answer(const ShardId& shard, std::uint64_t id, Result<> result);
  void end_leading(const ShardId& shard, Leading& leading);

  // replication.cc
  bool counts(const WorkloadFacts& facts, const Peer& peer) const;
  bool is_behind(const ShardId& shard, const Leading& leading) const;
  void push(const ShardId& shard, Leading& leading);
  void send_log(const ShardId& shard, Epoch epoch, const NodeId& to, const Log& log);
  void on_log(const ShardId& shard, Epoch epoch, const NodeId& leader, const WriteLog& log);
  bool take(const ShardId& shard, Epoch epoch, const WriteLog& log);
  void on_taken(const ShardId& shard, const Taken& taken);
  void acknowledge(const ShardId& shard, Leading& leading);
  void reply(Write write, WriteAnswer answer);
  void set_resend(const ShardId& shard, Leading& leading);
  void arm();
  void resend();
  void ask_copy(const ShardId& shard, std::uint64_t id);
  void ask_again(const ShardId& shard, std::uint64_t id, std::string_view why);
  Source source_of(const ShardId& shard) const;
  void on_source(const ShardId& shard, std::uint64_t id, std::uint32_t asked, const Source& source);

  Services& services_;
  Service& self_;
  ServiceOptions options_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
  ShardMap<Replica> replicas_;
  std::set<ShardId> changed_;  // of which the status may be another than when it was asked last
  std::set<std::pair<Instant, ShardId>> resends_;
  Timer timer_;
  Instant armed_ = Instant::max();
  std::uint64_t runs_ = 0;
};

}  // namespace evenkeel::sim
