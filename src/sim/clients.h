#pragma once
// Clients: whoever writes to the simulated service. They write to random shards, at the leader that they know, which is sometimes an old one.
//
//   Clients clients(loop, services, {.pick = …, .leader = …}, rng.split("clients"));
//   clients.set_rate(20);                       // writes per second, in all; 0: none
//
// One timer in all. One thread. Cost: a write costs what it sends.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/sim/service.h"

namespace evenkeel::sim {

struct ClientLookups {
  std::function<std::optional<ShardId>(Rng&)> pick;             // one of those that have leaders; nothing: there is none
  std::function<std::optional<NodeId>(const ShardId&)> leader;  // by a router, or the view
  // While a workload is split: to which shard a key of this one is sent, as a router knows it. Empty: to this one.
  std::function<ShardId(const ShardId&, Rng&)> home = {};
};

class Clients {
 public:
  Clients(VirtualLoop& loop, Services& services, ClientLookups lookups, Rng rng);
  ~Clients();
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void set_rate(std::uint32_t writes_per_second);

  struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t refused = 0;  // by whoever was asked, or nobody was known to lead
    std::uint64_t unknown = 0;  // taken, and the leadership ended before it was acknowledged
    friend bool operator==(const Counts&, const Counts&) = default;
  };  // the rest is under way or was lost
  const Counts& counts() const { return *counts_; }

 private:
  void tick();
  void write();

  VirtualLoop& loop_;
  Services& services_;
  ClientLookups lookups_;
  Rng rng_;
  std::uint32_t rate_ = 0;
  std::uint64_t owed_ = 0;  // parts of writes, of as many as there are ticks in a second
  Timer timer_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();  // answers may come after the clients
  std::map<ShardId, NodeId> known_;                              // as they were once; bounded
};

}  // namespace evenkeel::sim
