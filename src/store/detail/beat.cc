#include "evenkeel/store/detail/beat.h"

#include <limits>

#include "evenkeel/base/document.h"
#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"

namespace evenkeel::store {
namespace detail {
namespace {

constexpr std::uint64_t format_number = 1;

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

}  // namespace

std::string format(const Beat& beat) {
  return fmt::format(R"({{"format":{},"identity":{},"count":{},"ttl":"{}","meta":{},"ended":{}}})", format_number,
                     json_quoted(beat.identity.str()), beat.count, evenkeel::format(beat.ttl), json_quoted(beat.meta),
                     beat.ended);
}

Result<Beat> parse_beat(const Entry& entry) {
  const auto document = Document::parse(entry.value, entry.key, Syntax::json);
  auto beat = document ? read_beat(*document) : Result<Beat>(fail(document.error().to_error()));
  if (!beat) return fail(std::move(beat).error().in(fmt::format("{} is no session's beat", entry.key)));
  return beat;
}

}  // namespace detail

Result<Beat> parse_session_beat(const Entry& entry) { return detail::parse_beat(entry); }

}  // namespace evenkeel::store
