// Any bytes as what the embedded store reads from its disk. As a key, a record or a ttl: refused, or the one value that is written so. As a
// write-ahead log: whole, torn or damaged; and whatever is missing from the end of a whole one, it is never taken for damaged.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "evenkeel/store/backends/embedded/detail/log_check.h"
#include "evenkeel/store/backends/embedded/detail/record.h"

namespace {

using namespace evenkeel;
using namespace evenkeel::store::embedded::detail;

void try_keys(std::string_view bytes) {
  if (const auto stamp = parse_record_key(bytes)) {
    ensure(stamp->revision > 0 && !stamp->erased, "revisions count from 1");
    ensure(record_key(stamp->revision, stamp->sub) == bytes, "a record's key survives being read and written");
  }
  if (const auto lease = parse_lease_key(bytes))
    ensure(lease_key(*lease) == bytes, "a lease's key survives being read and written");
  if (const auto ttl = parse_ttl(bytes)) {
    ensure(*ttl > Duration{}, "a lease has some time");
    ensure(format_ttl(*ttl) == bytes, "a ttl survives being read and written");
  }
}

void try_record(std::string_view bytes, std::int64_t revision) {
  const auto entry = parse_record(bytes, revision);
  if (!entry) return;
  ensure(entry->mod_revision == revision && entry->version >= 0, "a record is of its revision");
  ensure(entry->version == 0 || (entry->create_revision > 0 && entry->create_revision <= revision), "and was made before");
  ensure(format_record(*entry) == bytes, "a record survives being read and written");
}

// Logs are read from a folder: this one is in memory, where there is such a place, and this process's own.
class LogFolder {
 public:
  LogFolder() {
    const std::filesystem::path memory("/dev/shm");
    auto name =
        ((std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) / "fuzz-log-XXXXXX").string();
    ensure(::mkdtemp(name.data()) != nullptr, "there is a place for a file");
    path_ = name;
  }
  ~LogFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  Result<bool> check(std::string_view log) const {
    std::ofstream(path_ + "/000004.log", std::ios::binary | std::ios::trunc) << log;
    return check_logs(path_, {});
  }

 private:
  std::string path_;
};

void try_log(std::string_view bytes) {
  static const LogFolder folder;
  const auto torn = folder.check(bytes);
  ensure(torn || (torn.error().code == Code::invalid && torn.error().message.find("000004.log at byte ") != std::string::npos),
         "a refusal says where");
  if (!torn || *torn) return;
  // A rest too short for a header is taken for nothing, until zeros make it long enough to be a torn one: either may be.
  ensure(folder.check(std::string(bytes) + std::string(bytes.size() % 40'000, '\0')).has_value(),
         "a whole log may be filled with zeros");
  for (const std::size_t part : {1, 3, 7})
    ensure(folder.check(bytes.substr(0, bytes.size() * part / 8)).has_value(), "a log may be cut anywhere");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_keys(bytes);
  try_keys("r" + std::string(bytes.substr(0, 12)));
  for (const std::int64_t revision : {std::int64_t{1}, std::int64_t{300}, std::int64_t{1} << 62}) try_record(bytes, revision);
  try_log(bytes);
  return 0;
}
