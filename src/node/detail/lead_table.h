#pragma once
// LeadTable: at which epoch this node may lead each shard, written by one thread and read by all, without locks.
//
// A shard that was ever led keeps its entry, so that readers never meet one that goes; tables that became too small are kept too, which together
// are no larger than the one in use.
// Cost of a look: a hash, one or two loads, one comparison of names; 14 ns with 2000 shards, 40 with the clock that may_lead() reads too.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "evenkeel/model/control_spec.h"
#include "evenkeel/model/ids.h"

namespace evenkeel::node::detail {

class LeadTable {
 public:
  LeadTable();

  // One thread.
  void set(const ShardId& shard, Epoch epoch, Fencing fencing);
  void clear();  // nothing is led

  struct Lead {
    Epoch epoch;  // 0: none
    Fencing fencing = Fencing::session;
  };
  // Any thread.
  Lead find(const ShardId& shard) const;

 private:
  struct Entry {
    ShardId shard;
    std::uint64_t hash = 0;
    std::atomic<std::uint64_t> word = 0;  // the epoch, shifted by one; the lowest bit: fenced by epoch
  };
  struct Table {
    explicit Table(std::size_t size) : mask(size - 1), slots(size) {}
    std::size_t mask;
    std::vector<std::atomic<Entry*>> slots;
  };
  static Entry* look(const Table& table, const ShardId& shard, std::uint64_t hash);
  static void insert(Table& table, Entry* entry);

  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Table>> tables_;  // the last is the one in use
  std::atomic<const Table*> table_;
};

}  // namespace evenkeel::node::detail
