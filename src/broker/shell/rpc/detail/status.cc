#include "evenkeel/broker/shell/rpc/detail/status.h"

#include <algorithm>

#include "evenkeel/base/text.h"

namespace evenkeel::broker::detail {
namespace {

grpc::StatusCode status_of(Code code) {
  switch (code) {
    case Code::invalid:
      return grpc::INVALID_ARGUMENT;
    case Code::not_found:
      return grpc::NOT_FOUND;
    case Code::conflict:
      return grpc::ABORTED;
    case Code::refused:
      return grpc::FAILED_PRECONDITION;
    case Code::denied:
      return grpc::PERMISSION_DENIED;
    case Code::too_large:
      return grpc::RESOURCE_EXHAUSTED;
    case Code::unavailable:
    case Code::unknown_outcome:
      return grpc::UNAVAILABLE;
    case Code::cancelled:
      break;
  }
  return grpc::CANCELLED;
}

}  // namespace

// gRPC sends the text in a header, and some peers drop long ones.
grpc::Status to_status(const Error& error) {
  constexpr std::size_t most = 1000;
  return {status_of(error.code), error.message.size() <= most ? error.message : error.message.substr(0, most) + "..."};
}

Error to_error(const grpc::Status& status, bool sent_change) {
  const std::string& text = status.error_message();
  switch (status.error_code()) {
    case grpc::INVALID_ARGUMENT:
      return {Code::invalid, text};
    case grpc::NOT_FOUND:
      return {Code::not_found, text};
    case grpc::ABORTED:
      return {Code::conflict, text};
    case grpc::FAILED_PRECONDITION:
      return {Code::refused, text};
    case grpc::PERMISSION_DENIED:
      return {Code::denied, text};
    case grpc::RESOURCE_EXHAUSTED:
      return {Code::too_large, text};
    case grpc::CANCELLED:
      return {Code::cancelled, text.empty() ? "cancelled" : text};
    case grpc::DEADLINE_EXCEEDED:
      return {sent_change ? Code::unknown_outcome : Code::unavailable, "no answer in time"};
    case grpc::UNIMPLEMENTED:
      return {Code::unavailable, "what answers there is no broker, or one of another version"};
    default:
      return {Code::unavailable, text.empty() ? "the connection was lost" : text};
  }
}

int to_milliseconds(Duration duration) {
  constexpr Duration longest = 24h;
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(std::min(duration, longest)).count());
}

}  // namespace evenkeel::broker::detail
