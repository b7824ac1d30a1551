// JSON's front end, over nlohmann's event parser. That parser tells no positions, so an iterator that knows where it is does.

#include <nlohmann/json.hpp>

#include "evenkeel/base/detail/tape_builder.h"

namespace evenkeel {
namespace {

// A byte pointer that leaves its position where the handler below can see it.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

// Turns nlohmann's events into the builder's. A token starts where the last one ended, after white space, commas and colons; `walk_to`
// counts lines and columns on the way, so the whole text is counted once.
class Handler {
 public:
  Handler(std::string_view text, const char** seen, TapeBuilder& builder)
      : at_(text.data()), end_(text.data() + text.size()), seen_(seen), builder_(builder) {}

  bool null() { return scalar(Value::Kind::null, {}); }
  bool boolean(bool value) { return scalar(Value::Kind::plain, value ? "true" : "false"); }
  bool number_integer(std::int64_t) { return number(); }
  bool number_unsigned(std::uint64_t) { return number(); }
  bool number_float(double, const std::string&) { return number(); }
  bool string(const std::string& text) { return scalar(Value::Kind::text, text); }
  bool key(const std::string& text) { return scalar(Value::Kind::text, text); }
  bool binary(const nlohmann::json::binary_t&) { return false; }  // no such thing in text
  bool start_object(std::size_t) { return begin(Value::Kind::map); }
  bool start_array(std::size_t) { return begin(Value::Kind::list); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool parse_error(std::size_t, const std::string& token, const nlohmann::json::exception& problem) {
    const std::string_view what = problem.what();
    if (what.find("number overflow") != std::string_view::npos) {
      return builder_.refuse(token_start(), fmt::format("the number {} is too large", token.substr(0, 40)));
    }
    walk_to(std::max(at_, *seen_ - 1));  // the byte that was read last is the one that did not fit
    // "[json.exception…] parse error at line 1, column 2: syntax error while …; last read: '…'; expected …", parts of it optional.
    const auto told = what.substr(std::min(what.find(": ") + 2, what.size()));
    const auto read = told.find("; last read");
    const auto expected = read == std::string_view::npos ? read : told.rfind("; expected");
    std::string message = fmt::format("not valid JSON: {}", told.substr(0, read));
    if (expected != std::string_view::npos) message += told.substr(expected);
    return builder_.refuse(place_, std::move(message));
  }

 private:
  void walk_to(const char* to) {
    for (; at_ < to; ++at_) {
      if (*at_ == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((static_cast<unsigned char>(*at_) & 0xC0) != 0x80) {
        ++place_.column;
      }
    }
  }
  Place token_start() {
    const char* start = at_;
    while (start < end_ &&
           (*start == ' ' || *start == '\n' || *start == ',' || *start == ':' || *start == '\t' || *start == '\r'))
      ++start;
    walk_to(start);
    return place_;
  }
  bool scalar(Value::Kind kind, std::string_view text) {
    const bool ok = builder_.scalar(kind, text, token_start());
    walk_to(*seen_);
    return ok;
  }
  // A number's own digits, since a quantity must not pass through a double. The lexer has read one byte beyond them.
  bool number() {
    const Place place = token_start();
    const char* stop = at_;
    while (stop < end_ &&
           ((*stop >= '0' && *stop <= '9') || *stop == '.' || *stop == '-' || *stop == '+' || *stop == 'e' || *stop == 'E'))
      ++stop;
    const bool ok = builder_.scalar(Value::Kind::plain, {at_, static_cast<std::size_t>(stop - at_)}, place);
    walk_to(stop);
    return ok;
  }
  bool begin(Value::Kind kind) {
    const bool ok = builder_.begin(kind, token_start());
    walk_to(*seen_);
    return ok;
  }
  bool end() {
    walk_to(*seen_);
    return builder_.end();
  }

  const char* at_;
  const char* end_;
  const char** seen_;
  TapeBuilder& builder_;
  Place place_{1, 1};
};

}  // namespace

bool read_json(std::string_view text, TapeBuilder& builder) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return true;  // empty: said by the caller, alike for both syntaxes
  const char* seen = text.data();
  Handler handler(text, &seen, builder);
  return nlohmann::json::sax_parse(Cursor(text.data(), &seen), Cursor(text.data() + text.size(), &seen), &handler);
}

}  // namespace evenkeel
