#pragma once
// Broken rules: what tests switch off, one at a time, to see that some checker or story notices. Nothing else sets it.

#include <cstdint>
#include <span>
#include <string_view>

namespace evenkeel::control {

enum class Broken : std::uint8_t {
  nothing,
  // What is true, and who writes it.
  ignore_incarnations,     // a node that came back counts as the one that was there
  believe_old_reports,     // a report counts although it is older than what the node was told
  lead_without_proof,      // a new leader is granted before the old one has provably stepped down
  reuse_epoch,             // a grant does not raise the epoch
  forget_named_epochs,     // epochs that only reports name do not count
  forget_deleted_epochs,   // what a deleted workload has reached is not written down
  ignore_data_id,          // a new disk under an old name counts as the old one
  drop_on_absence,         // what the record does not name is dropped
  forget_dropped_at_once,  // who is told to drop something is forgotten before it says so
  begin_over_orphans,      // a shard without a record begins anew, whatever nodes hold of it
  begin_over_loss,         // a shard whose record the store has lost begins anew before those that hold it are back
  tell_before_inventory,   // a node is told something before all that it holds is known
  unguarded_writes,        // a deposed controller's writes are not refused
  first_step_too_early,    // an elected controller acts on what it happens to know
  go_on_unread,            // a write of unknown outcome counts as not done
  write_over_newer,        // a document that cannot be read is written over by what was known before
  // Leadership.
  skip_seal,              // the best of those that are there leads, sealed or not
  too_few_seals,          // one seal is enough, whatever acks says
  empty_may_lead,         // a replica that never held data may lead a shard that has some
  any_may_lead,           // not the best of the sealed leads, but the preferred one
  no_seal_wait,           // with acks 0, those that are gone are not waited for although they are more
  change_under_seal,      // replicas come and go while a seal is open
  ignore_lag,             // a hand-over begins however far the new one is behind
  lead_before_caught_up,  // a hand-over does not wait for the new one's progress
  never_give_back,        // a hand-over that takes too long goes on
  // Who comes and goes.
  break_before_make,      // the old replica goes before the new one serves
  ignore_min_active,      // replicas go although too few serve without them
  forget_voters_at_once,  // a leaver does not count any more before the leader knows
  too_many_extra,         // all new replicas come at once
  no_linger,              // a replica is dropped as soon as it has left the view
  // Splits.
  split_without_pause,     // a shard goes on taking writes while its other half is copied
  split_before_caught_up,  // replicas are copied that lack some of what the leader had
  split_with_too_few,      // a shard is split although fewer have its other half than acknowledge a write
  split_unsaid,            // who leads a shard that was split is not told which keys are still its own
  show_half_copied,        // clients see the other half before it is sure that it stays
  begin_unsplit,           // a shard that is to be split off begins anew, without data
  split_in_maintenance,    // shards are split although nothing is to move
  believe_empty_copies,    // a copy counts, however little is in it
  lead_over_half,          // a shard is led although its other half may have a life of its own, which the store has lost
  go_on_from_the_past,  // a hand-over or a split whose leader began anew, or that the store was put back into, goes on as if nobody had led since
  // Patience.
  no_delay,               // a node that is gone is replaced at once
  wait_below_min_active,  // a node that is gone is waited for, however few are left
  forget_waits,           // a successor waits from the beginning
  permit_for_ever,        // who may stop is never missed
  permit_until_whole,     // who is back keeps its permit until all its replicas serve, if ever
  no_maintenance,         // moves go on, however many nodes are gone
  stay_in_maintenance,    // maintenance does not end by itself
  leaders_wait,           // lost leaders are not followed while nothing may move
  believe_all_suspects,   // however many are not heard of at once, all are suspect
  trust_at_once,          // one that was suspect may lead as soon as it is heard of
  // Loads.
  ignore_loads,        // what is measured never reaches placement
  believe_every_load,  // the smallest change of a load is one
  level_unmeasured,    // a successor levels by the specs' loads until it has measured
  // Limits and errors.
  no_throttle,          // copies are not counted
  no_opening_throttle,  // openings are not counted
  throttle_leaders,     // a new leader waits while too much is copied
  never_replace,        // what a node gave up stays there
  // What operators and nodes ask.
  ignore_disabled,          // a shard may be where an operator forbids it
  ignore_cordon,            // what is new comes to a node that is cordoned
  ignore_no_leaders,        // a node leads although an operator forbids it
  remove_while_live,        // a node is removed although its session is not over
  remove_last_copy,         // a node is removed although nobody else has its data
  removed_come_back,        // a disk that was removed is taken back
  permit_below_min_active,  // a node may stop, however few serve without it
  permits_apart,            // a node may stop, whoever else may
  go_while_leading,         // a node may stop before its leaders have left
  permit_in_maintenance,    // a node may stop although too many are gone
  ignore_freeze,            // targets change while everything is frozen
  forget_freeze,            // a successor does not know of it
};

struct BrokenName {
  Broken broken;
  std::string_view name;
};
std::span<const BrokenName> all_broken();

}  // namespace evenkeel::control
