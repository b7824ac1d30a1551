#include "evenkeel/model/detail/json_scan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "evenkeel/base/text.h"

namespace evenkeel::detail {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto whole = take_digits(text);
  if (whole.empty() || (whole.size() > 1 && whole[0] == '0')) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (take_digits(text).empty()) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (take_digits(text).empty()) return false;
  }
  return text.empty();
}

// Not for every number: most are short and whole.
bool is_finite(std::string_view number) { return std::isfinite(std::strtod(std::string(number).c_str(), nullptr)); }

Place place_of(std::string_view text, std::size_t offset) {
  Place place{1, 1};
  for (const char c : text.substr(0, offset)) {
    place.column += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (c == '\n') ++place.line, place.column = 1;
  }
  return place;
}

void append_utf8(std::string& out, std::uint32_t rune) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((rune >> shift) & 0x3F)); };
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xC0 | (rune >> 6)), tail(0);
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xE0 | (rune >> 12)), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | (rune >> 18)), tail(12), tail(6), tail(0);
  }
}

}  // namespace

void JsonScan::fail_at(std::size_t offset, std::string message, std::string hint) {
  if (!problem_) problem_ = Wrong{offset, std::move(message), std::move(hint)};
  at_ = text_.size();
}

Diagnostics JsonScan::problems(std::string_view file) const {
  Diagnostics out{std::string(file)};
  if (problem_) out.add(place_of(text_, problem_->offset), problem_->message, problem_->hint);
  return out;
}

char JsonScan::peek() {
  const char *c = text_.data() + at_, *const end = text_.data() + text_.size();
  while (c != end && (*c == ' ' || *c == '\n' || *c == '\r' || *c == '\t')) ++c;
  at_ = static_cast<std::size_t>(c - text_.data());
  return c != end ? *c : '\0';
}

// What stands here, as Value::describe says it.
std::string JsonScan::found() {
  std::string buffer;
  switch (peek()) {
    case '\0':
      return at_ < text_.size() ? "a zero byte" : "the end";
    case '{':
      return "a map";
    case '[':
      return "a list";
    case '"':
      return fmt::format("the text {}", quote(quoted(buffer)));
    default:
      const auto word = plain();
      return word == "null" ? "nothing" : quote(word);
  }
}

void JsonScan::expected(std::string_view what) {
  if (failed()) return;
  peek();
  began_ = at_;
  const auto what_is = found();  // which may itself fail: that is the better message
  fail_at(began_, fmt::format("expected {}, found {}", what, what_is));
}

void JsonScan::begin(char bracket, std::string_view what) {
  if (peek() != bracket) return expected(what);
  began_ = at_++;
}

bool JsonScan::next(char bracket, bool& first) {
  const char c = peek();
  if (failed()) return false;
  if (c == bracket) {
    ++at_;
    return false;
  }
  if (!std::exchange(first, false)) {
    if (c != ',') {
      expected(bracket == '}' ? "a comma or }" : "a comma or ]");
      return false;
    }
    ++at_;
  }
  peek();
  began_ = at_;
  return true;
}

bool JsonScan::next_key(bool& first) {
  if (!next('}', first)) return false;
  if (peek() != '"') {
    expected("a field's name in quotes");
    return false;
  }
  key_ = quoted(buffer_);
  if (peek() != ':') {
    expected("a colon");
    return false;
  }
  ++at_;
  return !failed();
}

std::string_view JsonScan::text(std::string_view what) {
  if (peek() != '"') {
    expected(what);
    return {};
  }
  return quoted(buffer_);
}

std::string_view JsonScan::text_or_number(std::string_view what) { return at_number() ? plain() : text(what); }

