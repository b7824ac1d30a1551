#pragma once
// A hash of what a store holds up to a revision: the same for the same contents, whether or not old records have been swept yet.

#include "evenkeel/store/backends/embedded/detail/state.h"

namespace evenkeel::store::embedded::detail {

// With the revision up to which was compacted.
Result<std::pair<std::uint32_t, std::int64_t>> hash_of(const State& state, std::int64_t revision);

}  // namespace evenkeel::store::embedded::detail
