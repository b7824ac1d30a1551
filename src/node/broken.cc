#include "evenkeel/node/broken.h"

#include <array>

namespace evenkeel::node {

std::span<const BrokenName> all_broken() {
  static constexpr std::array names{
      BrokenName{Broken::obey_others, "obey what others are told"},
      BrokenName{Broken::obey_old, "obey old documents"},
      BrokenName{Broken::drop_what_is_unsaid, "drop what is not said"},
      BrokenName{Broken::lead_until_done, "lead until stepped down"},
      BrokenName{Broken::lead_without_session, "lead without a session"},
      BrokenName{Broken::give_up_at_once, "give up at once"},
      BrokenName{Broken::try_again_at_once, "try again at once"},
      BrokenName{Broken::refuse_nothing, "seal and refuse nothing"},
  };
  return names;
}

}  // namespace evenkeel::node
