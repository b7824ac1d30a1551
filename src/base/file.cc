#include "evenkeel/base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "evenkeel/base/text.h"

namespace evenkeel {

namespace {

// A descriptor of ours, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // For what was written: a full disk may only be reported here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::denied;
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return Code::invalid;
    default:
      return Code::unavailable;
  }
}

constexpr std::size_t path_shown_max = 1'000;

// "cannot read "a.yaml": No such file or directory", from errno.
unexpected<Error> system_failure(std::string_view verb, std::string_view path) {
  const int error = errno;
  return fail(code_of(error), "cannot {} {}: {}", verb, quote(path, path_shown_max), std::generic_category().message(error));
}

// A path that the system would cut at its zero byte names another file than the one that was asked for.
Result<void> check_path(std::string_view path) {
  if (path.empty()) return fail(Code::invalid, "the path of the file is empty");
  if (path.find('\0') != std::string_view::npos) {
    return fail(Code::invalid, "{} is not a path: it has a zero byte", quote(path, path_shown_max));
  }
  return {};
}

template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Reads to the end, or up to one byte over `most`, whichever comes first.
Result<std::string> read_all(int file, std::string_view shown, Bytes most) {
  std::string content;
  std::array<char, 65'536> piece;
  for (;;) {
    const std::uint64_t room = most.count() - content.size();
    const std::size_t wanted = room < piece.size() ? static_cast<std::size_t>(room) + 1 : piece.size();
    const ssize_t count = retried([&] { return ::read(file, piece.data(), wanted); });
    if (count < 0) return system_failure("read", shown);
    if (count == 0) return content;
    if (static_cast<std::uint64_t>(count) > room) {
      return fail(Code::too_large, "{} is larger than {} bytes, the most that is read", quote(shown, path_shown_max),
                  format(most));
    }
    content.append(piece.data(), static_cast<std::size_t>(count));
  }
}

// What the path leads to once links are followed, and what is there now.
struct Place {
  std::string path;
  std::string directory;
  std::optional<struct stat> old;
};

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<Place> locate(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  struct stat info {};
  if (!resolved) {
    if (errno != ENOENT) return system_failure("write", path);
    if (::lstat(path.c_str(), &info) == 0) {
      return fail(Code::not_found, "cannot write {}: it is a symbolic link to a file that does not exist",
                  quote(path, path_shown_max));
    }
    if (path.ends_with('/')) return fail(Code::invalid, "cannot write {}: it names a directory", quote(path, path_shown_max));
    return Place{path, directory_of(path), std::nullopt};
  }
  if (::stat(resolved.get(), &info) != 0) return system_failure("write", path);
  if (S_ISDIR(info.st_mode)) return fail(Code::invalid, "cannot write {}: it is a directory", quote(path, path_shown_max));
  if (!S_ISREG(info.st_mode))
    return fail(Code::invalid, "cannot write {}: it is not a regular file", quote(path, path_shown_max));
  return Place{resolved.get(), directory_of(resolved.get()), info};
}

enum class Rights : std::uint8_t {
  as_before,   // of a new file: what the umask leaves of 0644
  owner_only,  // 0600
};

// The file beside its place, until it is renamed into it; removed again if that does not happen.
class Draft {
 public:
  Draft(const Place& place, Rights rights) : place_(place), rights_(rights) { open(); }
  ~Draft() {
    if (exists_) ::unlink(path_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  // False with errno set, as are all below.
  bool opened() const { return file_.valid(); }

  // Owner first, since a change of owner clears the set-user bits. Only root can keep another's file theirs: failing at it is fine.
  bool keep_rights() {
    if (!place_.old) return true;
    const struct stat& old = *place_.old;
    if (::fchown(file_.get(), old.st_uid, old.st_gid) != 0 && errno != EPERM) return false;
    return ::fchmod(file_.get(), rights_ == Rights::owner_only ? 0600 : old.st_mode & 07777) == 0;
  }

  bool write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t count = retried([&] { return ::write(file_.get(), content.data(), content.size()); });
      if (count < 0) return false;
      content.remove_prefix(static_cast<std::size_t>(count));
    }
    if (::fsync(file_.get()) != 0) return false;
    return file_.close();
  }

  bool put_in_place() {
    if (::rename(path_.c_str(), place_.path.c_str()) != 0) return false;
    exists_ = false;
    return true;
  }

 private:
  // Not mkstemp: the umask is to shape a new file's permissions, and only open() with a mode lets the system apply it. While an old
  // file's stricter ones are not yet set, nobody else may open this one.
  void open() {
    constexpr int attempts_max = 1'000;
    const mode_t mode = place_.old || rights_ == Rights::owner_only ? 0600 : 0644;
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
      path_ = fmt::format("{}/.evenkeel-{}-{}.tmp", place_.directory, ::getpid(), attempt);
      file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
      exists_ = file_.valid();
      if (exists_ || errno != EEXIST) break;
    }
  }

  const Place& place_;
  const Rights rights_;
  Descriptor file_{-1};
  std::string path_;
  bool exists_ = false;
};

}  // namespace

Result<std::string> read_file(const std::string& path, Bytes most) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input", most);
  if (Result<void> checked = check_path(path); !checked) return fail(std::move(checked.error()));
  const Descriptor file(retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  if (!file.valid()) return system_failure("read", path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_failure("read", path);
  if (S_ISDIR(info.st_mode)) return fail(Code::invalid, "cannot read {}: it is a directory", quote(path, path_shown_max));
  return read_all(file.get(), path, most);
}

namespace {

// What is missing of a folder's path. What is there is left as it is, and whether it is a folder is seen by who writes into it.
Result<void> make_folders(const std::string& folder) {
  for (std::size_t at = 1; at <= folder.size(); ++at) {
    if (at != folder.size() && folder[at] != '/') continue;
    const std::string part = folder.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return system_failure("make the folder", part);
  }
  return {};
}

Result<void> replace(const std::string& path, std::string_view content, Rights rights) {
  const Result<Place> place = locate(path);
  if (!place) return fail(place.error());
  // Opened before anything is written: a directory that cannot be synced must be known while there is still nothing to undo.
  const Descriptor directory(::open(place->directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return system_failure("write", path);
  {
    Draft draft(*place, rights);
    if (!draft.opened() || !draft.keep_rights() || !draft.write(content) || !draft.put_in_place())
      return system_failure("write", path);
  }
  // EINVAL: a file system that cannot sync directories has nothing more to offer.
  if (::fsync(directory.get()) != 0 && errno != EINVAL) {
    return fail(Code::unknown_outcome, "wrote {}, but it may not outlive a power cut: cannot sync its directory: {}",
                quote(path, path_shown_max), std::generic_category().message(errno));
  }
  return {};
}

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view content) {
  if (Result<void> checked = check_path(path); !checked) return checked;
  return replace(path, content, Rights::as_before);
}

Result<void> replace_private_file(const std::string& path, std::string_view content) {
  if (Result<void> checked = check_path(path); !checked) return checked;
  if (Result<void> made = make_folders(directory_of(path)); !made) return made;
  return replace(path, content, Rights::owner_only);
}

}  // namespace evenkeel
