#pragma once
// What fuzz targets leave alone: a million nodes take seconds and teach a fuzzer nothing.

#include <cctype>
#include <string_view>

namespace evenkeel {

// Whether ranges of names, "n[1-2000]", have more than four digits together after their dashes: more nodes than a target tries.
inline bool names_many(std::string_view text) {
  int digits = 0;
  for (std::size_t dash = text.find('-'); dash != std::string_view::npos; dash = text.find('-', dash + 1)) {
    std::size_t end = dash + 1;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end < text.size() && text[end] == ']') digits += static_cast<int>(end - dash - 1);
  }
  return digits > 4;
}

}  // namespace evenkeel
