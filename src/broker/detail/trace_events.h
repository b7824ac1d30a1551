#pragma once
// The event lines of a trace. Every field of an event is always there, null where there is nothing.

#include <string>
#include <string_view>

#include "evenkeel/broker/scheduler.h"

namespace evenkeel::broker::detail {

void write_event(std::string& out, std::uint64_t now, const Event& event, std::string_view client);
void write_configured(std::string& out, std::uint64_t now, bool ok, std::string_view message);
void write_result(std::string& out, std::uint64_t now, std::string_view operation, std::string_view client, TaskId task, bool ok);
void write_stats(std::string& out, const Status& status);

}  // namespace evenkeel::broker::detail
