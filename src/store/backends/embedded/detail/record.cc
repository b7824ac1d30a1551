#include "evenkeel/store/backends/embedded/detail/record.h"

#include <bit>
#include <cstring>

namespace evenkeel::store::embedded::detail {
namespace {

constexpr char flag_put = 1;
constexpr char flag_erased = 2;

template <class T>
void append_big(std::string& out, T number) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

template <class T>
T read_big(std::string_view bytes) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) number = static_cast<T>(number << 8) | static_cast<unsigned char>(bytes[i]);
  return number;
}

void append_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
  out.push_back(static_cast<char>(number));
}

// Takes a number off the front; false: there is none. A last byte of zero is a longer way to say the same, and not taken.
bool take_varint(std::string_view& bytes, std::uint64_t& number) {
  number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) return false;
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return byte != 0 || shift == 0;
  }
  return false;
}

}  // namespace

std::string record_key(std::int64_t revision, std::uint32_t sub) {
  std::string key("r");
  key.reserve(13);
  append_big(key, static_cast<std::uint64_t>(revision));
  append_big(key, sub);
  return key;
}

std::string lease_key(LeaseId id) {
  std::string key("l");
  append_big(key, static_cast<std::uint64_t>(id));
  return key;
}

std::string fact_key(std::string_view name) { return "m" + std::string(name); }

std::optional<Stamp> parse_record_key(std::string_view key) {
  if (key.size() != 13 || key[0] != 'r') return {};
  const auto revision = static_cast<std::int64_t>(read_big<std::uint64_t>(key.substr(1)));
  if (revision <= 0) return {};
  return Stamp{revision, read_big<std::uint32_t>(key.substr(9)), false};
}

std::optional<LeaseId> parse_lease_key(std::string_view key) {
  if (key.size() != 9 || key[0] != 'l') return {};
  return static_cast<LeaseId>(read_big<std::uint64_t>(key.substr(1)));
}

std::string format_record(const KeyValue& entry) {
  std::string out;
  out.reserve(entry.key.size() + entry.value.size() + 24);
  out.push_back(entry.version == 0 ? flag_erased : flag_put);
  append_varint(out, entry.key.size());
  out += entry.key;
  if (entry.version == 0) return out;
  append_varint(out, static_cast<std::uint64_t>(entry.create_revision));
  append_varint(out, static_cast<std::uint64_t>(entry.version));
  append_varint(out, static_cast<std::uint64_t>(entry.lease));
  out += entry.value;
  return out;
}

std::optional<KeyValue> parse_record(std::string_view bytes, std::int64_t revision) {
  if (bytes.empty() || (bytes[0] != flag_put && bytes[0] != flag_erased)) return {};
  const bool erased = bytes[0] == flag_erased;
  bytes.remove_prefix(1);
  std::uint64_t length = 0;
  if (!take_varint(bytes, length) || length > bytes.size()) return {};
  KeyValue entry;
  entry.key = bytes.substr(0, length);
  entry.mod_revision = revision;
  bytes.remove_prefix(length);
  if (erased) return bytes.empty() ? std::optional(std::move(entry)) : std::nullopt;
  std::uint64_t create = 0;
  std::uint64_t version = 0;
  std::uint64_t lease = 0;
  if (!take_varint(bytes, create) || !take_varint(bytes, version) || !take_varint(bytes, lease)) return {};
  entry.create_revision = static_cast<std::int64_t>(create);
  entry.version = static_cast<std::int64_t>(version);
  entry.lease = static_cast<LeaseId>(lease);
  if (entry.create_revision <= 0 || entry.create_revision > revision || entry.version <= 0) return {};
  entry.value = bytes;
  return entry;
}

std::string format_ttl(Duration ttl) {
  std::string out;
  append_big(out, static_cast<std::uint64_t>(ttl.count()));
  return out;
}

std::optional<Duration> parse_ttl(std::string_view bytes) {
  if (bytes.size() != 8) return {};
  const Duration ttl(static_cast<std::int64_t>(read_big<std::uint64_t>(bytes)));
  return ttl > Duration{} ? std::optional(ttl) : std::nullopt;
}

}  // namespace evenkeel::store::embedded::detail
