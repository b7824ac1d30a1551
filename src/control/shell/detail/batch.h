#pragma once
// Batch: what several buckets want written, joined in one txn as long as a store takes it.
//
//   Batch batch(guard);                                // compared in the txn, once
//   if (!batch.takes(part)) send(std::exchange(batch, Batch(guard)));
//   batch.add(std::move(part));
//
// A store does as much for a small txn as for a large one (a write to disk, a round among its members, a message to each watcher), and what was decided
// together is read together. A txn is done wholly or not at all: a part that a store may not take goes alone, so that the others never fail for its sake.
// Pure. Cost: O(bytes of the parts).

#include <cstddef>
#include <optional>
#include <vector>

#include "evenkeel/model/documents.h"
#include "evenkeel/store/store.h"

namespace evenkeel::control::detail {

class Batch {
 public:
  struct Bucketed {  // whose part it is, and what is to be known of it when the answer comes
    WorkloadId workload;
    Bucket bucket;
    bool erases = false;
  };
  struct Part {
    Bucketed of;
    store::Txn txn;      // without the guard
    bool alone = false;  // nothing is joined with it
  };

  explicit Batch(std::optional<store::Compare> guard) : guard_(std::move(guard)), bytes_(guard_ ? guard_->key.size() : 0) {}

  bool empty() const { return of_.empty(); }
  // An empty one takes everything.
  bool takes(const Part& part) const;
  void add(Part part);

  const std::vector<Bucketed>& of() const { return of_; }
  // Guard and parts. To be asked once.
  store::Txn take_txn();

 private:
  std::optional<store::Compare> guard_;
  store::Txn txn_;
  std::vector<Bucketed> of_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace evenkeel::control::detail
