#pragma once
// Checkers: the promises, held against what is really written to the store. Nothing here trusts a controller: every txn that was committed is read as
// anybody could read it, and compared with what was there before.
//
//   Checkers checkers(ClusterId("pages"), [&] { return simulation.elapsed(); });
//   world.on_commit([&](const std::string& client, const store::Txn& txn, const store::Committed& done) { checkers.saw(client, txn, done); });
//   …
//   if (const auto& broken = checkers.violation()) …     // "make before break: t/3 is dropped on n1 while 1 of 2 serve"
//   for (const auto& [promise, times] : checkers.counts()) …   // how often each had something to hold
//
// What each promise means here is said beside its check (detail/promises.h). What services do with what they are told is the ledger's to check
// (service.h); what is seen only from outside (time without a leader, moves in all) is counted by the simulation.
// One thread. Cost: a txn costs what it writes; a grant, a new replica or a dropped one also a look at the copies under way.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evenkeel/base/time.h"
#include "evenkeel/model/ids.h"
#include "evenkeel/store/store.h"

namespace evenkeel::sim {

class Checkers {
 public:
  // `now` is the time since the start, which nobody's clock shows.
  Checkers(const ClusterId& cluster, std::function<Duration()> now);
  ~Checkers();
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;

  // Of store::World::on_commit; from the first write of the cluster on.
  void saw(const std::string& client, const store::Txn& txn, const store::Committed& done);

  // The store is as it was before, or empty: what follows may go back, and what nodes have heard of in between still counts.
  void store_was_put_back(const store::Listing& contents);
  // The store or a controller stood still, was cut off or was slow up to now: what a controller must have noticed by now begins anew. Called when
  // it begins, and when it is over.
  void disturbed();

  // The first promise that did not hold; nothing after it is looked at.
  const std::optional<std::string>& violation() const;
  // What is not at rest by the documents of a cluster that seems to be settled: an open seal, a leaver, a leader that was not followed, a target that
  // nobody obeyed. Each is looked at once after it has changed.
  std::optional<std::string> unrest() const;
  const std::map<std::string_view, std::uint64_t>& counts() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::sim
