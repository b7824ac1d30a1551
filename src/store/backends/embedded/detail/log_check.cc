#include "evenkeel/store/backends/embedded/detail/log_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

namespace evenkeel::store::embedded::detail {
namespace {

// RocksDB's log: blocks of 32 KiB with records, each a checksum (4 bytes, of what follows the length), a length (2), a type (1) and the
// bytes. A record that does not fit is cut into a first part, middle ones and a last. What is left of a block, if no header fits, is zeros.
constexpr std::size_t block_bytes = 32 << 10;
constexpr std::size_t header_bytes = 7;
enum Type : std::uint8_t {
  none = 0,
  whole = 1,
  first = 2,
  middle = 3,
  last = 4
};  // 5 to 8: the same in files that are used again
constexpr std::size_t recycled_header_bytes = header_bytes + 4;

constexpr auto crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
    table[i] = crc;
  }
  return table;
}();

std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

struct Piece {
  std::uint8_t type = none;  // of the four; others are whole by themselves
  std::size_t bytes = 0;     // with its header
};

// The piece at the front, if it is whole.
std::optional<Piece> read_piece(std::string_view bytes) {
  if (bytes.size() < header_bytes) return {};
  const std::size_t length = byte_at(bytes, 4) | byte_at(bytes, 5) << 8;
  const auto type = static_cast<std::uint8_t>(byte_at(bytes, 6));
  if (type == none || type > 11) return {};
  const bool recycled = type >= 5 && type <= 8;
  const std::size_t size = (recycled ? recycled_header_bytes : header_bytes) + length;
  if (size > bytes.size()) return {};
  const std::uint32_t wanted = byte_at(bytes, 0) | byte_at(bytes, 1) << 8 | byte_at(bytes, 2) << 16 | byte_at(bytes, 3) << 24;
  if (masked(crc32c(bytes.substr(6, size - 6))) != wanted) return {};
  const auto kind = recycled ? static_cast<std::uint8_t>(type - 4) : type;
  return Piece{kind > last ? static_cast<std::uint8_t>(whole) : kind, size};
}

// Goes through the logs in order, and remembers the first place that it could not read.
class Reader {
 public:
  // False: damage; where() says where.
  bool read_block(std::string_view block, const std::string& file, std::uint64_t offset) {
    const std::size_t zeros_from = block.find_last_not_of('\0') + 1;  // npos + 1 is 0
    std::size_t at = 0;
    while (block.size() - at >= header_bytes) {
      const auto piece = read_piece(block.substr(at));
      if (piece && !take(*piece, file, offset + at)) return false;
      if (!piece && at >= zeros_from) {
        if (!zeros_) zeros_ = name(file, offset + at);
        return true;
      }
      if (!piece) lost(zeros_.value_or(name(file, offset + at)));
      at += piece ? piece->bytes : 1;  // once lost, a record may begin anywhere
    }
    return true;
  }
  // Zeros up to the end are the end, if no record is open.
  void end_log(bool torn) {
    if (open_) lost(*open_);
    if (torn) where_.reset();
    zeros_.reset();
    open_.reset();
  }
  bool torn() const { return where_.has_value(); }
  const std::string& where() const { return *where_; }

 private:
  static std::string name(const std::string& file, std::uint64_t offset) { return fmt::format("{} at byte {}", file, offset); }
  void lost(const std::string& place) {
    if (!where_) where_ = place;
    open_.reset();
  }
  bool take(Piece piece, const std::string& file, std::uint64_t offset) {
    if (zeros_) lost(*zeros_);
    const bool begins = piece.type == whole || piece.type == first;
    if (begins && open_) lost(*open_);
    if (begins && where_) return false;
    if (!begins && !open_) lost(name(file, offset));
    if (piece.type == first) open_ = name(file, offset);
    if (piece.type == last) open_.reset();
    return true;
  }

  std::optional<std::string> where_;  // the first place that cannot be read
  std::optional<std::string> zeros_;  // where zeros began that may be the end
  std::optional<std::string> open_;   // where the record began whose last part has not come
};

std::string log_name(std::uint64_t number) { return fmt::format("{:06}.log", number); }

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = crc_table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::set<std::uint64_t> list_logs(const std::string& folder) {
  std::set<std::uint64_t> numbers;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder, error); !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc() && std::string_view(parsed.ptr) == ".log") numbers.insert(number);
  }
  return numbers;
}

Result<bool> check_logs(const std::string& folder, const std::set<std::uint64_t>& torn) {
  Reader reader;
  std::string block(block_bytes, '\0');
  for (const auto number : list_logs(folder)) {
    const auto path = (std::filesystem::path(folder) / log_name(number)).string();
    std::ifstream file(path, std::ios::binary);
    if (!file) return fail(Code::unavailable, "{} cannot be read", path);
    for (std::uint64_t offset = 0;; offset += block_bytes) {
      file.read(block.data(), block_bytes);
      const auto count = static_cast<std::size_t>(file.gcount());
      if (!reader.read_block({block.data(), count}, path, offset))
        return fail(Code::invalid,
                    "{} is damaged: its log {} cannot be read, and writes follow that were acknowledged; restore a backup",
                    folder, reader.where());
      if (count < block_bytes) break;
    }
    reader.end_log(torn.contains(number));
  }
  return reader.torn();
}

}  // namespace evenkeel::store::embedded::detail
