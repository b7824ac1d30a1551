#include "evenkeel/store/backends/embedded/detail/server_status.h"

#include <array>
#include <utility>

#include "evenkeel/store/backends/embedded/detail/wire.h"

namespace evenkeel::store::embedded::detail {
namespace {

using grpc::StatusCode;

constexpr std::array<std::pair<std::string_view, StatusCode>, 22> known_codes = {{
    {words::empty_key, StatusCode::INVALID_ARGUMENT},
    {words::key_not_found, StatusCode::INVALID_ARGUMENT},
    {words::value_provided, StatusCode::INVALID_ARGUMENT},
    {words::lease_provided, StatusCode::INVALID_ARGUMENT},
    {words::too_many_operations, StatusCode::INVALID_ARGUMENT},
    {words::duplicate_key, StatusCode::INVALID_ARGUMENT},
    {words::compacted, StatusCode::OUT_OF_RANGE},
    {words::future_revision, StatusCode::OUT_OF_RANGE},
    {words::no_space, StatusCode::RESOURCE_EXHAUSTED},
    {words::lease_not_found, StatusCode::NOT_FOUND},
    {words::lease_exists, StatusCode::FAILED_PRECONDITION},
    {words::lease_ttl_too_large, StatusCode::OUT_OF_RANGE},
    {words::too_large, StatusCode::INVALID_ARGUMENT},
    {words::too_many_requests, StatusCode::RESOURCE_EXHAUSTED},
    {words::user_empty, StatusCode::INVALID_ARGUMENT},
    {words::authentication_failed, StatusCode::INVALID_ARGUMENT},
    {words::permission_denied, StatusCode::PERMISSION_DENIED},
    {words::not_enabled, StatusCode::FAILED_PRECONDITION},
    {words::invalid_token, StatusCode::UNAUTHENTICATED},
    {words::stopped, StatusCode::UNAVAILABLE},
    {words::users_changed, StatusCode::UNAVAILABLE},
    {words::timed_out, StatusCode::UNAVAILABLE},
}};

std::string_view go_name(StatusCode code) {
  switch (code) {
    case StatusCode::INVALID_ARGUMENT:
      return "InvalidArgument";
    case StatusCode::OUT_OF_RANGE:
      return "OutOfRange";
    case StatusCode::RESOURCE_EXHAUSTED:
      return "ResourceExhausted";
    case StatusCode::NOT_FOUND:
      return "NotFound";
    case StatusCode::FAILED_PRECONDITION:
      return "FailedPrecondition";
    case StatusCode::PERMISSION_DENIED:
      return "PermissionDenied";
    case StatusCode::UNAUTHENTICATED:
      return "Unauthenticated";
    case StatusCode::UNAVAILABLE:
      return "Unavailable";
    default:
      return "Unknown";
  }
}

}  // namespace

grpc::Status to_status(const Error& error) {
  for (const auto& [text, code] : known_codes) {
    if (error.message == text) return {code, error.message};
  }
  switch (error.code) {
    case Code::invalid:
      return {StatusCode::INVALID_ARGUMENT, error.message};
    case Code::not_found:
      return {StatusCode::NOT_FOUND, error.message};
    case Code::conflict:
      return {StatusCode::FAILED_PRECONDITION, error.message};
    case Code::refused:
      return {StatusCode::RESOURCE_EXHAUSTED, error.message};
    case Code::denied:
      return {StatusCode::PERMISSION_DENIED, std::string(words::permission_denied)};
    case Code::too_large:
      return {StatusCode::INVALID_ARGUMENT, std::string(words::too_large)};
    case Code::unavailable:
      return {StatusCode::UNAVAILABLE, error.message};
    // What etcd says when it does not know itself, and clients take for that.
    case Code::unknown_outcome:
      return {StatusCode::UNAVAILABLE, std::string(words::timed_out)};
    case Code::cancelled:
      return {StatusCode::CANCELLED, error.message};
  }
  return {StatusCode::INTERNAL, error.message};
}

std::string to_text(const Error& error) {
  const grpc::Status status = to_status(error);
  return fmt::format("rpc error: code = {} desc = {}", go_name(status.error_code()), status.error_message());
}

}  // namespace evenkeel::store::embedded::detail
