#pragma once
// JSON as text that stays text: one pass finds whether a line is JSON, and values are then cut out of it as they were written.
//
// A trace hands cookies back unchanged, 1e999, 1.0 and blanks included, so a reader that turns numbers into doubles will not do.
// Nesting has no bound and costs no stack. Offsets count bytes of the line, for messages.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace evenkeel::broker::detail {

struct JsonFault {
  std::size_t at = 0;  // byte of the line
  std::string message;
  std::string hint;
};

// A value of a line that was found to be JSON.
struct JsonText {
  std::string_view raw;  // without blanks around it
  std::size_t at = 0;    // where it starts in the line

  enum class Kind : std::uint8_t { object, list, text, number, flag, null };
  Kind kind() const;
  std::string_view kind_name() const;  // for messages: "a list"
};

// The one value of a line, blanks around it ignored.
tl::expected<JsonText, JsonFault> scan_json(std::string_view line);

// Walks an object's fields and a list's items, in the order of the text.
void for_each_field(JsonText object, const std::function<void(JsonText key, JsonText value)>& visit);
void for_each_item(JsonText list, const std::function<void(JsonText item)>& visit);

// A text without quotes and escapes; nothing if it has half a surrogate pair, for which UTF-8 has no form.
std::optional<std::string> decode_text(JsonText text);

// A number that is written as an integer (-0 is 0) in 0…2^64 - 1.
std::optional<std::uint64_t> decode_whole(JsonText number);

}  // namespace evenkeel::broker::detail
