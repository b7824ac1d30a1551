#pragma once
// Log: what happened, for people and for machines, as a sentence with fields.
//
// A `Log` is passed to whoever logs; there is no global one. `with` makes a child that adds fields to every line.
//
//   Log log = Log::to_stderr({.level = Level::info, .format = Log::Format::text});
//   Log node_log = log.with({{"node", "n1"}});
//   node_log.info("joined", {{"zone", zone}, {"cores", 16}});
//     2026-11-15T08:49:55.000123Z info  joined node=n1 zone=dc1/r1 cores=16
//
// As JSON one object a line: {"time":"…","level":"info","message":"joined","node":"n1","zone":"dc1/r1","cores":16}. Control
// characters and quotes are escaped in both forms, so one call is always one line. Values keep their kind: numbers and booleans
// are bare in JSON, except those it cannot say (nan, inf), which are strings; bytes that are not UTF-8 become U+FFFD there.
// In text, what has spaces (a message may), quotes, '=', control characters, or nothing at all, stands in quotes.
// A key given twice counts once, the latest value in the place of the first. A field named time, level or message is written
// with a trailing '_', so that it cannot pass for the line's own.
// Any thread may log. Nothing here is for the pure core: it returns reasons as data instead.

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "evenkeel/base/id.h"
#include "evenkeel/base/time.h"

namespace evenkeel {

enum class Level : std::uint8_t { debug, info, warn, error, off };

std::string_view name(Level level);
Result<Level> parse_level(std::string_view text);

struct Field {
  std::string key;
  std::variant<std::string, std::int64_t, std::uint64_t, double, bool> value;

  Field(std::string k, std::string v) : key(std::move(k)), value(std::move(v)) {}
  Field(std::string k, std::string_view v) : key(std::move(k)), value(std::string(v)) {}
  Field(std::string k, const char* v) : key(std::move(k)), value(std::string(v)) {}
  Field(std::string k, bool v) : key(std::move(k)), value(v) {}
  Field(std::string k, double v) : key(std::move(k)), value(v) {}
  template <std::integral I>
  Field(std::string k, I v) : key(std::move(k)), value(whole(v)) {}
  Field(std::string k, Duration v) : key(std::move(k)), value(format(v)) {}
  template <class Tag>
  Field(std::string k, const Name<Tag>& v) : key(std::move(k)), value(v.str()) {}
  template <class Tag, class Rep>
  Field(std::string k, Number<Tag, Rep> v) : key(std::move(k)), value(whole(v.value())) {}

 private:
  // Signed and unsigned stay apart: a hash above 2^63 must not turn negative.
  template <std::integral I>
  static auto whole(I v) {
    if constexpr (std::unsigned_integral<I>) {
      return std::uint64_t{v};
    } else {
      return std::int64_t{v};
    }
  }
};
using Fields = std::initializer_list<Field>;

class Log {
 public:
  enum class Format : std::uint8_t { text, json };
  struct Options {
    Level level = Level::info;
    Format format = Format::text;
  };
  // Takes one finished line, without its newline. Called under the log's lock, one line at a time: it must neither log nor throw.
  using Sink = std::function<void(Level, std::string_view line)>;

  static Log to_stderr(Options options);
  // For tests and for embedding: lines go to `sink`, stamped by `time`.
  static Log to(Sink sink, Options options, std::function<WallTime()> time);
  static Log nowhere();

  Log with(Fields fields) const;

  bool enabled(Level level) const;
  void write(Level level, std::string_view message, Fields fields = {}) const;
  void debug(std::string_view message, Fields fields = {}) const { write(Level::debug, message, fields); }
  void info(std::string_view message, Fields fields = {}) const { write(Level::info, message, fields); }
  void warn(std::string_view message, Fields fields = {}) const { write(Level::warn, message, fields); }
  void error(std::string_view message, Fields fields = {}) const { write(Level::error, message, fields); }

 private:
  struct Target;
  Log(std::shared_ptr<Target> target, std::vector<Field> fields);

  std::shared_ptr<Target> target_;
  std::vector<Field> fields_;
};

}  // namespace evenkeel
