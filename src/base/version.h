#pragma once
// The product's version, as `evenkeel version` says it.

#include <string>

namespace evenkeel {

std::string product_version();

}  // namespace evenkeel
