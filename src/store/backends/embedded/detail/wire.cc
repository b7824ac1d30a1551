#include "evenkeel/store/backends/embedded/detail/wire.h"

#include <algorithm>

namespace evenkeel::store::embedded::detail {
namespace {

unexpected<Error> refuse(std::string_view words) { return fail(Error{Code::invalid, std::string(words)}); }

// Numbers that the table of names lacks are what a later version may send: nothing here knows what they mean.
template <class To, class From>
Result<To> named(From from, int count, std::string_view what) {
  const int number = static_cast<int>(from);
  if (number < 0 || number >= count) return fail(Code::invalid, "etcdserver: unknown {} {}", what, number);
  return static_cast<To>(number);
}

Result<Condition> condition_of(const pb::Compare& compare) {
  if (compare.key().empty()) return refuse(words::empty_key);
  const auto is = named<Condition::Is>(compare.result(), 4, "comparison");
  if (!is) return fail(is.error());
  const auto of = named<Condition::Of>(compare.target(), 5, "target of a comparison");
  if (!of) return fail(of.error());
  Condition condition{.is = *is, .of = *of, .span = {compare.key(), compare.range_end()}, .number = 0, .value = {}};
  switch (*of) {
    case Condition::Of::version:
      condition.number = compare.version();
      break;
    case Condition::Of::create:
      condition.number = compare.create_revision();
      break;
    case Condition::Of::mod:
      condition.number = compare.mod_revision();
      break;
    case Condition::Of::value:
      condition.value = compare.value();
      break;
    case Condition::Of::lease:
      condition.number = compare.lease();
      break;
  }
  return condition;
}

template <class Message>
Result<Operation> operation(const Message& message) {
  auto part = from_wire(message);
  if (!part) return fail(part.error());
  if constexpr (std::same_as<Message, pb::TxnRequest>) {
    return Operation(std::make_shared<Request>(*std::move(part)));
  } else {
    return Operation(*std::move(part));
  }
}

Result<Operation> operation_of(const pb::RequestOp& part) {
  switch (part.request_case()) {
    case pb::RequestOp::kRequestRange:
      return operation(part.request_range());
    case pb::RequestOp::kRequestPut:
      return operation(part.request_put());
    case pb::RequestOp::kRequestDeleteRange:
      return operation(part.request_delete_range());
    case pb::RequestOp::kRequestTxn:
      return operation(part.request_txn());
    case pb::RequestOp::REQUEST_NOT_SET:
      break;
  }
  return refuse(words::key_not_found);
}

void move_to(KeyValue&& entry, mvccpb::KeyValue& out) {
  out.set_key(std::move(entry.key));
  out.set_value(std::move(entry.value));
  out.set_create_revision(entry.create_revision);
  out.set_mod_revision(entry.mod_revision);
  out.set_version(entry.version);
  out.set_lease(entry.lease);
}

void move_to(Done&& done, std::int64_t revision, pb::ResponseOp& out) {
  if (auto* found = std::get_if<Found>(&done)) {
    auto& response = *out.mutable_response_range();
    response.mutable_header()->set_revision(revision);
    to_wire(std::move(*found), response);
  } else if (auto* put = std::get_if<PutDone>(&done)) {
    auto& response = *out.mutable_response_put();
    response.mutable_header()->set_revision(revision);
    to_wire(std::move(*put), response);
  } else if (auto* erased = std::get_if<EraseDone>(&done)) {
    auto& response = *out.mutable_response_delete_range();
    response.mutable_header()->set_revision(revision);
    to_wire(std::move(*erased), response);
  } else {
    auto& response = *out.mutable_response_txn();
    response.mutable_header();
    to_wire(std::move(*std::get<std::shared_ptr<Outcome>>(done)), response);
  }
}

}  // namespace

Result<Range> from_wire(const pb::RangeRequest& request) {
  if (request.key().empty()) return refuse(words::empty_key);
  const auto order = named<Range::Order>(request.sort_order(), 3, "order");
  if (!order) return fail(order.error());
  const auto by = named<Range::By>(request.sort_target(), 5, "target of an order");
  if (!by) return fail(by.error());
  Range range;
  range.span = {request.key(), request.range_end()};
  range.limit = std::max<std::int64_t>(request.limit(), 0);
  range.revision = std::max<std::int64_t>(request.revision(), 0);
  range.by = *by;
  // Whoever says by what to sort, and not which way, means upwards.
  range.order = *order == Range::Order::none && *by != Range::By::key ? Range::Order::ascend : *order;
  range.keys_only = request.keys_only();
  range.count_only = request.count_only();
  range.min_mod = request.min_mod_revision();
  range.max_mod = request.max_mod_revision();
  range.min_create = request.min_create_revision();
  range.max_create = request.max_create_revision();
  return range;
}

Result<Put> from_wire(const pb::PutRequest& request) {
  if (request.key().empty()) return refuse(words::empty_key);
  if (request.ignore_value() && !request.value().empty()) return refuse(words::value_provided);
  if (request.ignore_lease() && request.lease() != 0) return refuse(words::lease_provided);
  return Put{.key = request.key(),
             .value = request.value(),
             .lease = request.lease(),
             .previous = request.prev_kv(),
             .keep_value = request.ignore_value(),
             .keep_lease = request.ignore_lease()};
}

Result<Erase> from_wire(const pb::DeleteRangeRequest& request) {
  if (request.key().empty()) return refuse(words::empty_key);
  return Erase{.span = {request.key(), request.range_end()}, .previous = request.prev_kv()};
}

Result<Request> from_wire(const pb::TxnRequest& txn) {
  Request request;
  for (const auto& compare : txn.compare()) {
    auto condition = condition_of(compare);
    if (!condition) return fail(condition.error());
    request.conditions.push_back(*std::move(condition));
  }
  for (const bool success : {true, false}) {
    for (const auto& part : success ? txn.success() : txn.failure()) {
      auto operation = operation_of(part);
      if (!operation) return fail(operation.error());
      (success ? request.then : request.otherwise).push_back(*std::move(operation));
    }
  }
  return request;
}

Watch from_wire(const pb::WatchCreateRequest& request) {
  Watch watch;
  watch.span = {request.key().empty() ? std::string(1, '\0') : request.key(), request.range_end()};
  watch.start = std::max<std::int64_t>(request.start_revision(), 0);
  for (const int filter : request.filters()) {
    watch.no_puts = watch.no_puts || filter == pb::WatchCreateRequest::NOPUT;
    watch.no_erases = watch.no_erases || filter == pb::WatchCreateRequest::NODELETE;
  }
  watch.previous = request.prev_kv();
  watch.fragment = request.fragment();
  watch.progress = request.progress_notify();
  return watch;
}

void to_wire(Found&& found, pb::RangeResponse& response) {
  response.mutable_kvs()->Reserve(static_cast<int>(found.entries.size()));
  for (KeyValue& entry : found.entries) move_to(std::move(entry), *response.add_kvs());
  response.set_more(found.more);
  response.set_count(found.count);
}

void to_wire(PutDone&& done, pb::PutResponse& response) {
  if (done.previous) move_to(*std::move(done.previous), *response.mutable_prev_kv());
}

void to_wire(EraseDone&& done, pb::DeleteRangeResponse& response) {
  response.set_deleted(done.deleted);
  for (KeyValue& entry : done.previous) move_to(std::move(entry), *response.add_prev_kvs());
}

void to_wire(Outcome&& outcome, pb::TxnResponse& response) {
  response.set_succeeded(outcome.succeeded);
  for (Done& done : outcome.answers) move_to(std::move(done), outcome.revision, *response.add_responses());
}

void to_wire(const Event& event, mvccpb::Event& out) {
  out.set_type(event.erased ? mvccpb::Event::DELETE : mvccpb::Event::PUT);
  if (event.erased) {
    // Of a key that is gone only its name and when.
    out.mutable_kv()->set_key(event.entry.key);
    out.mutable_kv()->set_mod_revision(event.entry.mod_revision);
  } else {
    move_to(KeyValue(event.entry), *out.mutable_kv());
  }
  if (event.previous) move_to(KeyValue(*event.previous), *out.mutable_prev_kv());
}

}  // namespace evenkeel::store::embedded::detail
