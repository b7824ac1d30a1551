#include "evenkeel/base/read.h"

#include <algorithm>

#include "evenkeel/base/text.h"

namespace evenkeel {
namespace {

void expected(Value value, Diagnostics& problems, std::string_view what, std::string hint = "") {
  problems.add(value.place(), fmt::format("expected {}, found {}", what, value.describe()), std::move(hint));
}

// Shared by the kinds whose own parser says what is wrong.
template <class T, class Parse>
std::optional<T> read_parsed(Value value, Diagnostics& problems, std::string_view what, const Parse& parse) {
  if (!value.is_scalar()) {
    expected(value, problems, what);
    return std::nullopt;
  }
  auto parsed = parse(value.text());
  if (parsed) return *parsed;
  problems.add(value.place(), parsed.error().message);
  return std::nullopt;
}

void must_not_be_negative(Value value, Diagnostics& problems) {
  problems.add(value.place(), fmt::format("{} is negative", value.describe()), "give zero or more");
}

}  // namespace

std::optional<std::string> read_text(Value value, Diagnostics& problems) {
  if (value.is_scalar()) return std::string(value.text());
  expected(value, problems, "text");
  return std::nullopt;
}

std::optional<bool> read_flag(Value value, Diagnostics& problems) {
  if (value.kind() == Value::Kind::plain && value.text() == "true") return true;
  if (value.kind() == Value::Kind::plain && value.text() == "false") return false;
  expected(value, problems, "true or false");
  return std::nullopt;
}

std::optional<std::uint64_t> read_count(Value value, Diagnostics& problems, CountRange range) {
  if (value.kind() != Value::Kind::plain) {
    const bool in_quotes = value.kind() == Value::Kind::text && parse_unsigned(value.text()).has_value();
    expected(value, problems, "a whole number", in_quotes ? "remove the quotes" : "");
    return std::nullopt;
  }
  if (value.text().starts_with('-') && parse_integer(value.text())) {
    must_not_be_negative(value, problems);
    return std::nullopt;
  }
  const auto number = parse_unsigned(value.text());
  if (!number) {
    problems.add(value.place(), number.error().message);
    return std::nullopt;
  }
  if (value.text().size() > 1 && value.text()[0] == '0') {
    problems.add(value.place(), fmt::format("{} starts with a zero", quote(value.text())),
                 "some read that as octal: leave the zero out");
    return std::nullopt;
  }
  if (*number < range.least || *number > range.most) {
    problems.add(value.place(), fmt::format("{} is out of range", *number),
                 fmt::format("give a whole number from {} to {}", range.least, range.most));
    return std::nullopt;
  }
  return *number;
}

std::optional<Quantity> read_quantity(Value value, Diagnostics& problems) {
  const auto quantity = read_parsed<Quantity>(value, problems, "a quantity such as 0.5, 500m or 64Gi", Quantity::parse);
  if (quantity && quantity->negative()) {
    must_not_be_negative(value, problems);
    return std::nullopt;
  }
  return quantity;
}

std::optional<Duration> read_duration(Value value, Diagnostics& problems) {
  const auto duration = read_parsed<Duration>(value, problems, "a duration such as 30s or 1h30m", parse_duration);
  if (duration && *duration < Duration::zero()) {
    must_not_be_negative(value, problems);
    return std::nullopt;
  }
  return duration;
}

std::optional<Ratio> read_ratio(Value value, Diagnostics& problems) {
  return read_parsed<Ratio>(value, problems, "a share such as 80% or 0.8", Ratio::parse);
}

std::optional<std::size_t> read_word(Value value, Diagnostics& problems, std::string_view what,
                                     std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, value.text());
  if (value.is_scalar() && found != words.end()) return static_cast<std::size_t>(found - words.begin());
  problems.add(value.place(), fmt::format("expected {}, found {}", what, value.describe()), suggestion(value.text(), words));
  return std::nullopt;
}

bool expect_list(Value value, Diagnostics& problems, std::string_view what) {
  if (value.kind() == Value::Kind::list) return true;
  expected(value, problems, fmt::format("a list of {}", what));
  return false;
}

bool expect_map(Value value, Diagnostics& problems, std::string_view what) {
  if (value.kind() == Value::Kind::map) return true;
  expected(value, problems, fmt::format("a map of {}", what));
  return false;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  if (const auto near = nearest(word, candidates)) return fmt::format("did you mean {}?", quote(*near));
  if (candidates.empty() || candidates.size() > 32) return "";
  return fmt::format("known: {}", fmt::join(candidates, ", "));
}

FieldReader::FieldReader(Value map, Diagnostics& problems, std::string_view what) : map_(map), problems_(problems), what_(what) {
  if (!is_map()) expected(map, problems, fmt::format("{} with its fields", what));
}

std::optional<Value> FieldReader::take_or_null(std::string_view name) {
  known_.push_back(name);
  for (const auto [key, value] : map_.pairs()) {
    if (key.text() == name) return value;
  }
  return std::nullopt;
}

std::optional<Value> FieldReader::take(std::string_view name) {
  const auto value = take_or_null(name);
  if (!value || value->kind() != Value::Kind::null) return value;
  problems_.add(value->place(), fmt::format("{} of {} has no value", quote(name), what_), "give one, or remove the field");
  return std::nullopt;
}

std::optional<Value> FieldReader::take_required(std::string_view name) {
  const auto found = problems_.found();
  const auto value = take(name);
  if (!value && is_map() && problems_.found() == found) {
    problems_.add(map_.place(), fmt::format("{} lacks the field {}", what_, quote(name)), "add it");
  }
  return value;
}

bool FieldReader::text(std::string_view name, std::string& out) {
  return read(name, out, [&](Value v) { return read_text(v, problems_); });
}
bool FieldReader::flag(std::string_view name, bool& out) {
  return read(name, out, [&](Value v) { return read_flag(v, problems_); });
}
bool FieldReader::quantity(std::string_view name, Quantity& out) {
  return read(name, out, [&](Value v) { return read_quantity(v, problems_); });
}

void FieldReader::finish() {
  for (const auto [key, value] : map_.pairs()) {
    if (std::ranges::find(known_, key.text()) != known_.end()) continue;
    // Past what is shown, a suggestion would only cost time.
    auto hint = problems_.found() < Diagnostics::most ? suggestion(key.text(), known_) : "";
    problems_.add(key.place(), fmt::format("unknown field {} of {}", quote(key.text()), what_), std::move(hint));
  }
}

}  // namespace evenkeel
