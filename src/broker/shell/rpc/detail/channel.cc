#include "evenkeel/broker/shell/rpc/detail/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "evenkeel/base/address.h"
#include "evenkeel/broker/shell/rpc/detail/status.h"

namespace evenkeel::broker::detail {

Result<std::shared_ptr<grpc::Channel>> open_channel(const std::string& address, const RemoteOptions& options) {
  const auto parsed = parse_address(address);
  if (!parsed) return fail(parsed.error());
  if (!is_local(*parsed)) {
    return fail(Code::denied,
                "{} is another host, and there is no encryption or authentication yet; a broker is asked on its own host",
                address);
  }
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // nobody has a proxy to his own host
  // A connection of its own: nobody else's flow control holds it up, and its end is this client's end.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, to_milliseconds(options.ping_every));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, to_milliseconds(options.ping_wait));
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  constexpr int answer_bytes_max = 64 << 20;  // a status with ten thousand tasks of each of some queues
  arguments.SetMaxReceiveMessageSize(answer_bytes_max);
  return grpc::CreateCustomChannel(format(*parsed), grpc::InsecureChannelCredentials(), arguments);
}

Error at_address(Error error, const std::string& address) {
  if (error.code == Code::unknown_outcome)
    return {error.code, fmt::format("{} from the broker at {}: it may have been done or not; look before trying again",
                                    error.message, address)};
  if (error.code != Code::unavailable) return error;
  return {error.code, fmt::format("no broker answers at {}: {}; is it running? `evenkeel broker serve` starts one, "
                                  "--address or EVENKEEL_BROKER says where it is",
                                  address, error.message)};
}

}  // namespace evenkeel::broker::detail
