#include "evenkeel/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace evenkeel {
namespace {

using testing::HasSubstr;

std::string encoded(char32_t code) {
  const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f))};
  if (code < 0x10000) return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f)), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
}

TEST(Utf8, EveryCharacterIsValidAndEverySurrogateIsNot) {
  for (char32_t code = 0; code <= 0x10ffff; ++code) {
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    ASSERT_EQ(find_invalid_utf8(encoded(code)).has_value(), surrogate) << static_cast<std::uint32_t>(code);
  }
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(find_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("grüße 🌍"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2U);
  EXPECT_EQ(find_invalid_utf8("é\xc3"), 2U);     // cut short
  EXPECT_EQ(find_invalid_utf8("\xc3("), 0U);     // no continuation
  EXPECT_EQ(find_invalid_utf8("\xc0\x80"), 0U);  // overlong, in two, three and four bytes
  EXPECT_EQ(find_invalid_utf8("\xc1\xbf"), 0U);
  EXPECT_EQ(find_invalid_utf8("\xe0\x9f\xbf"), 0U);
  EXPECT_EQ(find_invalid_utf8("\xf0\x8f\xbf\xbf"), 0U);
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0U);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xf5\x80\x80\x80"), 0U);
  EXPECT_EQ(find_invalid_utf8(std::string_view("a\0b", 3)), std::nullopt);
}

