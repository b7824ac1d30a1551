#pragma once
// Reading fields: from a Document's values to typed ones, with every problem said and none of them twice.
//
// Leaf readers take a value and return it typed, or add a problem and return nothing. `FieldReader` walks one map: each field is
// asked for by name, and what nobody asked for is reported at the end with what was probably meant.
//
//   FieldReader fields(value, problems, "a node");
//   fields.read("cores", node.cores, [&](Value v) { return read_count(v, problems, {.most = 4096}); });
//   fields.required("name", ...);
//   fields.finish();                      // unknown field "core" of a node; did you mean "cores"?
//
// A field that is absent leaves its default. A value that is wrong leaves it too, and the problem makes the whole file refused, so a
// half-read value is never used.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/document.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/base/time.h"

namespace evenkeel {

struct CountRange {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
};

// Scalars. A number or flag must be unquoted; text, quantities, durations and ratios may be quoted or not.
std::optional<std::string> read_text(Value value, Diagnostics& problems);
std::optional<bool> read_flag(Value value, Diagnostics& problems);
std::optional<std::uint64_t> read_count(Value value, Diagnostics& problems, CountRange range);
std::optional<Quantity> read_quantity(Value value, Diagnostics& problems);  // not negative
std::optional<Duration> read_duration(Value value, Diagnostics& problems);  // not negative
std::optional<Ratio> read_ratio(Value value, Diagnostics& problems);

// One of `words`, by its place in the list; near misses are suggested.
std::optional<std::size_t> read_word(Value value, Diagnostics& problems, std::string_view what,
                                     std::span<const std::string_view> words);

// True if the value has the kind; else adds "expected a list, found …".
bool expect_list(Value value, Diagnostics& problems, std::string_view what);
bool expect_map(Value value, Diagnostics& problems, std::string_view what);

// `did you mean "x"?`, or a list of what is known if nothing is near and the list is short, or nothing.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

class FieldReader {
 public:
  // `what` is what the map describes, with its article: "a node". If the value is no map that is a problem, and all fields are absent.
  FieldReader(Value map, Diagnostics& problems, std::string_view what);

  bool is_map() const { return map_.kind() == Value::Kind::map; }
  // The field's value, or nothing. Marks the name as known.
  std::optional<Value> take(std::string_view name);
  // The same, and a problem if it is absent.
  std::optional<Value> take_required(std::string_view name);
  // The same, where an explicit null means something.
  std::optional<Value> take_or_null(std::string_view name);

  // Reads the field into `out` by `reader(Value) -> std::optional<…>`; returns whether it was there and right.
  template <class T, class Reader>
  bool read(std::string_view name, T& out, const Reader& reader) {
    return store(take(name), out, reader);
  }
  template <class T, class Reader>
  bool required(std::string_view name, T& out, const Reader& reader) {
    return store(take_required(name), out, reader);
  }
  // Short forms for the common kinds.
  bool text(std::string_view name, std::string& out);
  bool flag(std::string_view name, bool& out);
  bool quantity(std::string_view name, Quantity& out);
  template <std::unsigned_integral N>
  bool count(std::string_view name, N& out, CountRange range = {}) {
    return read(name, out, [&](Value v) { return read_count(v, problems_, range); });
  }

  // Reports every field that was not asked for.
  void finish();

 private:
  template <class T, class Reader>
  bool store(std::optional<Value> value, T& out, const Reader& reader) {
    if (!value) return false;
    auto read = reader(*value);
    if (!read) return false;
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      out = static_cast<T>(*read);  // the reader's range has checked it
    } else {
      out = *std::move(read);
    }
    return true;
  }

  Value map_;
  Diagnostics& problems_;
  std::string_view what_;
  std::vector<std::string_view> known_;
};

}  // namespace evenkeel
