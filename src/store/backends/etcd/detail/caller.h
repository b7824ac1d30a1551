#pragma once
// Caller: one request to whichever endpoint does it, with a token if there is a user, until the deadline.
//
//   caller.call<RangeResponse>(methods::range, request, deadline, [](Result<RangeResponse> answer) { … });
//
// What was certainly not done is tried again, elsewhere first, then after growing pauses. A write is sent again only in that case. What
// could not be done by the deadline is `unavailable`.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/base/log.h"
#include "evenkeel/store/backends/etcd/detail/endpoints.h"
#include "evenkeel/store/backends/etcd/detail/exchange.h"
#include "evenkeel/store/backends/etcd/detail/verdict.h"

namespace evenkeel::store::etcd::detail {

struct Method {
  const char* path;
  Effect effect = Effect::none;
  bool needs_leader = true;  // a member that sees no leader says so at once
  bool needs_token = true;
};

namespace methods {
inline constexpr Method range{"/etcdserverpb.KV/Range"};
inline constexpr Method txn{"/etcdserverpb.KV/Txn", Effect::write};
inline constexpr Method compact{"/etcdserverpb.KV/Compact", Effect::write};
inline constexpr Method lease_grant{"/etcdserverpb.Lease/LeaseGrant"};  // a lease that nobody knows goes by itself
inline constexpr Method lease_keep_alive{"/etcdserverpb.Lease/LeaseKeepAlive"};
inline constexpr Method status{"/etcdserverpb.Maintenance/Status", Effect::none, false};
inline constexpr Method member_list{"/etcdserverpb.Cluster/MemberList", Effect::none, false};
inline constexpr Method authenticate{"/etcdserverpb.Auth/Authenticate", Effect::none, true, false};
}  // namespace methods

// A token, and which one it is: so that of many calls refused with it only the first asks for another.
struct Token {
  std::string text;  // empty: the server asks for none
  std::uint64_t number = 0;
};

class Caller {
 public:
  template <class T>
  using Then = std::move_only_function<void(Result<T>)>;

  Caller(Loop& loop, Log log, Pump& pump, Endpoints& endpoints, const OpenOptions& options);

  template <class Response, class Request>
  void call(const Method& method, Request request, Instant deadline, Then<Response> then) {
    begin(std::make_shared<Typed<Request, Response>>(method, deadline, std::move(request), std::move(then)));
  }

  // For streams, which are no calls: a token to open one with, and what to do when it was refused.
  void with_token(Instant deadline, Then<Token> then);
  void refuse(const Token& token);
  bool has_user() const { return !user_.empty(); }
  // A user is given, and the server does not know users.
  bool user_ignored() const { return token_ && token_->text.empty() && has_user(); }
  static void prepare(grpc::ClientContext& context, const Method& method, const Token& token);

 private:
  // A call from its beginning to its answer; each attempt has an exchange of its own.
  struct Call {
    Call(const Method& m, Instant d) : method(m), deadline(d) {}
    virtual ~Call() = default;
    virtual void start(Caller& caller, Endpoint& endpoint, const Token& token, Duration at_most,
                       std::move_only_function<void(const grpc::Status&)> then) = 0;
    virtual void succeed() = 0;
    virtual void fail_with(Error error) = 0;

    const Method method;
    const Instant deadline;
    std::size_t attempts = 0;  // that failed
    std::size_t refused_tokens = 0;
    std::optional<Error> last;  // why it was tried again
  };
  template <class Request, class Response>
  struct Typed final : Call {
    Typed(const Method& m, Instant d, Request r, Then<Response> t) : Call(m, d), request(std::move(r)), then(std::move(t)) {}
    void start(Caller& caller, Endpoint& endpoint, const Token& token, Duration at_most,
               std::move_only_function<void(const grpc::Status&)> done) override {
      exchange = std::make_shared<Exchange<Response>>();
      exchange->set_deadline(at_most);
      prepare(exchange->context, this->method, token);
      auto* tag = caller.pump_.event(exchange, &exchange->context,
                                     [now = exchange, done = std::move(done)](bool) mutable { done(now->status); });
      exchange->start(endpoint.channel, this->method.path, request, caller.pump_.queue(), tag);
    }
    void succeed() override { then(std::move(exchange->response)); }
    void fail_with(Error error) override { then(fail(std::move(error))); }

    Request request;
    Then<Response> then;
    std::shared_ptr<Exchange<Response>> exchange;
  };
  using CallPtr = std::shared_ptr<Call>;

  void begin(const CallPtr& call);
  void send(const CallPtr& call, Endpoint& endpoint, const Token& token);
  void done(const CallPtr& call, Endpoint& endpoint, const Token& token, const grpc::Status& status);
  void again(const CallPtr& call, Error why);
  void authenticate(Instant deadline);
  Duration time_for(const Call& call) const;

  Loop& loop_;
  Log log_;
  Pump& pump_;
  Endpoints& endpoints_;
  const std::string user_;
  const std::string password_;
  std::optional<Token> token_;  // none: to be asked for, if there is a user
  std::uint64_t tokens_ = 0;
  std::vector<Then<Token>> waiting_;  // while it is asked for
  Delays delays_;
};

}  // namespace evenkeel::store::etcd::detail
