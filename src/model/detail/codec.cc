#include "evenkeel/model/detail/codec.h"

#include <algorithm>
#include <charconv>

namespace evenkeel::detail {

// Names and states, which are most of what is written, need no escapes.
void JsonText::quoted(std::string_view text) {
  const auto plain = [](char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7F; };
  if (!std::ranges::all_of(text, plain)) {
    out_ += json_quoted(text);
    return;
  }
  out_ += '"';
  out_ += text;
  out_ += '"';
}

void get_name(JsonScan& in, std::string& out) {
  out = in.text("a name");
  if (in.failed()) return;
  if (const auto why = why_not_a_name(out)) in.fail(*why);
}

void get(JsonScan& in, Incarnation& out) {
  const auto digits = in.text("an incarnation");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  const bool small = std::ranges::none_of(digits, [](char c) { return c >= 'A' && c <= 'F'; });
  if (digits.size() != 16 || end != digits.data() + 16 || error != std::errc() || !small)
    in.fail(fmt::format("{} is not an incarnation: it has 16 hexadecimal digits", quote(digits)));
  out = Incarnation(value);
}

void get(JsonScan& in, Duration& out) {
  get_parsed(in, out, "a duration such as \"30s\"", parse_duration);
  if (out < Duration::zero()) in.fail(fmt::format("{} is negative", format(out)), "give zero or more");
}

void get(JsonScan& in, Quantity& out) {
  get_parsed(in, out, "a quantity such as 0.5 or \"64Gi\"", Quantity::parse);
  if (out.negative()) in.fail(fmt::format("{} is negative", format(out)), "give zero or more");
}

std::optional<std::uint64_t> format_of(std::string_view text) {
  JsonScan in(text);
  in.begin_map("a document");
  for (bool first = true; in.next_key(first); in.skip()) {
    if (in.key() != "format") continue;
    const auto format = in.count(std::numeric_limits<std::uint64_t>::max());
    return in.failed() ? std::nullopt : std::optional(format);
  }
  return std::nullopt;
}

Result<void> check_format(std::string_view text, std::string_view where, std::uint32_t known) {
  const auto format = format_of(text);
  if (format && *format > known)
    return fail(Code::refused, "{} has format {}, and this version reads up to {}: something newer wrote it", where, *format,
                known);
  if (format && *format > 0) return {};
  // What the text itself is wrong in is the better message.
  JsonScan in(text);
  in.begin_map("a document with its fields");
  for (bool first = true; in.next_key(first);) {
    if (in.key() == "format" && in.count(known) == 0)
      in.fail("there is no format 0", "the first is 1");
    else if (in.key() != "format")
      in.skip();
  }
  in.fail_at(0, "a document lacks the field \"format\"", "add it");
  return tl::unexpected(in.problems(where).to_error());
}

}  // namespace evenkeel::detail
