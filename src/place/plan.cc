#include "evenkeel/place/plan.h"

#include <algorithm>

namespace evenkeel::place {

bool Plan::met() const {
  return refused.empty() && std::ranges::none_of(violations, [](const Violation& violation) { return violation.hard; });
}

}  // namespace evenkeel::place
