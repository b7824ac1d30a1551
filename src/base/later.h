#pragma once
// Whether this is compiled as a later version of itself, which only a test does.
//
// Within a format a later version may add fields, and this one overlooks them (docs/documents.md). To see that they are in nobody's way, tests/chaos builds
// what writes documents a second time, with EVENKEEL_LATER (tests/chaos/later.cmake), and runs both versions in one cluster. The product is never later.

#include <string>

namespace evenkeel {

#ifdef EVENKEEL_LATER
constexpr bool is_later = true;
#else
constexpr bool is_later = false;
#endif

constexpr const char* later_key = "later";
constexpr const char* later_value = R"({"of": [1, "two", {"three": null}], "text": "a \"brace\" } here"})";

// The text of a JSON map that is not empty; of a later version with a field that this one does not know.
inline std::string with_later_field(std::string map) {
  if constexpr (is_later) map.insert(map.rfind('}'), std::string(",\"") + later_key + "\": " + later_value);
  return map;
}

}  // namespace evenkeel
