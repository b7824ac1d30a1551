#pragma once
// Text: small helpers for what people write and read. Pure functions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "evenkeel/base/result.h"

namespace evenkeel {

// The byte offset of the first byte that is not part of valid UTF-8 (no surrogates, no overlong forms, at most U+10FFFF).
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// The text in double quotes, safe to print in one line: control characters, quotes, backslashes and invalid bytes are escaped as
// in JSON (invalid bytes as \xNN), and what is longer than `most` bytes is cut, between characters, with "…" after the quote.
std::string quote(std::string_view text, std::size_t most = 80);

// The text as a JSON string, quotes included: valid JSON whatever the bytes, for invalid ones become U+FFFD.
std::string json_quoted(std::string_view text);

// The candidate that was most likely meant: within a third of the word's length in edits (a swap of neighbours is one edit; case
// does not count), the nearest first, then the earliest in the list. Nothing if none is near; what is longer than 64 bytes is near to
// nothing, which bounds the cost.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Takes the decimal digits at the front of a text off it, and returns them; none: an empty text.
std::string_view take_digits(std::string_view& text);

// Whether two texts are the same but for the case of ASCII letters.
bool same_in_any_case(std::string_view a, std::string_view b);

// A whole number in decimal, all of the text, no sign other than '-', no leading '+'. Says what is wrong: "not a whole number",
// "too large".
Result<std::int64_t> parse_integer(std::string_view text);
Result<std::uint64_t> parse_unsigned(std::string_view text);

// Digits with a point, without the zeros at their end and then without the point: "1.500" is "1.5", "2.000" is "2".
std::string trim_decimals(std::string digits);
// At most so many decimals, no exponent, no zeros at the end: the same bytes everywhere. The value is finite.
std::string format_decimal(double value, int decimals);

}  // namespace evenkeel
