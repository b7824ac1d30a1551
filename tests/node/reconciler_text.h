#pragma once
// The reconciler's inputs and outputs as text, for stories and for failures of properties.

#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/node/reconciler.h"

namespace evenkeel::node {

// "1.2": epoch and change, or controller epoch and count.
std::string text_of(const Version& version);
// One line for each effect, report and report's replica; "wake +5s" at the end if it wants to be woken.
std::string text_of(const Output& output, Instant now);
// "0 follower v=1.2 reason=move held=1 peers=n2:leader,n3:follower copy=n2 seal=4"
ReplicaTarget entry_of(const std::string& line);
Version version_of(std::string_view text);
std::vector<std::string> words_of(const std::string& line);
// The value of NAME=VALUE among the words; otherwise `unless`.
std::string option(const std::vector<std::string>& words, std::string_view name, std::string unless = "");

}  // namespace evenkeel::node
