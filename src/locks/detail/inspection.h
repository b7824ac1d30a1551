#pragma once
// Inspection: what people ask about locks, and the operator's break. Each is a chain of calls that owns itself.

#include "evenkeel/locks/detail/folder.h"

namespace evenkeel::locks::detail {

// `beat`: of the holder, if it is there; `queue`: those who wait.
LockState state_of(const std::string& path, const Record& record, const std::optional<store::Entry>& beat,
                   std::vector<store::Entry> queue);

void show(std::shared_ptr<Common> common, const std::string& path, store::Answer<LockState> answer);
void list(std::shared_ptr<Common> common, const std::string& prefix, store::Answer<std::vector<LockState>> answer);
void break_lock(std::shared_ptr<Common> common, const std::string& path, store::Answer<LockState> answer);

}  // namespace evenkeel::locks::detail
