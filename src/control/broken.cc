#include "evenkeel/control/broken.h"

#include <array>

namespace evenkeel::control {

std::span<const BrokenName> all_broken() {
  static constexpr std::array names{
      BrokenName{Broken::ignore_incarnations, "ignore incarnations"},
      BrokenName{Broken::believe_old_reports, "believe old reports"},
      BrokenName{Broken::lead_without_proof, "lead without proof"},
      BrokenName{Broken::skip_seal, "skip the seal"},
      BrokenName{Broken::too_few_seals, "too few seals"},
      BrokenName{Broken::reuse_epoch, "reuse an epoch"},
      BrokenName{Broken::forget_named_epochs, "forget epochs that reports name"},
      BrokenName{Broken::empty_may_lead, "one without data may lead"},
      BrokenName{Broken::ignore_data_id, "ignore data ids"},
      BrokenName{Broken::drop_on_absence, "drop on absence"},
      BrokenName{Broken::break_before_make, "break before make"},
      BrokenName{Broken::ignore_min_active, "ignore min_active"},
      BrokenName{Broken::forget_voters_at_once, "forget voters at once"},
      BrokenName{Broken::change_under_seal, "change members under a seal"},
      BrokenName{Broken::no_delay, "no delay"},
      BrokenName{Broken::no_maintenance, "no maintenance"},
      BrokenName{Broken::no_throttle, "no throttle"},
      BrokenName{Broken::lead_before_caught_up, "lead before caught up"},
      BrokenName{Broken::no_linger, "no linger"},
      BrokenName{Broken::unguarded_writes, "unguarded writes"},
      BrokenName{Broken::begin_over_orphans, "begin over orphans"},
      BrokenName{Broken::first_step_too_early, "first step too early"},
  };
  return names;
}

}  // namespace evenkeel::control
