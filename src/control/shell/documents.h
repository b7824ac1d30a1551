#pragma once
// From a store's entries to the machine's documents.

#include <optional>

#include "evenkeel/control/machine.h"
#include "evenkeel/store/store.h"

namespace evenkeel::control {

// The document behind a key of this cluster. An error says what is wrong with its text.
Result<Document> parse_document(const Key& key, const store::Entry& entry);

}  // namespace evenkeel::control
