#include "evenkeel/broker/detail/protobuf_text.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/document.h"
#include "evenkeel/base/text.h"
#include "evenkeel/broker/detail/utf8.h"

namespace evenkeel::broker {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }

std::optional<unsigned> hex_value(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

// Digits, or 0x and hexadecimal ones, or digits with a point or an exponent: what protobuf calls a number. What it means is the reader's
// to say, and a word such as 30s is none.
bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    return !text.empty() && std::ranges::all_of(text, [](char c) { return hex_value(c).has_value(); });
  }
  const auto whole = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  if (whole.empty() && fraction.empty()) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (take_digits(text).empty()) return false;
  }
  return text.empty() || text == "f" || text == "F";
}

class ProtobufText {
 public:
  ProtobufText(std::string_view text, Diagnostics& problems) : text_(text), problems_(problems) {}

  bool read(ConfigNode& root) {
    root = {.kind = ConfigNode::Kind::message, .place = here_, .text = {}, .items = {}, .fields = {}};
    return read_fields(root, '\0', 0);
  }

 private:
  // The text has no control characters, so a zero stands for its end.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() {
    const char c = peek();
    ++at_;
    if (c == '\n') {
      here_ = {here_.line + 1, 1};
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++here_.column;
    }
    return c;
  }
  void skip() {
    while (is_blank(peek()) || peek() == '#') {
      if (next() != '#') continue;
      while (peek() != '\n' && peek() != '\0') next();
    }
  }
  bool refuse(Place place, std::string message, std::string hint) {
    problems_.add(place, std::move(message), std::move(hint));
    return false;
  }
  std::string found() const {
    if (peek() == '\0') return "the end of the text";
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    while (end == at_ || (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80)) ++end;
    return quote(text_.substr(at_, end - at_), 40);
  }

  // Fields up to the closing bracket, which is taken; a zero closes the text.
  bool read_fields(ConfigNode& message, char close, std::size_t depth) {
    for (skip(); peek() != close; skip()) {
      if (!read_field(message, depth)) {
        return false;
      }
      skip();
      if (peek() == ',' || peek() == ';') next();
    }
    next();
    return true;
  }

  bool read_field(ConfigNode& message, std::size_t depth) {
    ConfigField field{.name = {}, .place = here_, .value = {}};
    if (is_letter(peek())) {
      while (is_word(peek())) field.name += next();
    } else if (peek() == '"' || peek() == '\'') {
      if (!read_strings(field.name)) return false;
    } else if (peek() == '\0') {
      return refuse(message.place, "this is opened and never closed", "close it at the end of its fields");
    } else {
      return refuse(here_, fmt::format("expected a field's name, found {}", found()), "write name: value, or name { … }");
    }
    skip();
    const bool colon = peek() == ':';
    if (colon) {
      next();
      skip();
    } else if (peek() != '{' && peek() != '<' && peek() != '[') {
      return refuse(here_, fmt::format("expected : or {{ after {}, found {}", quote(field.name), found()),
                    "write name: value, or name { … }");
    }
    if (!read_value(field.value, depth)) return false;
    message.fields.push_back(std::move(field));
    return true;
  }

  bool read_value(ConfigNode& out, std::size_t depth) {
    out.place = here_;
    if (++values_ > config_values_max)
      return refuse(here_, fmt::format("more than {} values in one config", config_values_max), "cut it down");
    if (depth >= config_depth_max)
      return refuse(here_, fmt::format("nested deeper than {} levels", config_depth_max), "check the brackets");
    switch (peek()) {
      case '{':
      case '<':
        out.kind = ConfigNode::Kind::message;
        return read_fields(out, next() == '{' ? '}' : '>', depth + 1);
      case '[':
        out.kind = ConfigNode::Kind::list;
        return read_list(out, depth + 1);
      case '"':
      case '\'':
        out.kind = ConfigNode::Kind::text;
        return read_strings(out.text);
      default:
        out.kind = ConfigNode::Kind::plain;
        return read_number(out);
    }
  }

  bool read_list(ConfigNode& list, std::size_t depth) {
    next();
    for (skip(); peek() != ']'; skip()) {
      if (!list.items.empty()) {
        if (peek() == '\0') return refuse(list.place, "this is opened and never closed", "close it after its last item");
        if (peek() != ',') return refuse(here_, fmt::format("expected , or ] in a list, found {}", found()), "");
        next();
        skip();
      }
      ConfigNode item;
      if (!read_value(item, depth)) return false;
      list.items.push_back(std::move(item));
    }
    next();
    return true;
  }

  bool read_number(ConfigNode& out) {
    const std::string seen = found();
    if (peek() == '-') out.text += next();
    if (!out.text.empty()) skip();
    while (is_word(peek()) || peek() == '.' || (!out.text.empty() && is_sign_of_exponent(out.text))) out.text += next();
    if (is_number(out.text)) return true;
    if (out.text.empty()) return refuse(out.place, fmt::format("expected a value, found {}", seen), "");
    return refuse(out.place, fmt::format("expected a number or a text, found {}", quote(out.text, 40)),
                  "text stands in quotes; numbers are whole and have no unit");
  }
  bool is_sign_of_exponent(std::string_view before) const {
    const bool hex = before.find_first_of("xX") != std::string_view::npos;
    return !hex && (peek() == '-' || peek() == '+') && (before.back() == 'e' || before.back() == 'E');
  }

  bool read_strings(std::string& out) {
    const Place start = here_;
    for (; peek() == '"' || peek() == '\''; skip()) {
      if (!read_string(out)) return false;
    }
    if (out.size() > Document::scalar_max)
      return refuse(start, fmt::format("a text of {} bytes, which starts with {}", out.size(), quote(out, 20)),
                    fmt::format("a single text has at most {} bytes", Document::scalar_max));
    if (find_invalid_utf8(out)) return refuse(start, fmt::format("{} is not valid UTF-8", quote(out)), "check its escapes");
    return true;
  }

  bool read_string(std::string& out) {
    const Place start = here_;
    const char close = next();
    while (peek() != close) {
      if (peek() == '\0' || peek() == '\n' || peek() == '\r')
        return refuse(start, "a text without its closing quote", "close it on the same line; write a line break as \\n");
      if (peek() == '\\') {
        if (!read_escape(out)) return false;
      } else {
        out += next();
      }
    }
    next();
    return true;
  }

  bool read_escape(std::string& out) {
    constexpr std::string_view letters = "abfnrtv\\'\"?";
    constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"?";
    const Place start = here_;
    next();
    if (const auto at = letters.find(peek()); at != std::string_view::npos && peek() != '\0') {
      next();
      out += meanings[at];
      return true;
    }
    if (is_octal(peek())) {
      unsigned code = 0;
      for (int digits = 0; digits < 3 && is_octal(peek()); ++digits) code = code * 8 + static_cast<unsigned>(next() - '0');
      if (code <= 0xff) {
        out += static_cast<char>(code);
        return true;
      }
    } else if (peek() == 'x' || peek() == 'X') {
      next();
      if (const auto code = take_hex(1, 2)) {
        out += static_cast<char>(*code);
        return true;
      }
    } else if (peek() == 'u' || peek() == 'U') {
      const int digits = next() == 'u' ? 4 : 8;
      const auto code = take_hex(digits, digits);
      if (code && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff)) {
        detail::append_utf8(out, *code);
        return true;
      }
    }
    return refuse(start, "not an escape that protobuf text knows",
                  R"(write \\ for a backslash, \n, \t, \xNN, \uNNNN or \UNNNNNNNN)");
  }
  std::optional<unsigned> take_hex(int least, int most) {
    unsigned code = 0;
    int digits = 0;
    for (; digits < most && hex_value(peek()); ++digits) code = code * 16 + *hex_value(next());
    return digits >= least ? std::optional(code) : std::nullopt;
  }

  std::string_view text_;
  Diagnostics& problems_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  Place here_{1, 1};
};

