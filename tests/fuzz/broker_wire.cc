// Any bytes as the messages of one client's stream: each is taken, refused with words, or ends the stream; the broker goes on, and when
// the client is gone nothing of it is left. The first two bytes of the input cut the rest into messages.

#include <cstdint>
#include <string_view>

#include "evenkeel/broker/shell/rpc/wire.h"

namespace {

using namespace evenkeel;
using namespace evenkeel::broker;

class Sink final : public SessionSink {
 public:
  void deliver(const Delivery& delivery) override {
    const auto back = wire::from_wire(wire::to_wire(delivery));
    ensure(back && back->kind == delivery.kind && back->tag == delivery.tag && back->task == delivery.task &&
               back->refusal == delivery.refusal && back->ok == delivery.ok && back->cookie == delivery.cookie,
           "what is delivered survives the wire");
  }
};

// One message; false: the stream ends.
bool take(std::string_view bytes, wire::Intake& intake, Session& session) {
  auto message = wire::parse_client_message(bytes);
  if (!message) return false;
  if (message->has_hello()) return wire::take_hello(*message).has_value();
  const auto not_taken = [](RequestTag tag, TaskId, const Error& error) {
    ensure(tag > 0 && !error.message.empty(), "what is not taken is told why");
  };
  const auto taken = intake.take(*message, session, not_taken);
  ensure(taken || !taken.error().message.empty(), "a stream that ends is told why");
  return taken.has_value();
}

void configure(std::string_view bytes, Broker& broker) {
  v1::ConfigureRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  if (const auto whole = wire::from_wire(request.whole()); request.has_whole() && whole) {
    const auto back = wire::from_wire(wire::to_wire(*whole));
    ensure(back && *back == *whole, "a config survives the wire");
    if (broker.configure(*whole)) ensure(broker.config() == *whole, "a config that is taken is the config");
  }
  if (const auto patch = wire::from_wire(request.merge()); request.has_merge() && patch) {
    const auto back = wire::from_wire(wire::to_wire(*patch));
    ensure(back && *back == *patch, "a patch survives the wire");
    if (const auto done = broker.configure(*patch); !done) ensure(!done.error().message.empty(), "a refusal says why");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto broker = Broker::from_config(default_config());
  Sink sink;
  auto session = (*broker)->open("fuzz", at_once(), sink);
  wire::Intake intake;
  for (int messages = 0; messages < 16 && rest.size() > 2; ++messages) {
    const std::size_t length = static_cast<std::uint8_t>(rest[0]) + 256U * (static_cast<std::uint8_t>(rest[1]) & 15U);
    const bool config = (static_cast<std::uint8_t>(rest[1]) & 128U) != 0;
    rest.remove_prefix(2);
    const std::string_view bytes = rest.substr(0, length);
    rest.remove_prefix(bytes.size());
    if (config)
      configure(bytes, **broker);
    else if (!take(bytes, intake, *session))
      break;
  }
  const auto seen = (*broker)->observe();
  const auto back = wire::from_wire(wire::to_wire(seen));
  ensure(back && back->status == seen.status && back->clients == seen.clients, "a status survives the wire");
  session.reset();
  const auto after = (*broker)->observe().status;
  ensure(after.total.infly == 0 && after.total.enqueued == 0, "nothing of a client is left when it is gone");
  return 0;
}
