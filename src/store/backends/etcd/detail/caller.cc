#include "evenkeel/store/backends/etcd/detail/caller.h"

#include <store/backends/proto/etcd.pb.h>

#include <algorithm>

namespace evenkeel::store::etcd::detail {
namespace {

// After each endpoint was tried once: pauses of 20, 40, … 500 ms.
constexpr Duration pause_first = 20ms;
constexpr Duration pause_max = 500ms;
// A token may be refused because it was forgotten there, and the next because users are changed just then.
constexpr std::size_t refused_tokens_max = 2;
// Of the time that is left an attempt to read takes half, so that a paused server leaves time for the others.
constexpr Duration attempt_min = 200ms;

}  // namespace

Caller::Caller(Loop& loop, Log log, Pump& pump, Endpoints& endpoints, const OpenOptions& options)
    : loop_(loop),
      log_(std::move(log)),
      pump_(pump),
      endpoints_(endpoints),
      user_(options.access.user),
      password_(options.access.password),
      delays_(loop) {}

void Caller::prepare(grpc::ClientContext& context, const Method& method, const Token& token) {
  if (method.needs_leader) context.AddMetadata("hasleader", "true");
  if (method.needs_token && !token.text.empty()) context.AddMetadata("token", token.text);
}

void Caller::begin(const CallPtr& call) {
  const auto connect = [this, call](const Token& token) {
    endpoints_.connect(call->deadline, [this, call, token](Result<Endpoint*> endpoint) {
      if (endpoint) return send(call, **endpoint, token);
      call->fail_with(call->last ? *call->last : std::move(endpoint).error());
    });
  };
  if (!call->method.needs_token) return connect({});
  with_token(call->deadline, [this, call, connect](Result<Token> token) {
    if (token) return connect(*token);
    // Whoever asked for the token may have had less time than this call has.
    if (token.error().code == Code::unavailable) return again(call, std::move(token).error());
    call->fail_with(std::move(token).error());
  });
}

// A write has all the time there is: once it is sent, to give up early would only leave its outcome unknown.
Duration Caller::time_for(const Call& call) const {
  const Duration left = call.deadline - loop_.now();
  if (call.method.effect == Effect::write || endpoints_.size() == 1) return left;
  return std::min(left, std::max(left / 2, attempt_min));
}

void Caller::send(const CallPtr& call, Endpoint& endpoint, const Token& token) {
  const Duration at_most = time_for(*call);
  if (at_most <= Duration{}) {
    return call->fail_with(call->last ? *call->last : Error{Code::unavailable, "no time was left to ask " + endpoint.address});
  }
  call->start(*this, endpoint, token, at_most,
              [this, call, &endpoint, token](const grpc::Status& status) { done(call, endpoint, token, status); });
}

void Caller::done(const CallPtr& call, Endpoint& endpoint, const Token& token, const grpc::Status& status) {
  if (status.ok()) return call->succeed();
  Verdict verdict = judge(status, call->method.effect);
  Error error = std::move(verdict.error).in(fmt::format("etcd at {}", endpoint.address));
  if (verdict.late) {
    endpoints_.stuck(endpoint);
  } else if (error.code == Code::unavailable || error.code == Code::unknown_outcome) {
    endpoints_.avoid(endpoint);
  }
  switch (verdict.next) {
    case Verdict::Next::answer:
      if (error.code == Code::denied && has_user()) error.message += fmt::format(" (user {})", user_);
      return call->fail_with(std::move(error));
    case Verdict::Next::elsewhere:
      return again(call, std::move(error));
    case Verdict::Next::authenticate:
      if (!has_user()) error.message += ": the server asks for a user and a password, and none are given";
      if (!has_user() || ++call->refused_tokens > refused_tokens_max) return call->fail_with(std::move(error));
      refuse(token);
      return begin(call);
  }
}

void Caller::again(const CallPtr& call, Error why) {
  ++call->attempts;
  Duration pause{};
  if (call->attempts >= endpoints_.size()) {
    const std::size_t round = std::min<std::size_t>(call->attempts - endpoints_.size(), 10);
    pause = std::min(pause_first * (1 << round), pause_max);
  }
  if (later(loop_.now(), pause) >= call->deadline) return call->fail_with(std::move(why));
  call->last = std::move(why);
  delays_.after(pause, [this, call] { begin(call); });
}

void Caller::with_token(Instant deadline, Then<Token> then) {
  if (!has_user()) return then(Token{});
  if (token_) return then(*token_);
  waiting_.push_back(std::move(then));
  if (waiting_.size() == 1) authenticate(deadline);
}

void Caller::refuse(const Token& token) {
  if (token_ && token_->number == token.number) token_.reset();
}

void Caller::authenticate(Instant deadline) {
  etcdserverpb::AuthenticateRequest request;
  request.set_name(user_);
  request.set_password(password_);
  call<etcdserverpb::AuthenticateResponse>(
      methods::authenticate, std::move(request), deadline, [this](Result<etcdserverpb::AuthenticateResponse> answer) {
        Result<Token> token;
        if (answer) {
          token = Token{std::move(*answer->mutable_token()), ++tokens_};
        } else if (answer.error().message.ends_with("authentication is not enabled")) {
          log_.warn("etcd does not ask for users, and the one given is not used", {{"user", user_}});
          token = Token{{}, ++tokens_};
        } else {
          token = fail(std::move(answer).error());
        }
        if (token) token_ = *token;
        const auto alive = delays_.alive();
        for (Then<Token>& one : std::exchange(waiting_, {})) {
          one(token);
          if (alive.expired()) return;
        }
      });
}

}  // namespace evenkeel::store::etcd::detail