// Bytes that are no text; comments count, since the next reader may not forgive them.
std::optional<std::size_t> find_control(std::string_view text) {
  const auto bad =
      std::ranges::find_if(text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) && !is_blank(c); });
  return bad == text.end() ? std::nullopt : std::optional(static_cast<std::size_t>(bad - text.begin()));
}

Place place_of(std::string_view text, std::size_t offset) {
  Place place{1, 1};
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      place = {place.line + 1, 1};
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace

Parsed<ConfigNode> read_protobuf_text(std::string_view text, std::string file) {
  Diagnostics problems(std::move(file));
  if (const auto bad = find_invalid_utf8(text)) {
    problems.add(place_of(text, *bad), fmt::format("byte 0x{:02x} is not valid UTF-8", static_cast<unsigned char>(text[*bad])),
                 "save the file as UTF-8");
    return unexpected(std::move(problems));
  }
  if (const auto bad = find_control(text)) {
    problems.add(place_of(text, *bad), "control characters are not allowed", "remove it, or write it as an escape in quotes");
    return unexpected(std::move(problems));
  }
  ConfigNode root;
  if (!ProtobufText(text, problems).read(root)) return unexpected(std::move(problems));
  return root;
}

std::string protobuf_quoted(std::string_view text) { return quote(text, text.size()); }

bool is_protobuf_name(std::string_view text) { return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, is_word); }

}  // namespace evenkeel::broker
