#include "evenkeel/cli/output.h"

#include <algorithm>

#include "evenkeel/base/result.h"

namespace evenkeel::cli {
namespace {

bool begins_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// "8Gi" and "1h30m" are numbers, "2 replicas in dc1" is a sentence.
bool number(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9' && text.find(' ') == std::string_view::npos;
}

}  // namespace

std::size_t width_of(std::string_view text) { return static_cast<std::size_t>(std::ranges::count_if(text, begins_a_character)); }

std::string cut(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (begins_a_character(text[end]) && ++seen == columns) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::add(std::vector<std::string> row) {
  ensure(row.size() == rows_.front().size(), "a table's row has as many cells as its header");
  for (std::string& cell : row) {
    if (cell.empty()) cell = "-";
  }
  rows_.push_back(std::move(row));
}

std::string Table::format() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> right(columns, false);
  for (std::size_t c = 0; c < columns; ++c) {
    bool some = false, all = true;  // numbers; cells with nothing to say are either
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      widths[c] = std::max(widths[c], width_of(rows_[r][c]));
      if (r == 0 || rows_[r][c] == "-") continue;
      some |= number(rows_[r][c]);
      all &= number(rows_[r][c]);
    }
    right[c] = some && all;
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string padding(widths[c] - width_of(row[c]), ' ');
      line += (c == 0 ? "" : "  ") + (right[c] ? padding + row[c] : row[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace evenkeel::cli
