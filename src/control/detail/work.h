#pragma once
// The machine's work: inputs taken in, touched shards decided, commits made. Split over machine.cc (inputs and the round), detail/commits.cc
// (from shards to documents), detail/patience.cc (time: who is gone, suspicion, maintenance), detail/waits.cc (what a successor is to know of that),
// detail/permits.cc (who may stop, who may be removed), detail/measuring.cc (loads), detail/explain.cc (what people ask).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "evenkeel/control/detail/planning.h"
#include "evenkeel/control/detail/throttles.h"
#include "evenkeel/control/detail/world.h"
#include "evenkeel/control/machine.h"

namespace evenkeel::control {

class Machine::Work {
 public:
  explicit Work(MachineOptions options) : options_(std::move(options)), throttles_(options_.broken), lost_(options_.lost) {
    world_.broken = options_.broken;
  }

  Output step(std::vector<Input> inputs, Instant now);
  bool at_rest() const {
    return active_ && under_way_ == 0 && !planning_ && !world_.plan_due && world_.dirty_units.empty() && rests_.empty();
  }
  Epoch highest_epoch() const;
  std::map<WorkloadId, std::uint32_t> with_data() const;
  // What this controller, or one before it, knows of a history that the store has lost.
  Epoch epochs_above() const { return std::max(options_.epochs_above, waits_.epochs_above); }
  Overview overview() const;
  std::vector<NodeState> nodes(Instant now) const;
  std::vector<WorkloadState> workloads() const;
  std::optional<ShardState> explain(const ShardId& shard);
  Stoppable stoppable(const std::vector<NodeId>& nodes) const;
  std::optional<ShardView> view(const ShardId& shard) const;
  bool knows(const NodeId& node, Incarnation incarnation) const;
  bool knows(const WorkloadId& workload) const;

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
  void take(ConfigDocument config);
  void take(std::uint32_t node, std::optional<PermitDocument> permit);
  void take_in(std::uint32_t unit, detail::Written written);
  void learn_of_losses();
  void forget_office();
  void round();
  void work_on(std::set<std::uint32_t>& dirty);
  void work_on_dirty();
  void ask_for_plan();
  void note_refusals(const place::Plan& plan);
  void say(Event::Kind kind, std::optional<ShardId> shard, std::optional<NodeId> node, std::string text);
  bool is_past(const WorkloadId& workload, const ShardRecord& record) const {
    const auto found = lost_.find(workload);
    return found != lost_.end() && record.shard.value() < found->second && record.version.epoch <= epochs_above();
  }
  bool is_lost(const WorkloadId& workload, const ShardRecord& record) const {
    return is_past(workload, record) || record.rebuilt;
  }
  void wake_at(Instant at) { out_.wake = std::min(out_.wake, at); }
  using PutDocument = decltype(Put::document);
  // True: it was not put before.
  bool put_until_seen(const Key& key, PutDocument document);

  // detail/explain.cc
  std::optional<std::pair<std::uint32_t, std::uint32_t>> find(const ShardId& shard) const;  // unit and slot
  void explain_claims(const detail::Unit& unit, std::uint32_t slot, std::vector<std::string>& why) const;
  void explain_missing(const detail::Unit& unit, std::uint32_t slot, std::vector<std::string>& why) const;
  void explain_held_back(const detail::Unit& unit, std::uint32_t slot, std::vector<std::string>& why) const;
  std::string why_still() const;
  HeldBack count_held_back() const;
  void add_orphans(Overview& overview) const;
  bool has_records(const detail::WorkloadInfo& workload) const;
  void count_missing(const detail::Unit& unit, std::uint32_t& leaderless, std::uint32_t& below_min_active) const;

