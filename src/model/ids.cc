#include "evenkeel/model/ids.h"

#include <algorithm>
#include <charconv>

#include "evenkeel/base/text.h"

namespace evenkeel {
namespace {

bool letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::optional<std::string> why_not(std::string_view text, std::string_view also) {
  if (text.empty()) return "a name must not be empty";
  if (text.size() > name_bytes_max) {
    return fmt::format("the name {} has {} characters; at most {} are allowed", quote(text, 20), text.size(), name_bytes_max);
  }
  if (!letter_or_digit(text[0])) return fmt::format("the name {} must start with a letter, a digit or _", quote(text));
  const auto bad =
      std::ranges::find_if(text, [&](char c) { return !letter_or_digit(c) && also.find(c) == std::string_view::npos; });
  if (bad == text.end()) return std::nullopt;
  const auto shown =
      static_cast<unsigned char>(*bad) < 0x80 ? quote(std::string_view(&*bad, 1)) : std::string("a character beyond ASCII");
  return fmt::format("the name {} contains {}; allowed are letters, digits and _ {}", quote(text), shown, fmt::join(also, " "));
}

}  // namespace

std::string format(const ShardId& id) { return fmt::format("{}/{}", id.workload, id.shard); }

Result<ShardId> parse_shard_id(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return fail(Code::invalid, "{} names no shard: write WORKLOAD/NUMBER, for example t1/9", quote(text));
  if (const auto why = why_not_a_name(text.substr(0, slash))) return fail(Code::invalid, "{}", *why);
  const auto number = parse_unsigned(text.substr(slash + 1));
  if (!number) return fail(number.error().in(quote(text)));
  if (*number > std::numeric_limits<std::uint32_t>::max())
    return fail(Code::invalid, "{}: the shard's number is too large", quote(text));
  return ShardId{WorkloadId(std::string(text.substr(0, slash))), ShardIndex(static_cast<std::uint32_t>(*number))};
}

std::string format(Incarnation incarnation) { return fmt::format("{:016x}", incarnation.value()); }

Result<Incarnation> parse_incarnation(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (text.size() != 16 || error != std::errc() || end != text.data() + text.size())
    return fail(Code::invalid, "{} is no incarnation: expected 16 hexadecimal digits", quote(text));
  return Incarnation(number);
}

std::optional<std::string> why_not_a_name(std::string_view text) { return why_not(text, ".-:@+"); }
std::optional<std::string> why_not_a_label_key(std::string_view text) { return why_not(text, ".-:@+/"); }

std::optional<std::string> why_not_a_label_value(std::string_view text) {
  if (text.size() > name_bytes_max) {
    return fmt::format("the value {} has {} bytes; at most {} are allowed", quote(text, 20), text.size(), name_bytes_max);
  }
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(text, control)) return fmt::format("the value {} contains a control character", quote(text));
  if (find_invalid_utf8(text)) return fmt::format("the value {} is not valid UTF-8", quote(text));
  return std::nullopt;
}

std::optional<std::string> why_not_a_zone(std::string_view text) {
  constexpr int depth_max = 8;
  int depth = 0;
  for (auto rest = text; !text.empty();) {
    if (++depth > depth_max) return fmt::format("the zone {} has more than {} parts", quote(text), depth_max);
    const auto slash = rest.find('/');
    if (const auto why = why_not_a_name(rest.substr(0, slash)))
      return fmt::format("the zone {} is no path of names: {}", quote(text), *why);
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  return std::nullopt;
}

}  // namespace evenkeel
