#pragma once
// Edit: from one table to the next. It opens a copy of the lists that change, and nothing else.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "evenkeel/route/detail/parts.h"

namespace evenkeel::route {

class Table::Edit {
 public:
  // `from` outlives it.
  explicit Edit(const Table& from) : from_(from) {}

  void put(const ViewBucket& bucket);
  void remove(const WorkloadId& workload, Bucket bucket);
  void put(const LiveDocument& live);
  void remove(const NodeId& node);
  Table finish() &&;

 private:
  // A workload that changes.
  struct Open {
    const Part* was = nullptr;                                      // null: it is new
    std::map<std::uint32_t, std::shared_ptr<const Piece>> changed;  // in their places among those of `was`; null: removed
    std::map<Bucket, std::shared_ptr<const Piece>> added;
    bool reindex = false;
    bool resize = false;  // a piece says another sharding than before
  };
  // What a document says, held against what is known.
  struct News {
    std::vector<const ShardView*> shards;  // what the new piece holds: the document's, or what is known where that is not lower
    bool higher = false;                   // a shard is at a higher version than in the document before
    bool lower = false;
    bool elsewhere = false;  // a shard is known from another bucket, or not yet
  };

  Open& open(const WorkloadId& workload);
  const Piece* current(const WorkloadId& workload, Bucket bucket) const;
  News compare(const ViewBucket& bucket, const std::vector<const ShardView*>& said, const Piece* now) const;
  void set(Open& open, std::shared_ptr<const Piece> piece);
  std::shared_ptr<const Piece> make(const ViewBucket& bucket, const News& news);
  const Nodes* nodes() const { return nodes_ ? &*nodes_ : from_.nodes_.get(); }
  Nodes& open_nodes();
  std::uint32_t slot(const NodeId& node);
  std::uint32_t state(const StateId& state);
  void set(const NodeId& node, const detail::Known& known);
  static Pieces pieces_of(const Open& open);
  static Sharding sharding_of(const Pieces& pieces);
  static std::shared_ptr<const Part> close(const WorkloadId& workload, const Open& open);
  static void sweep(const Table& table, Nodes& nodes);

  const Table& from_;
  std::map<WorkloadId, Open> open_;
  std::optional<Nodes> nodes_;
};

}  // namespace evenkeel::route
