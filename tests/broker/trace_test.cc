// Traces: JSON that is cut and not decoded, commands that survive being written and read, and runs that say where they end.

#include "evenkeel/broker/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "evenkeel/base/rng.h"
#include "evenkeel/broker/detail/trace_json.h"

namespace evenkeel::broker {
namespace {

using detail::scan_json;

TEST(TraceJson, TakesWhatJsonTakes) {
  for (const char* text : {"{}", "[]", " [ ] ", "1", "-0", "0.5e-3", "\"\"", "\"\\u00e9\\n\\/\"", "true", "null",
                           R"({"a":[1,{"b":{}},[[]]],"c":"}]\""})"})
    EXPECT_TRUE(scan_json(text).has_value()) << text;
  for (const char* text : {"",    " ",   "{",    "}",   "[1,]", "[,1]",        "{\"a\"}", "{\"a\":}", "{\"a\":1,}",  "{a:1}",
                           "01",  "1.",  ".5",   "+1",  "1e",   "\"",          "\"\t\"",  "\"\\x\"",  "\"\\u12g4\"", "tru",
                           "nul", "1 2", "{}{}", "[1}", "\xff", "\"\xc0\xaf\""})
    EXPECT_FALSE(scan_json(text).has_value()) << text;
}

// Mutations of a text that uses all of JSON, judged by another reader. It refuses numbers beyond a double and halves of surrogate
// pairs, which the text does not have and a mutation of one byte hardly makes.
TEST(TraceJson, AgreesWithAnotherReader) {
  const std::string good = R"( {"a":[0,-1.5e+3,true,false,null,{}],"b\n":"\"\\ x \u00e9 é","c":[[],[{"d":[1]}]]} )";
  constexpr std::string_view bytes = "{}[]\",:\\ 019-+.eEtrufalsn\t\x01\xc3";
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (std::uint64_t edits = 1 + rng.below(2); edits > 0; --edits) {
      const auto at = rng.below(text.size());
      if (rng.chance(1, 2)) {
        text[at] = bytes[rng.below(bytes.size())];
      } else {
        text.erase(at, 1 + rng.below(4));
      }
    }
    ASSERT_EQ(scan_json(text).has_value(), nlohmann::json::accept(text)) << text;
  }
}

TEST(TraceJson, DepthCostsNoStack) {
  const std::size_t depth = 1'000'000;
  EXPECT_TRUE(scan_json(std::string(depth, '[') + std::string(depth, ']')).has_value());
  EXPECT_FALSE(scan_json(std::string(depth, '[')).has_value());
}

TEST(Trace, CommandsSurviveBeingWrittenAndRead) {
  const std::vector<std::string> resources = {"cpu", "memory", "disk\n"};
  State state{.now = Micros(500),
              .config = default_config(),
              .next_task = 7,
              .finished_by_queue = {{"gone", 3}},
              .clients = {ClientId(0), ClientId(1)}};
  for (const QueueSpec& queue : state.config.queues)
    state.queues.push_back({.name = queue.name, .real = ~UInt128{0}, .planned = UInt128{1} << 100});
  for (const TypeSpec& type : state.config.types) {
    state.types.push_back({.name = type.name, .oldest = 19});
    state.types.back().durations.fill(unlimited);
  }
  state.tasks.push_back({.client = ClientId(1),
                         .id = TaskId(unlimited),
                         .name = "compaction of \"t\"",
                         .type = "nosuch",
                         .priority = 5,
                         .need = {1, 0},
                         .cookie = "[1.0, null]",
                         .submitted = Micros(100),
                         .since = Micros(200),
                         .planned_duration = Micros(unlimited),
                         .running = true});
  const std::vector<trace::Command> commands = {
      trace::Configure{default_config()},
      trace::Configure{},
      trace::Restore{state, {{ClientId(0), "a"}, {ClientId(1), "b\t"}}},
      trace::Submit{.client = "a", .type = "t"},
      trace::Submit{.client = "é\"\n",
                    .task = TaskId(unlimited),
                    .type = "t",
                    .priority = unlimited,
                    .need = {{"cpu", 0}, {"disk\n", unlimited}},
                    .cookie = R"({"a": 1e999})",
                    .instant = true},
      trace::Update{.client = "a", .task = TaskId(1), .type = "t", .priority = 2, .need = {{"memory", 3}}, .resubmit = true},
      trace::UpdateCookie{"a", TaskId(1), "null"},
      trace::Remove{"a", TaskId(1), true},
      trace::Remove{"a", TaskId(1), false},
      trace::Finish{.client = "a", .task = TaskId(1), .cancel = true, .instant = true},
      trace::Finish{.client = "a", .task = TaskId(1)},
      trace::Reduce{"a", TaskId(1), {{"cpu", 2}}},
      trace::Merge{"a", TaskId(1), TaskId(2)},
      trace::ClientDied{""},
      trace::Advance{Micros(unlimited)},
      trace::Stats{},
      trace::Note{"said \xc2\x85 in one line\r\n"},
  };
  for (const trace::Command& command : commands) {
    const std::string line = trace::format(command);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto again = trace::parse(line, resources);
    ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << line;
    EXPECT_EQ(*again, command) << line;
  }
}

TEST(Trace, CookiesOfBytesBecomeText) {
  EXPECT_EQ(trace::cookie_of("a\"\xff"), "\"a\\\"\xef\xbf\xbd\"");
  State state;
  state.tasks.push_back({.cookie = "raw"});
  EXPECT_EQ(trace::restore_of(state, {}).state.tasks[0].cookie, "\"raw\"");
}

TEST(Trace, AnErrorNamesItsLineAndKeepsTheEventsBeforeIt) {
  TraceRunner runner;
  std::string out;
  ASSERT_TRUE(runner.line("", out).has_value());
  const trace::Command first = trace::Configure{default_config()};
  ASSERT_TRUE(runner.line(trace::format(first), out).has_value());
  const auto done = runner.line(R"({"cmd":"submit","client":"é","task":x})", out);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().place, (Place{.line = 3, .column = 37}));
  EXPECT_EQ(out, "{\"ev\":\"configured\",\"t\":0,\"ok\":true,\"message\":\"\"}\n");
}

}  // namespace
}  // namespace evenkeel::broker
