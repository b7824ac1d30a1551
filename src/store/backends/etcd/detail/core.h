#pragma once
// Core: what the parts of the client share. It is destroyed before anything that it calls back.

#include <memory>
#include <unordered_map>

#include "evenkeel/store/backends/etcd/detail/caller.h"
#include "evenkeel/store/backends/etcd/detail/messages.h"
#include "evenkeel/store/backends/etcd/detail/stream.h"

namespace evenkeel::store::etcd::detail {

class Watch;

struct Core {
  Core(Loop& l, const Url& url, std::vector<Endpoint> opened, const OpenOptions& options)
      : loop(l),
        log(options.log ? *options.log : Log::nowhere()),
        timeout(options.timeout),
        keys(url.path),
        pump(l),
        endpoints(l, log, pump, std::move(opened)),
        caller(l, log, pump, endpoints, options),
        streams(l, pump, options.timeout),
        delays(l) {}

  Instant deadline() const { return later(loop.now(), timeout); }

  Loop& loop;
  Log log;
  const Duration timeout;
  const Keys keys;
  Pump pump;
  Endpoints endpoints;
  Caller caller;
  Streams streams;
  std::unordered_map<Watch*, std::weak_ptr<Watch>> watches;  // those that are open
  Delays delays;
};

// All below a prefix as of one revision, page by page; each page is a call with a timeout of its own.
void list_all(Core& core, std::string prefix, Answer<Listing> answer);
// What the server says of itself, and what is wrong with it.
void ask_status(Core& core, Answer<Status> answer);

}  // namespace evenkeel::store::etcd::detail
