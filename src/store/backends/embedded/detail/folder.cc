#include "evenkeel/store/backends/embedded/detail/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <vector>

#include "evenkeel/base/file.h"
#include "evenkeel/store/backends/embedded/detail/record.h"

namespace evenkeel::store::embedded::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view lock_name = "evenkeel.lock";
constexpr std::string_view store_name = "evenkeel.store";  // "format 1"
constexpr std::string_view new_name = "evenkeel.new";
constexpr std::string_view torn_name = "evenkeel.torn";
constexpr std::string_view floor_name = "evenkeel.revision";

std::string in(const std::string& folder, std::string_view name) { return (fs::path(folder) / name).string(); }

Error system_error(const std::string& what, int number) {
  const bool denied = number == EACCES || number == EPERM || number == EROFS;
  const bool no_folder = number == ENOTDIR || number == EEXIST;
  return {denied      ? Code::denied
          : no_folder ? Code::invalid
                      : Code::unavailable,
          fmt::format("{}: {}", what, std::strerror(number))};
}

// Whether RocksDB could have made it.
bool is_database_file(const std::string& name) {
  for (const std::string_view start : {"MANIFEST-", "OPTIONS-", "LOG", "LOCK", "IDENTITY", "CURRENT"})
    if (name.starts_with(start)) return true;
  return name.ends_with(".sst") || name.ends_with(".log") || name.ends_with(".dbtmp");
}

Result<std::set<std::string>> list(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    names.insert(entry->path().filename().string());
  if (error) return fail(system_error(folder, error.value()));
  return names;
}

// Makes names that were added or removed outlive a power cut.
Result<> sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return fail(system_error(folder, errno));
  const int failed = ::fsync(file) != 0 ? errno : 0;
  ::close(file);
  if (failed != 0) return fail(system_error(folder, failed));
  return {};
}

Result<> mark_new(const std::string& folder) {
  const auto path = in(folder, new_name);
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return fail(system_error(path, errno));
  ::close(file);
  return sync_folder(folder);
}

Result<> clear(const std::string& folder, const std::set<std::string>& names) {
  for (const auto& name : names) {
    std::error_code error;
    if (is_database_file(name)) fs::remove(in(folder, name), error);
    if (error) return fail(system_error(in(folder, name), error.value()));
  }
  return {};
}

// False, for "it is not new".
Result<bool> check_format(const std::string& folder, bool complete) {
  const auto text = read_file(in(folder, store_name), Bytes(1 << 10));
  if (!text) return fail(text.error());
  if (*text != fmt::format("format {}\n", format_number)) {
    if (text->starts_with("format ") && text->ends_with("\n"))
      return fail(Code::invalid, "{} was made by another version: it has {}, and this one reads format {}", folder,
                  text->substr(0, text->size() - 1), format_number);
    return fail(Code::invalid, "{} is damaged: {} does not say its format; restore a backup", folder, store_name);
  }
  if (!complete) return fail(Code::invalid, "{} is damaged: its file CURRENT is missing; restore a backup", folder);
  return false;
}

// Lines with a number each; none if there is no such file.
Result<std::vector<std::uint64_t>> read_numbers(const std::string& path) {
  std::vector<std::uint64_t> numbers;
  const auto text = read_file(path, Bytes(1 << 20));
  if (!text && text.error().code == Code::not_found) return numbers;
  if (!text) return fail(text.error());
  const char* const end = text->data() + text->size();
  for (const char* at = text->data(); at != end;) {
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(at, end, number);
    if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != '\n')
      return fail(Code::invalid, "{} is damaged: it should be lines with a number each", path);
    numbers.push_back(number);
    at = parsed.ptr + 1;
  }
  return numbers;
}

// A folder of somebody else's is left alone: not even a lock is put there.
Result<> check_ours(const std::string& folder, const std::set<std::string>& names) {
  for (const std::string_view own : {lock_name, store_name, new_name})
    if (names.contains(std::string(own))) return {};
  if (names.contains("CURRENT")) return fail(Code::invalid, "{} holds a RocksDB database that is not an Evenkeel store", folder);
  for (const auto& name : names)
    if (name != "lost+found") return fail(Code::invalid, "{} is not a store, and not empty: it holds {}", folder, name);
  return {};
}

}  // namespace

Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(system_error(folder, error.value()));
  const auto names = list(folder);
  if (!names) return fail(names.error());
  if (auto ours = check_ours(folder, *names); !ours) return fail(std::move(ours).error());
  const auto path = in(folder, lock_name);
  const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) return fail(system_error(path, errno));
  std::unique_ptr<FolderLock> lock(new FolderLock(file));
  char holder[32] = {};
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const auto count = ::pread(file, holder, sizeof holder - 1, 0);
    const std::string who =
        count > 0 ? fmt::format(" by process {}", std::string_view(holder, static_cast<std::size_t>(count))) : "";
    return fail(Code::conflict, "{} is in use{}; stop that one, or choose another folder", folder, who);
  }
  // Who has it is told to whoever wants it too; that is a courtesy, so it may fail.
  const auto pid = std::to_string(::getpid());
  if (::ftruncate(file, 0) == 0) [[maybe_unused]]
    const auto written = ::pwrite(file, pid.data(), pid.size(), 0);
  return lock;
}

FolderLock::~FolderLock() { ::close(file_); }

Result<bool> prepare_folder(const std::string& folder) {
  auto names = list(folder);
  if (!names) return fail(std::move(names).error());
  names->erase(std::string(lock_name));
  const bool unfinished = names->erase(std::string(new_name)) > 0;
  names->erase("lost+found");
  if (unfinished) {
    if (auto cleared = clear(folder, *names); !cleared) return fail(std::move(cleared).error());
    return true;
  }
  if (names->contains(std::string(store_name))) return check_format(folder, names->contains("CURRENT"));
  if (auto ours = check_ours(folder, *names); !ours) return fail(std::move(ours).error());
  if (auto marked = mark_new(folder); !marked) return fail(std::move(marked).error());
  return true;
}

Result<> write_format(const std::string& folder) {
  return replace_file(in(folder, store_name), fmt::format("format {}\n", format_number));
}

Result<> finish_folder(const std::string& folder) {
  if (auto synced = sync_folder(folder); !synced) return synced;
  std::error_code error;
  fs::remove(in(folder, new_name), error);
  if (error) return fail(system_error(in(folder, new_name), error.value()));
  return sync_folder(folder);
}

Result<std::set<std::uint64_t>> read_torn(const std::string& folder) {
  const auto numbers = read_numbers(in(folder, torn_name));
  if (!numbers) return fail(numbers.error());
  return std::set<std::uint64_t>(numbers->begin(), numbers->end());
}

Result<> write_torn(const std::string& folder, const std::set<std::uint64_t>& logs) {
  std::string text;
  for (const auto number : logs) text += fmt::format("{}\n", number);
  return replace_file(in(folder, torn_name), text);
}

Result<std::int64_t> read_floor(const std::string& folder) {
  const auto numbers = read_numbers(in(folder, floor_name));
  if (!numbers) return fail(numbers.error());
  return numbers->empty() ? 0 : static_cast<std::int64_t>(numbers->front());
}

Result<> write_floor(const std::string& folder, std::int64_t revision) {
  return replace_file(in(folder, floor_name), fmt::format("{}\n", revision));
}

}  // namespace evenkeel::store::embedded::detail
