#include "evenkeel/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "evenkeel/base/clock.h"
#include "evenkeel/base/text.h"

namespace evenkeel {

namespace {

constexpr std::array<std::string_view, 5> level_names{"debug", "info", "warn", "error", "off"};

// The text as it is, if nothing in it could be taken for the end of it; otherwise in quotes.
std::string text_word(std::string_view text, std::string_view separators) {
  std::string in_quotes = quote(text, std::string_view::npos);
  const bool escaped = in_quotes.size() != text.size() + 2;
  const bool plain = !escaped && !text.empty() && text.find_first_of(separators) == std::string_view::npos;
  return plain ? std::string(text) : in_quotes;
}

constexpr std::string_view word_separators = " =";
constexpr std::string_view message_separators = "=";  // a message is a sentence: its spaces do no harm

struct TextValue {
  std::string operator()(const std::string& value) const { return text_word(value, word_separators); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(auto value) const { return fmt::format("{}", value); }
};

struct JsonValue {
  std::string operator()(const std::string& value) const { return json_quoted(value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(double value) const {
    return std::isfinite(value) ? fmt::format("{}", value) : fmt::format("\"{}\"", value);
  }
  std::string operator()(auto value) const { return fmt::format("{}", value); }
};

bool is_own_key(std::string_view key) { return key == "time" || key == "level" || key == "message"; }

std::string line_as_text(WallTime time, Level level, std::string_view message, const std::vector<Field>& fields) {
  std::string line = fmt::format("{} {:<5} {}", format(time), name(level), text_word(message, message_separators));
  for (const Field& field : fields) {
    line += ' ';
    line += text_word(field.key, word_separators);
    line += is_own_key(field.key) ? "_=" : "=";
    line += std::visit(TextValue(), field.value);
  }
  return line;
}

std::string line_as_json(WallTime time, Level level, std::string_view message, const std::vector<Field>& fields) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","message":{})", format(time), name(level), json_quoted(message));
  for (const Field& field : fields) {
    line += ',';
    line += json_quoted(is_own_key(field.key) ? field.key + "_" : field.key);
    line += ':';
    line += std::visit(JsonValue(), field.value);
  }
  line += '}';
  return line;
}

// A key given again replaces the value in its first place, so that JSON objects have each key once.
void set(std::vector<Field>& fields, const Field& field) {
  const auto same = std::find_if(fields.begin(), fields.end(), [&](const Field& other) { return other.key == field.key; });
  if (same == fields.end()) {
    fields.push_back(field);
  } else {
    same->value = field.value;
  }
}

}  // namespace

std::string_view name(Level level) { return level_names[static_cast<std::size_t>(level)]; }

Result<Level> parse_level(std::string_view text) {
  for (std::size_t i = 0; i < level_names.size(); ++i) {
    if (level_names[i] == text) return static_cast<Level>(i);
  }
  if (const auto meant = nearest(text, level_names)) {
    return fail(Code::invalid, "{} is not a log level: did you mean {}?", quote(text), *meant);
  }
  return fail(Code::invalid, "{} is not a log level: use debug, info, warn, error or off", quote(text));
}

// What a log and all its children share.
struct Log::Target {
  Options options;
  Sink sink;
  std::function<WallTime()> time;
  std::mutex mutex;  // over calls of sink
};

Log::Log(std::shared_ptr<Target> target, std::vector<Field> fields) : target_(std::move(target)), fields_(std::move(fields)) {}

Log Log::to_stderr(Options options) {
  auto logger = std::make_shared<spdlog::logger>("evenkeel", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%v");  // the line is finished: nothing is added to it
  logger->set_level(spdlog::level::trace);
  const auto sink = [logger](Level, std::string_view line) { logger->info(spdlog::string_view_t(line.data(), line.size())); };
  return to(sink, options, wall_now);
}

Log Log::to(Sink sink, Options options, std::function<WallTime()> time) {
  auto target = std::make_shared<Target>();
  target->options = options;
  target->sink = std::move(sink);
  target->time = std::move(time);
  return Log(std::move(target), {});
}

Log Log::nowhere() {
  return to([](Level, std::string_view) {}, {.level = Level::off}, [] { return WallTime(); });
}

Log Log::with(Fields fields) const {
  std::vector<Field> all = fields_;
  for (const Field& field : fields) set(all, field);
  return Log(target_, std::move(all));
}

bool Log::enabled(Level level) const { return level != Level::off && level >= target_->options.level; }

void Log::write(Level level, std::string_view message, Fields fields) const {
  if (!enabled(level)) return;
  std::vector<Field> all = fields_;
  for (const Field& field : fields) set(all, field);
  const bool json = target_->options.format == Format::json;
  const WallTime time = target_->time();
  const std::string line = json ? line_as_json(time, level, message, all) : line_as_text(time, level, message, all);
  const std::scoped_lock lock(target_->mutex);
  target_->sink(level, line);
}

}  // namespace evenkeel
