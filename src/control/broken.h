#pragma once
// Broken rules: what tests switch off, one at a time, to see that some checker or story notices. Nothing else sets it.

#include <cstdint>
#include <span>
#include <string_view>

namespace evenkeel::control {

enum class Broken : std::uint8_t {
  nothing,
  ignore_incarnations,    // a report of an earlier incarnation counts as the present one's
  believe_old_reports,    // a report counts although it is older than what the node was told
  lead_without_proof,     // a new leader is granted before the old one has provably stepped down
  skip_seal,              // the best of those that are there leads, sealed or not
  too_few_seals,          // one seal is enough, whatever acks says
  reuse_epoch,            // a grant does not raise the epoch
  forget_named_epochs,    // epochs that only reports name do not count
  empty_may_lead,         // a replica that never held data may lead a shard that has some
  ignore_data_id,         // a new disk under an old name counts as the old one
  drop_on_absence,        // what the record does not name is dropped
  break_before_make,      // the old replica goes before the new one serves
  ignore_min_active,      // replicas go although too few serve without them
  forget_voters_at_once,  // a leaver does not count any more before the leader knows
  change_under_seal,      // replicas come and go while a seal is open
  no_delay,               // a node that is gone is replaced at once
  no_maintenance,         // moves go on, however many nodes are gone
  no_throttle,            // copies are not counted
  lead_before_caught_up,  // a hand-over does not wait for the new one's progress
  no_linger,              // a replica is dropped as soon as it has left the view
  unguarded_writes,       // a deposed controller's writes are not refused
  begin_over_orphans,     // a shard without a record begins anew, whatever nodes hold of it
  first_step_too_early,   // an elected controller acts on what it happens to know
};

struct BrokenName {
  Broken broken;
  std::string_view name;
};
std::span<const BrokenName> all_broken();

}  // namespace evenkeel::control
