#include "evenkeel/broker/detail/trace_json.h"

#include <vector>

#include "evenkeel/base/text.h"
#include "evenkeel/broker/detail/utf8.h"

namespace evenkeel::broker::detail {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Walks a text that may or may not be JSON. The open brackets are kept in a vector, not on the stack.
class Scanner {
 public:
  explicit Scanner(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  const std::string& wrong() const { return wrong_; }

  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  // One whole value. False: `wrong` says what is wrong at `at`.
  bool value() {
    std::vector<char> open;
    for (;;) {
      skip_blanks();
      if (take('{')) {
        open.push_back('}');
        skip_blanks();
        if (peek() != '}') {
          if (!key()) return false;
          continue;
        }
      } else if (take('[')) {
        open.push_back(']');
        skip_blanks();
        if (peek() != ']') continue;
      } else if (!scalar()) {
        return false;
      }
      bool more = false;
      if (!close(open, more)) return false;
      if (!more) return true;
    }
  }

  bool text() {
    if (!take('"')) return fault("expected a text in double quotes");
    while (!at_end()) {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) return fault("a control character in a text; write it as an escape");
      ++at_;
      if (c == '"') return true;
      if (c == '\\' && !escape()) return false;
    }
    return fault("the line ends inside a text");
  }

 private:
  bool fault(std::string message) {
    wrong_ = std::move(message);
    return false;
  }

  bool key() {
    if (peek() != '"') return fault("expected a field's name in double quotes");
    if (!text()) return false;
    skip_blanks();
    return take(':') || fault("expected ':' after a field's name");
  }

  // After a value: closes what ends here, and says whether another value follows.
  bool close(std::vector<char>& open, bool& more) {
    while (!open.empty()) {
      skip_blanks();
      if (take(open.back())) {
        open.pop_back();
        continue;
      }
      if (!take(',')) return fault(open.back() == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
      skip_blanks();
      more = true;
      return open.back() == ']' || key();
    }
    return true;
  }

  bool escape() {
    const char c = peek();
    if (at_end() || std::string_view("\"\\/bfnrtu").find(c) == std::string_view::npos) return fault("no such escape in JSON");
    ++at_;
    if (c != 'u') return true;
    for (int digits = 0; digits < 4; ++digits, ++at_) {
      if (!is_hex(peek())) return fault("expected four hexadecimal digits after \\u");
    }
    return true;
  }

  bool scalar() {
    if (peek() == '"') return text();
    if (peek() == '-' || is_digit(peek())) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return true;
    }
    return fault(at_end() ? "the line ends before its value" : "expected a JSON value");
  }

  bool digits() {
    if (!is_digit(peek())) return fault("expected a digit");
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (!take('e') && !take('E')) return true;
    if (!take('+')) take('-');
    return digits();
  }

  std::string_view text_;
  std::size_t at_;
  std::string wrong_;
};

// The part of a container that a scanner walked, as a value of the line.
JsonText part(JsonText whole, std::size_t from, std::size_t to) { return {whole.raw.substr(from, to - from), whole.at + from}; }

std::uint32_t hex_of(std::string_view four) {
  std::uint32_t code = 0;
  for (const char c : four) code = code << 4 | static_cast<std::uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  return code;
}

// The character of the \u escape at the front of `rest`, taken off it, with its other half if it is one of a pair.
std::optional<std::uint32_t> take_unicode(std::string_view& rest) {
  const std::uint32_t high = hex_of(rest.substr(2, 4));
  rest.remove_prefix(6);
  if (high < 0xd800 || high > 0xdfff) return high;
  if (high > 0xdbff || !rest.starts_with("\\u")) return std::nullopt;
  const std::uint32_t low = hex_of(rest.substr(2, 4));
  if (low < 0xdc00 || low > 0xdfff) return std::nullopt;
  rest.remove_prefix(6);
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

}  // namespace

JsonText::Kind JsonText::kind() const {
  switch (raw.front()) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::list;
    case '"':
      return Kind::text;
    case 't':
    case 'f':
      return Kind::flag;
    case 'n':
      return Kind::null;
    default:
      return Kind::number;
  }
}

std::string_view JsonText::kind_name() const {
  switch (kind()) {
    case Kind::object:
      return "an object";
    case Kind::list:
      return "a list";
    case Kind::text:
      return "a text";
    case Kind::number:
      return "a number";
    case Kind::flag:
      return raw;
    case Kind::null:
      break;
  }
  return "null";
}

tl::expected<JsonText, JsonFault> scan_json(std::string_view line) {
  if (const auto invalid = find_invalid_utf8(line))
    return tl::unexpected(JsonFault{*invalid, "the line is not valid UTF-8 here", "save the file as UTF-8"});
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  Scanner scanner(line, line.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  scanner.skip_blanks();
  const std::size_t from = scanner.at();
  constexpr std::string_view hint = "write one JSON object a line";
  if (!scanner.value()) return tl::unexpected(JsonFault{scanner.at(), scanner.wrong(), std::string(hint)});
  const JsonText value{line.substr(from, scanner.at() - from), from};
  scanner.skip_blanks();
  if (!scanner.at_end()) return tl::unexpected(JsonFault{scanner.at(), "more text after the value", std::string(hint)});
  return value;
}

void for_each_field(JsonText object, const std::function<void(JsonText key, JsonText value)>& visit) {
  Scanner scanner(object.raw, 1);
  scanner.skip_blanks();
  while (!scanner.at_end() && scanner.peek() != '}') {
    const std::size_t key = scanner.at();
    scanner.text();
    const std::size_t after_key = scanner.at();
    scanner.skip_blanks();
    scanner.take(':');
    scanner.skip_blanks();
    const std::size_t value = scanner.at();
    scanner.value();
    visit(part(object, key, after_key), part(object, value, scanner.at()));
    scanner.skip_blanks();
    scanner.take(',');
    scanner.skip_blanks();
  }
}

void for_each_item(JsonText list, const std::function<void(JsonText item)>& visit) {
  Scanner scanner(list.raw, 1);
  scanner.skip_blanks();
  while (!scanner.at_end() && scanner.peek() != ']') {
    const std::size_t item = scanner.at();
    scanner.value();
    visit(part(list, item, scanner.at()));
    scanner.skip_blanks();
    scanner.take(',');
    scanner.skip_blanks();
  }
}

std::optional<std::string> decode_text(JsonText text) {
  std::string_view rest = text.raw.substr(1, text.raw.size() - 2);
  std::string out;
  while (!rest.empty()) {
    const std::size_t plain = std::min(rest.find('\\'), rest.size());
    out += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    if (rest[1] == 'u') {
      const auto code = take_unicode(rest);
      if (!code) return std::nullopt;
      append_utf8(out, *code);
    } else {
      constexpr std::string_view letters = "bfnrt", meant = "\b\f\n\r\t";
      const std::size_t letter = letters.find(rest[1]);
      out += letter == std::string_view::npos ? rest[1] : meant[letter];
      rest.remove_prefix(2);
    }
  }
  return out;
}

std::optional<std::uint64_t> decode_whole(JsonText number) {
  if (number.raw == "-0") return 0;
  const auto whole = parse_unsigned(number.raw);
  if (!whole) return std::nullopt;
  return *whole;
}

}  // namespace evenkeel::broker::detail
