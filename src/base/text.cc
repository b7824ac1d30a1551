#include "evenkeel/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <system_error>

namespace evenkeel {

namespace {

struct Rune {
  char32_t code = 0;
  std::size_t length = 0;  // 0: the text does not start with valid UTF-8
};

Rune first_rune(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0x7fU >> length);
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(at) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {code, length};
}

// Quotes and backslashes, and whatever could end a line or steer a terminal: C0, DEL and C1, the line and paragraph separators; and the
// byte order mark and the two that are no characters, which YAML takes only as escapes.
bool needs_escape(char32_t code) {
  return code < 0x20 || code == '"' || code == '\\' || (code >= 0x7f && code <= 0x9f) || code == 0x2028 || code == 0x2029 ||
         code == 0xfeff || code == 0xfffe || code == 0xffff;
}

void append_escape(std::string& out, char32_t code) {
  constexpr std::string_view named = "\"\\\b\f\n\r\t";
  constexpr std::string_view letters = "\"\\bfnrt";
  const std::size_t at = code < 0x80 ? named.find(static_cast<char>(code)) : std::string_view::npos;
  if (at != std::string_view::npos) {
    out += '\\';
    out += letters[at];
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(code));
  }
}

enum class InvalidBytes : std::uint8_t { as_hex, as_replacement };

void append_quoted(std::string& out, std::string_view text, InvalidBytes invalid) {
  out += '"';
  while (!text.empty()) {
    const Rune rune = first_rune(text);
    if (rune.length == 0 && invalid == InvalidBytes::as_hex) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (rune.length == 0) {
      out += "\xef\xbf\xbd";
    } else if (needs_escape(rune.code)) {
      append_escape(out, rune.code);
    } else {
      out += text.substr(0, rune.length);
    }
    text.remove_prefix(std::max<std::size_t>(rune.length, 1));
  }
  out += '"';
}

// The longest start of `text` within `most` bytes that splits no character.
std::string_view cut(std::string_view text, std::size_t most) {
  for (std::size_t back = 1; back <= 3 && back <= most; ++back) {
    const Rune rune = first_rune(text.substr(most - back));
    if (rune.length > 0) return text.substr(0, rune.length > back ? most - back : most);
  }
  return text.substr(0, most);
}

constexpr std::size_t nearest_bytes_max = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Edits from a to b, neither longer than nearest_bytes_max: insert, delete, replace, or swap two neighbours (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b) {
  using Row = std::array<std::size_t, nearest_bytes_max + 1>;
  Row before_last{};
  Row last{};
  Row current{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = current;
  }
  return last[b.size()];
}

template <class Number>
Result<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = end == text.data() + text.size();
  if (problem == std::errc::invalid_argument || !all) {
    return fail(Code::invalid, "{} is not a whole number: write digits only, for example 12", quote(text));
  }
  if (problem == std::errc::result_out_of_range) {
    if (text.front() == '-')
      return fail(Code::invalid, "{} is too small: at least {}", quote(text), std::numeric_limits<Number>::min());
    return fail(Code::invalid, "{} is too large: at most {}", quote(text), std::numeric_limits<Number>::max());
  }
  return number;
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Rune rune = first_rune(text.substr(at));
    if (rune.length == 0) return at;
    at += rune.length;
  }
  return std::nullopt;
}

std::string quote(std::string_view text, std::size_t most) {
  std::string out;
  const bool whole = text.size() <= most;
  append_quoted(out, whole ? text : cut(text, most), InvalidBytes::as_hex);
  if (!whole) out += "…";
  return out;
}

std::string json_quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text, InvalidBytes::as_replacement);
  return out;
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > nearest_bytes_max) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t most = word.size() / 3 + 1;  // one more than allowed: a candidate must stay below it, and lowers it
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > nearest_bytes_max) continue;
    const std::size_t distance = edits(word, candidate);
    if (distance >= most) continue;
    most = distance;
    best = candidate;
  }
  return best;
}

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits(text.begin(), end);
  text.remove_prefix(digits.size());
  return digits;
}

bool same_in_any_case(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

Result<std::int64_t> parse_integer(std::string_view text) { return parse_number<std::int64_t>(text); }

Result<std::uint64_t> parse_unsigned(std::string_view text) {
  if (text.size() > 1 && text.front() == '-' && std::all_of(text.begin() + 1, text.end(), is_digit)) {
    return fail(Code::invalid, "{} is negative: write 0 or more", quote(text));
  }
  return parse_number<std::uint64_t>(text);
}

std::string trim_decimals(std::string digits) {
  if (digits.find('.') == std::string::npos) return digits;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

std::string format_decimal(double value, int decimals) {
  std::string text = trim_decimals(fmt::format("{:.{}f}", value, decimals));
  return text == "-0" ? "0" : text;
}

}  // namespace evenkeel
