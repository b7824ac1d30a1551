#include "evenkeel/control/broken.h"

#include <array>

namespace evenkeel::control {

// Long because it is the list.
std::span<const BrokenName> all_broken() {
  static constexpr std::array names{
      BrokenName{Broken::ignore_incarnations, "ignore incarnations"},
      BrokenName{Broken::believe_old_reports, "believe old reports"},
      BrokenName{Broken::lead_without_proof, "lead without proof"},
      BrokenName{Broken::reuse_epoch, "reuse an epoch"},
      BrokenName{Broken::forget_named_epochs, "forget epochs that reports name"},
      BrokenName{Broken::forget_deleted_epochs, "forget epochs of the deleted"},
      BrokenName{Broken::ignore_data_id, "ignore data ids"},
      BrokenName{Broken::drop_on_absence, "drop on absence"},
      BrokenName{Broken::forget_dropped_at_once, "forget what is dropped at once"},
      BrokenName{Broken::begin_over_orphans, "begin over orphans"},
      BrokenName{Broken::begin_over_loss, "begin over a loss"},
      BrokenName{Broken::tell_before_inventory, "tell before the inventory"},
      BrokenName{Broken::unguarded_writes, "unguarded writes"},
      BrokenName{Broken::first_step_too_early, "first step too early"},
      BrokenName{Broken::go_on_unread, "go on without reading"},
      BrokenName{Broken::skip_seal, "skip the seal"},
      BrokenName{Broken::too_few_seals, "too few seals"},
      BrokenName{Broken::empty_may_lead, "one without data may lead"},
      BrokenName{Broken::any_may_lead, "any of the sealed leads"},
      BrokenName{Broken::no_seal_wait, "no wait for seals"},
      BrokenName{Broken::change_under_seal, "change members under a seal"},
      BrokenName{Broken::ignore_lag, "ignore the lag"},
      BrokenName{Broken::lead_before_caught_up, "lead before caught up"},
      BrokenName{Broken::never_give_back, "never give back"},
      BrokenName{Broken::break_before_make, "break before make"},
      BrokenName{Broken::ignore_min_active, "ignore min_active"},
      BrokenName{Broken::forget_voters_at_once, "forget voters at once"},
      BrokenName{Broken::too_many_extra, "too many extra replicas"},
      BrokenName{Broken::no_linger, "no linger"},
      BrokenName{Broken::no_delay, "no delay"},
      BrokenName{Broken::wait_below_min_active, "wait below min_active"},
      BrokenName{Broken::forget_waits, "forget waits"},
      BrokenName{Broken::permit_for_ever, "permits for ever"},
      BrokenName{Broken::permit_until_whole, "permits until all is whole"},
      BrokenName{Broken::no_maintenance, "no maintenance"},
      BrokenName{Broken::stay_in_maintenance, "stay in maintenance"},
      BrokenName{Broken::leaders_wait, "leaders wait"},
      BrokenName{Broken::believe_all_suspects, "believe all suspects"},
      BrokenName{Broken::trust_at_once, "trust at once"},
      BrokenName{Broken::ignore_loads, "ignore loads"},
      BrokenName{Broken::believe_every_load, "believe every load"},
      BrokenName{Broken::level_unmeasured, "level what is not measured"},
      BrokenName{Broken::no_throttle, "no throttle"},
      BrokenName{Broken::no_opening_throttle, "no throttle on openings"},
      BrokenName{Broken::throttle_leaders, "throttle leaders"},
      BrokenName{Broken::never_replace, "never replace"},
      BrokenName{Broken::ignore_disabled, "ignore what is disabled"},
      BrokenName{Broken::ignore_cordon, "ignore a cordon"},
      BrokenName{Broken::ignore_no_leaders, "ignore no-leaders"},
      BrokenName{Broken::remove_while_live, "remove while live"},
      BrokenName{Broken::remove_last_copy, "remove the last copy"},
      BrokenName{Broken::removed_come_back, "the removed come back"},
      BrokenName{Broken::permit_below_min_active, "permit below min_active"},
      BrokenName{Broken::permits_apart, "permits apart"},
      BrokenName{Broken::go_while_leading, "go while leading"},
      BrokenName{Broken::permit_in_maintenance, "permit in maintenance"},
      BrokenName{Broken::ignore_freeze, "ignore a freeze"},
      BrokenName{Broken::forget_freeze, "forget a freeze"},
  };
  return names;
}

}  // namespace evenkeel::control
