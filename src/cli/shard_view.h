#pragma once
// evenkeel shard list, show.

#include "evenkeel/cli/command.h"

namespace evenkeel::cli {

void add_shard_views(CLI::App& noun, Session& session);

}  // namespace evenkeel::cli
