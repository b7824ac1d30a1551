#include "evenkeel/model/controller_address.h"

#include <algorithm>

namespace evenkeel {
namespace {

constexpr std::string_view http = "http=", pulse = "pulse=";

}  // namespace

std::string format(const ControllerAddress& address) {
  std::string line = address.name;
  const auto add = [&](std::string_view word, const std::string& value) {
    if (!value.empty()) line.append(" ").append(word).append(value);
  };
  add(http, address.http);
  add(pulse, address.pulse);
  return line;
}

ControllerAddress parse_controller_address(std::string_view line) {
  ControllerAddress address;
  for (bool first = true; !line.empty(); first = false) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    if (first) {
      address.name = word;
    } else if (word.starts_with(http)) {
      address.http = word.substr(http.size());
    } else if (word.starts_with(pulse)) {
      address.pulse = word.substr(pulse.size());
    }
  }
  return address;
}

}  // namespace evenkeel
