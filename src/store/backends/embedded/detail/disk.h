#pragma once
// Disk: the folder of an engine. It opens, checks, reads and writes RocksDB; what the records mean is the engine's.
//
// In the folder: RocksDB's files; `evenkeel.store`, that says the format; `evenkeel.lock`, held while it is open; `evenkeel.new` while it
// is being made, so that a crash then leaves no half-made store; `evenkeel.torn`, the logs that were left behind with a torn end
// (log_check.h); `evenkeel.revision`, one that it had.
// Threads: commit and recover are the writer's; the rest is anybody's.

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "evenkeel/store/backends/embedded/detail/folder.h"
#include "evenkeel/store/backends/embedded/detail/index.h"

namespace evenkeel::store::embedded::detail {

class Disk {
 public:
  static Result<std::unique_ptr<Disk>> open(const std::string& folder, const EngineOptions& options);
  ~Disk();

  struct Contents {
    Index index;
    std::map<LeaseId, Duration> leases;
    std::int64_t revision = 1;
    std::int64_t compacted = 0;
    std::int64_t removed = 0;  // the compaction up to which old records are off the disk
    std::uint64_t cluster_id = 0, member_id = 0;
  };
  // All that there is. Says so if something is missing: every revision after the compacted one must be there.
  Result<Contents> load() const;

  // Notes the revision beside the database, as one that it had: later opens check it. It may fail: then less is checked.
  void note(std::int64_t revision) const;

  // Durable when it returns. unknown_outcome: the disk failed; then every commit is refused until recover() did its work.
  Result<> commit(rocksdb::WriteBatch& batch);
  bool failed() const { return failed_.load(); }
  const Error& failure() const { return failure_; }  // why, while it is; the writer asks
  // Whether the disk works again.
  Result<> recover();

  Result<KeyValue> fetch(Stamp stamp) const;
  // Records of [from, to] in order, until `use` says false.
  Result<> scan(std::int64_t from, std::int64_t to, const std::function<bool(Stamp, KeyValue&&)>& use) const;

  Result<> remove(const std::vector<Stamp>& stamps);
  Result<> set_removed(std::int64_t compacted);
  static void put_compacted(rocksdb::WriteBatch& batch, std::int64_t revision);

  std::uint64_t bytes() const;
  std::uint64_t bytes_in_use() const;
  Result<> defragment();
  Result<> backup(const std::string& to) const;

 private:
  Disk() = default;
  Result<> open_database(bool make);
  Result<> open_old();
  Result<> make_new();
  Result<> load_facts(Contents& contents) const;
  Result<> load_leases(Contents& contents) const;
  Result<> load_records(Contents& contents) const;
  Result<std::int64_t> number(std::string_view fact) const;
  Error damage(std::string_view what) const;
  Error error_of(const rocksdb::Status& status) const;

  std::string folder_;
  Log* log_ = nullptr;
  std::unique_ptr<FolderLock> lock_;
  std::shared_ptr<rocksdb::FileSystem> base_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> database_;
  rocksdb::WriteOptions write_;
  std::atomic<bool> failed_ = false;
  Error failure_;                 // the writer's: why
  bool full_ = false;             // for want of space
  std::set<std::uint64_t> torn_;  // and the logs there were then
};

}  // namespace evenkeel::store::embedded::detail
