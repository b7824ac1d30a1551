// Any bytes as each of the small texts people write: what is accepted has one canonical form that means the same.

#include <cstdint>
#include <string>

#include "evenkeel/base/log.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/time.h"
#include "evenkeel/model/ids.h"

namespace {

using namespace evenkeel;

template <class Parse>
void check_round_trip(std::string_view text, const Parse& parse) {
  const auto value = parse(text);
  if (!value) {
    ensure(!value.error().message.empty(), "a refusal says why");
    return;
  }
  const auto again = parse(format(*value));
  ensure(again.has_value() && *again == *value, "the canonical form means the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_round_trip(text, Quantity::parse);
  check_round_trip(text, Bytes::parse);
  check_round_trip(text, Ratio::parse);
  check_round_trip(text, parse_duration);
  check_round_trip(text, parse_shard_id);
  ensure(!find_invalid_utf8(quote(text)), "quoted text is valid UTF-8");
  Log::to([](Level, std::string_view line) { ensure(line.find('\n') == std::string_view::npos, "a log line is one line"); },
          {.level = Level::debug, .format = size % 2 == 0 ? Log::Format::text : Log::Format::json}, [] { return WallTime{}; })
      .info(text, {{std::string(text), text}});
  return 0;
}
