#pragma once
// A Store over ZooKeeper 3.5 and later, by its C client.
//
// How the interface is kept on a tree of nodes with one-shot watches:
//   - revision = zxid. A get is a sync and a read. A txn reads what it names, decides, and writes one multi that checks the data version of
//     all it read; if that moved, it begins again.
//   - A node's data version restarts at 0 when it is made anew, so a persistent key is never deleted: it becomes a tombstone, which get and
//     list do not show, and which is swept when it is old. Values are stored as they are; what is not a value (a folder, a tombstone, a
//     value that was born again) begins with "\0evenkeel" and says what it is.
//   - Ephemeral keys are ephemeral nodes of this client's session. They take no `unchanged` compare, and nothing can be below them.
//   - A watch keeps a one-shot watch on every node below its prefix, and reads what changed.
// Digest authentication ("user:password"), and then ACLs for that user alone on what is made.

#include <memory>

#include "evenkeel/store/backends/open.h"

namespace evenkeel::store::zookeeper {

Result<std::unique_ptr<Store>> connect(Loop& loop, const Url& url, const OpenOptions& options);

}  // namespace evenkeel::store::zookeeper
