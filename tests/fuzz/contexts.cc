// Any bytes as a file of contexts: refused with a place, or contexts that survive being written and read.

#include "evenkeel/cli/contexts.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto contexts = cli::parse_contexts(text, "fuzz");
  ensure(contexts.has_value() || !contexts.error().format().empty(), "a refusal says why");
  if (!contexts || contexts->later) return 0;
  const auto again = cli::parse_contexts(cli::format_contexts(*contexts), "again");
  ensure(again.has_value() && *again == *contexts, "contexts survive being written and read");
  return 0;
}
