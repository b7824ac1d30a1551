// Uses something compiled of each library, so that a missing link dependency shows.
#include <fmt/format.h>

#include <evenkeel/base/hash.h>
#include <evenkeel/base/time.h>

int main() {
  const auto delay = evenkeel::parse_duration("1h30m");
  if (!delay) return 1;
  fmt::print("consumer: {} hashes to {:x}\n", evenkeel::format(*delay), evenkeel::hash64("1h30m"));
  return 0;
}