  // detail/commits.cc
  bool work_on(std::uint32_t unit);
  struct Draft {  // of a commit
    Commit commit;
    std::set<std::uint32_t> affected;  // nodes
    std::map<std::uint32_t, detail::ShardOutput> changed;
    bool respecified = false;
  };
  void draft_stale_targets(detail::Unit& unit, Draft& draft);
  void draft_shard(std::uint32_t unit, std::uint32_t slot, Draft& draft);
  bool put_off(std::uint32_t unit, std::uint32_t slot, const detail::ShardOutput& output);
  void finish(std::uint32_t unit, Draft& draft);
  detail::ShardOutput decide(std::uint32_t unit, std::uint32_t slot, Instant& wake, bool only_asks);
  Target target_of(const detail::Unit& unit, const RecordBucket& records, std::uint32_t node);
  void count_copies(std::uint32_t unit, std::uint32_t slot, const ShardRecord& record);
  void count_copies(std::uint32_t unit);
  bool is_opening(const detail::Unit& unit, std::uint32_t slot, const Holder& holder, std::uint32_t node) const;
  void count_errors(std::uint32_t unit, std::uint32_t slot);
  void tell_of(const detail::Unit& unit, const ShardRecord& before, const ShardRecord& after);
  Quantity bytes_of(const detail::Unit& unit, ShardIndex shard) const;
  void look_at_deleted();
  void look_at_splits();
  void tell_of_split(const detail::Unit& unit, std::uint32_t slot, const ShardRecord& before, const ShardRecord& after);
  const detail::NodeInfo* splits_on(const ShardRecord& record) const;
  detail::Half half_of(const detail::Unit& unit, std::uint32_t slot) const;
  void bury(std::uint32_t workload);

  // detail/patience.cc
  void look_around();
  bool progress_matters(const detail::Unit& unit, std::uint32_t slot, const NodeId& of) const;
  void look_at_pulse(std::uint32_t node);
  void weigh_suspects();
  void hear_the_rest_out();
  void look_at_node(std::uint32_t node);
  void wait_for(std::uint32_t node, Duration gone);
  void count_node(std::uint32_t node);
  void wake_node(std::uint32_t node, Instant at);
  void look_at_maintenance();
  void enter_or_leave();
  std::uint32_t count_offline() const;
  bool too_many_errors() const;

  // detail/measuring.cc
  bool take_load(std::uint32_t unit, std::uint32_t slot, std::uint32_t node, const Amounts& load);
  void measure(std::uint32_t unit, std::uint32_t slot);
  void measure_touched();
  void touch_loads(std::uint32_t node);
  void forget_loads();
  void look_at_loads();
  void judge_loads();
  void believe_loads();
  void count_loads();
  void count_loads(std::uint32_t unit, std::uint32_t slot, const std::vector<Quantity>& usual,
                   const std::vector<Quantity>& on_top);
  void watch_loads();
  std::optional<detail::Column> off_column(const detail::NodeInfo& node, bool smoothed, const std::vector<Quantity>& means) const;
  std::vector<Quantity> mean_loads() const;
  Duration loads_half() const { return world_.config.settings.control.loads_pause / 2; }

  // detail/permits.cc
  void look_at_permits();
  void look_at_permit(std::uint32_t node);
  void end_permit_in_time(std::uint32_t node);
  void answer_permit(std::uint32_t node);
  bool may_stop(std::uint32_t node, std::string& why) const;
  bool has_leave(const NodeId& node) const;
  std::string why_not_without(const detail::Unit& unit, std::uint32_t slot, const std::set<NodeId>& without) const;
  std::vector<std::string> why_not_stop(std::uint32_t node, const std::set<NodeId>& together, std::size_t most) const;
  bool points_at(const detail::NodeInfo& node, const ShardRecord& record, const ShardView& view) const;
  bool leads_or_is_shown(std::uint32_t node) const;
  bool is_whole_again(std::uint32_t node) const;
  void try_to_remove(std::uint32_t node);
  std::optional<ShardId> last_copy_on(std::uint32_t node) const;

