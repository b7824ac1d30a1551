#pragma once
// From a store's entries to the machine's documents, and back to where they are.

#include <optional>
#include <string>

#include "evenkeel/control/machine.h"
#include "evenkeel/store/store.h"

namespace evenkeel::control {

// The document behind a key of this cluster. An error says what is wrong with its text.
Result<Document> parse_document(const Key& key, const store::Entry& entry);
// Where a small document is that a controller puts.
std::string key_of(const Keys& keys, const Key& key);
// What a commit writes of its bucket: records, view and targets.
void put_documents(store::Txn& txn, const Keys& keys, const Commit& commit);

}  // namespace evenkeel::control
