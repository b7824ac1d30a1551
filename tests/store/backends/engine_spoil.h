#pragma once
// What a crash of the host can make of the end of an engine's log: a record that is only begun, or has a hole, or lacks its end; a file that
// is shorter; bytes of any kind behind the last record. All that was acknowledged stays as it is.

#include <cstdint>
#include <string>

#include "evenkeel/base/rng.h"

namespace evenkeel::store::embedded::test {

// Of the newest log in the folder, if there is one. `acknowledged`: the last revision that was; a last record that is beyond it is torn, too.
void spoil_log(const std::string& folder, std::int64_t acknowledged, Rng& rng);

}  // namespace evenkeel::store::embedded::test
