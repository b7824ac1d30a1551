#pragma once
// Network: messages between named hosts (nodes, controllers, clients) of a simulation, with delays and cuts.
//
//   Network network(loop, rng.split("network"), 2ms);
//   network.send("n1", {.host = "n2", .loop = &host_loop, .alive = process}, [] { take_it(); });
//   network.cut("n2");                       // nothing passes between it and anybody
//   network.cut("n3", "controllers");        // between these two names, either way
//
// A message takes a random time up to `one_way_max`, so that messages overtake each other. It is lost if its two ends are cut off from each other when it is
// sent or when it would arrive, or if the process that it is for is gone by then. On a host that stands still it waits.
// What is sent is a callback, run by the target's loop. Nothing is ever delivered inside send().
// Cuts are counted: what was cut twice must be healed twice. One thread. Cost: O(log timers) for a message.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"

namespace evenkeel::sim {

// Whom a message is for.
struct Address {
  std::string host;
  Loop* loop = nullptr;             // of that host; null: the outside one
  std::weak_ptr<const void> alive;  // a process's token: the loop and whatever the message touches live as long as it
  bool always = false;              // no token: it lives as long as the network
};

class Network {
 public:
  Network(VirtualLoop& loop, Rng rng, Duration one_way_max) : loop_(loop), rng_(rng), one_way_max_(one_way_max) {}

  void send(const std::string& from, Address to, Loop::Callback message);

  // `group` of a host: a second name of it, for cuts of pairs ("controllers", "clients"). A host without one has only its own.
  void join_group(const std::string& host, std::string group);
  void cut(const std::string& host);
  void heal(const std::string& host);
  // Between a host or a group, and a host or a group.
  void cut(const std::string& one, const std::string& other);
  void heal(const std::string& one, const std::string& other);
  bool passes(const std::string& one, const std::string& other) const;

  void set_one_way_max(Duration most) { one_way_max_ = most; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t lost() const { return lost_; }

 private:
  using Pair = std::pair<std::string, std::string>;  // in order
  static Pair pair(const std::string& one, const std::string& other);
  const std::string* group_of(const std::string& host) const;
  void arrive(const std::string& from, Address to, Loop::Callback message);

  VirtualLoop& loop_;
  Rng rng_;
  Duration one_way_max_;
  std::map<std::string, std::string> groups_;
  std::map<std::string, std::uint32_t> cuts_;
  std::map<Pair, std::uint32_t> pairs_;
  std::uint64_t sent_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace evenkeel::sim
