#pragma once
// Addresses: where a server listens and a client connects, as people write them.
//
//   127.0.0.1:7071   [::1]:7071   localhost:7071   unix:/run/evenkeel/broker
//
// Pure text: nothing is looked up. Port 0 means "any free one", which only a server can use.

#include <cstdint>
#include <string>
#include <string_view>

#include "evenkeel/base/result.h"

namespace evenkeel {

struct Address {
  std::string host;        // without brackets; empty if `path` is given
  std::uint16_t port = 0;  // of a host
  std::string path;        // of a socket in the file system
  friend bool operator==(const Address&, const Address&) = default;
};

// HOST:PORT with an IPv6 host in brackets, or unix:PATH. Code::invalid with what is wrong and how it is written.
Result<Address> parse_address(std::string_view text);
std::string format(const Address& address);

// Only this host can reach it: localhost, 127.0.0.0/8, ::1, or a socket in the file system.
bool is_local(const Address& address);

}  // namespace evenkeel
