#include "tests/store/backends/engine_spoil.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace evenkeel::store::embedded::test {
namespace {

// Of RocksDB's logs; log_check.cc says more.
constexpr std::size_t block_bytes = 32 << 10;
constexpr std::size_t header_bytes = 7;
constexpr int whole = 1, first = 2, last = 4;

struct Ending {
  std::size_t begin = 0, end = 0;  // of the last record; zeros, or nothing, follow
  std::string body;                // of that record
};

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

Ending ending_of(std::string_view log) {
  Ending ending;
  for (std::size_t at = 0; at + header_bytes <= log.size();) {
    const std::size_t left = block_bytes - at % block_bytes;
    if (left < header_bytes) {
      at += left;
      continue;
    }
    const std::size_t length = byte_at(log, at + 4) | byte_at(log, at + 5) << 8;
    const auto type = static_cast<int>(byte_at(log, at + 6));
    if (type < whole || type > last || header_bytes + length > left || at + header_bytes + length > log.size()) break;
    if (type == whole || type == first) {
      ending.begin = at;
      ending.body.clear();
    }
    ending.body += log.substr(at + header_bytes, length);
    at += header_bytes + length;
    ending.end = at;
  }
  return ending;
}

// A text with its length before it, as RocksDB has them in a batch.
std::optional<std::string_view> take_text(std::string_view& bytes) {
  std::size_t length = 0;
  for (int shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = byte_at(bytes, 0);
    bytes.remove_prefix(1);
    length |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if (byte >= 0x80) continue;
    if (length > bytes.size()) return {};
    const auto text = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return text;
  }
  return {};
}

// Whether a batch writes nothing but changes of keys (detail/record.h), all of them after a revision.
bool is_after(std::string_view batch, std::int64_t revision) {
  constexpr std::size_t batch_header_bytes = 12;
  constexpr char put = 1;
  if (batch.size() <= batch_header_bytes) return false;
  batch.remove_prefix(batch_header_bytes);
  while (!batch.empty()) {
    if (batch[0] != put) return false;
    batch.remove_prefix(1);
    const auto key = take_text(batch);
    if (!key || !take_text(batch) || key->size() != 13 || key->front() != 'r') return false;
    std::uint64_t number = 0;
    for (std::size_t i = 1; i <= 8; ++i) number = number << 8 | byte_at(*key, i);
    if (static_cast<std::int64_t>(number) <= revision) return false;
  }
  return true;
}

// The last record was not acknowledged, so any part of it may be missing.
void tear(std::string& log, const Ending& ending, Rng& rng) {
  const auto from = ending.begin + rng.below(ending.end - ending.begin);
  const auto to = from + 1 + rng.below(ending.end - from);
  switch (rng.below(3)) {
    case 0:
      return log.resize(from);
    case 1:
      return void(log.replace(from, ending.end - from, ending.end - from, '\0'));
    default:
      return void(log.replace(from, to - from, to - from, '\0'));  // what is after it was written first
  }
}

void write_at(std::string& log, std::size_t at, std::string_view bytes) {
  log.resize(std::max(log.size(), at + bytes.size()), '\0');
  log.replace(at, bytes.size(), bytes);
}

// Something more was being written.
void add(std::string& log, const Ending& ending, Rng& rng) {
  const auto kind = rng.below(4);
  if (kind == 0) return log.resize(ending.end + rng.below(log.size() - ending.end + 1));
  if (kind == 1 && ending.end > ending.begin) {
    const auto begun = log.substr(ending.begin, 1 + rng.below(std::min(ending.end - ending.begin - 1, block_bytes / 2)));
    return write_at(log, ending.end, begun);
  }
  std::string garbage;
  for (auto left = rng.between(1, 300); left > 0; --left) garbage.push_back(static_cast<char>(rng.next()));
  write_at(log, kind == 2 ? ending.end : log.size(), garbage);
}

}  // namespace

void spoil_log(const std::string& folder, std::int64_t acknowledged, Rng& rng) {
  std::filesystem::path newest;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".log" && entry.path() > newest) newest = entry.path();
  if (newest.empty()) return;
  std::string log;
  {
    std::ifstream file(newest, std::ios::binary);
    log.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto ending = ending_of(log);
  if (is_after(ending.body, acknowledged)) {
    tear(log, ending, rng);
  } else {
    add(log, ending, rng);
  }
  std::ofstream(newest, std::ios::binary | std::ios::trunc) << log;
}

}  // namespace evenkeel::store::embedded::test
