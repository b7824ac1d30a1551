#pragma once
// A live broker's status as the command line shows it.

#include <string>

#include "evenkeel/broker/shell/broker.h"
#include "evenkeel/cli/output.h"

namespace evenkeel::cli {

// Clients and configs choose names: what is not a plain word is quoted, so that none steers the terminal or breaks a table.
std::string shown(const std::string& name);

std::string status_as(const broker::Observed& seen, Output output);

// One picture of `top`: totals, queues with what they did since the picture before, the oldest running tasks.
std::string top_of(const broker::Observed& seen, const broker::Observed* before);

}  // namespace evenkeel::cli
