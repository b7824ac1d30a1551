#pragma once
// Diagnostics: what is wrong with a text somebody wrote, where, and what to do: all of it at once, not one by one.
//
//   pages.yaml:12:14: error: unknown field "replica" of a workload
//     did you mean "replicas"?
//
// A parser adds problems as it finds them and goes on; whoever called it gets either the whole value or the whole list, never half
// of each. Only the first `most` are kept and the rest counted, so that a hostile file costs no memory.

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "evenkeel/base/result.h"

namespace evenkeel {

// A place in a text; line and column count from 1, columns in characters. Line 0: the text as a whole.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Diagnostic {
  Place place;
  std::string message;  // what is wrong
  std::string hint;     // what to do, or what was meant; may be empty
  friend auto operator<=>(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
 public:
  static constexpr std::size_t most = 20;

  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void add(Place place, std::string message, std::string hint = "");

  bool empty() const { return found_ == 0; }
  std::size_t found() const { return found_; }  // all of them, also those not kept
  const std::string& file() const { return file_; }
  // Those kept, in order of place.
  std::vector<Diagnostic> sorted() const;

  // As a compiler prints it: a line for each problem, an indented one for its hint, and how many more there are.
  std::string format() const;
  // The whole list as one error, for callers that pass it on.
  Error to_error() const { return Error{Code::invalid, format()}; }

 private:
  std::string file_;
  std::vector<Diagnostic> kept_;
  std::size_t found_ = 0;
};

// What a parser of a file returns.
template <class T>
using Parsed = tl::expected<T, Diagnostics>;

}  // namespace evenkeel
