#pragma once
// broker: a node's resource broker. Many kinds of work on one node want cpu, memory and other resources at once; the broker lets
// each kind have its share, in turn, and no more in all than the node has.
//
// It is a gatekeeper: it counts what is granted and relies on clients to use no more. It measures nothing, preempts nothing, and knows
// nothing of other nodes.
//
// Nouns. A *task* asks for amounts of *resources*. Its *type* (compaction_gen0, transaction, …) sends it to a *queue*, which has a
// weight and a limit of its own under the node's total limit. A *client* submits tasks, is *granted* them when it is their turn, and
// finishes them. The rules are those of YDB's Resource Broker and its configs are read as they are; exactly: docs/broker.md.
//
//   auto broker = Broker::from_text(*read_file("broker.yaml"), "broker.yaml");        // or from_config(default_config())
//   if (!broker) return fail(broker.error());
//   auto client = (*broker)->client("compactor");
//   if (auto grant = client->acquire({.type = "compaction_gen0", .need = {.cpu = 1}}, 10s))
//     compact();                                                                      // given back when `grant` goes
//
// The core is a function of its operations and their times; the shell adds the lock, the clock and the deliveries:
//   config.h, config_file.h   queues, types and limits as values; as text in four forms
//   scheduler.h, status.h     the pure core: operations in, grants out; what it shows of itself
//   trace.h                   operations and events as lines of JSON: recorded, replayed
//   metrics.h, page.h         a status as Prometheus text, and as a page for people
//   shell/broker.h            the same for many threads
//   shell/session.h           one client's line: asynchronous operations, deliveries in order
//   shell/client.h            grants that give themselves back; blocking, with callbacks, or at once
//   shell/recording.h         a trace of a broker at work
//   shell/rpc/                the broker behind a socket
// This header is the index and includes the core; a service includes shell/broker.h and shell/client.h.
//
// Invariants: no limit is passed but by a task that is alone under it or by updates of running tasks; a large task does not
// starve; equal operations at equal times give equal grants; a client's death frees what it held.
// Threads and ownership: a Broker is shared and any thread may call it; a Session and a Client belong to who opened them; a Grant to
// one thread at a time. Cost: O(log queues) a grant, however many tasks wait; no allocation in the core once warm.

#include "evenkeel/broker/config.h"       // IWYU pragma: export
#include "evenkeel/broker/config_file.h"  // IWYU pragma: export
#include "evenkeel/broker/metrics.h"      // IWYU pragma: export
#include "evenkeel/broker/page.h"         // IWYU pragma: export
#include "evenkeel/broker/scheduler.h"    // IWYU pragma: export
#include "evenkeel/broker/status.h"       // IWYU pragma: export
#include "evenkeel/broker/trace.h"        // IWYU pragma: export
