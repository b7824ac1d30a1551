#pragma once
// Who is active and where, as the election of controllers shows it (Keys::controller in documents.h): one line, which people read as it is.
//
//   format(ControllerAddress{"host-1", "127.0.0.1:7070", "127.0.0.1:7071"})  ->  host-1 http=127.0.0.1:7070 pulse=127.0.0.1:7071
//
// Words that a reader does not know it overlooks. A hint: who is elected is proved by the lock that this line is shown with.

#include <string>
#include <string_view>

namespace evenkeel {

struct ControllerAddress {
  std::string name;   // without spaces; empty: nobody
  std::string http;   // where people ask it; empty: nowhere
  std::string pulse;  // where nodes pulse to; empty: nowhere
  friend bool operator==(const ControllerAddress&, const ControllerAddress&) = default;
};

std::string format(const ControllerAddress& address);
ControllerAddress parse_controller_address(std::string_view line);

}  // namespace evenkeel
