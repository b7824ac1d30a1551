#include "evenkeel/store/backends/embedded/detail/check.h"

#include <algorithm>
#include <set>

#include "evenkeel/store/backends/embedded/detail/index.h"

namespace evenkeel::store::embedded::detail {
namespace {

using Nested = std::shared_ptr<Request>;

Error duplicate_error() { return {Code::invalid, "etcdserver: duplicate key given in txn request"}; }

// Keys put and spans erased by the operations of one branch.
struct Touched {
  std::set<std::string_view> puts;
  std::vector<const Span*> erases;

  bool erased(std::string_view key) const {
    return std::ranges::any_of(erases, [&](const Span* span) { return contains(*span, key); });
  }
};

Result<Touched> check_overlap(const std::vector<Operation>& operations);

// Adds what a nested txn touches: both of its branches may put a key, since only one is taken. As in etcd, what an earlier txn puts a later
// one may erase.
Result<> add_nested(const Request& nested, Touched& all) {
  auto then = check_overlap(nested.then);
  if (!then) return fail(std::move(then).error());
  auto otherwise = check_overlap(nested.otherwise);
  if (!otherwise) return fail(std::move(otherwise).error());
  for (const auto key : then->puts)
    if (all.puts.contains(key) || all.erased(key)) return fail(duplicate_error());
  for (const auto key : otherwise->puts)
    if (all.puts.contains(key) || all.erased(key)) return fail(duplicate_error());
  for (const Touched* branch : {&*then, &*otherwise}) {
    all.puts.insert(branch->puts.begin(), branch->puts.end());
    all.erases.insert(all.erases.end(), branch->erases.begin(), branch->erases.end());
  }
  return {};
}

// No key is put twice, or put and erased, on any way through the operations.
Result<Touched> check_overlap(const std::vector<Operation>& operations) {
  Touched all;
  for (const auto& operation : operations)
    if (const auto* erase = std::get_if<Erase>(&operation)) all.erases.push_back(&erase->span);
  for (const auto& operation : operations)
    if (const auto* nested = std::get_if<Nested>(&operation))
      if (auto good = add_nested(**nested, all); !good) return fail(std::move(good).error());
  for (const auto& operation : operations)
    if (const auto* put = std::get_if<Put>(&operation))
      if (all.erased(put->key) || !all.puts.insert(put->key).second) return fail(duplicate_error());
  return all;
}

Result<> check_shape(const Request& request, std::size_t operations_max);

Result<> check_operation(const Operation& operation, std::size_t operations_max) {
  if (const auto* range = std::get_if<Range>(&operation)) return check(*range);
  if (const auto* erase = std::get_if<Erase>(&operation))
    return erase->span.key.empty() ? Result<>(fail(empty_key_error())) : Result<>();
  if (const auto* put = std::get_if<Put>(&operation)) {
    if (put->key.empty()) return fail(empty_key_error());
    if (put->keep_value && !put->value.empty()) return fail(Code::invalid, "etcdserver: value is provided");
    if (put->keep_lease && put->lease != 0) return fail(Code::invalid, "etcdserver: lease is provided");
    return {};
  }
  const auto& nested = std::get<Nested>(operation);
  if (!nested) return fail(Code::invalid, "etcdserver: key not found");  // etcd's words for an operation of no kind
  return check_shape(*nested, operations_max);
}

Result<> check_shape(const Request& request, std::size_t operations_max) {
  const auto count = std::max({request.conditions.size(), request.then.size(), request.otherwise.size()});
  if (count > operations_max) return fail(Code::too_large, "etcdserver: too many operations in txn request");
  for (const auto& condition : request.conditions)
    if (condition.span.key.empty()) return fail(empty_key_error());
  for (const auto* branch : {&request.then, &request.otherwise})
    for (const auto& operation : *branch)
      if (auto good = check_operation(operation, operations_max - count); !good) return good;
  return {};
}

std::size_t bytes_of(const Span& span) { return span.key.size() + span.end.size() + 8; }

// About what the request takes as a message.
std::size_t bytes_of(const Request& request) {
  std::size_t bytes = 0;
  for (const auto& condition : request.conditions) bytes += bytes_of(condition.span) + condition.value.size() + 8;
  for (const auto* branch : {&request.then, &request.otherwise}) {
    for (const auto& operation : *branch) {
      if (const auto* put = std::get_if<Put>(&operation)) bytes += put->key.size() + put->value.size() + 16;
      if (const auto* erase = std::get_if<Erase>(&operation)) bytes += bytes_of(erase->span);
      if (const auto* range = std::get_if<Range>(&operation)) bytes += bytes_of(range->span);
      if (const auto* nested = std::get_if<Nested>(&operation)) bytes += bytes_of(**nested);
    }
  }
  return bytes;
}

// Whether a leaf of some branch is such.
template <class F>
bool any_leaf(const Request& request, F&& is) {
  for (const auto* branch : {&request.then, &request.otherwise}) {
    for (const auto& operation : *branch) {
      const auto* nested = std::get_if<Nested>(&operation);
      if (nested != nullptr ? any_leaf(**nested, is) : is(operation)) return true;
    }
  }
  return false;
}

}  // namespace

Error compacted_error() { return {Code::not_found, "etcdserver: mvcc: required revision has been compacted"}; }
Error future_error() { return {Code::invalid, "etcdserver: mvcc: required revision is a future revision"}; }
Error lease_error() { return {Code::not_found, "etcdserver: requested lease not found"}; }
Error full_error() { return {Code::refused, "etcdserver: mvcc: database space exceeded"}; }
Error empty_key_error() { return {Code::invalid, "etcdserver: key is not provided"}; }

Result<> check(const Range& range) {
  if (range.span.key.empty()) return fail(empty_key_error());
  return {};
}

Result<> check(const Request& request, const EngineOptions& options) {
  if (auto good = check_shape(request, options.operations_max); !good) return good;
  for (const auto* branch : {&request.then, &request.otherwise})
    if (auto good = check_overlap(*branch); !good) return fail(std::move(good).error());
  if (bytes_of(request) > options.request_bytes_max) return fail(Code::too_large, "etcdserver: request is too large");
  return {};
}

bool may_write(const Request& request) {
  return any_leaf(request, [](const Operation& operation) { return !std::holds_alternative<Range>(operation); });
}

bool may_put(const Request& request) {
  return any_leaf(request, [](const Operation& operation) { return std::holds_alternative<Put>(operation); });
}

}  // namespace evenkeel::store::embedded::detail
