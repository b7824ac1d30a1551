#include "evenkeel/control/shell/detail/batch.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace evenkeel::control::detail {
namespace {

constexpr std::size_t guards = 1;  // compares that are not the parts'

std::size_t bytes_of(const store::Txn& txn) {
  std::size_t bytes = 0;
  for (const store::Compare& compare : txn.compares) bytes += compare.key.size();
  for (const store::Write& write : txn.then) bytes += write.key.size() + write.value.size();
  return bytes;
}

bool has_large_value(const store::Txn& txn) {
  return std::ranges::any_of(txn.then, [](const store::Write& write) { return write.value.size() > store::value_bytes_max; });
}

}  // namespace

bool Batch::takes(const Part& part) const {
  if (empty()) return true;
  if (closed_ || part.alone || has_large_value(part.txn)) return false;
  return guards + txn_.compares.size() + part.txn.compares.size() <= store::operations_max &&
         txn_.then.size() + part.txn.then.size() <= store::operations_max && bytes_ + bytes_of(part.txn) <= store::txn_bytes_max;
}

void Batch::add(Part part) {
  bytes_ += bytes_of(part.txn);
  closed_ = part.alone || has_large_value(part.txn);
  of_.push_back(std::move(part.of));
  std::ranges::move(part.txn.compares, std::back_inserter(txn_.compares));
  std::ranges::move(part.txn.then, std::back_inserter(txn_.then));
}

store::Txn Batch::take_txn() {
  if (guard_) txn_.compares.insert(txn_.compares.begin(), *guard_);
  return std::exchange(txn_, {});
}

}  // namespace evenkeel::control::detail
