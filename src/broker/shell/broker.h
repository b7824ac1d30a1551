#pragma once
// Broker: a node's resource broker for many threads. It keeps one Scheduler (scheduler.h) behind one lock, reads the clock, and
// delivers what the scheduler decides to the clients it concerns.
//
//   auto broker = Broker::from_config(default_config());
//   auto client = (*broker)->client("compactor");                                           // shell/client.h: grants by RAII
//   auto grant = client->acquire({.type = "compaction_gen0", .need = {.cpu = 1}}, 10s);
//
//   std::unique_ptr<Session> session = (*broker)->open("compactor", on(loop), sink);        // or the plain layer, shell/session.h
//
// What holds:
//   - The clock is read once per operation, inside the lock, and never goes back. Time is counted from the broker's start.
//   - A client's deliveries come in the scheduler's order, one at a time, from its own executor, never under the lock. A slow client
//     delays only itself. What one operation causes for several clients has no order between them.
//   - The end of a session is the client's death: its tasks go, and others get what they held.
//   - Bounds: BrokerOptions names them. A client over its bound is refused; the others do not notice.
// Threads: any may call anything, also from inside a delivery. The broker lives until the last session and owner let go of it.
// Cost: that of the scheduler, the lock, and a copy of the cookie for each delivery. `observe` and `record` hold the lock while they
// copy: O(queues + types + tasks asked for), and O(tasks).

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/clock.h"
#include "evenkeel/base/result.h"
#include "evenkeel/broker/config.h"
#include "evenkeel/broker/scheduler.h"
#include "evenkeel/broker/shell/executor.h"
#include "evenkeel/broker/shell/recording.h"
#include "evenkeel/broker/shell/session.h"
#include "evenkeel/broker/status.h"

namespace evenkeel::broker {

class Client;

struct BrokerOptions {
  Options scheduling;
  // Tasks of one session, waiting and running. A submit beyond is refused.
  std::size_t tasks_max = std::size_t{1} << 20;
  // Deliveries of one session that wait for its executor. While so many wait, its requests are refused as unavailable.
  std::size_t deliveries_max = std::size_t{1} << 20;
  // The length of a task's name, of its type and of its cookie, each.
  std::size_t text_bytes_max = 4096;
  // Null: the boot-time clock.
  std::shared_ptr<const Clock> clock;
};

// A status, and the names of the clients whose tasks it shows.
struct Observed {
  Status status;
  std::map<ClientId, std::string> clients;
};

// How much of the lists of tasks `observe` copies.
struct ObserveLimits {
  std::size_t waiting_max = 100;  // a queue
  std::size_t running_max = 1000;
};

class Broker : public std::enable_shared_from_this<Broker> {
 public:
  static constexpr std::size_t recorded_max = std::size_t{1} << 16;
  static constexpr std::size_t client_name_bytes_max = 256;

  // Code::refused if the config is (see check in config.h).
  static Result<std::shared_ptr<Broker>> from_config(const Config& config, BrokerOptions options = {});
  // The config as text, in any form that config_file.h reads. `file` is for messages.
  static Result<std::shared_ptr<Broker>> from_text(std::string_view text, std::string file, BrokerOptions options = {});
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // A new client. Its name is for people and recordings: if it is taken, a number is appended. `sink` is used until the session is
  // destroyed. Destroying the session waits for a delivery that another thread makes just now; called from inside its own delivery
  // it does not wait, and nothing is delivered after that one.
  std::unique_ptr<Session> open(std::string client_name, Executor executor, SessionSink& sink);
  // The pleasant layer (shell/client.h). Its callbacks run on the executor.
  std::unique_ptr<Client> client(std::string client_name, Executor executor = at_once());

  // Code::refused if the config is; then nothing changed.
  Result<void> configure(const Config& config);
  // Changes only what the patch names.
  Result<void> configure(const ConfigPatch& patch);
  Config config() const;
  // The names of resources in the scheduler's order: cpu, memory, and others.
  std::vector<std::string> resources() const;
  const BrokerOptions& options() const;

  Observed observe(const ObserveLimits& limits = {}) const;
  // Everything from this moment on (shell/recording.h). At most `most` commands wait to be read.
  std::unique_ptr<Recording> record(std::size_t most = recorded_max);

 private:
  class Core;
  class LocalSession;
  explicit Broker(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace evenkeel::broker
