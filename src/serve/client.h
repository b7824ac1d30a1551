#pragma once
// Asking a daemon over HTTP, for programs that show what it says.
//
//   auto told = ask_events("127.0.0.1:7070", {.most = 200, .within = 1s});
//   if (told && told->active && told->cluster == cluster) for (const ToldEvent& event : told->events) …
//
// Daemons are reached on their own host alone, so what answers at an address may be another one than was meant: `cluster` and `controller` say who it is.
// Blocking; any thread. Bounded in time and size.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"

namespace evenkeel::serve {

struct ToldEvent {
  std::uint64_t number = 0;
  std::string time;   // as it is written: 2026-01-31T12:00:00.000000Z
  std::string kind;   // docs/serve.md
  std::string shard;  // empty: of none
  std::string node;   // empty: of none
  std::string text;
  friend bool operator==(const ToldEvent&, const ToldEvent&) = default;
};
struct ToldEvents {
  std::string cluster;
  bool active = false;
  std::string controller;         // the name of who is active; empty: nobody is known to be
  std::vector<ToldEvent> events;  // the latest, in their order
};

Result<ToldEvents> parse_events(std::string_view text);

struct AskEvents {
  std::uint32_t most = 200;
  Duration within = 1s;
};
Result<ToldEvents> ask_events(const std::string& address, const AskEvents& options);

}  // namespace evenkeel::serve
