#include "evenkeel/store/backends/embedded/detail/server_cluster.h"

namespace evenkeel::store::embedded::detail {
namespace {

// The version of etcd whose API this is; clients read the first two numbers.
constexpr std::string_view etcd_version = "3.4.31+evenkeel";

// Calls that only an admin may make.
Result<> admin(Core& core, grpc::CallbackServerContext& context) {
  const auto who = core.access.who(context);
  return who ? check_admin(*who) : Result<>(fail(who.error()));
}

}  // namespace

Reactor* ClusterService::MemberList(grpc::CallbackServerContext* context, const pb::MemberListRequest*,
                                    pb::MemberListResponse* response) {
  core_.fill(response->mutable_header(), core_.revision());
  pb::Member& member = *response->add_members();
  member.set_id(core_.member_id);
  member.set_name(core_.name);
  for (const std::string& url : core_.client_urls()) member.add_clienturls(url);
  return finish(context, {});
}

Reactor* MaintenanceService::Alarm(grpc::CallbackServerContext* context, const pb::AlarmRequest* request,
                                   pb::AlarmResponse* response) {
  const bool asks = request->action() == pb::AlarmRequest::GET;
  const auto who = core_.access.who(*context);
  if (!who) return finish(context, fail(who.error()));
  if (const auto good = asks ? Result<>() : check_admin(*who); !good) return finish(context, good);
  if (request->action() == pb::AlarmRequest::ACTIVATE) {
    Reactor* reactor = context->DefaultReactor();
    reactor->Finish({grpc::StatusCode::UNIMPLEMENTED, "alarms are raised by the store itself"});
    return reactor;
  }
  // One that is over is gone by itself, so there is nothing to switch off.
  const EngineStatus status = core_.engine.status();
  core_.fill(response->mutable_header(), status.revision);
  if (status.full && asks && request->alarm() != pb::CORRUPT) {
    pb::AlarmMember& alarm = *response->add_alarms();
    alarm.set_memberid(core_.member_id);
    alarm.set_alarm(pb::NOSPACE);
  }
  return finish(context, {});
}

Reactor* MaintenanceService::Status(grpc::CallbackServerContext* context, const pb::StatusRequest*,
                                    pb::StatusResponse* response) {
  const EngineStatus status = core_.engine.status();
  core_.fill(response->mutable_header(), status.revision);
  response->set_version(std::string(etcd_version));
  response->set_dbsize(static_cast<std::int64_t>(status.bytes));
  response->set_dbsizeinuse(static_cast<std::int64_t>(status.bytes_in_use));
  response->set_dbsizequota(static_cast<std::int64_t>(status.bytes_max));
  response->set_leader(core_.member_id);
  response->set_raftterm(Core::raft_term);
  response->set_raftindex(static_cast<std::uint64_t>(status.revision));
  response->set_raftappliedindex(static_cast<std::uint64_t>(status.revision));
  if (status.full) response->add_errors(fmt::format("memberID:{} alarm:NOSPACE ", core_.member_id));
  return finish(context, {});
}

Reactor* MaintenanceService::Defragment(grpc::CallbackServerContext* context, const pb::DefragmentRequest*,
                                        pb::DefragmentResponse* response) {
  if (const auto good = admin(core_, *context); !good) return finish(context, good);
  return finish_on(core_.chores, context, [this, response]() -> Result<> {
    if (auto done = core_.engine.defragment(); !done) return done;
    core_.fill(response->mutable_header(), core_.revision());
    return {};
  });
}

Reactor* MaintenanceService::HashKV(grpc::CallbackServerContext* context, const pb::HashKVRequest* request,
                                    pb::HashKVResponse* response) {
  if (const auto good = admin(core_, *context); !good) return finish(context, good);
  return finish_on(core_.chores, context, [this, request, response]() -> Result<> {
    const auto hash = core_.engine.hash(request->revision());
    if (!hash) return fail(hash.error());
    core_.fill(response->mutable_header(), core_.revision());
    response->set_hash(hash->first);
    response->set_compact_revision(hash->second);
    return {};
  });
}

Reactor* AuthService::Authenticate(grpc::CallbackServerContext* context, const pb::AuthenticateRequest* request,
                                   pb::AuthenticateResponse* response) {
  if (!core_.access.enabled()) return finish(context, fail(Error{Code::refused, std::string(words::not_enabled)}));
  return finish_on(core_.passwords, context, [this, request, response]() -> Result<> {
    auto token = core_.access.authenticate(request->name(), request->password());
    if (!token) return fail(token.error());
    core_.fill(response->mutable_header(), core_.revision());
    response->set_token(*std::move(token));
    return {};
  });
}

}  // namespace evenkeel::store::embedded::detail
