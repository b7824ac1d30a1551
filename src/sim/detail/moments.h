#pragma once
// Times as reports show them: as stories write them, cut to milliseconds: "1m30.25s".

#include <string>

#include "evenkeel/base/time.h"

namespace evenkeel::sim::detail {

std::string format_time(Duration time);

}  // namespace evenkeel::sim::detail
