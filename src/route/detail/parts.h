#pragma once
// What a table is made of. A workload is a Part, each of its buckets a Piece, each shard in it a Row; nodes are slots of one list, which rows name
// by number, so that an address that changes touches no row. All of it is shared between tables and never changes.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
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

// Shard -> where. In pages, so that a document with one absurdly high number costs 4 MB at most.
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
  std::uint32_t slot = 0;      // of the node
  std::uint32_t state = none;  // among Nodes::states; none: it leads
};

struct Known {
  Endpoint endpoint;
  std::uint64_t hash = 0;  // of its name
  bool heard = false;      // it was live once: the address is its last one
  bool live = false;
};

}  // namespace detail

// What a pick reads of a shard: one cache line. The whole view is beside it, in Piece::views.
struct alignas(64) Table::Row {
  static constexpr std::uint32_t inside = 5;
  Version version;
  std::uint32_t count = 0;
  std::uint32_t first = 0;  // more than `inside`: all of them are in Piece::more, from here on
  std::array<detail::Serving, inside> serving;
};

struct Table::Piece {
  Bucket bucket;
  Sharding sharding;             // as its document says
  std::vector<ShardView> views;  // by shard
  std::vector<Row> rows;         // parallel to views
  std::vector<detail::Serving> more;

  const ShardView* find(ShardIndex shard) const;
  std::span<const detail::Serving> serving(const Row& row) const {
    return row.count > Row::inside ? std::span(more).subspan(row.first, row.count) : std::span(row.serving).first(row.count);
  }
};

// A part's pieces, by bucket. In chunks, so that another piece in one place copies two short lists and not a long one.
class Table::Pieces {
 public:
  static constexpr std::uint32_t chunk_size = 64;
  struct Held {
    std::shared_ptr<const Piece> piece;
    const Row* rows = nullptr;  // of the piece: saves a pick the way through it
  };

  Pieces() = default;
  explicit Pieces(const std::vector<std::shared_ptr<const Piece>>& all);
  // The same but for what stands in these places.
  Pieces with(const std::map<std::uint32_t, std::shared_ptr<const Piece>>& other) const;

  std::uint32_t size() const { return size_; }
  const Held& operator[](std::uint32_t place) const { return (*chunks_[place / chunk_size])[place % chunk_size]; }
  // The place of a bucket, or none.
  std::uint32_t place(Bucket bucket) const;

 private:
  using Chunk = std::array<Held, chunk_size>;
  std::vector<std::shared_ptr<const Chunk>> chunks_;
  std::uint32_t size_ = 0;
};

struct Table::Part {
  WorkloadId workload;
  Sharding sharding;
  Pieces pieces;
  std::shared_ptr<const detail::Index> index;  // shards below sharding.shards, each at its highest version

  const Piece& piece(detail::At at) const { return *pieces[at.piece].piece; }
  const Row& row(detail::At at) const { return pieces[at.piece].rows[at.row]; }
  const ShardView& view(detail::At at) const { return piece(at).views[at.row]; }
  const ShardView* find(ShardIndex shard) const {
    const detail::At at = index->find(shard);
    return at.piece == detail::none ? nullptr : &view(at);
  }
};

// Slots of nodes that are neither live nor named by any row are freed now and then, so that the list does not grow with every name that ever was.
struct Table::Nodes {
  std::vector<std::shared_ptr<const detail::Known>> slots;  // null: free
  std::unordered_map<NodeId, std::uint32_t> places;
  std::vector<std::uint32_t> free;
  std::vector<StateId> states;  // every one that a row ever named: a handful
  std::size_t sweep_at = 64;    // how many slots may be used before it is looked which are needed

  const detail::Known* find(const NodeId& node) const {
    const auto found = places.find(node);
    return found == places.end() ? nullptr : slots[found->second].get();
  }
};

}  // namespace evenkeel::route
