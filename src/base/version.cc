#include "evenkeel/base/version.h"

#include "evenkeel_version.h"

namespace evenkeel {

std::string product_version() { return version_text; }

}  // namespace evenkeel
