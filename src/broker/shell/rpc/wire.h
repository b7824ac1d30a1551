#pragma once
// Wire: between the broker's values and the messages of broker.proto. What comes from outside is checked here, and only here.
//
// Not installed: who wants the messages themselves makes them from the .proto.

#include <functional>
#include <string>
#include <string_view>

#include "broker/shell/rpc/broker.pb.h"

#include "evenkeel/base/result.h"
#include "evenkeel/broker/config.h"
#include "evenkeel/broker/shell/broker.h"
#include "evenkeel/broker/shell/session.h"

namespace evenkeel::broker::wire {

// A stream's operations as they come, checked and handed to a session.
class Intake {
 public:
  // Tells that an operation made sense and the session did not take it: a resource nobody knows, a bound that is reached.
  using NotTaken = std::function<void(RequestTag tag, TaskId task, const Error& error)>;

  // All operations of one message, in order. Code::invalid names the first that makes no sense; those before it are done.
  // Code::unavailable: the session is so far behind that it takes nothing.
  Result<void> take(v1::ClientMessage& message, Session& session, const NotTaken& not_taken);

 private:
  RequestTag last_ = 0;
};

// The name in a stream's first message.
Result<std::string> take_hello(const v1::ClientMessage& message);

// The bytes of one message. Code::invalid if they are none.
Result<v1::ClientMessage> parse_client_message(std::string_view bytes);

v1::Need to_wire(const Need& need);
v1::Delivery to_wire(const Delivery& delivery);
Result<Delivery> from_wire(const v1::Delivery& delivery);

v1::Config to_wire(const Config& config);
v1::ConfigPatch to_wire(const ConfigPatch& patch);
Result<Config> from_wire(const v1::Config& config);
Result<ConfigPatch> from_wire(const v1::ConfigPatch& patch);

v1::GetStatusResponse to_wire(const Observed& observed);
Result<Observed> from_wire(const v1::GetStatusResponse& response);

}  // namespace evenkeel::broker::wire
