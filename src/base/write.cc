#include "evenkeel/base/write.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/text.h"

namespace evenkeel {
namespace {

// Anything that a YAML reader may take for a number, a flag, a date or nothing starts with one of these.
bool could_be_other_than_text(std::string_view text) {
  static constexpr std::string_view words[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  const auto same = [&](std::string_view word) { return same_in_any_case(text, word); };
  return is_digit(text[0]) || std::ranges::any_of(words, same);
}

// Deliberately narrow: letters, digits and a few marks that mean nothing to YAML inside a word.
bool plain_in_yaml(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const auto inside = [&](char c) { return letter(c) || c == '.' || c == '-' || c == '/'; };
  return !text.empty() && letter(text[0]) && std::ranges::all_of(text, inside);
}

bool number_in_json(std::string_view text) {
  if (text == "true" || text == "false") return true;
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  const auto point = digits.find('.');
  const auto whole = digits.substr(0, point);
  const auto all_digits = [](std::string_view s) {
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return all_digits(whole) && (whole == "0" || whole[0] != '0') &&
         (point == std::string_view::npos || all_digits(digits.substr(point + 1)));
}

// Also of bytes that are no text: JSON would not be valid with them.
std::string in_quotes(std::string_view text, Syntax syntax) {
  return syntax == Syntax::json ? json_quoted(text) : quote(text, text.size());
}

}  // namespace

void Writer::new_line(std::size_t depth) {
  if (!out_.empty()) out_ += '\n';
  out_.append(2 * depth, ' ');
}

void Writer::before_item() {
  if (after_key_ || open_.empty()) return;
  Open& in = open_.back();
  const bool first = in.items++ == 0;
  if (in.line) {
    if (!first) out_ += ", ";
  } else if (syntax_ == Syntax::json) {
    if (!first) out_ += ',';
    new_line(open_.size());
  } else {
    // The first item of a block that is itself a list's item stands on the line of its dash.
    const bool after_dash = first && open_.size() > 1 && !open_[open_.size() - 2].map;
    if (!after_dash) new_line(open_.size() - 1);
    if (!in.map) out_ += "- ";
  }
}

Writer& Writer::key(std::string_view name) {
  before_item();
  const bool number = name.find_first_not_of("0123456789") == std::string_view::npos;  // a key that reads well either way
  const bool bare = syntax_ == Syntax::yaml && plain_in_yaml(name) && (number || !could_be_other_than_text(name));
  out_ += bare ? std::string(name) : in_quotes(name, syntax_);
  out_ += ':';
  after_key_ = true;
  return *this;
}

void Writer::space_after_key() {
  if (std::exchange(after_key_, false)) out_ += ' ';
}

Writer& Writer::scalar(std::string_view finished) {
  before_item();
  space_after_key();
  out_ += finished;
  return *this;
}

Writer& Writer::text(std::string_view text) {
  const bool bare = syntax_ == Syntax::yaml && plain_in_yaml(text) && !could_be_other_than_text(text);
  return bare ? scalar(text) : scalar(in_quotes(text, syntax_));
}

Writer& Writer::number(std::string_view text) {
  return syntax_ == Syntax::json && !number_in_json(text) ? scalar(in_quotes(text, syntax_)) : scalar(text);
}

Writer& Writer::begin(char bracket, Flow flow) {
  before_item();
  const bool line = flow == Flow::line || (!open_.empty() && open_.back().line);
  const bool block = !line && syntax_ == Syntax::yaml;
  if (!block) {
    space_after_key();
    out_ += bracket;
  }
  after_key_ = false;
  open_.push_back({.map = bracket == '{', .line = line});
  return *this;
}

Writer& Writer::end(char bracket) {
  const Open closed = open_.back();
  open_.pop_back();
  if (closed.line || (syntax_ == Syntax::json && closed.items == 0)) {
    out_ += bracket;
  } else if (syntax_ == Syntax::json) {
    new_line(open_.size());
    out_ += bracket;
  } else if (closed.items == 0) {
    if (out_.ends_with(':')) out_ += ' ';
    out_ += closed.map ? "{}" : "[]";
  }
  return *this;
}

std::string Writer::take() && {
  out_ += '\n';
  return std::move(out_);
}

}  // namespace evenkeel
