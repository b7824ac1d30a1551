#pragma once
// What is above a limit, in figures for people: "disk 96%+1% > 95%", or "has no disk" of a node whose capacity is nothing. Two decimals, or
// as many more, up to six, as it takes to see that the limit is exceeded and that no part is nothing.

#include <initializer_list>
#include <string>
#include <string_view>

#include "evenkeel/base/quantity.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place::detail {

// Amounts that together are above a limit, which is a part of the capacity.
std::string why_above(std::string_view resource, std::initializer_list<Quantity> amounts, Quantity capacity, Ratio limit);

// A node of the problem that holds so much in one dimension, and would get so much more, or nothing. Plain numbers where the dimension
// counts.
std::string why_above(const Problem& problem, std::uint32_t node, std::size_t dimension, Amount held, Amount more = 0);

}  // namespace evenkeel::place::detail