  // detail/waits.cc
  void save_waits();
  bool may_save_later() const;
  WaitsDocument waits_now();
  void add_bans(WaitsDocument& waits);
  void add_pauses(WaitsDocument& waits);
  void add_unsteady(WaitsDocument& waits);
  void take_up_shard_waits();

  // Something that an operator ordered, and that may end by itself.
  struct Hold {
    std::optional<Instant> since;
    Duration before = {};  // so long already when this controller was elected
    bool over = false;
    Duration waited(Instant now) const { return since ? before + (now - *since) : Duration{}; }
  };
  void look_at_hold(Hold& hold, const std::optional<Duration>& timeout, std::string_view what);
  bool may_move() const { return !maintenance_ && !frozen() && !by_hand(); }
  bool frozen() const { return world_.config.freeze.has_value() && !freeze_.over && options_.broken != Broken::ignore_freeze; }
  bool by_hand() const { return world_.config.maintenance.has_value() && !manual_.over; }

  const MachineOptions options_;
  detail::World world_;
  detail::Throttles throttles_;
  bool active_ = false;
  ControllerEpoch epoch_;
  std::uint64_t count_ = 0;      // of target documents
  std::uint32_t under_way_ = 0;  // commits
  bool planning_ = false;
  bool could_move_ = false;            // when that was looked at last
  bool plan_outdated_ = false;         // what is being planned is not wanted any more
  std::optional<Cluster> problem_;     // that is being planned
  std::optional<Instant> plan_since_;  // since when a plan is due
  Instant led_;                        // when leadership was last changed
  bool plan_again_ = false;            // the last plan left something to do: more is to come when moves are done
  std::set<std::pair<Instant, std::pair<std::uint32_t, std::uint32_t>>> wakes_;  // of shards
  std::set<std::pair<Instant, std::uint32_t>> node_wakes_;
  std::set<std::pair<Instant, std::uint32_t>> rests_;       // units with something that was put off, and until when
  std::set<std::uint32_t> permits_;                         // nodes that have one
  std::set<std::uint32_t> permits_due_;                     // of these, those that are to be looked at
  std::set<std::uint32_t> waiting_;                         // nodes that are waited for
  std::set<std::uint32_t> unsteady_;                        // nodes that are suspect, or were a while ago
  std::set<std::pair<std::uint32_t, ShardIndex>> pausing_;  // by unit: shards with a hand-over that came to nothing a while ago
  using KeyOf = std::tuple<Key::Kind, NodeId, WorkloadId>;
  std::map<KeyOf, std::pair<PutDocument, Instant>> puts_;  // that have not been seen

  std::optional<std::string> maintenance_;  // why the controller is in it
  std::optional<Instant> maintenance_since_;
  Duration maintenance_before_ = {};
  Hold manual_;
  Hold freeze_;
  bool counts_changed_ = false;  // of those that are gone, or what may be
  struct Zone {
    std::uint32_t gone = 0;
    std::uint32_t all = 0;
  };
  std::map<std::string, Zone> zones_;
  std::uint32_t held_ = 0;  // nodes that hold something
  WaitsDocument waits_;     // as they were when it was elected
  WaitsDocument saved_waits_;
  std::map<WorkloadId, std::uint32_t> lost_;  // what the options and the waits say of it
  Instant saved_;
  std::set<std::uint32_t> pulsing_;
  std::set<std::uint32_t> suspects_;
  std::vector<Instant> turned_suspect_;
  bool stops_balance_ = false;  // too many replicas are in error

  Instant loads_look_ = Instant::max();  // when loads are looked at next
  bool loads_awaited_ = false;  // until then nothing is levelled: those before this controller had measured loads, and it has not
  bool loads_believed_ = false;  // of some shard
  bool loads_changed_ = false;   // since the last plan was asked for
  bool planning_for_loads_ = false;

  Instant now_;
  Output out_;
};

}  // namespace evenkeel::control
