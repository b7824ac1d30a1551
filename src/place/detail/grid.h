#pragma once
// Sums by (family, node) or by (group, domain): dense where that is affordable, else only what is not zero.

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace evenkeel::place::detail {

template <class T>
class Grid {
 public:
  void reset(std::size_t rows, std::size_t columns) {
    columns_ = columns;
    dense_ = columns == 0 || rows <= cells_max / columns;
    cells_.assign(dense_ ? rows * columns : 0, T{});
    sparse_.clear();
  }
  T at(std::size_t row, std::size_t column) const {
    if (dense_) return cells_[row * columns_ + column];
    const auto found = sparse_.find(row * columns_ + column);
    return found == sparse_.end() ? T{} : found->second;
  }
  void add(std::size_t row, std::size_t column, T amount) {
    if (dense_) {
      cells_[row * columns_ + column] += amount;
    } else if ((sparse_[row * columns_ + column] += amount) == T{}) {
      sparse_.erase(row * columns_ + column);
    }
  }

 private:
  static constexpr std::size_t cells_max = std::size_t{1} << 25;  // 256 MiB of 8 bytes

  std::size_t columns_ = 0;
  bool dense_ = true;
  std::vector<T> cells_;
  std::unordered_map<std::size_t, T> sparse_;  // looked up only: its order means nothing
};

}  // namespace evenkeel::place::detail
