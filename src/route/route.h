#pragma once
// route: who serves each shard now, for clients.
//
//   Table is an immutable value: the view of one moment, with addresses. Router keeps the latest one.
//
//   Router router(store, ClusterId("pages"), {.zone = "dc1/r1"});
//   std::shared_ptr<const Table> table = router.table();               // wait-free; any thread
//   if (auto to = table->pick(WorkloadId("t1"), "user-17", Role::leader)) call(to->address, to->shard, to->version.epoch);
//
//   table.h           the value: build, apply a change, pick
//   shard_map.h       the table as a file: JSON, and Rocksplicator's form
//   shell/router.h    the latest table, from a store's watch; a callback at each change
//   shell/map_file.h  the file, written by atomic rename and only when it changed
//
// A shard's (epoch, change) never goes back: what is lower than what is known is ignored.

#include "evenkeel/route/shard_map.h"  // IWYU pragma: export
#include "evenkeel/route/table.h"      // IWYU pragma: export
