#pragma once
// A store's folder before RocksDB sees it: whether it is free, whether it is one, whether it may be made. Files of ours in it are named here.

#include <memory>
#include <set>
#include <string>

#include "evenkeel/base/result.h"

namespace evenkeel::store::embedded::detail {

// Held until destroyed; a process that ends in whatever way gives it back.
class FolderLock {
 public:
  // Makes the folder if need be. conflict: another engine has it, in this process or in another.
  static Result<std::unique_ptr<FolderLock>> take(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

// True: there is nothing in it, or only what a crash while it was made has left, which is cleared away; it is marked as being made.
// False: it holds a store of our format. Otherwise the error says what it is instead.
Result<bool> prepare_folder(const std::string& folder);
// Writes into it that it is a store, of which format; so that is known before anything of it is opened, and changed.
Result<> write_format(const std::string& folder);
// It is made: from now on it is a store, whatever happens.
Result<> finish_folder(const std::string& folder);

// Logs whose end is torn and which were left behind: nothing in them counts any more, though they may not be deleted yet.
Result<std::set<std::uint64_t>> read_torn(const std::string& folder);
Result<> write_torn(const std::string& folder, const std::set<std::uint64_t>& logs);

// A revision that the store had at some time, noted when it is opened and closed: if it has less one day, something is lost. 0: not noted.
Result<std::int64_t> read_floor(const std::string& folder);
Result<> write_floor(const std::string& folder, std::int64_t revision);

}  // namespace evenkeel::store::embedded::detail
