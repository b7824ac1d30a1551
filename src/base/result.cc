#include "evenkeel/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace evenkeel {

std::string_view name(Code code) {
  switch (code) {
    case Code::invalid:
      return "invalid";
    case Code::not_found:
      return "not_found";
    case Code::conflict:
      return "conflict";
    case Code::refused:
      return "refused";
    case Code::denied:
      return "denied";
    case Code::too_large:
      return "too_large";
    case Code::unavailable:
      return "unavailable";
    case Code::unknown_outcome:
      return "unknown_outcome";
    case Code::cancelled:
      return "cancelled";
  }
  stop_on_bug("an error code is one of those listed");
}

void stop_on_bug(std::string_view what, std::source_location where) {
  // stdio and no logger: this must work in whatever state the process is, and its text must be out before it ends.
  std::fprintf(stderr, "%s:%u: bug: broken promise: %.*s\n", where.file_name(), static_cast<unsigned>(where.line()),
               static_cast<int>(what.size()), what.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace evenkeel
