#pragma once
// A tournament over leaves in a fixed order: the one with the least key, outside some ranges, in O(ranges · log leaves); where several
// have the least key, dice choose among them.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace evenkeel::place::detail {

struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend auto operator<=>(const Range&, const Range&) = default;
};

class LeastTree {
 public:
  static constexpr std::uint64_t blocked = ~std::uint64_t{0};  // never the least

  std::uint32_t size() const { return size_; }
  std::uint64_t key(std::uint32_t leaf) const { return all_[width_ + leaf].key; }

  void assign(std::span<const std::uint64_t> keys) {
    size_ = static_cast<std::uint32_t>(keys.size());
    width_ = std::bit_ceil(std::max(1u, size_));
    all_.assign(std::size_t{2} * width_, Best{});
    for (std::uint32_t leaf = 0; leaf < size_; ++leaf) all_[width_ + leaf] = {keys[leaf], 1};
    for (std::uint32_t i = width_ - 1; i > 0; --i) all_[i] = better(all_[2 * i], all_[2 * i + 1]);
  }

  void set(std::uint32_t leaf, std::uint64_t key) {
    std::uint32_t i = width_ + leaf;
    if (all_[i].key == key) return;
    all_[i].key = key;
    while ((i /= 2) > 0) {
      const Best next = better(all_[2 * i], all_[2 * i + 1]);
      if (next == all_[i]) break;
      all_[i] = next;
    }
  }

  // `without` is sorted, and its ranges do not overlap.
  std::optional<std::uint32_t> least(std::span<const Range> without, std::uint64_t dice) const {
    parts_.clear();
    Best best;
    std::uint32_t begin = 0;
    for (const Range& gap : without) {
      cover(begin, gap.begin, best);
      begin = gap.end;
    }
    cover(begin, size_, best);
    if (best.key == blocked) return std::nullopt;
    return find(best.key, static_cast<std::uint32_t>(dice % best.ties));
  }

 private:
  struct Best {
    std::uint64_t key = blocked;
    std::uint32_t ties = 0;  // how many leaves have it
    friend bool operator==(const Best&, const Best&) = default;
  };
  static Best better(const Best& a, const Best& b) {
    if (a.key != b.key) return a.key < b.key ? a : b;
    return {a.key, a.ties + b.ties};
  }

  // The fewest parts of the tree that make up the leaves from begin to end, in order.
  void cover(std::uint32_t begin, std::uint32_t end, Best& best) const {
    if (begin >= end) return;
    const std::size_t first = parts_.size();
    std::uint32_t low = width_ + begin, high = width_ + end;
    right_.clear();
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) parts_.push_back(low++);
      if (high % 2 == 1) right_.push_back(--high);
    }
    parts_.insert(parts_.end(), right_.rbegin(), right_.rend());
    for (std::size_t i = first; i < parts_.size(); ++i) best = better(best, all_[parts_[i]]);
  }

  std::uint32_t find(std::uint64_t key, std::uint32_t nth) const {
    for (std::uint32_t part : parts_) {
      if (all_[part].key != key) continue;
      if (nth >= all_[part].ties) {
        nth -= all_[part].ties;
        continue;
      }
      while (part < width_) {
        part *= 2;
        if (all_[part].key == key && nth < all_[part].ties) continue;
        if (all_[part].key == key) nth -= all_[part].ties;
        ++part;
      }
      return part - width_;
    }
    return size_;  // not reached: the least key is that of some part
  }

  std::uint32_t size_ = 0;
  std::uint32_t width_ = 1;
  std::vector<Best> all_{2};                  // the root is 1, the leaves begin at width_
  mutable std::vector<std::uint32_t> parts_;  // kept for their memory
  mutable std::vector<std::uint32_t> right_;
};

}  // namespace evenkeel::place::detail
