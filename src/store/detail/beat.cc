#include "evenkeel/store/detail/beat.h"

#include <limits>
#include <optional>

#include "evenkeel/base/document.h"
#include "evenkeel/base/later.h"
#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"

namespace evenkeel::store {
namespace detail {
namespace {

constexpr std::uint64_t format_number = 1;  // read_plain() has it too

Result<Beat> read_beat(const Document& document) {
  Diagnostics problems = document.problems();
  FieldReader fields(document.root(), problems, "a beat");
  const auto number = [&](std::uint64_t most) {
    return [&problems, most](Value value) { return read_count(value, problems, {.most = most}); };
  };
  Beat beat;
  std::string identity;
  std::uint64_t version = 0;
  fields.required("format", version, number(std::numeric_limits<std::uint64_t>::max()));
  if (problems.empty() && version != format_number)
    return fail(Code::invalid, "it has format {}, and only {} is known: a newer Evenkeel wrote it", version, format_number);
  fields.required("identity", identity, [&](Value value) { return read_text(value, problems); });
  fields.required("count", beat.count, number(std::numeric_limits<std::uint64_t>::max()));
  fields.required("ttl", beat.ttl, [&](Value value) { return read_duration(value, problems); });
  fields.required("meta", beat.meta, [&](Value value) { return read_text(value, problems); });
  fields.required("ended", beat.ended, [&](Value value) { return read_flag(value, problems); });
  if (!problems.empty()) return fail(problems.to_error());
  if (identity.empty() || beat.ttl <= Duration{}) return fail(Code::invalid, "it has no identity, or no ttl");
  beat.identity = Identity(std::move(identity));
  return beat;
}

// Takes parts off a text, as long as it is what format() makes of plain ASCII.
class Parts {
 public:
  explicit Parts(std::string_view text) : text_(text) {}

  bool literal(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  // Up to the closing quote, which is taken too.
  bool plain(std::string_view& out) {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '"') {
        out = text_.substr(0, i);
        text_.remove_prefix(i + 1);
        return true;
      }
      if (c < 0x20 || c > 0x7e || c == '\\') return false;
    }
    return false;
  }
  bool number(std::uint64_t& out) {
    std::size_t digits = 0;
    for (out = 0; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits) {
      if (digits == 18) return false;
      out = out * 10 + static_cast<std::uint64_t>(text_[digits] - '0');
    }
    if (digits == 0 || (digits > 1 && text_[0] == '0')) return false;
    text_.remove_prefix(digits);
    return true;
  }
  bool ended() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// A beat just as format() writes it. Beats are most of what is read in a cluster at rest, by everybody, so that this is ten times faster than a reader
// of any JSON counts; which reads whatever this one does not.
std::optional<Beat> read_plain(std::string_view text) {
  Parts parts(text);
  std::string_view identity, ttl, meta;
  Beat beat;
  if (!parts.literal(R"({"format":1,"identity":")") || !parts.plain(identity) || !parts.literal(R"(,"count":)") ||
      !parts.number(beat.count) || !parts.literal(R"(,"ttl":")") || !parts.plain(ttl) || !parts.literal(R"(,"meta":")") ||
      !parts.plain(meta) || !parts.literal(R"(,"ended":)"))
    return std::nullopt;
  beat.ended = parts.literal("true}");
  if ((!beat.ended && !parts.literal("false}")) || !parts.ended()) return std::nullopt;
  const auto duration = parse_duration(ttl);
  if (!duration || *duration <= Duration{} || identity.empty()) return std::nullopt;
  beat.ttl = *duration;
  beat.identity = Identity(std::string(identity));
  beat.meta = meta;
  return beat;
}

}  // namespace

std::string format(const Beat& beat) {
  return with_later_field(fmt::format(R"({{"format":{},"identity":{},"count":{},"ttl":"{}","meta":{},"ended":{}}})",
                                      format_number, json_quoted(beat.identity.str()), beat.count, evenkeel::format(beat.ttl),
                                      json_quoted(beat.meta), beat.ended));
}

Result<Beat> parse_beat(const Entry& entry) {
  if (auto plain = read_plain(entry.value)) return *std::move(plain);
  const auto document = Document::parse(entry.value, entry.key, Syntax::json);
  auto beat = document ? read_beat(*document) : Result<Beat>(fail(document.error().to_error()));
  if (!beat) return fail(std::move(beat).error().in(fmt::format("{} is no session's beat", entry.key)));
  return beat;
}

}  // namespace detail

Result<Beat> parse_session_beat(const Entry& entry) { return detail::parse_beat(entry); }

}  // namespace evenkeel::store
