#include "evenkeel/base/diagnostic.h"

#include <algorithm>

namespace evenkeel {

void Diagnostics::add(Place place, std::string message, std::string hint) {
  ++found_;
  if (kept_.size() < most) kept_.push_back({place, std::move(message), std::move(hint)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  auto copy = kept_;
  std::ranges::sort(copy);
  return copy;
}

std::string Diagnostics::format() const {
  std::string out;
  for (const Diagnostic& d : sorted()) {
    out += file_;
    if (d.place.line > 0) out += fmt::format(":{}:{}", d.place.line, d.place.column);
    out += fmt::format(": error: {}\n", d.message);
    if (!d.hint.empty()) out += fmt::format("  {}\n", d.hint);
  }
  if (found_ > kept_.size()) out += fmt::format("{}: and {} more\n", file_, found_ - kept_.size());
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace evenkeel
