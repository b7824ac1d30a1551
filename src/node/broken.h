#pragma once
// Broken rules of a node: what tests switch off, one at a time, to see that some checker or story notices. Nothing else sets it.

#include <cstdint>
#include <span>
#include <string_view>

namespace evenkeel::node {

enum class Broken : std::uint8_t {
  nothing,
  obey_others,           // what another incarnation is told is obeyed
  obey_old,              // a document of a lower number is obeyed
  drop_what_is_unsaid,   // what a document does not name is dropped
  lead_until_done,       // it leads until its handler has stepped down, whatever it has read
  lead_without_session,  // it leads on when its session may be over
  give_up_at_once,       // what fails is not tried again
  try_again_at_once,     // what fails is tried again without a pause
  refuse_nothing,        // a seal is reported, and the handler is not asked
};

struct BrokenName {
  Broken broken;
  std::string_view name;
};
std::span<const BrokenName> all_broken();

}  // namespace evenkeel::node
