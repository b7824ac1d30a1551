#pragma once
// The memory backend: a store in this process, for tests and the simulator, and the place where faults are made.
//
// A World is the server; every client is a Store of its own, on the same loop. All chance comes from the seed: the same seed and calls give
// the same faults, so a failure replays.
//
//   VirtualLoop loop;
//   World world(loop, {.seed = 7, .delay_max = 20ms});
//   auto store = world.connect("n1");
//   world.cut_off("n1");                     // its calls are not answered, and time out; sent ones may have been done
//   world.expire("n1");                      // its ephemeral keys go
//
// It is honest the hard way: answers of different clients are reordered, a lost answer is `unknown_outcome` whether or not the write was
// done, watches leave values out and fall behind to fresh lists, as real servers' do.
// One thread, the loop's. World outlives its clients.
// Cost: O(log entries) for a read or a write, and for each watch a look at each change.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/store.h"

namespace evenkeel::store {

struct Faults {
  std::uint64_t seed = 0;
  Duration delay_min = {};  // of each way between a client and the server
  Duration delay_max = {};
  // Of a million, each:
  std::uint32_t lost_requests = 0;  // a call that never arrives; `unavailable` or, for writes, `unknown_outcome` after `timeout`
  std::uint32_t lost_answers = 0;   // done, and the answer is lost
  std::uint32_t late_watch = 0;     // of deliveries: the watch falls behind, and goes on with a fresh list
  std::uint32_t stale_lists = 0;    // a list, a watch's too, as of some revision before; never before what the client has seen
  Duration timeout = 5s;            // after which a client gives up on a call
  Duration lease = 10s;             // ephemeral keys go so long after their client was cut off or destroyed
  std::uint64_t history = 10'000;   // revisions that are remembered; older watches get a fresh list
};

class World {
 public:
  World(Loop& loop, Faults faults = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // A client by a name, which faults are aimed at. Several may have one name.
  std::unique_ptr<Store> connect(std::string client = "client");
  // A client on a loop of its own, on the same thread: a host whose clock runs differently, or that stands still for a while.
  std::unique_ptr<Store> connect(std::string client, Loop& loop);

  // From now on; what is under way is under the new ones. The seed stays as it was.
  void set_faults(Faults faults);
  // Nothing passes between that client and the server, either way, until heal(). What was sent meanwhile is lost, or arrives after that.
  void cut_off(const std::string& client);
  void heal(const std::string& client);
  // The client's lease is over at once: its ephemeral keys go, and later ones get a new lease.
  void expire(const std::string& client);
  // The server stops answering anybody, and goes on; nothing is lost that was committed. Leases begin anew when it does.
  void stop();
  void resume();
  // The server is restored from a backup: it is as it was at that revision, and revisions after it come again with other writes. Watches go on with a
  // fresh list, which is older than what they brought before. Code::refused: it is not remembered (Faults::history).
  Result<> put_back(Revision to);
  // The same, from no backup at all.
  void lose_everything();
  // Called with every committed txn, in order: what a checker records. A lease's end is a txn that erases its keys.
  void on_commit(std::function<void(const std::string& client, const Txn&, const Committed&)> observer);

  // What is there, without any fault.
  Listing contents(const std::string& prefix = "/") const;
  Revision revision() const;

 private:
  class Server;
  class Client;
  Loop& loop_;
  std::shared_ptr<Server> server_;
};

}  // namespace evenkeel::store
