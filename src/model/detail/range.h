#pragma once
// Names that stand for many: "w[1-1000]", "r[01-12]n[1-3]". Numbers count up by one; leading zeros fix the width.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"

namespace evenkeel::detail {

class Range {
 public:
  // A text without brackets is a range of one. invalid, with what to do, for anything odd; too_large beyond `most` names.
  static Result<Range> parse(std::string_view text, std::uint64_t most);

  std::uint64_t size() const { return size_; }
  bool many() const { return !counters_.empty(); }

  // Which bracket turns fastest as the position grows: the last one, as one counts; or the first, as one deals.
  enum class Order : std::uint8_t { last_fastest, first_fastest };
  std::string at(std::uint64_t position, Order order) const;

 private:
  struct Counter {
    std::uint64_t first;
    std::uint64_t count;
    std::size_t width;  // 0: as many digits as it takes
  };
  std::vector<std::string> texts_ = {""};  // around the counters: one more than those
  std::vector<Counter> counters_;
  std::uint64_t size_ = 1;
};

// A number at the end of a text, as a range could have written it: "n007" is "n", 7, width 3.
struct Numbered {
  std::string_view prefix;
  std::uint64_t number;
  std::size_t digits;
  bool padded;  // it starts with a zero, so its width is fixed
};
std::optional<Numbered> split_number(std::string_view text);

}  // namespace evenkeel::detail
