#pragma once
// From a store's entries to the machine's documents, and back to where they are.

#include <optional>
#include <set>
#include <string>

#include "evenkeel/control/machine.h"
#include "evenkeel/store/store.h"

namespace evenkeel::control {

// The document behind a key of this cluster. An error says what is wrong with its text.
Result<Document> parse_document(const Key& key, const store::Entry& entry);
// Where a small document is that a controller puts.
std::string key_of(const Keys& keys, const Key& key);
// All that is there, as it was listed, in the order in which it is to be taken: workloads come before their records. Of `known` that which is not among it
// is left.
void put_in_order(store::Changes& fresh, const Keys& keys, std::set<std::string>& known);
// What a commit writes of its bucket: records, view and targets.
void put_documents(store::Txn& txn, const Keys& keys, const Commit& commit);

}  // namespace evenkeel::control
