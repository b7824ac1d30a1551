#pragma once
// A character by its number, as text: what the escapes of JSON and of protobuf text give.

#include <cstdint>
#include <string>

namespace evenkeel::broker::detail {

// Appends a code point, up to 0x10ffff and no surrogate, as UTF-8.
inline void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace evenkeel::broker::detail
