// Any bytes as a trace: every line is refused with a place or does the same on the scheduler and on the naive model; a command that
// was read survives being written.

#include <cstdint>

#include "tests/broker/runners.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  using namespace evenkeel::broker;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  FastRunner fast{Options{}};
  NaiveRunner naive{Options{}};
  const std::vector<std::string> resources = {"cpu", "memory"};
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (const auto command = trace::parse(line, resources)) {
      const auto again = trace::parse(trace::format(*command), resources);
      ensure(again.has_value() && *again == *command, "a command survives being written and read");
    }
    std::string fast_events, naive_events;
    const auto fast_done = fast.line(line, fast_events);
    const auto naive_done = naive.line(line, naive_events);
    ensure(fast_done.has_value() == naive_done.has_value(), "both read the same lines");
    ensure(fast_events == naive_events, "the scheduler does what the naive model does");
    if (!fast_done) {
      ensure(!fast_done.error().message.empty() && fast_done.error().place.line > 0, "a refusal says where and why");
      return 0;
    }
  }
  return 0;
}
