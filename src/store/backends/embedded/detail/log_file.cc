#include "evenkeel/store/backends/embedded/detail/log_file.h"

#include <algorithm>

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

// How far ahead: a small store's log stays small, a busy one's is extended seldom. Each extension is a write and a sync of its own.
constexpr std::uint64_t ahead_bytes_min = 256 << 10;
constexpr std::uint64_t ahead_bytes_max = 4 << 20;

// RocksDB takes a full disk into its own hands, and then looks every few seconds whether there is space; of other errors some are final to
// it. Here it is the writer who tries again, at each write: so all errors of writing are told as ones that may pass.
IOStatus may_pass(const IOStatus& status) {
  if (status.ok()) return status;
  auto passing = IOStatus::IOError(status.ToString());
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
    if (!failure_.ok()) return failure_;
    if (written_ + data.size() > filled_) failure_ = fill(written_ + data.size(), options, debug);
    if (failure_.ok()) failure_ = may_pass(file_->Write(written_, data, options, debug));
    if (failure_.ok()) written_ += data.size();
    return failure_;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& /*unused*/,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    if (!failure_.ok()) return failure_;
    const auto synced = file_->Sync(options, debug);
    if (!synced.ok()) failure_ = may_pass(IOStatus::IOError(std::string(log_sync_failed), synced.ToString()));
    return failure_;
  }
  IOStatus Flush(const IOOptions& /*unused*/, IODebugContext* /*unused*/) override { return IOStatus::OK(); }
  // Other threads may sync while one appends; but `failure_` is theirs together, so not here.
  bool IsSyncThreadSafe() const override { return false; }
  std::uint64_t GetFileSize(const IOOptions& /*unused*/, IODebugContext* /*unused*/) override { return written_; }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    if (!file_) return IOStatus::OK();
    auto closed = file_->Close(options, debug);
    file_.reset();
    if (closed.ok() && filled_ > written_) closed = files_.Truncate(name_, written_, options, debug);
    return closed;
  }
  ~LogFile() override { Close({}, nullptr).PermitUncheckedError(); }

 private:
  // Zeros up to at least `needed`, on the disk before anything of them is overwritten.
  IOStatus fill(std::uint64_t needed, const IOOptions& options, IODebugContext* debug) {
    const auto to = needed + std::clamp(filled_, ahead_bytes_min, ahead_bytes_max);
    const std::string zeros(to - filled_, '\0');
    auto done = file_->Write(filled_, zeros, options, debug);
    if (done.ok()) done = file_->Fsync(options, debug);
    if (done.ok()) filled_ = to;
    return may_pass(done);
  }

  FileSystem& files_;
  std::string name_;
  std::unique_ptr<FSRandomRWFile> file_;
  std::uint64_t written_ = 0;
  std::uint64_t filled_ = 0;
  IOStatus failure_;
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
