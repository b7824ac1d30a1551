#include "evenkeel/place/detail/units.h"

#include <algorithm>

namespace evenkeel::place::detail {
namespace {

constexpr Int128 total_max = Int128{1} << 126;
constexpr Int128 units_max = Int128{1} << 60;

Int128 greatest_common_divisor(Int128 a, Int128 b) {
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

void Unit::add(Quantity load, std::uint64_t times) {
  if (load.nano() <= 0) return;
  if (nano_ != 1) nano_ = greatest_common_divisor(load.nano(), nano_);
  if (times == 0) return;
  const bool fits = load.nano() <= (total_max - total_) / static_cast<Int128>(times);
  total_ = fits ? total_ + load.nano() * static_cast<Int128>(times) : total_max;
}

void Unit::close() {
  nano_ = std::max<Int128>(nano_, 1);
  if (total_ / nano_ > units_max) nano_ = total_ / units_max + 1;
}

Amount Unit::load(Quantity load) const { return static_cast<Amount>((load.nano() + nano_ - 1) / nano_); }

Amount Unit::limit(Quantity capacity, Ratio part) const {
  constexpr Int128 million = 1'000'000;
  // 2^93 billionths at most, times a part of 2^30 millionths at most.
  return static_cast<Amount>(std::min<Int128>(capacity.nano() * part.millionths() / million / nano_, unlimited));
}

}  // namespace evenkeel::place::detail
