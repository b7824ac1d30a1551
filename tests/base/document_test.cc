// Documents, reading and writing: stories of trees with their places, and properties of the writer.
// Commands of the stories:
//   tree [NAME]    YAML or JSON, told by the name or by the text: each value with its place
//   fields         a map with the fields name (required), size (1 to 10), on, ratio, wait, room and word (red, green or blue)

#include "evenkeel/base/document.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

#include "evenkeel/base/read.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "tests/story/story.h"

namespace evenkeel {
namespace {

void show(Value value, std::size_t depth, std::string_view label, std::string& out) {
  static constexpr std::string_view kinds[] = {"null", "plain", "text", "list", "map"};
  out += fmt::format("{:{}}{}{} {}:{}", "", depth * 2, label, kinds[static_cast<std::size_t>(value.kind())], value.place().line,
                     value.place().column);
  if (value.is_scalar()) out += " " + quote(value.text());
  if (value.kind() == Value::Kind::list || value.kind() == Value::Kind::map) out += fmt::format(" of {}", value.size());
  out += "\n";
  for (const Value item : value.items()) show(item, depth + 1, "- ", out);
  for (const auto [key, item] : value.pairs())
    show(item, depth + 1, fmt::format("{} ({}:{}) = ", key.text(), key.place().line, key.place().column), out);
}

std::string tree(const story::Block& block) {
  const auto document = Document::parse(block.input, block.args.empty() ? "d" : block.args[0]);
  if (!document) return document.error().format();
  std::string out;
  show(document->root(), 0, "", out);
  return out + document->problems().format();
}

std::string fields(const story::Block& block) {
  static constexpr std::array<std::string_view, 3> colours = {"red", "green", "blue"};
  const auto document = Document::parse(block.input, "d");
  if (!document) return document.error().format();
  Diagnostics problems = document->problems();
  std::string name = "nobody";
  std::uint8_t size = 5;
  bool on = false;
  Ratio ratio;
  Duration wait{};
  Quantity room;
  std::size_t word = 0;
  FieldReader reader(document->root(), problems, "a thing");
  reader.required("name", name, [&](Value v) { return read_text(v, problems); });
  reader.count("size", size, {.least = 1, .most = 10});
  reader.flag("on", on);
  reader.read("ratio", ratio, [&](Value v) { return read_ratio(v, problems); });
  reader.read("wait", wait, [&](Value v) { return read_duration(v, problems); });
  reader.quantity("room", room);
  reader.read("word", word, [&](Value v) { return read_word(v, problems, "a colour", colours); });
  reader.finish();
  if (!problems.empty()) return problems.format();
  return fmt::format("{} {} {} {} {} {} {}", name, size, on, format(ratio), format(wait), format(room), colours[word]);
}

TEST(Document, Stories) {
  story::run_folder("base/documents", [] {
    return [](const story::Block& block) { return block.command == "tree" ? tree(block) : fields(block); };
  });
}

// A random tree, remembered as a text that does not depend on the syntax.
class RandomTree {
 public:
  explicit RandomTree(std::uint64_t seed) : rng_(seed) {}

  void write(Writer& out, int depth) {
    const auto flow = rng_.chance(1, 2) ? Writer::Flow::line : Writer::Flow::block;
    const auto kind = depth >= 4 ? rng_.below(3) : rng_.below(5);
    if (kind == 0) {
      out.null();
      told += "null;";
    } else if (kind == 1) {
      const auto text = random_text();
      out.text(text);
      told += quote(text, 1000) + ";";
    } else if (kind == 2) {
      const auto number = rng_.below(1000);
      out.number(number);
      told += quote(std::to_string(number)) + ";";
    } else if (kind == 3) {
      out.begin_list(flow);
      told += "[";
      for (auto left = rng_.below(4); left > 0; --left) write(out, depth + 1);
      out.end_list();
      told += "]";
    } else {
      out.begin_map(flow);
      told += "{";
      const auto fields = rng_.below(4);
      for (std::uint64_t i = 0; i < fields; ++i) {
        const auto key = rng_.chance(1, 2) ? fmt::format("{}{}", i, random_text()) : fmt::format("{}{}", random_text(), i);
        out.key(key);
        told += quote(key, 1000) + ":";
        write(out, depth + 1);
      }
      out.end_map();
      told += "}";
    }
  }
  std::string told;

