#pragma once
// Settings and overrides as people change them on a command line: KEY=VALUE, and KEY- to take one back.
//
//   edit_settings(settings, {"rebalance_delay=10m", "recovery.copies=200", "max_offline-"})
//   edit_node(document, own, {"capacity.disk=2Ti", "labels.disk=ssd", "taints.gpu=refuse", "power-"})
//
// Names and values are those of cluster files, and are checked as those are.

#include <span>
#include <string>

#include "evenkeel/model/documents.h"

namespace evenkeel::cli {

Result<Settings> edit_settings(const Settings& settings, std::span<const std::string> words);
// A part of a map, such as capacity.disk, is laid over what stands there: what was set before, else what the node itself says. Taken back, the node's
// own part counts again; with the last one that differs goes the whole override.
Result<NodeDocument> edit_node(const NodeDocument& document, const LiveDocument& own, std::span<const std::string> words);

}  // namespace evenkeel::cli
