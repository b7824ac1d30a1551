#pragma once
// The machine's work: inputs taken in, touched shards decided, commits made. Split over machine.cc (inputs and the round), detail/commits.cc
// (from shards to documents), detail/patience.cc (time: waits, maintenance, permits, suspicion).

#include <map>
#include <optional>
#include <set>
#include <string>

#include "evenkeel/control/detail/planning.h"
#include "evenkeel/control/detail/throttles.h"
#include "evenkeel/control/detail/world.h"
#include "evenkeel/control/machine.h"

namespace evenkeel::control {

class Machine::Work {
 public:
  explicit Work(MachineOptions options) : options_(std::move(options)), throttles_(options_.broken) {
    world_.broken = options_.broken;
  }

  Output step(Input input, Instant now);
  bool at_rest() const { return active_ && under_way_ == 0 && !planning_ && !world_.plan_due && world_.dirty_units.empty(); }
  Overview overview() const;
  std::vector<NodeState> nodes(Instant now) const;
  std::optional<ShardState> explain(const ShardId& shard);

 private:
  // machine.cc
  void take(Saw saw);
  void take(Elected elected);
  void take(Deposed deposed);
  void take(Answered answered);
  void take(Planned planned);
  void take(Pulsed pulsed);
  void take(PulseBroken broken);
  void take(Tick tick);
  void look_around();
  void round();
  void ask_for_plan();
  void say(Event::Kind kind, std::optional<ShardId> shard, std::optional<NodeId> node, std::string text);
  void wake_at(Instant at) { out_.wake = std::min(out_.wake, at); }

  // detail/commits.cc
  bool work_on(std::uint32_t unit);
  detail::ShardOutput decide(std::uint32_t unit, std::uint32_t slot, Instant& wake);
  Target target_of(const detail::Unit& unit, const RecordBucket& records, std::uint32_t node);
  void count_copies(std::uint32_t unit, std::uint32_t slot, const ShardRecord& record);
  void tell_of(const detail::Unit& unit, const ShardRecord& before, const ShardRecord& after);
  Quantity bytes_of(const detail::Unit& unit, ShardIndex shard) const;

  // detail/patience.cc
  void look_at_nodes();
  void look_at_pulses();
  void look_at_maintenance();
  void look_at_permits();
  bool may_stop(std::uint32_t node, std::string& why) const;
  bool leads_or_is_shown(std::uint32_t node) const;
  void save_waits();
  std::uint32_t count_offline() const;
  bool may_move() const { return !maintenance_ && !frozen() && !(world_.config.maintenance.has_value()); }
  bool frozen() const { return world_.config.freeze.has_value() && !freeze_over_; }

  const MachineOptions options_;
  detail::World world_;
  detail::Throttles throttles_;
  bool active_ = false;
  ControllerEpoch epoch_;
  std::uint64_t count_ = 0;      // of target documents
  std::uint32_t under_way_ = 0;  // commits
  bool planning_ = false;
  std::optional<Cluster> problem_;     // that is being planned
  std::optional<Instant> plan_since_;  // since when a plan is due
  Instant led_;                        // when leadership was last changed
  bool plan_again_ = false;            // the last plan left something to do: more is to come when moves are done
  std::set<std::uint32_t> nodes_touched_;
  bool nodes_due_ = false;  // some node means something else than when they were looked at
  Instant nodes_wake_ = Instant::max();
  bool permits_wait_ = false;  // somebody wants to stop, and may not yet
  std::multimap<Instant, std::pair<std::uint32_t, std::uint32_t>> wakes_;

  std::optional<std::string> maintenance_;  // why the controller is in it
  WaitsDocument waits_;                     // as they were when it was elected
  std::optional<Instant> maintenance_since_;
  std::optional<Instant> freeze_since_;
  bool freeze_over_ = false;
  Instant saved_;
  bool saved_something_ = false;
  bool distrusts_itself_ = false;
  std::vector<Instant> turned_suspect_;

  Instant now_;
  Output out_;
};

}  // namespace evenkeel::control
