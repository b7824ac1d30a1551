#include "evenkeel/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "evenkeel/base/text.h"

namespace evenkeel {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Lines {
  std::vector<std::string> text;
  std::vector<Level> levels;

  Log log(Log::Options options) {
    const auto sink = [this](Level level, std::string_view line) {
      levels.push_back(level);
      text.emplace_back(line);
    };
    return Log::to(sink, options, [] { return WallTime(); });
  }
};

TEST(Log, WritesFromItsLevelUpwards) {
  Lines lines;
  const Log log = lines.log({.level = Level::warn});
  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");
  log.write(Level::off, "e");
  EXPECT_THAT(lines.levels, ElementsAre(Level::warn, Level::error));
  EXPECT_THAT(lines.text, ElementsAre("1970-01-01T00:00:00.000000Z warn  c", "1970-01-01T00:00:00.000000Z error d"));
  EXPECT_FALSE(log.enabled(Level::info));
  EXPECT_TRUE(log.enabled(Level::error));
  EXPECT_FALSE(log.enabled(Level::off));
}

TEST(Log, OffAndNowhereWriteNothing) {
  Lines lines;
  lines.log({.level = Level::off}).error("a");
  EXPECT_THAT(lines.text, IsEmpty());
  EXPECT_FALSE(Log::nowhere().enabled(Level::error));
  Log::nowhere().error("a");
}

TEST(Log, ChildrenAddTheirFieldsAndLeaveTheParentAlone) {
  Lines lines;
  const Log log = lines.log({});
  const Log node = log.with({{"node", "n1"}, {"attempt", 1}});
  const Log retry = node.with({{"attempt", 2}});
  retry.info("a", {{"node", "n2"}});
  node.info("b");
  log.info("c", {{"x", 1}, {"x", 2}});
  EXPECT_THAT(lines.text, ElementsAre(EndsWith(" a node=n2 attempt=2"), EndsWith(" b node=n1 attempt=1"), EndsWith(" c x=2")));
}

TEST(Log, FieldsKeepTheirKind) {
  using NodeId = Name<struct NodeTag>;
  using Epoch = Number<struct EpochTag, std::uint64_t>;
  Lines lines;
  const Log log = lines.log({.format = Log::Format::json});
  log.info("m", {{"a", std::numeric_limits<std::int64_t>::min()},
                 {"b", std::numeric_limits<std::uint64_t>::max()},
                 {"c", std::uint8_t{200}},
                 {"d", 0.1},
                 {"e", true},
                 {"f", std::string("s")},
                 {"g", std::string_view("v")},
                 {"h", 90s},
                 {"i", NodeId("n1")},
                 {"j", Epoch(~std::uint64_t{0})},
                 {"k", -std::numeric_limits<double>::infinity()}});
  EXPECT_THAT(lines.text, ElementsAre(EndsWith(
                              R"("a":-9223372036854775808,"b":18446744073709551615,"c":200,"d":0.1,"e":true,"f":"s","g":"v",)"
                              R"("h":"1m30s","i":"n1","j":18446744073709551615,"k":"-inf"})")));
}

// A reader of JSON strings, enough to check what is written: the text of the string that starts at `at`, which moves behind it.
std::string read_string(std::string_view json, std::size_t& at) {
  RC_ASSERT(json[at] == '"');
  std::string out;
  for (++at; json.at(at) != '"'; ++at) {
    const char c = json[at];
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
    if (c != '\\') {
      out += c;
      continue;
    }
    const char escape = json.at(++at);
    const std::size_t known = std::string_view("\"\\bfnrt").find(escape);
    if (known != std::string_view::npos) {
      out += "\"\\\b\f\n\r\t"[known];
    } else {
      RC_ASSERT(escape == 'u');
      out += "?";
      at += 4;
    }
  }
  ++at;
  return out;
}

TEST(Log, AnyBytesGiveOneLineOfJsonWithTheSameStrings) {
  EXPECT_TRUE(rc::check("for any message and value", [] {
    const auto bytes =
        rc::gen::container<std::string>(rc::gen::map(rc::gen::inRange(1, 256), [](int b) { return static_cast<char>(b); }));
    const std::string message = *bytes;
    const std::string value = *bytes;
    Lines lines;
    lines.log({.format = Log::Format::json}).info(message, {{"v", value}});
    lines.log({.format = Log::Format::text}).info(message, {{"v", value}});
    RC_ASSERT(lines.text.size() == 2U);
    for (const std::string& line : lines.text) {
      RC_ASSERT(!find_invalid_utf8(line));
      RC_ASSERT(line.find('\n') == std::string::npos);
    }
    const std::string& json = lines.text[0];
    std::size_t at = json.find("\"message\":") + 10;
    const std::string message_back = read_string(json, at);
    RC_ASSERT(json.substr(at, 5) == ",\"v\":");
    at += 5;
    const std::string value_back = read_string(json, at);
    RC_ASSERT(json.substr(at) == "}");
    const auto plain = [](const std::string& text) {
      return std::all_of(text.begin(), text.end(),
                         [](char c) { return c >= '\b' && c < 0x7f && c != '\v' && (c < 0x0e || c >= 0x20); });
    };
    if (plain(message)) RC_ASSERT(message_back == message);
    if (plain(value)) RC_ASSERT(value_back == value);
  }));
}

TEST(Log, ManyThreadsWriteWholeLines) {
  Lines lines;
  const Log log = lines.log({});
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&log, thread] {
        const Log mine = log.with({{"thread", thread}});
        for (int i = 0; i < 100; ++i) mine.info("turn", {{"i", i}});
      });
    }
  }
  EXPECT_THAT(lines.text, SizeIs(400));
  EXPECT_THAT(lines.text,
              testing::Each(testing::ContainsRegex("^1970-01-01T00:00:00.000000Z info  turn thread=[0-3] i=[0-9]+$")));
}

TEST(Log, StderrGetsTheLineAsItIs) {
  testing::internal::CaptureStderr();
  const Log log = Log::to_stderr({.level = Level::info});
  log.debug("hidden");
  log.info("100% {braces} %v", {{"node", "n1"}});
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, testing::MatchesRegex("20[0-9-]+T[0-9:.]+Z info  100% \\{braces\\} %v node=n1\n"));
}

TEST(Level, NamesAndBack) {
  for (const Level level : {Level::debug, Level::info, Level::warn, Level::error, Level::off})
    EXPECT_EQ(parse_level(name(level)), level);
  EXPECT_EQ(parse_level("warning").error().message, "\"warning\" is not a log level: use debug, info, warn, error or off");
  EXPECT_EQ(parse_level("INFO").error().message, "\"INFO\" is not a log level: did you mean info?");
  EXPECT_EQ(parse_level("eror").error().code, Code::invalid);
}

}  // namespace
}  // namespace evenkeel
