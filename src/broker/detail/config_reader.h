#pragma once
// From a config's tree to what it says, with every problem and its place.

#include "evenkeel/broker/config.h"
#include "evenkeel/broker/detail/config_tree.h"

namespace evenkeel::broker {

// A config must say all that it means; a patch says only what changes.
enum class Whole : bool { no, yes };

// Problems are added to the tree's own; with any of them the result is worth nothing.
ConfigPatch read_config(ConfigTree& tree, Whole whole);

}  // namespace evenkeel::broker
