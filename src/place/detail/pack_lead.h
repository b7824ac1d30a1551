#pragma once
// Levelling who leads: leadership is handed on within a row while that brings the number of leaders nearer to the nodes' parts.

#include "evenkeel/place/detail/pack_state.h"

namespace evenkeel::place::detail {

void level_leads(Packing& packing);

}  // namespace evenkeel::place::detail
