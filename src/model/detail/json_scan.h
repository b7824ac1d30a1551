#pragma once
// One pass over a JSON text, value by value, by who knows what to expect. No tree is made: a bucket of 32 records is read in a fraction of the
// time that Document takes, which matters where every fail-over writes and reads them.
//
//   JsonScan in(text);
//   in.begin_map("a peer");
//   for (bool first = true; in.next_key(first);) {
//     if (in.key() == "node") node = in.text(); else in.skip();
//   }
//   in.end();
//   if (in.failed()) …
//
// The first thing that is wrong is kept with its place; from then on everything reads as nothing and every loop ends, so nobody has to ask in
// between. What is accepted is the JSON that Document accepts, but for its bounds and the byte order mark.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "evenkeel/base/diagnostic.h"

namespace evenkeel::detail {

class JsonScan {
 public:
  explicit JsonScan(std::string_view text) : text_(text) {}

  // A map or a list; `what` is what it describes, for messages: "a peer with its fields", "a list of peers".
  void begin_map(std::string_view what) { begin('{', what); }
  void begin_list(std::string_view what) { begin('[', what); }
  // Whether another pair or item follows; else it is behind the closing bracket. `first` starts as true.
  bool next_key(bool& first);
  bool next_item(bool& first) { return next(']', first); }

  std::string_view key() const { return key_; }  // until the next key or text

  // Scalars. A text's view is good until the next text or key.
  std::string_view text(std::string_view what = "text");
  std::string_view text_or_number(std::string_view what);
  std::uint64_t count(std::uint64_t most);
  bool flag();
  void skip();  // any value
  void end();   // nothing may follow

  bool at_text() { return peek() == '"'; }
  bool at_number() { return peek() == '-' || (peek() >= '0' && peek() <= '9'); }

  // Something is wrong with what began last: a value, a key or a bracket; or with what began at `offset`.
  void fail(std::string message, std::string hint = "") { fail_at(began_, std::move(message), std::move(hint)); }
  void fail_at(std::size_t offset, std::string message, std::string hint = "");
  std::size_t began() const { return began_; }
  std::size_t here() { return peek(), at_; }  // where the next value begins
  bool failed() const { return problem_.has_value(); }
  // What is wrong; only if failed.
  Diagnostics problems(std::string_view file) const;

 private:
  static constexpr std::size_t depth_max = 32;

  char peek();  // the next byte that is not white space; 0 at the end
  void begin(char bracket, std::string_view what);
  bool next(char bracket, bool& first);
  void expected(std::string_view what);
  std::string found();
  std::string_view quoted(std::string& buffer);
  std::size_t unescape(std::string& buffer);
  std::optional<std::uint32_t> hex4();
  std::string_view plain();
  void skip(std::size_t depth);

  struct Wrong {
    std::size_t offset;
    std::string message;
    std::string hint;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t began_ = 0;
  std::string_view key_;
  std::string buffer_;  // of a text with escapes
  std::optional<Wrong> problem_;
};

}  // namespace evenkeel::detail
