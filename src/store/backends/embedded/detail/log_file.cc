#include "evenkeel/store/backends/embedded/detail/log_file.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace evenkeel::store::embedded::detail {
namespace {

using rocksdb::FileOptions;
using rocksdb::FileSystem;
using rocksdb::FSRandomRWFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// How far ahead: a small store's log stays small, a busy one's has room for a second of writing. Each extension is a write and a sync of its own;
// in pieces, so that a sync of what is written never waits long for zeros.
constexpr std::uint64_t ahead_bytes_min = 256 << 10;
constexpr std::uint64_t ahead_bytes_max = 4 << 20;
constexpr std::uint64_t piece_bytes = 256 << 10;

// RocksDB takes a full disk into its own hands, and then looks every few seconds whether there is space; of other errors some are final to
// it. Here it is the writer who tries again, at each write: so all errors of writing are told as ones that may pass.
IOStatus may_pass(const IOStatus& status) {
  if (status.ok()) return status;
  constexpr std::string_view said_again = "IO error: ";  // by the new one
  std::string words = status.ToString();
  if (words.starts_with(said_again)) words.erase(0, said_again.size());
  auto passing = IOStatus::IOError(words);
  passing.SetRetryable(true);
  return passing;
}

// A table, or what else RocksDB writes.
class OtherFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return may_pass(FSWritableFileOwnerWrapper::Append(data, options, debug));
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& info,
                  IODebugContext* debug) override {
    return may_pass(FSWritableFileOwnerWrapper::Append(data, options, info, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return may_pass(FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return may_pass(FSWritableFileOwnerWrapper::Fsync(options, debug));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return may_pass(FSWritableFileOwnerWrapper::Close(options, debug));
  }
};

class LogFile final : public FSWritableFile {
 public:
  LogFile(FileSystem& files, std::string name, std::unique_ptr<FSRandomRWFile> file)
      : files_(files), name_(std::move(name)), file_(std::move(file)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const std::uint64_t end = written_ + data.size();
    if (auto room = make_room(end); !room.ok()) return room;
    if (auto done = file_->Write(written_, data, options, debug); !done.ok()) return fail(may_pass(done));
    written_ = end;
    ask_for_more();
    return IOStatus::OK();
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& /*unused*/,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    if (const std::lock_guard lock(mutex_); !failure_.ok()) return failure_;
    const auto synced = file_->Sync(options, debug);
    return synced.ok() ? synced : fail(unsynced(synced));
  }
  IOStatus Flush(const IOOptions& /*unused*/, IODebugContext* /*unused*/) override { return IOStatus::OK(); }
  bool IsSyncThreadSafe() const override { return false; }
  std::uint64_t GetFileSize(const IOOptions& /*unused*/, IODebugContext* /*unused*/) override { return written_; }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    if (!file_) return IOStatus::OK();
    stop();
    auto closed = file_->Close(options, debug);
    file_.reset();
    if (closed.ok() && filled_ > written_) closed = files_.Truncate(name_, written_, options, debug);
    return closed;
  }
  ~LogFile() override { Close({}, nullptr).PermitUncheckedError(); }

 private:
  static IOStatus unsynced(const IOStatus& status) {
    return may_pass(IOStatus::IOError(std::string(log_sync_failed), status.ToString()));
  }

  IOStatus fail(const IOStatus& status) {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = status;
    return failure_;
  }

  // Zeros up to there at least, on the disk before anything of them is overwritten.
  IOStatus make_room(std::uint64_t end) {
    std::unique_lock lock(mutex_);
    if (failure_.ok() && end > filled_) {
      wake_.wait(lock, [&] { return !filling_; });  // its zeros are not to come over what is written now
      if (failure_.ok() && end > filled_) failure_ = may_pass(fill(end - filled_ + ahead_bytes_min));
    }
    return failure_;
  }
  IOStatus fill(std::uint64_t bytes) {
    const std::string zeros(bytes, '\0');
    auto done = file_->Write(filled_, zeros, {}, nullptr);
    if (done.ok()) done = file_->Fsync({}, nullptr);
    if (done.ok()) filled_ += bytes;
    return done;
  }

  // Whoever writes shall not wait for zeros: they are written beside it, by a thread of their own, while there is still room.
  void ask_for_more() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t wanted = written_ + std::clamp(written_, ahead_bytes_min, ahead_bytes_max);
    if (wanted < filled_ + piece_bytes || !failure_.ok()) return;
    wanted_ = wanted;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    wake_.notify_all();
  }

  // Through a handle of its own: the kernel tells each handle once that something could not be written, so that none is told in place of another.
  void run() {
    std::unique_ptr<FSRandomRWFile> own;
    if (!files_.NewRandomRWFile(name_, {}, &own, nullptr).ok()) return;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return stop_ || (failure_.ok() && wanted_ > filled_); });
      if (stop_) return;
      filling_ = true;
      const std::uint64_t at = filled_;
      lock.unlock();
      const std::string zeros(piece_bytes, '\0');
      auto done = own->Write(at, zeros, {}, nullptr);
      if (done.ok()) done = own->Fsync({}, nullptr);
      lock.lock();
      filling_ = false;
      if (done.ok()) {
        filled_ += piece_bytes;
      } else {
        wanted_ = filled_;  // what is wrong is found out by who writes, if it comes to that
      }
      wake_.notify_all();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  FileSystem& files_;
  std::string name_;
  std::unique_ptr<FSRandomRWFile> file_;
  std::uint64_t written_ = 0;  // its writer's
  std::mutex mutex_;           // of all that follows
  std::uint64_t filled_ = 0;
  std::uint64_t wanted_ = 0;  // zeros up to there
  bool filling_ = false;      // the thread is at it, from `filled_` on
  IOStatus failure_;
  bool stop_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

class LogFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "evenkeel-logs"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    auto done = target()->NewWritableFile(name, options, result, debug);
    if (!done.ok()) return may_pass(done);
    if (!name.ends_with(".log")) {
      *result = std::make_unique<OtherFile>(std::move(*result));
      return done;
    }
    done = (*result)->Close(options.io_options, debug);
    result->reset();
    std::unique_ptr<FSRandomRWFile> file;
    if (done.ok()) done = target()->NewRandomRWFile(name, options, &file, debug);
    if (done.ok()) *result = std::make_unique<LogFile>(*target(), name, std::move(file));
    return may_pass(done);
  }
};

}  // namespace

std::shared_ptr<FileSystem> make_log_file_system(std::shared_ptr<FileSystem> base) {
  return std::make_shared<LogFileSystem>(std::move(base));
}

}  // namespace evenkeel::store::embedded::detail