// The text between quotes, in place if it has no escapes.
std::string_view JsonScan::quoted(std::string& buffer) {
  began_ = at_++;
  const std::size_t start = at_;
  std::size_t copied = start;  // up to where it is in the buffer, if there are escapes
  unsigned char bits = 0;
  for (;;) {
    const char *c = text_.data() + at_, *const end = text_.data() + text_.size();
    for (; c != end && *c != '"' && *c != '\\' && static_cast<unsigned char>(*c) >= 0x20; ++c)
      bits |= static_cast<unsigned char>(*c);
    at_ = static_cast<std::size_t>(c - text_.data());
    if (c == end)
      fail("a text without its closing quote");
    else if (*c != '"' && *c != '\\')
      fail_at(at_, "a control character in a text", "write it as an escape");
    if (failed()) return {};
    if (*c == '"') break;
    if (copied == start) buffer.clear();
    buffer.append(text_, copied, at_ - copied);
    copied = unescape(buffer);
    if (failed()) return {};
  }
  const auto raw = text_.substr(start, at_++ - start);
  if (bits >= 0x80) {
    if (const auto bad = find_invalid_utf8(raw)) {
      fail_at(start + *bad, fmt::format("byte 0x{:02x} is not valid UTF-8", static_cast<unsigned char>(raw[*bad])));
      return {};
    }
  }
  if (copied == start) return raw;
  buffer.append(text_, copied, start + raw.size() - copied);
  return buffer;
}

// Adds what the escape here means, and returns where it ends.
std::size_t JsonScan::unescape(std::string& buffer) {
  constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  const std::size_t start = at_++;
  const char letter = at_ < text_.size() ? text_[at_++] : '\0';
  if (const auto at = letters.find(letter); at != std::string_view::npos) {
    buffer += meant[at];
    return at_;
  }
  const auto first = letter == 'u' ? hex4() : std::nullopt;
  const bool high = first && *first >= 0xD800 && *first < 0xDC00;
  std::optional<std::uint32_t> second;
  if (high && text_.substr(at_).starts_with("\\u")) at_ += 2, second = hex4();
  const bool pair = second && *second >= 0xDC00 && *second < 0xE000;
  if (!first || (high && !pair) || (!high && *first >= 0xDC00 && *first < 0xE000)) {
    fail_at(start, "not a valid escape", R"(use \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits)");
  } else {
    append_utf8(buffer, high ? 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00) : *first);
  }
  return at_;
}

std::optional<std::uint32_t> JsonScan::hex4() {
  const auto digits = text_.substr(std::min(at_, text_.size()), 4);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 4 || end != digits.data() + 4 || error != std::errc()) return std::nullopt;
  at_ += 4;
  return value;
}

// A number or a word, which must be one of JSON's, and no larger than a number can be.
std::string_view JsonScan::plain() {
  peek();
  began_ = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  const auto inside = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
  };
  const bool digits = at_ > began_ && (at_ == text_.size() || !inside(text_[at_]));
  const std::size_t size = at_ - began_;
  if (digits && (size == 1 || (text_[began_] != '0' && size <= std::numeric_limits<double>::max_exponent10)))
    return text_.substr(began_, size);
  while (at_ < text_.size() && inside(text_[at_])) ++at_;
  const auto word = text_.substr(began_, at_ - began_);
  if (word != "true" && word != "false" && word != "null" && !(is_number(word) && is_finite(word)))
    fail(fmt::format("not valid JSON: expected a value, found {}",
                     began_ == text_.size() ? "the end" : quote(word.empty() ? text_.substr(began_, 1) : word)));
  return word;
}

std::uint64_t JsonScan::count(std::uint64_t most) {
  if (!at_number()) {
    expected("a whole number");
    return 0;
  }
  const auto digits = plain();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size() && value <= most) return value;
  if (end != digits.data() + digits.size()) {
    fail(fmt::format("{} is not a whole number", quote(digits)));
  } else {
    fail(fmt::format("{} is out of range", digits), fmt::format("give a whole number from 0 to {}", most));
  }
  return 0;
}

bool JsonScan::flag() {
  const char c = peek();
  const auto word = c == 't' || c == 'f' ? plain() : std::string_view();
  if (word.empty()) expected("true or false");
  return word == "true";
}

void JsonScan::skip() { skip(0); }

void JsonScan::skip(std::size_t depth) {
  const char c = peek();
  if (depth > depth_max) return fail(fmt::format("nested deeper than {} levels", depth_max));
  if (c == '"') {
    std::string buffer;
    quoted(buffer);
  } else if (c == '{') {
    begin_map("a map");
    for (bool first = true; next_key(first);) skip(depth + 1);
  } else if (c == '[') {
    begin_list("a list");
    for (bool first = true; next_item(first);) skip(depth + 1);
  } else {
    plain();
  }
}

void JsonScan::end() {
  const char c = peek();
  if (failed() || at_ == text_.size()) return;
  fail_at(at_, fmt::format("something stands behind the end: {}", quote(std::string_view(&c, 1))));
}

}  // namespace evenkeel::detail
