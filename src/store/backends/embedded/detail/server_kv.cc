#include "evenkeel/store/backends/embedded/detail/server_kv.h"

namespace evenkeel::store::embedded::detail {
namespace {

Result<Request> to_request(const pb::TxnRequest& message) { return from_wire(message); }

// A single put or delete is a txn of one operation.
template <class Message>
Result<Request> to_request(const Message& message) {
  auto operation = from_wire(message);
  if (!operation) return fail(operation.error());
  Request request;
  request.then.emplace_back(*std::move(operation));
  return request;
}

// What the client asked for and may, but for what hangs on leases: that is the guard's.
struct Allowed {
  Request request;
  LeaseGuard guard;
};

template <class Message>
Result<Allowed> checked(Core& core, grpc::CallbackServerContext& context, const Message& message) {
  auto request = to_request(message);
  if (!request) return fail(request.error());
  if (message.ByteSizeLong() > Core::request_bytes_max) return fail(Error{Code::too_large, std::string(words::too_large)});
  const auto who = core.access.who(context);
  if (!who) return fail(who.error());
  if (const auto good = check(*who, *request); !good) return fail(good.error());
  return Allowed{*std::move(request), guard_of(*who)};
}

}  // namespace

Reactor* KvService::Range(grpc::CallbackServerContext* context, const pb::RangeRequest* request, pb::RangeResponse* response) {
  const auto range = from_wire(*request);
  if (!range) return finish(context, fail(range.error()));
  const auto who = core_.access.who(*context);
  if (!who) return finish(context, fail(who.error()));
  if (const auto good = check(*who, *range); !good) return finish(context, good);
  auto found = core_.engine.range(*range);
  if (!found) return finish(context, fail(found.error()));
  core_.fill(response->mutable_header(), found->revision);
  to_wire(*std::move(found), *response);
  return finish(context, {});
}

template <class Message, class Response, class Answer>
Reactor* KvService::submit(grpc::CallbackServerContext* context, const Message& message, Response* response, Answer answer) {
  auto allowed = checked(core_, *context, message);
  if (!allowed) return finish(context, fail(allowed.error()));
  Reactor* reactor = context->DefaultReactor();
  const auto finish_with = [this, reactor, response, answer](Result<Outcome> done) {
    if (!done) return reactor->Finish(to_status(done.error()));
    core_.fill(response->mutable_header(), done->revision);
    answer(*std::move(done), *response);
    reactor->Finish(grpc::Status::OK);
  };
  core_.engine.submit(std::move(allowed->request), finish_with, std::move(allowed->guard));
  return reactor;
}

Reactor* KvService::Put(grpc::CallbackServerContext* context, const pb::PutRequest* request, pb::PutResponse* response) {
  return submit(context, *request, response,
                [](Outcome outcome, pb::PutResponse& out) { to_wire(std::get<PutDone>(std::move(outcome.answers.at(0))), out); });
}

Reactor* KvService::DeleteRange(grpc::CallbackServerContext* context, const pb::DeleteRangeRequest* request,
                                pb::DeleteRangeResponse* response) {
  return submit(context, *request, response, [](Outcome outcome, pb::DeleteRangeResponse& out) {
    to_wire(std::get<EraseDone>(std::move(outcome.answers.at(0))), out);
  });
}

Reactor* KvService::Txn(grpc::CallbackServerContext* context, const pb::TxnRequest* request, pb::TxnResponse* response) {
  return submit(context, *request, response, [](Outcome outcome, pb::TxnResponse& out) { to_wire(std::move(outcome), out); });
}

Reactor* KvService::Compact(grpc::CallbackServerContext* context, const pb::CompactionRequest* request,
                            pb::CompactionResponse* response) {
  const auto who = core_.access.who(*context);
  if (!who) return finish(context, fail(who.error()));
  if (const auto good = check_admin(*who); !good) return finish(context, good);
  return finish_on(core_.chores, context, [this, request, response]() -> Result<> {
    if (const auto done = core_.engine.compact(request->revision(), request->physical()); !done) return fail(done.error());
    core_.fill(response->mutable_header(), core_.revision());
    return {};
  });
}

}  // namespace evenkeel::store::embedded::detail
