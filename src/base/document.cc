#include "evenkeel/base/document.h"

#include <algorithm>
#include <compare>

#include "evenkeel/base/detail/tape_builder.h"
#include "evenkeel/base/text.h"

namespace evenkeel {

Place Value::place() const {
  const auto& record = document_->tape_[at_];
  return {record.line, record.column};
}

std::size_t Value::size() const {
  const bool container = kind() == Kind::list || kind() == Kind::map;
  return container ? document_->tape_[at_].size : 0;
}

std::string Value::describe() const {
  switch (kind()) {
    case Kind::null:
      return "nothing";
    case Kind::text:
      return fmt::format("the text {}", quote(text()));
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
    case Kind::plain:
      break;
  }
  return quote(text());
}

Value::Items Value::items() const {
  return kind() == Kind::list ? Items({document_, at_ + 1}, after()) : Items(after(), after());
}

Value::Pairs Value::pairs() const { return kind() == Kind::map ? Pairs({document_, at_ + 1}, after()) : Pairs(after(), after()); }

bool TapeBuilder::refuse(Place place, std::string message, std::string hint) {
  document_.problems_.add(place, std::move(message), std::move(hint));
  return false;
}

bool TapeBuilder::is_key() const {
  if (open_.empty()) return false;
  const bool in_map = document_.tape_[open_.back().at].kind == static_cast<std::uint32_t>(Value::Kind::map);
  return in_map && open_.back().children % 2 == 0;
}

bool TapeBuilder::add(Value::Kind kind, std::string_view text, Place place) {
  if (document_.tape_.size() >= Document::values_max) {
    return refuse(place, fmt::format("more than {} values in one file", Document::values_max), "cut it into several files");
  }
  if (!open_.empty()) ++open_.back().children;
  const auto at = static_cast<std::uint32_t>(document_.tape_.size());
  const auto offset = static_cast<std::uint32_t>(document_.texts_.size());
  document_.texts_ += text;
  document_.tape_.push_back({.text = offset,
                             .size = static_cast<std::uint32_t>(text.size()),
                             .end = at + 1,
                             .line = place.line,
                             .column = place.column & ((1u << 29) - 1),
                             .kind = static_cast<std::uint32_t>(kind) & 7u});
  return true;
}

bool TapeBuilder::scalar(Value::Kind kind, std::string_view text, Place place) {
  if (text.size() > Document::scalar_max) {
    return refuse(place, fmt::format("a value of {} bytes, which starts with {}", text.size(), quote(text, 20)),
                  fmt::format("a single value has at most {} bytes", Document::scalar_max));
  }
  if (kind == Value::Kind::null && is_key())
    return refuse(place, "a key with no name", "write the field's name before the colon");
  return add(kind, text, place);
}

bool TapeBuilder::begin(Value::Kind kind, Place place) {
  if (open_.size() >= Document::depth_max) {
    return refuse(place, fmt::format("nested deeper than {} levels", Document::depth_max),
                  "check the brackets and the indentation");
  }
  if (is_key()) return refuse(place, "a key must be a single word, not a list or a map", "put quotes around it");
  if (!add(kind, {}, place)) return false;
  open_.push_back({static_cast<std::uint32_t>(document_.tape_.size() - 1), 0});
  return true;
}

bool TapeBuilder::end() {
  const Open closed = open_.back();
  open_.pop_back();
  auto& record = document_.tape_[closed.at];
  const bool map = record.kind == static_cast<std::uint32_t>(Value::Kind::map);
  record.size = map ? closed.children / 2 : closed.children;
  record.end = static_cast<std::uint32_t>(document_.tape_.size());
  return !map || check_keys(closed.at);
}

// Keys that rise, by length and then by letter, cannot repeat, and numbers in order do rise: a table by shard costs one look at each key.
// Others are sorted by position, which costs four bytes a key for as long as it is checked.
bool TapeBuilder::check_keys(std::uint32_t map) {
  const auto& tape = document_.tape_;
  const auto text = [&](std::uint32_t at) { return std::string_view(document_.texts_).substr(tape[at].text, tape[at].size); };
  const auto order = [&](std::uint32_t a, std::uint32_t b) {
    return tape[a].size != tape[b].size ? tape[a].size <=> tape[b].size : text(a) <=> text(b);
  };
  const std::uint32_t end = tape[map].end;
  const auto next = [&](std::uint32_t key) { return tape[key + 1].end; };
  bool rising = true;
  for (std::uint32_t key = map + 1; rising && key < end && next(key) < end; key = next(key))
    rising = std::is_lt(order(key, next(key)));
  if (rising) return true;
  std::vector<std::uint32_t> keys;
  keys.reserve(tape[map].size);
  for (std::uint32_t key = map + 1; key < end; key = next(key)) keys.push_back(key);
  std::ranges::sort(keys, [&](std::uint32_t a, std::uint32_t b) {
    const auto compared = order(a, b);
    return std::is_neq(compared) ? std::is_lt(compared) : a < b;
  });
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (std::is_neq(order(keys[i - 1], keys[i]))) continue;
    const auto& first = tape[keys[i - 1]];
    const auto& again = tape[keys[i]];
    document_.problems_.add({again.line, again.column}, fmt::format("{} is given twice in one map", quote(text(keys[i]))),
                            fmt::format("the first is at line {}, column {}: keep one", first.line, std::uint32_t{first.column}));
  }
  return true;
}

Place place_of(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto line = static_cast<std::uint32_t>(std::ranges::count(before, '\n')) + 1;
  const auto start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::uint32_t column = 1;
  for (const char c : before.substr(start)) column += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return {line, column};
}

namespace {

Syntax guess(std::string_view text, std::string_view file) {
  if (file.ends_with(".json")) return Syntax::json;
  if (file.ends_with(".yaml") || file.ends_with(".yml")) return Syntax::yaml;
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return Syntax::yaml;
  if (text[first] == '[') return Syntax::json;
  const auto second = text.find_first_not_of(blank, first + 1);
  return second != std::string_view::npos && (text[second] == '"' || text[second] == '}') ? Syntax::json : Syntax::yaml;
}

}  // namespace

Parsed<Document> Document::parse(std::string_view text, std::string file, std::optional<Syntax> syntax) {
  Document document(std::move(file));
  TapeBuilder builder(document);
  const auto refused = [&] { return tl::unexpected(std::move(document.problems_)); };
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark says nothing in UTF-8
  if (text.size() > size_max) {
    builder.refuse({}, fmt::format("{} bytes are too many", text.size()), fmt::format("a file has at most {} bytes", size_max));
    return refused();
  }
  if (const auto bad = find_invalid_utf8(text)) {
    builder.refuse(place_of(text, *bad), fmt::format("byte 0x{:02x} is not valid UTF-8", static_cast<unsigned char>(text[*bad])),
                   "save the file as UTF-8");
    return refused();
  }
  document.texts_.reserve(text.size());  // only what is used is ever touched
  const Syntax chosen = syntax.value_or(guess(text, document.file()));
  if (!(chosen == Syntax::json ? read_json(text, builder) : read_yaml(text, builder))) return refused();
  if (!builder.complete()) {
    builder.refuse({}, "the file is empty", "check its name, and that it was saved");
    return refused();
  }
  return document;
}

}  // namespace evenkeel
