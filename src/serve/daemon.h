#pragma once
// Daemon: a controller with everything around it: a loop on a thread, plans on another, pulses of nodes, and HTTP for people and programs.
//
//   auto daemon = Daemon::start({.cluster = ClusterId("pages"), .open_store = [](Loop& loop) { return store::open(loop, "etcd://…", {}); }});
//   if (!daemon) return daemon.error();                  // a port in use, an address of others, a store that refuses us
//   fmt::print("http://{}\n", (*daemon)->http());
//   …
//   (*daemon)->stop(10s);                                // leaves its office: another takes over at once
//
// Several may run for one cluster, on one store; one is active, and the others answer too, from what they follow, and say who is. A store that cannot be
// reached is waited for, as long as it takes: that is said in the log now and then, and `/readyz` says no meanwhile, and why. HTTP answers from the start.
//
// HTTP (docs/serve.md): /healthz, /readyz, /metrics, and below /api/v1/: cluster, nodes, workloads, shards/<workload>[/<shard>], view/<workload>, events. It only
// shows. A request is a question to the loop, with a time-out; nobody but the loop touches the controller.
// Threads: any may call what is here. Destroying it without stop() is like a crash.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "evenkeel/base/log.h"
#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"
#include "evenkeel/model/ids.h"
#include "evenkeel/serve/metrics.h"
#include "evenkeel/store/store.h"

namespace evenkeel::serve {

struct DaemonOptions {
  ClusterId cluster{"default"};
  std::string name;  // unique among the cluster's controllers; empty: this host's name and the port of HTTP
  // Called once, on the thread of the loop.
  std::function<Result<std::unique_ptr<store::Store>>(Loop&)> open_store;
  std::string http = "127.0.0.1:7070";  // only addresses of this host; port 0: any free one
  std::string pulse = "127.0.0.1:0";    // where nodes pulse to; the same
  std::uint32_t events_max = 1000;      // that are remembered
  // How much of the store's history is kept, for a store that nobody else uses; 0: it is left alone.
  Duration history = {};
  std::function<StoreMeasured()>
      own_store;               // how that store stands, for metrics; called on the thread of the loop; empty: nobody says
  Duration read_wait = 10s;    // for the first answer of the store, longer than its own time-out
  Duration ask_wait = 5s;      // how long HTTP waits for the loop
  Duration said_again = 1min;  // that the store cannot be reached
  Log* log = nullptr;
};

class Daemon {
 public:
  static Result<std::unique_ptr<Daemon>> start(DaemonOptions options);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  const std::string& name() const;
  const std::string& http() const;   // HOST:PORT
  const std::string& pulse() const;  // HOST:PORT
  // It has heard of the store lately, and knows what is there: it acts, or could take over.
  bool ready() const;
  bool active() const;
  // Leaves its office properly, if that can be done in time, and ends.
  void stop(Duration within);

 private:
  class Work;
  explicit Daemon(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::serve
