#pragma once
// Output: the five forms in which every command gives its data, and tables that line up.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::cli {

enum class Output : std::uint8_t {
  table,  // for people
  wide,   // for people with wide terminals
  json,
  yaml,
  name,  // one kind/name a line, for xargs
};
inline constexpr std::array<std::string_view, 5> output_names = {"table", "wide", "json", "yaml", "name"};

// Columns are as wide as their widest cell, two spaces apart; numbers are aligned to the right. A table without rows is only its header.
class Table {
 public:
  explicit Table(std::vector<std::string> header);

  void add(std::vector<std::string> row);  // as many cells as the header has; an empty cell is shown as "-"
  std::string format() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
};

}  // namespace evenkeel::cli
