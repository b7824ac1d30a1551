#include "evenkeel/store/backends/embedded/detail/server_lease.h"

namespace evenkeel::store::embedded::detail {
namespace {

// etcd's own bounds. Below the lower one it grants that, whatever was asked for: 1, 0 or less than nothing. (It is one and a half of its
// timeouts of elections; we have none, but a client that was tried on etcd knows no shorter lease.)
constexpr std::int64_t ttl_seconds_min = 2;
constexpr std::int64_t ttl_seconds_max = 9'000'000'000;

std::int64_t seconds(Duration duration) { return std::chrono::floor<std::chrono::seconds>(duration).count(); }

class KeepAliveStream final : public Duplex<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse> {
 public:
  explicit KeepAliveStream(Core& core) : Duplex(core.streams), core_(core) {}

 private:
  void on_request(const pb::LeaseKeepAliveRequest& request) override {
    pb::LeaseKeepAliveResponse response;
    core_.fill(response.mutable_header(), core_.revision());
    response.set_id(request.id());
    const auto lease = core_.engine.keep_alive(request.id());
    // A ttl of 0 says that there is no such lease.
    if (!lease && lease.error().code != Code::not_found) return end(to_status(lease.error()), true);
    response.set_ttl(lease ? seconds(lease->ttl) : 0);
    const auto held = lock();
    push(std::move(response));
  }
  void on_requests_end() override { end(grpc::Status::OK, true); }

  Core& core_;
};

}  // namespace

Reactor* LeaseService::LeaseGrant(grpc::CallbackServerContext* context, const pb::LeaseGrantRequest* request,
                                  pb::LeaseGrantResponse* response) {
  if (const auto who = core_.access.who(*context); !who) return finish(context, fail(who.error()));
  if (request->ttl() > ttl_seconds_max)
    return finish(context, fail(Error{Code::invalid, std::string(words::lease_ttl_too_large)}));
  Reactor* reactor = context->DefaultReactor();
  const auto ttl = std::chrono::seconds(std::max(request->ttl(), ttl_seconds_min));
  core_.engine.grant(request->id(), ttl, [this, reactor, response](Result<embedded::Lease> lease) {
    if (!lease) return reactor->Finish(to_status(lease.error()));
    core_.fill(response->mutable_header(), core_.revision());
    response->set_id(lease->id);
    response->set_ttl(seconds(lease->ttl));
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

Reactor* LeaseService::LeaseRevoke(grpc::CallbackServerContext* context, const pb::LeaseRevokeRequest* request,
                                   pb::LeaseRevokeResponse* response) {
  const auto who = core_.access.who(*context);
  if (!who) return finish(context, fail(who.error()));
  Reactor* reactor = context->DefaultReactor();
  const auto finish_with = [this, reactor, response](Result<std::int64_t> revision) {
    if (!revision) return reactor->Finish(to_status(revision.error()));
    core_.fill(response->mutable_header(), *revision);
    reactor->Finish(grpc::Status::OK);
  };
  core_.engine.revoke(request->id(), finish_with, guard_of(*who));
  return reactor;
}

grpc::ServerBidiReactor<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>* LeaseService::LeaseKeepAlive(
    grpc::CallbackServerContext* context) {
  const auto stream = std::make_shared<KeepAliveStream>(core_);
  const auto who = core_.access.who(*context);
  stream->begin(who ? Result<>() : fail(who.error()));
  return stream.get();
}

Reactor* LeaseService::LeaseTimeToLive(grpc::CallbackServerContext* context, const pb::LeaseTimeToLiveRequest* request,
                                       pb::LeaseTimeToLiveResponse* response) {
  const auto who = core_.access.who(*context);
  if (!who) return finish(context, fail(who.error()));
  const auto lease = core_.engine.lease(request->id());
  if (!lease && lease.error().code != Code::not_found) return finish(context, fail(lease.error()));
  core_.fill(response->mutable_header(), core_.revision());
  response->set_id(request->id());
  response->set_ttl(lease ? seconds(lease->left) : -1);
  if (lease && request->keys()) {
    if (const auto good = check_lease(*who, false, lease->keys); !good) return finish(context, good);
    for (const std::string& key : lease->keys) response->add_keys(key);
  }
  if (lease) response->set_grantedttl(seconds(lease->ttl));
  return finish(context, {});
}

Reactor* LeaseService::LeaseLeases(grpc::CallbackServerContext* context, const pb::LeaseLeasesRequest*,
                                   pb::LeaseLeasesResponse* response) {
  if (const auto who = core_.access.who(*context); !who) return finish(context, fail(who.error()));
  core_.fill(response->mutable_header(), core_.revision());
  for (const LeaseId id : core_.engine.leases()) response->add_leases()->set_id(id);
  return finish(context, {});
}

}  // namespace evenkeel::store::embedded::detail