TEST(Quoted, EscapesWhatIsNotPlain) {
  EXPECT_EQ(quote("plain"), R"("plain")");
  EXPECT_EQ(quote("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quote("\b\f\n\r\t\x01\x7f"), R"("\b\f\n\r\t\u0001\u007f")");
  EXPECT_EQ(quote(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(quote("\xc2\x9b"), R"("\u009b")");                        // C1: a terminal may obey it
  EXPECT_EQ(quote("\xe2\x80\xa8\xe2\x80\xa9"), R"("\u2028\u2029")");  // line and paragraph separators
  EXPECT_EQ(quote("é🌍"), "\"é🌍\"");
  EXPECT_EQ(quote("a\xff\xc3"), R"("a\xff\xc3")");
}

TEST(Quoted, CutsBetweenCharacters) {
  EXPECT_EQ(quote("abcdef", 6), "\"abcdef\"");
  EXPECT_EQ(quote("abcdefg", 6), "\"abcdef\"…");
  EXPECT_EQ(quote("abcdeé", 6), "\"abcde\"…");
  EXPECT_EQ(quote("abc🌍d", 6), "\"abc\"…");
  EXPECT_EQ(quote("abc🌍d", 7), "\"abc🌍\"…");
  EXPECT_EQ(quote("é", 1), "\"\"…");
  EXPECT_EQ(quote("é", 0), "\"\"…");
  EXPECT_EQ(quote("\x80\x80\x80\x80\x80\x80", 4), "\"\\x80\\x80\\x80\\x80\"…");
}

// Bytes that make trouble: controls, quotes, parts of characters.
rc::Gen<std::string> bytes() {
  return rc::gen::container<std::string>(rc::gen::map(rc::gen::inRange(0, 256), [](int b) { return static_cast<char>(b); }));
}

bool one_printable_line(std::string_view text) {
  return !find_invalid_utf8(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

TEST(Quoted, IsOnePrintableLineWhateverTheBytes) {
  EXPECT_TRUE(rc::check("for any bytes and any limit", [] {
    const std::string text = *bytes();
    RC_ASSERT(one_printable_line(quote(text, *rc::gen::inRange<std::size_t>(0, 40))));
    RC_ASSERT(one_printable_line(json_quoted(text)));
  }));
}

TEST(Quoted, NoTwoTextsLookAlike) {
  EXPECT_TRUE(rc::check("for any two texts that are not cut", [] {
    const auto some = rc::gen::container<std::string>(rc::gen::elementOf(std::string("x\\0\"n\n\xff\xc3\xa9")));
    const std::string a = *some;
    const std::string b = *some;
    RC_ASSERT((a == b) == (quote(a, 1'000) == quote(b, 1'000)));
  }));
}

TEST(JsonQuoted, ReplacesInvalidBytesOneByOne) {
  EXPECT_EQ(json_quoted("a\xff\xfe"
                        "é\n\"\\"),
            "\"a\ufffd\ufffdé\\n\\\"\\\\\"");
  EXPECT_EQ(json_quoted(""), "\"\"");
}

// The recursive definition of optimal string alignment, on prefixes.
std::size_t edits_by_definition(std::string_view a, std::string_view b,
                                std::map<std::pair<std::size_t, std::size_t>, std::size_t>& known) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto [at, fresh] = known.try_emplace({a.size(), b.size()}, 0);
  if (!fresh) return at->second;
  const auto shorter = [](std::string_view text, std::size_t by) { return text.substr(0, text.size() - by); };
  std::size_t least = edits_by_definition(shorter(a, 1), shorter(b, 1), known) + (a.back() == b.back() ? 0 : 1);
  least = std::min(least, edits_by_definition(shorter(a, 1), b, known) + 1);
  least = std::min(least, edits_by_definition(a, shorter(b, 1), known) + 1);
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && b.back() == a[a.size() - 2]) {
    least = std::min(least, edits_by_definition(shorter(a, 2), shorter(b, 2), known) + 1);
  }
  known[{a.size(), b.size()}] = least;
  return least;
}

TEST(Nearest, IsTheDefinition) {
  EXPECT_TRUE(rc::check("the first of the nearest within a third of the word", [] {
    const auto word_of = rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc")));
    const std::string word = *rc::gen::suchThat(word_of, [](const std::string& text) { return !text.empty(); });
    const auto words = *rc::gen::container<std::vector<std::string>>(word_of);
    std::optional<std::string_view> expected;
    std::size_t least = word.size() / 3;
    for (const std::string& candidate : words) {
      std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
      const std::size_t distance = edits_by_definition(word, candidate, known);
      if (word.size() > 64 || candidate.size() > 64 || distance > least || (expected && distance == least)) continue;
      least = distance;
      expected = candidate;
    }
    const std::vector<std::string_view> candidates(words.begin(), words.end());
    RC_ASSERT(nearest(word, candidates) == expected);
  }));
}

TEST(Nearest, CaseDoesNotCountAndLengthIsBounded) {
  const std::string longest(64, 'x');
  const std::string longer(65, 'x');
  const std::vector<std::string_view> candidates{"zone", longest, longer};
  EXPECT_EQ(nearest("ZOEN", candidates), "zone");
  EXPECT_EQ(nearest(longest, candidates), longest);
  EXPECT_EQ(nearest(longer, candidates), std::nullopt);
  EXPECT_EQ(nearest("", candidates), std::nullopt);
  EXPECT_EQ(nearest("zone", {}), std::nullopt);
}

template <class T>
std::string problem(const Result<T>& result) {
  return result ? fmt::format("no problem: {}", *result) : result.error().message;
}

TEST(Integers, AreWholeTexts) {
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_unsigned("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_integer("007"), 7);
  EXPECT_EQ(parse_unsigned("0"), 0U);
  for (const std::string_view text : {"", "-", "+1", " 1", "1 ", "1.0", "0x10", "1e3", "--1", "one", "1\n"}) {
    EXPECT_THAT(problem(parse_integer(text)), HasSubstr("is not a whole number")) << text;
    EXPECT_THAT(problem(parse_unsigned(text)), HasSubstr("is not a whole number")) << text;
  }
  EXPECT_THAT(problem(parse_integer("9223372036854775808")), HasSubstr("is too large: at most 9223372036854775807"));
  EXPECT_THAT(problem(parse_integer("-9223372036854775809")), HasSubstr("is too small: at least -9223372036854775808"));
  EXPECT_THAT(problem(parse_unsigned("18446744073709551616")), HasSubstr("is too large: at most 18446744073709551615"));
  EXPECT_THAT(problem(parse_unsigned("-1")), HasSubstr("is negative"));
  EXPECT_THAT(problem(parse_integer(std::string(1'000'000, '9'))), HasSubstr("is too large"));
  EXPECT_LT(problem(parse_integer(std::string(1'000'000, '9'))).size(), 200U);
}

TEST(Integers, ParseUndoesFormat) {
  EXPECT_TRUE(rc::check("for every number", [](std::int64_t number) {
    RC_ASSERT(parse_integer(fmt::format("{}", number)) == number);
    RC_ASSERT(parse_unsigned(fmt::format("{}", static_cast<std::uint64_t>(number))) == static_cast<std::uint64_t>(number));
  }));
}

TEST(Text, DigitsAreTakenOffTheFront) {
  std::string_view text = "0129x3";
  EXPECT_EQ(take_digits(text), "0129");
  EXPECT_EQ(text, "x3");
  EXPECT_EQ(take_digits(text), "");
  EXPECT_EQ(text, "x3");
}

TEST(Text, CaseOfLettersMayDiffer) {
  EXPECT_TRUE(same_in_any_case("MasterSlave", "mASTERsLAVE"));
  EXPECT_FALSE(same_in_any_case("Master", "Masters"));
  EXPECT_FALSE(same_in_any_case("[", "{"));  // a bit apart, as letters of either case are
}

TEST(Decimals, HaveNoZerosAtTheirEnd) {
  EXPECT_EQ(format_decimal(1.5, 3), "1.5");
  EXPECT_EQ(format_decimal(2, 3), "2");
  EXPECT_EQ(format_decimal(100, 0), "100");
  EXPECT_EQ(format_decimal(0.0004, 3), "0");
  EXPECT_EQ(format_decimal(-0.0004, 3), "0");
  EXPECT_EQ(format_decimal(-0.0005001, 3), "-0.001");
  EXPECT_EQ(format_decimal(1e20, 2), "100000000000000000000");
}

}  // namespace
}  // namespace evenkeel
