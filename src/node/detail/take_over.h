#pragma once
// Ends a session that another process of this name had with this data folder, and of which it is known that it is over: its process is dead.

#include <functional>
#include <string>

#include "evenkeel/model/ids.h"
#include "evenkeel/store/store.h"

namespace evenkeel::node::detail {

// What a node's beat says about it, and what is looked for in it.
std::string beat_meta(const std::string& address, const DataId& data);

// Calls when there is nothing to do, or nothing more: if it cannot be done, opening a session waits as long as it must.
void take_over(store::Store& store, const std::string& key, const DataId& data, std::move_only_function<void()> then);

}  // namespace evenkeel::node::detail
