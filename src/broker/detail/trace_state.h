#pragma once
// A scheduler's State as JSON, for the trace's `restore`: 128-bit numbers as texts of digits, clients by name, cookies as JSON.

#include <optional>
#include <string>

#include "evenkeel/broker/detail/trace_fields.h"
#include "evenkeel/broker/trace.h"

namespace evenkeel::broker::detail {

// Clients are numbered from 0 in the order of the state's list of them. A state that no scheduler could have saved is a fault.
trace::Restore read_state(JsonText object, std::optional<JsonFault>& fault);
void write_state(std::string& out, const trace::Restore& restore);

}  // namespace evenkeel::broker::detail
