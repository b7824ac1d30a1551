#pragma once
// The daemon's routes: each asks the loop, and formats what it was told on the thread of its request.

#include <functional>
#include <vector>

#include "evenkeel/serve/detail/watched.h"
#include "evenkeel/serve/http.h"

namespace evenkeel::serve::detail {

// Runs the question on the loop, with what is there, and waits. False: the loop did not come to it in time, and will not.
using Ask = std::function<bool(std::function<void(const Watched&)> question)>;

std::vector<Route> routes(Ask ask);

}  // namespace evenkeel::serve::detail
