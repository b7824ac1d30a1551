#include "evenkeel/model/controller_address.h"

#include <algorithm>

namespace evenkeel {
namespace {

constexpr std::string_view http_prefix = "http=", pulse_prefix = "pulse=";

}  // namespace

std::string format(const ControllerAddress& address) {
  std::string line = address.name;
  const auto add = [&](std::string_view word, const std::string& value) {
    if (!value.empty()) line.append(" ").append(word).append(value);
  };
  add(http_prefix, address.http);
  add(pulse_prefix, address.pulse);
  return line;
}

ControllerAddress parse_controller_address(std::string_view line) {
  ControllerAddress address;
  for (bool first = true; !line.empty(); first = false) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    if (first) {
      address.name = word;
    } else if (word.starts_with(http_prefix)) {
      address.http = word.substr(http_prefix.size());
    } else if (word.starts_with(pulse_prefix)) {
      address.pulse = word.substr(pulse_prefix.size());
    }
  }
  return address;
}

}  // namespace evenkeel
