// Any bytes as a story: refused with a place, or a whole story that survives being written and read.

#include "evenkeel/sim/story.h"

#include <cstdint>

#include "tests/fuzz/bounds.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (names_many(text)) return 0;
  const auto story = sim::read_story(text, "fuzz");
  if (!story) {
    ensure(!story.error().format().empty(), "a refusal says why");
    return 0;
  }
  const std::string written = sim::format(*story);
  const auto again = sim::parse_story(written, "again");
  ensure(again.has_value() && *again == *story, "a story survives being written and read");
  ensure(sim::format(*again) == written, "the same story is the same text");
  return 0;
}
