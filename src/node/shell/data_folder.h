#pragma once
// DataFolder: what a node keeps beside its data: `evenkeel.id`, which names the disk, and `evenkeel.lock`, which says that its process lives.

#include <memory>
#include <string>

#include "evenkeel/base/result.h"
#include "evenkeel/model/ids.h"

namespace evenkeel::node {

class DataFolder {
 public:
  // Makes the folder and its id if they are not there. Another process may have the lock: then locked() is false, and only that one makes an id.
  static Result<DataFolder> open(const std::string& path);
  // Of nothing that is kept.
  static DataFolder none();

  const DataId& id() const { return id_; }
  bool locked() const { return lock_ != nullptr; }

 private:
  DataFolder() = default;
  DataId id_;
  std::shared_ptr<const int> lock_;  // the descriptor, closed with it
};

}  // namespace evenkeel::node
