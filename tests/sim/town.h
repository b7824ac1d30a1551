#pragma once
// A few nodes of the simulated service without a cluster manager: a test tells each replica what to do.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evenkeel/sim/clients.h"
#include "evenkeel/sim/service.h"

namespace evenkeel::sim::test {

struct Host {
  Disk disk;
  Knobs knobs;
  std::map<ShardId, Epoch> may_lead;
  std::unique_ptr<Service> service;
};

struct Told {
  std::string from;
  std::string to;
  Version version;
  std::vector<Peer> peers;
  std::string copy_from;
  Reason reason = Reason::move;
};

// What a transition came to.
struct Ending {
  std::optional<Result<>> result;
  Instant at;
};

class Town {
 public:
  explicit Town(std::uint64_t seed = 1);

  // A process with the node's disk, which is made when it is first asked for.
  Service& start(const std::string& node);
  void crash(const std::string& node) { hosts.at(node).service.reset(); }
  Service& service(const std::string& node) { return *hosts.at(node).service; }

  // Begins a transition; the ending is filled in when it is there.
  std::shared_ptr<Ending> begin(const std::string& node, const Told& told, std::stop_token stop = {});
  // The same, and waits for its end, at most a minute.
  Result<> tell(const std::string& node, const Told& told);
  std::optional<Sealed> seal(const std::string& node, std::uint64_t epoch);
  // It may lead, and its transition into the state `leader` ends. Its peers are followers.
  void lead(const std::string& node, std::uint64_t epoch, const std::vector<std::string>& peers,
            const std::string& from = "follower");
  // It may not lead any more, and becomes a follower.
  void step_down(const std::string& node, std::uint64_t epoch);
  // n1, n2, … are open, with nothing; the first leads at epoch 1, and the others follow it.
  void found(std::uint32_t nodes);

  // Where an answer will be.
  std::shared_ptr<std::optional<WriteAnswer>> write(const std::string& node);
  std::string log(const std::string& node) { return format(service(node).log(shard)); }

  ShardId shard{WorkloadId("t"), ShardIndex(0)};
  VirtualLoop loop;
  Rng rng;
  Network network;
  Ledger ledger;
  WorkloadFacts facts{.acks = 2};
  Services services;
  std::map<std::string, Host> hosts;
};

std::vector<Peer> peers(const std::vector<std::string>& nodes, const std::string& state = "follower");

}  // namespace evenkeel::sim::test
