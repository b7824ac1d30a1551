#include "evenkeel/control/shell/detail/batch.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace evenkeel::control::detail {
namespace {

Batch::Part part_with(std::uint32_t bucket, std::size_t puts, std::size_t bytes = 1) {
  Batch::Part part{.of = {WorkloadId("w"), Bucket(bucket)}, .txn = {}};
  part.txn.compare(store::absent("shards/" + std::to_string(bucket)));
  for (std::size_t i = 0; i < puts; ++i)
    part.txn.put("t/" + std::to_string(bucket) + "/" + std::to_string(i), std::string(bytes, 'x'));
  return part;
}

// What a controller does with them, in short.
std::vector<store::Txn> joined(std::vector<Batch::Part> parts) {
  std::vector<store::Txn> txns;
  const auto guard = store::unchanged("controller_epoch", store::Revision(7));
  Batch batch(guard);
  for (Batch::Part& part : parts) {
    if (!batch.takes(part)) txns.push_back(std::exchange(batch, Batch(guard)).take_txn());
    batch.add(std::move(part));
  }
  if (!batch.empty()) txns.push_back(batch.take_txn());
  return txns;
}

TEST(Batch, JoinsPartsUnderOneGuard) {
  const auto txns = joined({part_with(0, 2), part_with(1, 3)});
  ASSERT_EQ(txns.size(), 1);
  EXPECT_EQ(txns[0].compares, (std::vector{store::unchanged("controller_epoch", store::Revision(7)), store::absent("shards/0"),
                                           store::absent("shards/1")}));
  EXPECT_EQ(txns[0].then.size(), 5);
}

TEST(Batch, StaysWithinWhatAStoreTakes) {
  std::vector<Batch::Part> parts;
  for (std::uint32_t bucket = 0; bucket < 300; ++bucket) parts.push_back(part_with(bucket, bucket % 40, bucket * 80));
  std::size_t compares = 0, writes = 0;
  for (const store::Txn& txn : joined(std::move(parts))) {
    EXPECT_LE(txn.compares.size(), store::operations_max);
    EXPECT_LE(txn.then.size(), store::operations_max);
    std::size_t bytes = 0;
    for (const store::Compare& compare : txn.compares) bytes += compare.key.size();
    for (const store::Write& write : txn.then) bytes += write.key.size() + write.value.size();
    EXPECT_LE(bytes, store::txn_bytes_max);
    compares += txn.compares.size() - 1;
    writes += txn.then.size();
  }
  EXPECT_EQ(compares, 300);
  EXPECT_EQ(writes, 7 * (39 * 40 / 2) + 19 * 20 / 2);
}

TEST(Batch, APartThatAStoreMayRefuseGoesAlone) {
  Batch::Part failed = part_with(1, 1);
  failed.alone = true;
  const auto txns = joined({part_with(0, 1), std::move(failed), part_with(2, 1), part_with(3, 1, store::value_bytes_max + 1),
                            part_with(4, 1), part_with(5, 1)});
  std::vector<std::size_t> sizes;
  for (const store::Txn& txn : txns) sizes.push_back(txn.then.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 1, 1, 2}));
}

}  // namespace
}  // namespace evenkeel::control::detail