 private:
  std::string random_text() {
    static constexpr std::string_view pieces[] = {
        "a", "é",  " ",   ":", "#", "-", "\"", "\\", "\n", "{",    "]",    ",", "true",         "1e3",          "~",
        "'", "\t", "x y", "𝄞", "&", "*", "!",  "%",  "@",  "null", "NULL", "y", "\xef\xbb\xbf", "\xef\xbf\xbf", "\xc2\x85"};
    std::string out;
    for (auto left = rng_.below(4); left > 0; --left) out += pieces[rng_.below(std::size(pieces))];
    return out;
  }
  Rng rng_;
};

std::string tell(Value value) {
  std::string out;
  switch (value.kind()) {
    case Value::Kind::null:
      return "null;";
    case Value::Kind::plain:
    case Value::Kind::text:
      return quote(value.text(), 1000) + ";";
    case Value::Kind::list:
      for (const Value item : value.items()) out += tell(item);
      return "[" + out + "]";
    case Value::Kind::map:
      for (const auto [key, item] : value.pairs()) out += quote(key.text(), 1000) + ":" + tell(item);
      return "{" + out + "}";
  }
  return out;
}

TEST(Writer, WhatIsWrittenIsReadBack) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
      RandomTree tree(seed);
      Writer out(syntax);
      tree.write(out, 0);
      const auto text = std::move(out).take();
      const auto document = Document::parse(text, "d", syntax);
      if (!document) RC_FAIL(document.error().format() + "\n" + text);
      RC_ASSERT(tell(document->root()) == tree.told);
    }
  }));
}

TEST(Diagnostics, KeepsTheFirstAndCountsAll) {
  Diagnostics problems("f");
  for (std::uint32_t i = 0; i < 30; ++i) problems.add({30 - i, 1}, "wrong", i == 29 ? "hidden" : "");
  EXPECT_EQ(problems.found(), 30u);
  EXPECT_EQ(problems.sorted().size(), Diagnostics::most);
  EXPECT_EQ(problems.sorted().front().place.line, 11u);
  EXPECT_TRUE(problems.format().ends_with("f: and 10 more"));
  EXPECT_EQ(problems.to_error().code, Code::invalid);
}

TEST(Document, ShowsWhereAControlCharacterIs) {
  std::string text;
  for (int i = 1; i < 40; ++i) text += "a" + std::to_string(i) + ": x\n";
  const auto document = Document::parse(text + "b: \x01\n", "d.yaml");
  ASSERT_FALSE(document.has_value());
  EXPECT_EQ(document.error().sorted().front().place, (Place{40, 4}));
}

TEST(Document, TellsTheSyntaxFromNameOrText) {
  const auto kind_of_a = [](std::string_view text, std::string file) {
    const auto document = Document::parse(text, std::move(file));
    return document ? (*document->root().pairs().begin()).second.kind() : Value::Kind::null;
  };
  EXPECT_EQ(kind_of_a(R"({"a": "b"})", "x"), Value::Kind::text);
  EXPECT_EQ(kind_of_a("{a: b}", "x"), Value::Kind::plain);
  EXPECT_EQ(kind_of_a("{a: b}", "x.json"), Value::Kind::null);  // refused: not JSON
  EXPECT_EQ(kind_of_a("{\"a\": b}", "x.yaml"), Value::Kind::plain);
  EXPECT_EQ(kind_of_a("{\"a\": b}", "x"), Value::Kind::null);
  EXPECT_EQ(kind_of_a("\xEF\xBB\xBF a: b", "x"), Value::Kind::plain);  // a byte order mark is passed over
}

}  // namespace
}  // namespace evenkeel
