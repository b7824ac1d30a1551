#pragma once
// The language of stories: tables of phrases, and lines cut into tokens. A pattern is words with places for what differs between them:
//
//   NODE  NODES  SHARD  WORKLOAD    names: n1, n1 n2 n3, t/3, t
//   NUMBER  TIME                    12, 1m30s
//   TEXT                            "in quotes, with JSON's escapes"
//   FIELDS                          {replicas: 2}: a map as in a cluster file, in one line
//
// No two phrases of a table fit the same tokens. Pure.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/read.h"
#include "evenkeel/sim/story.h"

namespace evenkeel::sim::detail {

struct Row {
  std::string_view pattern;
  std::string_view meaning;
  CountRange range = {};  // of its NUMBER
};
// A row's place is its kind's value.
std::span<const Row> action_rows();
std::span<const Row> condition_rows();

struct Token {
  enum class Kind : std::uint8_t { word, text, fields };
  Kind kind = Kind::word;
  std::string_view raw;  // quotes and braces included
  std::size_t at = 0;    // bytes from the line's start

  bool is(std::string_view word) const { return kind == Kind::word && raw == word; }
};
// Up to the line's end or a comment.
struct Tokens {
  std::vector<Token> tokens;
  std::string wrong;  // a quote or a brace without its end, at the last token
};
Tokens cut(std::string_view line);

std::vector<std::string_view> items_of(std::string_view pattern);
bool is_place(std::string_view item);  // NODE, TIME…: not a word of the phrase itself
// Whether the token may stand there; what is wrong with it in detail is another question.
bool fits(std::string_view item, const Token& token);

// How far the tokens go along a pattern.
struct Progress {
  std::size_t row = 0;
  std::size_t items = 0;   // that fit, from the first on
  std::size_t tokens = 0;  // that those took
  std::size_t words = 0;   // of the items, those that are words of the phrase itself
  bool whole = false;      // all of both
};
Progress follow(std::span<const Row> rows, std::size_t row, std::span<const Token> tokens);

// A name that would be taken for a word of the language is quoted.
std::string format_name(std::string_view name);

}  // namespace evenkeel::sim::detail
