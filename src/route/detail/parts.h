#pragma once
// What a table is made of. A workload is a Part, each of its buckets a Piece, each shard in it a Row; nodes are slots of one list, which rows name
// by number, so that an address that changes touches no row. All of it is shared between tables and never changes.

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "evenkeel/route/table.h"

namespace evenkeel::route {

namespace detail {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

// Where a shard's row is.
struct At {
  std::uint32_t piece = none;
  std::uint32_t row = 0;
};

// Shard -> where. In pages, so that a document with one absurdly high number costs 8 MB at most.
class Index {
 public:
  static constexpr std::size_t page_size = 4096;
  At find(ShardIndex shard) const {
    const std::size_t page = shard.value() / page_size;
    return page < pages_.size() && pages_[page] ? (*pages_[page])[shard.value() % page_size] : At{};
  }
  At& make(ShardIndex shard) {
    const std::size_t page = shard.value() / page_size;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[shard.value() % page_size];
  }
  // In order of shard.
  template <class Take>
  void each(const Take& take) const {
    for (const auto& page : pages_) {
      if (!page) continue;
      for (const At at : *page) {
        if (at.piece != none) take(at);
      }
    }
  }

 private:
  using Page = std::array<At, page_size>;
  std::vector<std::unique_ptr<Page>> pages_;
};

// One who serves a shard.
struct Serving {
  std::uint32_t slot = 0;     // of the node
  std::uint32_t peer = none;  // its place in the view's `others`; none: it leads
};

struct Known {
  Endpoint endpoint;
  std::uint64_t hash = 0;  // of its name
  bool heard = false;      // it was live once: the address is its last one
  bool live = false;
};

}  // namespace detail

struct Table::Row {
  ShardView view;
  std::uint32_t first = 0;  // of its servings in the piece
  std::uint32_t count = 0;
};

struct Table::Piece {
  Bucket bucket;
  Sharding sharding;                     // as its document says
  std::vector<Row> rows;                 // by shard
  std::vector<detail::Serving> serving;  // of all rows

  const Row* find(ShardIndex shard) const;
};

struct Table::Part {
  WorkloadId workload;
  Sharding sharding;
  std::vector<std::shared_ptr<const Piece>> pieces;  // by bucket
  std::shared_ptr<const detail::Index> index;        // shards below sharding.shards, each at its highest version

  const Piece& piece(detail::At at) const { return *pieces[at.piece]; }
  const Row& row(detail::At at) const { return pieces[at.piece]->rows[at.row]; }
  const Row* find(ShardIndex shard) const {
    const detail::At at = index->find(shard);
    return at.piece == detail::none ? nullptr : &row(at);
  }
  // The place of a bucket among the pieces, or none.
  std::uint32_t place(Bucket bucket) const;
};

// Slots of nodes that are neither live nor named by any row are freed now and then, so that the list does not grow with every name that ever was.
struct Table::Nodes {
  std::vector<std::shared_ptr<const detail::Known>> slots;  // null: free
  std::unordered_map<NodeId, std::uint32_t> places;
  std::vector<std::uint32_t> free;
  std::size_t sweep_at = 64;  // how many slots may be used before it is looked which are needed

  const detail::Known* find(const NodeId& node) const {
    const auto found = places.find(node);
    return found == places.end() ? nullptr : slots[found->second].get();
  }
};

}  // namespace evenkeel::route
