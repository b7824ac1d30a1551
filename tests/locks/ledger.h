#pragma once
// Ledger: follows locks through the txns that a store has committed, and says what no txn may do. For the tests under faults (store/life.h).

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/locks/detail/record.h"
#include "evenkeel/locks/locks.h"

namespace evenkeel::locks {

class Ledger {
 public:
  struct Lock {
    detail::Record record;
    std::string client;  // that wrote it
  };

  // What is wrong with this txn, or nothing.
  std::string on_commit(const std::string& client, const store::Txn& txn, const store::Committed& done) {
    std::string wrong;
    const auto& writes = done.succeeded ? txn.then : txn.otherwise;
    for (const store::Write& write : writes) {
      if (write.kind != store::Write::Kind::put) continue;
      if (write.key.starts_with("/data/")) wrong = check_guarded(write, wrong);
      if (locks_.contains(write.key)) wrong = check_lock(client, write, done.revision, wrong);
    }
    wrong = check_queues(client, writes, done.revision, wrong);
    for (const store::Write& write : writes) {
      if (write.kind != store::Write::Kind::put) continue;
      const auto beat = detail::parse_beat({.key = write.key, .value = write.value});
      if (beat) beats_[write.key] = *beat;
    }
    return wrong;
  }

  void follow(const std::string& path) { locks_[path]; }
  const Lock& lock(const std::string& path) const { return locks_.at(path); }
  bool broken(const std::string& path, Token token) const { return broken_.contains({path, token}); }
  static std::string data_key(const std::string& path) { return "/data" + path; }
  std::uint64_t takeovers = 0, guarded = 0, breaks = 0, turns = 0, swept = 0;

 private:
  // Whether nobody can trust that acquisition any more.
  bool over(const detail::Record& record) const {
    const auto beat = beats_.find(record.beat);
    return beat == beats_.end() || beat->second.identity != record.identity || beat->second.ended;
  }

  std::string check_lock(const std::string& client, const store::Write& write, store::Revision revision, std::string wrong) {
    const auto record = detail::parse_record(store::Entry{.key = write.key, .value = write.value, .modified = revision});
    if (!record) return fmt::format("{} wrote what is no lock: {}", client, write.value);
    Lock& before = locks_.at(write.key);
    const bool held = before.record.held();
    if (client == "operator") {
      if (record->held()) wrong = "the operator took a lock";
      if (held) broken_.emplace(write.key, before.record.token);
      ++breaks;
    } else if (record->held()) {
      if (held && !over(before.record))
        wrong = fmt::format("{} took {} from {}, which was not over", client, write.key, before.client);
      if (held) ++takeovers;
      if (record->token <= before.record.token) wrong = fmt::format("the token of {} did not grow", write.key);
    } else if (held && client != before.client && !over(before.record)) {
      wrong = fmt::format("{} released {}, which {} had", client, write.key, before.client);
    }
    if (!record->held() && record->token != before.record.token && held)
      wrong = fmt::format("{} was emptied with token {} instead of {}", write.key, record->token, before.record.token);
    before = {*record, client};
    return wrong;
  }

  // The value is the token of who wrote it; it was compared, so it must be the one that has the lock.
  std::string check_guarded(const store::Write& write, std::string wrong) {
    const Lock& lock = locks_.at(write.key.substr(5));
    ++guarded;
    if (!lock.record.held() || fmt::to_string(lock.record.token.value()) != write.value)
      return fmt::format("a write guarded by token {} passed while {} had token {}", write.value, lock.client, lock.record.token);
    return wrong;
  }

  // Whoever takes the lock out of the queue was the first in it, and nobody is swept out of it alive.
  std::string check_queues(const std::string& client, const std::vector<store::Write>& writes, store::Revision revision,
                           std::string wrong) {
    for (const store::Write& write : writes) {
      const std::string folder = detail::folder_of(write.key);
      if (!folder.ends_with(".queue/")) continue;
      auto& queue = queues_[folder];
      if (write.kind == store::Write::Kind::put) {
        queue.try_emplace(write.key, Place{revision, client});
        continue;
      }
      const auto place = queue.find(write.key);
      if (place == queue.end()) continue;
      if (writes.size() > 1) {
        ++turns;
        for (const auto& [key, other] : queue) {
          if (other.created < place->second.created) wrong = fmt::format("{} took {} before {}", client, write.key, key);
        }
      } else if (client != place->second.client) {
        ++swept;
        const auto beat = beats_.find(write.key);
        if (beat != beats_.end() && !beat->second.ended) wrong = fmt::format("{} swept {} away alive", client, write.key);
      }
      queue.erase(place);
    }
    return wrong;
  }

  struct Place {
    store::Revision created;
    std::string client;
  };

  std::map<std::string, std::map<std::string, Place>> queues_;
  std::map<std::string, Lock> locks_;
  std::map<std::string, detail::Beat> beats_;
  std::set<std::pair<std::string, Token>> broken_;
};

}  // namespace evenkeel::locks
