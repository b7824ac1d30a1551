// Any bytes as a document of the store (the first byte says of which kind): refused with what is wrong, or a value that survives being
// written and read.

#include <cstdint>

#include "tests/model/document_kinds.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  [[maybe_unused]] const auto written = document_kinds[data[0] % std::size(document_kinds)].rewrite(text);
  return 0;
}
