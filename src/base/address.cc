#include "evenkeel/base/address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>

#include "evenkeel/base/text.h"

namespace evenkeel {
namespace {

constexpr std::string_view forms = "write HOST:PORT, [IPV6]:PORT or unix:PATH";

unexpected<Error> wrong(std::string_view text, std::string_view why) {
  return fail(Code::invalid, "{} is not an address: {}; {}", quote(text), why, forms);
}

bool is_host_name(std::string_view host) {
  constexpr std::size_t most = 253;  // of a name in the domain name system
  return !host.empty() && host.size() <= most && std::ranges::all_of(host, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
  });
}

bool is_ipv6(const std::string& host) {
  in6_addr parsed{};
  return inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

Result<Address> parse_path(std::string_view text, std::string_view path) {
  constexpr std::size_t most = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty()) return wrong(text, "it has no path");
  if (path.size() > most) return wrong(text, fmt::format("a socket's path has at most {} bytes, this one {}", most, path.size()));
  if (path.find('\0') != std::string_view::npos) return wrong(text, "a path has no zero bytes");
  return Address{.host = "", .port = 0, .path = std::string(path)};
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  constexpr std::string_view scheme = "unix:";
  if (text.starts_with(scheme)) return parse_path(text, text.substr(scheme.size()));
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong(text, "it has no port");
  std::string host(text.substr(0, colon));
  const auto port = parse_unsigned(text.substr(colon + 1));
  if (!port || *port > 65535) return wrong(text, "a port is a number from 0 to 65535");
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return wrong(text, "what stands in brackets is no IPv6 address");
  } else if (host.find(':') != std::string::npos) {
    return wrong(text, "an IPv6 address stands in brackets");
  } else if (!is_host_name(host)) {
    return wrong(text, "it has no host");
  }
  return Address{.host = std::move(host), .port = static_cast<std::uint16_t>(*port), .path = ""};
}

std::string format(const Address& address) {
  if (!address.path.empty()) return "unix:" + address.path;
  const bool brackets = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", address.host, brackets ? "]" : "", address.port);
}

bool is_local(const Address& address) {
  if (!address.path.empty() || same_in_any_case(address.host, "localhost")) return true;
  in_addr four{};
  if (inet_pton(AF_INET, address.host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  return inet_pton(AF_INET6, address.host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

}  // namespace evenkeel
