#pragma once
// After a store was put back to an older state, a node that has seen nothing of what is lost does not notice. Its beat is written as it is: the node finds that
// somebody else has done so, and joins anew. Again if it beats on: the store gives revisions a second time, and the one that the node compares may be among them.

#include <functional>
#include <string>

#include "evenkeel/model/documents.h"
#include "evenkeel/store/store.h"

namespace evenkeel::control::detail {

// Until that incarnation beats no more, or `goes_on` says no; each time after a pause. On the store's loop.
void touch_beat(store::Store& store, const std::string& key, Incarnation incarnation, Duration pause,
                std::function<bool()> goes_on, const std::string& touched = {});

}  // namespace evenkeel::control::detail
