#pragma once
// Between the store's values and etcd's messages. Pure functions.

#include <store/backends/proto/etcd.pb.h>

#include <string>
#include <string_view>

#include "evenkeel/store/store.h"

namespace evenkeel::store::etcd::detail {

// Keys as the server has them are ours below a path, which may be empty.
class Keys {
 public:
  explicit Keys(std::string path) : path_(std::move(path)) {}
  std::string full(std::string_view key) const { return path_ + std::string(key); }
  // Of one that is below the path.
  std::string own(std::string_view full) const { return std::string(full.substr(path_.size())); }

 private:
  std::string path_;
};

// The first key after all that begin with the prefix, which ends with '/'.
std::string end_of(std::string_view prefix);

Entry entry_of(mvccpb::KeyValue& kv, const Keys& keys);  // takes the value out
Change change_of(mvccpb::Event& event, const Keys& keys);
// `lease`: of ephemeral keys.
etcdserverpb::TxnRequest request_of(const Txn& txn, const Keys& keys, std::int64_t lease);
bool has_ephemeral(const Txn& txn);
bool writes(const Txn& txn);

// What is wrong with a server of that version, in a sentence; empty: nothing that is known.
std::string warning_of_version(std::string_view version);

}  // namespace evenkeel::store::etcd::detail
