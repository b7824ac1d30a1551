#pragma once
// Output: the five forms in which every command gives its data, and tables that line up.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/write.h"

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

// How many columns of a terminal a text takes: characters, not bytes.
std::size_t width_of(std::string_view text);
// At most so many columns of it; what is cut ends with "…".
std::string cut(std::string_view text, std::size_t columns);

// A list in any of the forms: `table_of(wide)` for people, `name_of(one)` as kind/name, `write(writer, one)` as a map.
template <class T, class TableOf, class NameOf, class Write>
std::string list_as(const std::vector<T>& all, Output output, const TableOf& table_of, const NameOf& name_of,
                    const Write& write) {
  if (output == Output::table || output == Output::wide) return table_of(output == Output::wide);
  if (output == Output::name) {
    std::string out;
    for (const T& one : all) out += name_of(one) + '\n';
    return out;
  }
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_list();
  for (const T& one : all) write(out, one);
  out.end_list();
  return std::move(out).take();
}

}  // namespace evenkeel::cli
