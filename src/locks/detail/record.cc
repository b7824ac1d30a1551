#include "evenkeel/locks/detail/record.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <tuple>

#include "evenkeel/base/document.h"
#include "evenkeel/base/later.h"
#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"

namespace evenkeel::locks::detail {
namespace {

constexpr std::uint64_t format_number = 1;
constexpr std::array<std::string_view, 2> kinds = {"session", "expiring"};  // in the order of Kind

// Text and number fields by name. Fields of a later version are overlooked.
class Fields {
 public:
  Fields(const Document& document, std::string_view what)
      : problems_(document.problems()), reader_(document.root(), problems_, what) {
    std::uint64_t version = 0;
    number("format", version);
    if (problems_.empty() && version != format_number)
      newer_ = Error{Code::invalid,
                     fmt::format("it has format {}, and only {} is known: a newer Evenkeel wrote it", version, format_number)};
  }
  void text(std::string_view name, std::string& out) {
    reader_.required(name, out, [&](Value value) { return read_text(value, problems_); });
  }
  void number(std::string_view name, std::uint64_t& out) {
    reader_.required(name, out, [&](Value value) {
      return read_count(value, problems_, {.most = std::numeric_limits<std::uint64_t>::max()});
    });
  }
  void flag(std::string_view name, bool& out) {
    reader_.required(name, out, [&](Value value) { return read_flag(value, problems_); });
  }
  void duration(std::string_view name, Duration& out) {
    reader_.required(name, out, [&](Value value) { return read_duration(value, problems_); });
  }
  void word(std::string_view name, std::size_t& out, std::span<const std::string_view> words) {
    reader_.required(name, out, [&](Value value) { return read_word(value, problems_, name, words); });
  }
  std::optional<Error> wrong() const {
    if (newer_) return newer_;
    return problems_.empty() ? std::optional<Error>() : problems_.to_error();
  }

 private:
  Diagnostics problems_;
  FieldReader reader_;
  std::optional<Error> newer_;
};

Result<Record> read_record(const Document& document) {
  Fields fields(document, "a lock");
  Record record;
  fields.text("owner", record.owner);
  if (!fields.wrong() && !record.held()) {
    std::uint64_t token = 0;
    fields.number("token", token);
    record.token = Token(static_cast<std::int64_t>(token));
  } else if (!fields.wrong()) {
    std::size_t kind = 0;
    fields.word("kind", kind, kinds);
    record.kind = static_cast<Kind>(kind);
    fields.duration("ttl", record.ttl);
    fields.text("meta", record.meta);
    fields.text("beat", record.beat);
    fields.text("identity", record.identity);
  }
  if (const auto wrong = fields.wrong()) return fail(*wrong);
  if (record.held() && record.ttl <= Duration{}) return fail(Code::invalid, "it has no ttl");
  return record;
}

Result<Beat> read_beat(const Document& document) {
  Fields fields(document, "a beat");
  Beat beat;
  fields.text("identity", beat.identity);
  fields.number("count", beat.count);
  fields.duration("ttl", beat.ttl);
  fields.text("meta", beat.meta);
  fields.flag("ended", beat.ended);
  if (const auto wrong = fields.wrong()) return fail(*wrong);
  if (beat.identity.empty() || beat.ttl <= Duration{}) return fail(Code::invalid, "it has no identity, or no ttl");
  return beat;
}

template <class T>
Result<T> parse(const store::Entry& entry, Result<T> (*read)(const Document&), std::string_view what) {
  const auto document = Document::parse(entry.value, entry.key, Syntax::json);
  auto value = document ? read(*document) : Result<T>(fail(document.error().to_error()));
  if (!value) return fail(std::move(value).error().in(fmt::format("{} is no {}", entry.key, what)));
  return value;
}

}  // namespace

std::string format(const Record& record) {
  if (!record.held())
    return with_later_field(fmt::format(R"({{"format":{},"owner":"","token":{}}})", format_number, record.token.value()));
  return with_later_field(fmt::format(R"({{"format":{},"owner":{},"kind":"{}","ttl":"{}","meta":{},"beat":{},"identity":{}}})",
                                      format_number, json_quoted(record.owner), kinds[static_cast<std::size_t>(record.kind)],
                                      evenkeel::format(record.ttl), json_quoted(record.meta), json_quoted(record.beat),
                                      json_quoted(record.identity)));
}

Result<Record> parse_record(const store::Entry& entry) {
  auto record = parse(entry, &read_record, "lock");
  if (record && record->held()) record->token = Token(entry.modified.value());
  return record;
}

Result<Record> parse_record(const std::optional<store::Entry>& entry) { return entry ? parse_record(*entry) : Record{}; }

std::string format(const Beat& beat) {
  return with_later_field(fmt::format(R"({{"format":{},"identity":{},"count":{},"ttl":"{}","meta":{},"ended":{}}})",
                                      format_number, json_quoted(beat.identity), beat.count, evenkeel::format(beat.ttl),
                                      json_quoted(beat.meta), beat.ended));
}

Result<Beat> parse_beat(const store::Entry& entry) { return parse(entry, &read_beat, "beat"); }

// The longest key is that of somebody in the queue: an owner's 32 digits, a dash and a number.
Result<> check_path(const std::string& path) {
  if (auto good = store::check_key(path); !good) return good;
  if (path.ends_with(".renewal") || path.ends_with(".queue"))
    return fail(Code::invalid, "{} is no lock's path: .renewal and .queue are for what belongs to a lock", quote(path));
  return store::check_key(queue_prefix(path) + std::string(54, '0'));
}

store::Compare as_seen(const std::string& path, std::optional<store::Revision> modified) {
  return modified ? store::unchanged(path, *modified) : store::absent(path);
}

store::Txn empty_lock(const std::string& path, std::optional<store::Revision> modified, const Record& last) {
  store::Txn txn;
  txn.compare(as_seen(path, modified)).put(path, format(Record{.token = last.token}));
  if (last.held() && last.kind == Kind::expiring)
    txn.put(renewal_key(path), format(Beat{last.identity, 0, last.ttl, last.meta, true}));
  return txn;
}

Place place_in(const std::vector<store::Entry>& queue, const std::string& own) {
  const auto me = std::find_if(queue.begin(), queue.end(), [&](const store::Entry& entry) { return entry.key == own; });
  if (me == queue.end()) return {.gone = true};
  Place place;
  for (const store::Entry& entry : queue) {
    if (std::tie(entry.created, entry.key) >= std::tie(me->created, me->key)) continue;
    ++place.before;
    if (!place.ahead || std::tie(place.ahead->created, place.ahead->key) < std::tie(entry.created, entry.key))
      place.ahead = entry;
  }
  return place;
}

}  // namespace evenkeel::locks::detail
