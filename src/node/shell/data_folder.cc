#include "evenkeel/node/shell/data_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "evenkeel/base/file.h"

namespace evenkeel::node {
namespace {

constexpr Bytes id_bytes_max{256};

DataId new_id() {
  std::uint64_t words[2] = {};
  ensure(::getentropy(words, sizeof(words)) == 0, "the system has random bytes");
  return DataId(fmt::format("{:016x}{:016x}", words[0], words[1]));
}

std::string reason() { return std::generic_category().message(errno); }

Result<DataId> read_id(const std::string& path, bool may_make) {
  auto text = read_file(path, id_bytes_max);
  if (text) {
    while (!text->empty() && (text->back() == '\n' || text->back() == ' ')) text->pop_back();
    if (const auto why = why_not_a_name(*text)) return fail(Code::invalid, "{} holds no data id: {}", path, *why);
    return DataId(*std::move(text));
  }
  if (text.error().code != Code::not_found) return fail(std::move(text).error());
  if (!may_make) return fail(Code::unavailable, "{} is not there yet, and another process has the folder's lock", path);
  DataId id = new_id();
  if (auto written = replace_file(path, id.str() + "\n"); !written) return fail(std::move(written).error());
  return id;
}

}  // namespace

DataFolder DataFolder::none() {
  DataFolder folder;
  folder.id_ = new_id();
  return folder;
}

// The lock first, so that two that begin at the same moment do not both make an id.
Result<DataFolder> DataFolder::open(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(Code::unavailable, "the folder {} cannot be made: {}", path, error.message());
  DataFolder folder;
  const int file = ::open((path + "/evenkeel.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return fail(Code::unavailable, "{}/evenkeel.lock cannot be opened: {}", path, reason());
  const std::shared_ptr<const int> lock(new int(file), [](const int* held) {
    ::close(*held);
    delete held;
  });
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
    folder.lock_ = lock;
  } else if (errno != EWOULDBLOCK) {
    return fail(Code::unavailable, "{}/evenkeel.lock cannot be locked: {}", path, reason());
  }
  auto id = read_id(path + "/evenkeel.id", folder.locked());
  if (!id) return fail(std::move(id).error());
  folder.id_ = *std::move(id);
  return folder;
}

}  // namespace evenkeel::node
