#include "evenkeel/store/store.h"

#include <algorithm>
#include <set>

#include "evenkeel/base/text.h"

namespace evenkeel::store {
namespace {

Result<> check_bytes(std::string_view key) {
  if (key.size() > key_bytes_max)
    return fail(Code::too_large, "a key has {} bytes, and at most {} are allowed: {}…", key.size(), key_bytes_max,
                key.substr(0, 40));
  return {};
}

// Where the branch is wrong, if it is.
Result<> check_branch(const std::vector<Write>& writes) {
  std::set<std::string_view> seen;
  for (const Write& write : writes) {
    const bool below = write.kind == Write::Kind::erase_below;
    if (const auto good = below ? check_prefix(write.key) : check_key(write.key); !good) return good;
    if (write.value.size() > value_bytes_max)
      return fail(Code::too_large, "the value of {} has {} bytes, and at most {} are allowed: cut it into several keys",
                  write.key, write.value.size(), value_bytes_max);
    if (!seen.insert(write.key).second)
      return fail(Code::invalid, "{} is written twice in one txn; leave one of the writes out", write.key);
  }
  for (const Write& write : writes) {
    if (write.kind != Write::Kind::erase_below) continue;
    for (const std::string_view key : seen) {
      if (key.size() > write.key.size() && key.starts_with(write.key))
        return fail(Code::invalid, "{} is below {}, all of which is erased in the same txn; leave one of the writes out", key,
                    write.key);
    }
  }
  return {};
}

std::size_t bytes_of(const std::vector<Write>& writes) {
  std::size_t sum = 0;
  for (const Write& write : writes) sum += write.key.size() + write.value.size();
  return sum;
}

}  // namespace

Compare absent(std::string key) { return {Compare::Kind::absent, std::move(key), {}}; }
Compare present(std::string key) { return {Compare::Kind::present, std::move(key), {}}; }
Compare unchanged(std::string key, Revision modified) { return {Compare::Kind::unchanged, std::move(key), modified}; }
Compare unchanged(const Entry& entry) { return unchanged(entry.key, entry.modified); }

Result<> check_key(std::string_view key) {
  if (const auto good = check_bytes(key); !good) return good;
  if (const auto at = find_invalid_utf8(key))
    return fail(Code::invalid, "a key is not UTF-8: byte {} of {}", *at + 1, quote(key));
  if (!key.starts_with('/')) return fail(Code::invalid, "{} is no key: keys begin with '/'", quote(key));
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (control(key[i])) return fail(Code::invalid, "{} has a control character at byte {}", quote(key), i + 1);
  }
  std::size_t begin = 1;
  while (true) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view part = key.substr(begin, end - begin);
    if (part.empty()) return fail(Code::invalid, "{} is no key: a part of its path is empty", quote(key));
    if (part == "." || part == "..") return fail(Code::invalid, "{} is no key: no part of a path is {}", quote(key), quote(part));
    if (begin == 1 && part == "zookeeper")
      return fail(Code::invalid, "{}: /zookeeper is ZooKeeper's own; choose another path", quote(key));
    if (end == key.size()) return {};
    begin = end + 1;
  }
}

Result<> check_prefix(std::string_view prefix) {
  if (prefix == "/") return {};
  if (!prefix.ends_with('/')) return fail(Code::invalid, "{} is no prefix: a prefix ends with '/'", quote(prefix));
  return check_key(prefix.substr(0, prefix.size() - 1));
}

Result<> check_txn(const Txn& txn) {
  for (const Compare& compare : txn.compares) {
    if (const auto good = check_key(compare.key); !good) return good;
  }
  for (const auto* writes : {&txn.then, &txn.otherwise}) {
    if (txn.compares.size() > operations_max || writes->size() > operations_max)
      return fail(Code::too_large, "a txn has {} compares and {} writes, and at most {} of each are allowed: cut it into several",
                  txn.compares.size(), writes->size(), operations_max);
    if (const auto good = check_branch(*writes); !good) return good;
    if (const std::size_t bytes = bytes_of(*writes); bytes > txn_bytes_max)
      return fail(Code::too_large, "a txn has {} bytes of keys and values, and at most {} are allowed: cut it into several",
                  bytes, txn_bytes_max);
  }
  return {};
}

// Errors of the input come as answers too, never inside the call that caused them.

void Store::get(std::string key, Answer<Read> answer) {
  if (auto good = check_key(key); !good) return refuse(std::move(answer), good.error());
  do_get(std::move(key), std::move(answer));
}

void Store::list(std::string prefix, Answer<Listing> answer) {
  if (auto good = check_prefix(prefix); !good) return refuse(std::move(answer), good.error());
  do_list(std::move(prefix), std::move(answer));
}

void Store::txn(Txn txn, Answer<Committed> answer) {
  if (auto good = check_txn(txn); !good) return refuse(std::move(answer), good.error());
  do_txn(std::move(txn), std::move(answer));
}

std::unique_ptr<Watching> Store::watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) {
  if (auto good = check_prefix(prefix); !good) {
    refuse<Changes>(std::move(on_changes), good.error());
    return std::make_unique<Watching>();
  }
  return do_watch(std::move(prefix), after, std::move(on_changes));
}

void Store::put(std::string key, std::string value, Answer<Committed> answer) {
  Txn one;
  one.put(std::move(key), std::move(value));
  txn(std::move(one), std::move(answer));
}

void Store::erase(std::string key, Answer<Committed> answer) {
  Txn one;
  one.erase(std::move(key));
  txn(std::move(one), std::move(answer));
}

}  // namespace evenkeel::store
