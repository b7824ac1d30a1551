#pragma once
// Names of resources that would be mistaken for others: `Cpu` is how YDB writes `cpu`, and `Resource` opens its list of amounts.

#include <string_view>

#include "evenkeel/base/text.h"

namespace evenkeel::broker {

inline bool is_reserved_resource(std::string_view name) {
  const bool special = same_in_any_case(name, "cpu") || same_in_any_case(name, "memory") || same_in_any_case(name, "resource");
  return special && name != "cpu" && name != "memory";
}

}  // namespace evenkeel::broker
