#pragma once
// Between etcd's messages and the engine's values. What no client of etcd could mean is refused here, in etcd's words.

#include <store/backends/proto/etcd.pb.h>

#include "evenkeel/base/result.h"
#include "evenkeel/store/backends/embedded/engine.h"

namespace evenkeel::store::embedded::detail {

namespace pb = etcdserverpb;

// etcd's words for what it refuses; clients go by them.
namespace words {
constexpr std::string_view empty_key = "etcdserver: key is not provided";
constexpr std::string_view key_not_found = "etcdserver: key not found";
constexpr std::string_view value_provided = "etcdserver: value is provided";
constexpr std::string_view lease_provided = "etcdserver: lease is provided";
constexpr std::string_view too_many_operations = "etcdserver: too many operations in txn request";
constexpr std::string_view duplicate_key = "etcdserver: duplicate key given in txn request";
constexpr std::string_view compacted = "etcdserver: mvcc: required revision has been compacted";
constexpr std::string_view future_revision = "etcdserver: mvcc: required revision is a future revision";
constexpr std::string_view no_space = "etcdserver: mvcc: database space exceeded";
constexpr std::string_view lease_not_found = "etcdserver: requested lease not found";
constexpr std::string_view lease_exists = "etcdserver: lease already exists";
constexpr std::string_view lease_ttl_too_large = "etcdserver: too large lease TTL";
constexpr std::string_view too_large = "etcdserver: request is too large";
constexpr std::string_view too_many_requests = "etcdserver: too many requests";
constexpr std::string_view user_empty = "etcdserver: user name is empty";
constexpr std::string_view authentication_failed = "etcdserver: authentication failed, invalid user ID or password";
constexpr std::string_view permission_denied = "etcdserver: permission denied";
constexpr std::string_view not_enabled = "etcdserver: authentication is not enabled";
constexpr std::string_view invalid_token = "etcdserver: invalid auth token";
constexpr std::string_view stopped = "etcdserver: server stopped";
constexpr std::string_view users_changed = "etcdserver: users changed, begin again";  // ours: etcd's streams outlive that
constexpr std::string_view timed_out = "etcdserver: request timed out";
constexpr std::string_view duplicate_watch = "mvcc: duplicate watch ID provided on the WatchStream";
constexpr std::string_view empty_watch = "mvcc: watcher range is empty";
}  // namespace words

Result<Range> from_wire(const pb::RangeRequest& request);
Result<Put> from_wire(const pb::PutRequest& request);
Result<Erase> from_wire(const pb::DeleteRangeRequest& request);
Result<Request> from_wire(const pb::TxnRequest& request);
// A watch's keys: an empty key means the first there could be.
Watch from_wire(const pb::WatchCreateRequest& request);

// These leave the header to the caller.
void to_wire(Found&& found, pb::RangeResponse& response);
void to_wire(PutDone&& done, pb::PutResponse& response);
void to_wire(EraseDone&& done, pb::DeleteRangeResponse& response);
// The parts of a txn have headers of their own, with the revision alone.
void to_wire(Outcome&& outcome, pb::TxnResponse& response);
void to_wire(const Event& event, mvccpb::Event& out);

}  // namespace evenkeel::store::embedded::detail
