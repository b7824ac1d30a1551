#pragma once
// A Store over etcd's v3 gRPC API: etcd 3.4 and later, and our own server.
//
//   auto store = etcd::connect(loop, *parse_url("etcd://h1:2379,h2:2379/c1"), {.timeout = 5s});    // connects at the first call
//
// Several endpoints: calls go to one, the first of the URL to begin with, until it fails. What it certainly did not do is tried at the next; a
// write whose answer was lost is `unknown_outcome` at once. A write is handed only to a connection that stands, so one that found none is
// `unavailable`. A paused server is left after half of a read's time, a write's timeout, or 9 s of unanswered pings, whichever is first.
// Lists of many pages are of one revision; each page is a call, with a timeout of its own.
// Watches resume after the last revision they delivered, at another endpoint if need be; a compacted revision becomes a fresh list. A member
// that has lost its leader gives them up. They share one stream. What a slow consumer has not taken stays with the server.
// The lease of ephemeral keys is granted at the first, kept alive here, and granted anew once lost (its keys are gone then).
// User and password are exchanged for a token, which is renewed when the server has forgotten it. `etcds://` is TLS, with Access.tls.
//
// Threads: one of its own, which only brings gRPC's events to the loop. Destroying the store ends it, without waiting for any server.

#include <memory>

#include "evenkeel/store/backends/open.h"

namespace evenkeel::store::etcd {

// Code::invalid if the options cannot be used, and what read_file says of a TLS file that cannot be read.
Result<std::unique_ptr<Store>> connect(Loop& loop, const Url& url, const OpenOptions& options);

}  // namespace evenkeel::store::etcd
