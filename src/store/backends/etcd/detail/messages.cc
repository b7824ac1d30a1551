#include "evenkeel/store/backends/etcd/detail/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "evenkeel/base/text.h"

namespace evenkeel::store::etcd::detail {
namespace {

using Op = etcdserverpb::RequestOp;
using Wanted = etcdserverpb::Compare;

void add_compare(etcdserverpb::TxnRequest& request, const Compare& compare, const Keys& keys) {
  Wanted& wanted = *request.add_compare();
  wanted.set_key(keys.full(compare.key));
  switch (compare.kind) {
    case Compare::Kind::absent:
      wanted.set_target(Wanted::CREATE);
      wanted.set_result(Wanted::EQUAL);
      wanted.set_create_revision(0);
      return;
    case Compare::Kind::present:
      wanted.set_target(Wanted::VERSION);
      wanted.set_result(Wanted::GREATER);
      wanted.set_version(0);
      return;
    case Compare::Kind::unchanged:
      wanted.set_target(Wanted::MOD);
      wanted.set_result(Wanted::EQUAL);
      wanted.set_mod_revision(compare.modified.value());
      return;
  }
}

void fill(Op& op, const Write& write, const Keys& keys, std::int64_t lease) {
  switch (write.kind) {
    case Write::Kind::put:
    case Write::Kind::put_ephemeral:
      op.mutable_request_put()->set_key(keys.full(write.key));
      op.mutable_request_put()->set_value(write.value);
      if (write.kind == Write::Kind::put_ephemeral) op.mutable_request_put()->set_lease(lease);
      return;
    case Write::Kind::erase:
      op.mutable_request_delete_range()->set_key(keys.full(write.key));
      return;
    case Write::Kind::erase_below:
      op.mutable_request_delete_range()->set_key(keys.full(write.key));
      op.mutable_request_delete_range()->set_range_end(keys.full(end_of(write.key)));
      return;
  }
}

// "3.4.23", with whatever follows.
std::optional<std::array<std::uint64_t, 3>> numbers_of(std::string_view version) {
  std::array<std::uint64_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) {
      if (!version.starts_with('.')) return {};
      version.remove_prefix(1);
    }
    const auto number = parse_unsigned(take_digits(version));
    if (!number) return {};
    numbers[i] = *number;
  }
  return numbers;
}

}  // namespace

std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  ensure(end.ends_with('/'), "a prefix ends with '/'");
  ++end.back();
  return end;
}

Entry entry_of(mvccpb::KeyValue& kv, const Keys& keys) {
  return {.key = keys.own(kv.key()),
          .value = std::move(*kv.mutable_value()),
          .created = Revision(kv.create_revision()),
          .modified = Revision(kv.mod_revision()),
          .ephemeral = kv.lease() != 0};
}

Change change_of(mvccpb::Event& event, const Keys& keys) {
  Change change{keys.own(event.kv().key()), {}};
  if (event.type() == mvccpb::Event::PUT) change.entry = entry_of(*event.mutable_kv(), keys);
  return change;
}

etcdserverpb::TxnRequest request_of(const Txn& txn, const Keys& keys, std::int64_t lease) {
  etcdserverpb::TxnRequest request;
  for (const Compare& compare : txn.compares) add_compare(request, compare, keys);
  for (const Write& write : txn.then) fill(*request.add_success(), write, keys, lease);
  for (const Write& write : txn.otherwise) fill(*request.add_failure(), write, keys, lease);
  return request;
}

bool has_ephemeral(const Txn& txn) {
  const auto ephemeral = [](const Write& write) { return write.kind == Write::Kind::put_ephemeral; };
  return std::ranges::any_of(txn.then, ephemeral) || std::ranges::any_of(txn.otherwise, ephemeral);
}

bool writes(const Txn& txn) { return !txn.then.empty() || !txn.otherwise.empty(); }

std::string warning_of_version(std::string_view version) {
  const auto numbers = numbers_of(version);
  if (!numbers) return {};
  constexpr std::array<std::uint64_t, 3> good_34{3, 4, 31};
  constexpr std::array<std::uint64_t, 3> first_35{3, 5, 0};
  constexpr std::array<std::uint64_t, 3> good_35{3, 5, 13};
  if (*numbers >= good_35 || (*numbers >= good_34 && *numbers < first_35)) return {};
  return fmt::format(
      "etcd {} has faults that later versions lack: a leader that was paused can end leases that were renewed meanwhile, for "
      "one. Go to 3.4.31, "
      "3.5.13 or later.",
      version);
}

}  // namespace evenkeel::store::etcd::detail
