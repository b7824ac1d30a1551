#pragma once
// The rules of one shard's step, and what they share. shard.cc: order, proofs, returns, view; shard_lead.cc: leadership; shard_members.cc: who
// comes and goes; shard_split.cc: one becomes two.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/control/detail/shard.h"

namespace evenkeel::control::detail {

class ShardStep {
 public:
  ShardStep(const ShardInput& input, ShardTimers& timers)
      : in_(input), spec_(input.spec), timers_(timers), next_(input.record), was_(input.record) {}

  ShardOutput decide();

 private:
  // shard.cc
  void clear_proved();
  void take_back();
  void doubt_losses();
  void set_states();
  bool waits_to_open(Holder& holder);
  void reset_failed();
  bool is_order_done() const;
  void finish();
  void show();

  // shard_lead.cc
  void lead();
  void lead_on(Holder& leader);
  void hand_over(Holder& leader);
  void follow_hand_over();
  void seal_and_lead();
  struct Seals {
    std::size_t sealed = 0;
    std::vector<Holder*> able;         // that are sealed, have data and are well
    std::vector<std::string> awaited;  // whose seal is missing
  };
  Seals count_seals();
  bool begins_anew();
  bool is_behind_orphans(const Holder& best);
  bool is_level(const Holder& leader) const;
  Holder& best_of(const std::vector<Holder*>& able) const;
  bool leaves_out_suspects(Seals& seals);
  void seal_if_suspect(const Holder& leader);
  bool waits_for_preferred(const Holder& leader, const Holder& wanted) const;
  void step_down();
  void lead_first();
  void begin_hand_over(Holder& from, Holder& to, Reason reason);
  void grant(Holder& to, Epoch epoch, Reason reason);
  void fill_bounded();
  Holder* preferred() const;
  void prefer(const NodeId& node);
  bool may_follow_up(const Holder& holder) const;
  bool is_sealed(const Holder& holder) const;
  std::size_t seals_needed() const;
  static std::size_t seals_of(std::size_t voters, std::uint32_t acks) {
    return voters >= acks && acks > 0 ? voters - acks + 1 : 1;
  }
  bool seal_is_patient() const;
  Epoch next_epoch() const;

  // shard_members.cc
  void change_members();
  void add_first();
  void adopt();
  bool is_unknown() const;
  void rebuild(const std::vector<const Orphan*>& found);
  void drop_orphans();
  bool waits_for_adoption();
  Holder holder_of(const Orphan& orphan, const StateId& told) const;
  void add();
  void leave();
  void drop();
  void forget_dropped();
  bool is_unmissed(const Holder& holder) const;
  bool is_done_without(const Holder& leaver);
  bool may_change_members() const;
  bool is_unled_and_empty() const;
  std::uint32_t serving_without(const Holder& holder) const;
  bool is_settled() const;
  // How many there should be: where it is to be everywhere, one for each node.
  std::size_t replicas() const { return spec_.everywhere ? std::max<std::size_t>(next_.placement.size(), 1) : spec_.replicas; }
  bool uses_slot(const Holder& holder) const;

  // shard_split.cc
  void be_split_off();
  void be_born();
  void call_off_copies();
  void settle_copies();
  bool has_copied(const Holder& holder) const;
  void take_for_half();
  bool waits_for_half();
  void split(Holder& leader);
  void split_unled();
  void follow_split();
  bool may_split();
  std::vector<NodeId> ready_for_split(const Progress* all) const;
  std::size_t halves_needed() const;
  bool is_copied() const;
  std::string why_not_copied() const;
  void end_split();
  void call_off_split(std::string_view why);

  // What is known of a holder.
  // The same all through a step, and asked for by nearly every rule.
  HolderFacts facts(const Holder& holder) const {
    const auto known = std::ranges::find(facts_, holder.node, &std::pair<NodeId, HolderFacts>::first);
    return known != facts_.end() ? known->second : facts_.emplace_back(holder.node, in_.facts(holder.node)).second;
  }
  // Present: the very process that was told, on the disk that was told.
  bool is_present(const Holder& holder) const;
  // Its report, if it is about what it was told last.
  const ReplicaReport* heard(const Holder& holder) const;
  bool is_in(const Holder& holder, const StateId& state) const;
  bool serves(const Holder& holder) const;
  bool is_lost_disk(const Holder& holder) const;
  bool is_failed(const Holder& holder) const;
  bool accepts_loss() const { return in_.order != nullptr && in_.order->accept_loss; }
  std::optional<NodeId> ordered_leader() const { return in_.order != nullptr ? in_.order->lead : std::nullopt; }
  // Openings can be told apart: who has not opened is in a state of its own.
  bool has_closed_state() const {
    const StateId& initial = spec_.model->initial();
    return initial != spec_.rest && !spec_.model->serves(initial);
  }
  // It is there with what it has, and is to open later.
  bool is_held_back(const Holder& holder) const { return has_closed_state() && holder.told == spec_.model->initial(); }
  bool counts(const Holder& holder) const { return holder.told.str() != state_dropped; }
  // Whose copies the leader counts, as far as it may know: those that have come; of a shard that nobody has come to, all.
  bool is_voter(const Holder& holder) const;
  bool is_placed(const NodeId& node) const { return std::ranges::find(next_.placement, node) != next_.placement.end(); }
  Holder* find(const NodeId& node);
  Holder* leader();  // who leads, or may still believe it
  bool broken(Broken rule) const { return in_.broken == rule; }
  void tell(Holder& holder, const StateId& state, Reason reason);
  // What is past already was looked at: to look again at once would find the same, for ever.
  void wake_at(Instant at) {
    if (at > in_.now) wake_ = std::min(wake_, at);
  }
  template <class... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    why_.push_back({fmt::format(text, std::forward<Args>(args)...)});
  }

  const ShardInput& in_;
  mutable std::vector<std::pair<NodeId, HolderFacts>> facts_;
  const Spec& spec_;
  ShardTimers& timers_;
  ShardRecord next_;
  ShardView view_;
  const ShardRecord& was_;
  std::vector<Why> why_;
  bool lead_done_ = false;  // parts of the order that are carried out
  bool loss_accepted_ = false;
  bool is_unborn_ = false;  // it is to be split off
  bool is_hidden_ = false;  // clients do not see it
  bool adopt_waits_ = false;
  bool drop_waits_ = false;
  Instant wake_ = Instant::max();
};

}  // namespace evenkeel::control::detail
