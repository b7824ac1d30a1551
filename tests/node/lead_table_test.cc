#include "evenkeel/node/detail/lead_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace evenkeel::node::detail {
namespace {

ShardId shard_of(std::uint32_t shard) { return {WorkloadId(shard % 2 == 0 ? "even" : "odd"), ShardIndex(shard)}; }

TEST(LeadTable, KnowsWhatWasSetLast) {
  LeadTable table;
  EXPECT_EQ(table.find(shard_of(1)).epoch, Epoch());
  for (std::uint32_t i = 0; i < 1000; ++i) table.set(shard_of(i), Epoch(i + 1), i % 3 == 0 ? Fencing::epoch : Fencing::session);
  for (std::uint32_t i = 0; i < 1000; i += 5) table.set(shard_of(i), Epoch(), Fencing::session);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const LeadTable::Lead lead = table.find(shard_of(i));
    EXPECT_EQ(lead.epoch, i % 5 == 0 ? Epoch() : Epoch(i + 1));
    EXPECT_EQ(lead.fencing, i % 3 == 0 && i % 5 != 0 ? Fencing::epoch : Fencing::session);
  }
  EXPECT_EQ(table.find(shard_of(1000)).epoch, Epoch());
  EXPECT_EQ(table.find({WorkloadId("odd"), ShardIndex(2)}).epoch, Epoch());
  table.clear();
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(table.find(shard_of(i)).epoch, Epoch());
}

// Others look while it grows: they see of each shard what was set for it, or nothing.
TEST(LeadTable, IsReadWhileItIsWritten) {
  constexpr std::uint32_t shards = 3000;
  LeadTable table;
  std::atomic<bool> done = false;
  std::atomic<std::uint32_t> wrong = 0;
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      while (!done) {
        for (std::uint32_t i = 0; i < shards; i += 7) {
          const Epoch epoch = table.find(shard_of(i)).epoch;
          if (epoch != Epoch() && epoch != Epoch(i + 1)) ++wrong;
        }
      }
    });
  }
  for (std::uint32_t i = 0; i < shards; ++i) {
    table.set(shard_of(i), Epoch(i + 1), Fencing::session);
    if (i % 2 == 0) table.set(shard_of(i / 2), Epoch(), Fencing::session);
  }
  done = true;
  readers.clear();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace evenkeel::node::detail
