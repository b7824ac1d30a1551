#pragma once
// A Store over ZooKeeper 3.5 and later, by its C client.
//
// How the interface is kept on a tree of nodes with one-shot watches:
//   - revision = zxid. A get is a proposal that changes nothing, and a read. A txn reads what it names, decides, and writes one multi that
//     fails if what it read has moved; then it begins again, a little later each time, and ends in Code::conflict if that goes on
//     (detail/decide.h). If there is nothing to write, it reads again as a get does.
//   - A node's data version restarts at 0 when it is made anew, so an erased key becomes a tombstone, which get and list do not show, and
//     which is swept after an hour (detail/sweeper.h). What is removed at once, as by erase_below, also writes the data of the path's own
//     node, and every txn compares that node's version. So all clients of the same keys must have the same path in their URLs.
//   - Values are stored as they are; what is not a plain value (a folder, a tombstone, a value that was born again) begins with "\0evenkeel"
//     and says what it is (detail/node_data.h). Characters that ZooKeeper has in no path are written as %XX (detail/paths.h).
//   - Ephemeral keys are ephemeral nodes of this client's session. They take no `unchanged` compare (Code::invalid), and nothing can be below
//     them (Code::refused). A session that expired is followed by a new one, without them.
//   - A watch keeps one-shot watches on every node below its prefix, reads what changed, and tells the difference (detail/tracker.h). One that
//     begins after a revision gets a fresh list if a key was made or removed since, for an ephemeral one leaves no trace.
// Digest authentication ("user:password"), and then access lists for that user alone on what is made. ZooKeeper knows no wrong password: whoever
// has one is denied what others made. The C client has no TLS.
// A member that breaks a connection is left at once; one that is silent, after two thirds of `lease_ttl`, and calls run into their timeouts
// until then. The C client's own log, which is one for the whole process, is switched off; what matters goes to `OpenOptions.log`.

#include <memory>

#include "evenkeel/store/backends/open.h"

namespace evenkeel::store::zookeeper {

Result<std::unique_ptr<Store>> connect(Loop& loop, const Url& url, const OpenOptions& options);

}  // namespace evenkeel::store::zookeeper
