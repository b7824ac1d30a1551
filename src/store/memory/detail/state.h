#pragma once
// State: what a memory store holds and held: entries, and the edits of the latest revisions, from which both watches and older lists are made.
//
// Pure: a txn and its writer in, a revision out. No network, no time, no chance; those are the server's (server.h).
// Cost: O(log entries) for each compare and write; what is asked of the past costs the edits since then.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/store/store.h"

namespace evenkeel::store::memory {

// Whose ephemeral keys they are. 0: nobody's, they are persistent.
using Owner = Number<struct OwnerTag, std::uint64_t>;

class State {
 public:
  // A fresh store is at revision 1, as etcd's is.
  Revision revision() const { return revision_; }

  std::optional<Entry> get(std::string_view key) const;
  std::vector<Entry> list(std::string_view prefix) const;
  // As it was; only if remembers(at).
  std::vector<Entry> list_at(std::string_view prefix, Revision at) const;

  // Code::invalid if it compares the revision of an ephemeral key: not every backend could.
  Result<Committed> apply(const Txn& txn, Owner owner);
  // What a lease's end does: a txn that erases all of the owner's keys, at one revision.
  Txn expiry(Owner owner) const;

  // Whether all that happened after that revision is known.
  bool remembers(Revision after) const { return after >= forgotten_ && after <= revision_; }
  // What happened below the prefix after one revision and up to another, in order; `latest`: only the last change of each key.
  std::vector<Change> changes(std::string_view prefix, Revision after, Revision until, bool latest) const;
  // Whether the latest revision changed anything below it.
  bool touched(std::string_view prefix) const;

  void forget(Revision before);
  // Forgets all but the latest revisions.
  void keep(std::uint64_t revisions);

  // As it was at that revision, if it is remembered; what came after it never was.
  void put_back(Revision to);
  // As it was in the beginning.
  void clear();
  // Whose ephemeral keys there are.
  std::set<Owner> owners() const;

 private:
  struct Held {
    Entry entry;
    Owner owner;
  };
  struct Edit {
    std::string key;
    std::optional<Entry> before;
    std::optional<Entry> after;
    Owner owner_before;
  };

  Result<bool> holds(const Compare& compare) const;
  void write(const Write& write, Owner owner, Revision at, std::vector<Edit>& edits);
  void put(const Write& write, Owner owner, Revision at, std::vector<Edit>& edits);
  // The edits of one revision; only if it is remembered.
  const std::vector<Edit>& edits_of(Revision at) const {
    return history_[static_cast<std::size_t>(at.value() - forgotten_.value() - 1)];
  }

  Revision revision_{1};
  Revision forgotten_{1};                  // history_ begins with the revision after it
  std::deque<std::vector<Edit>> history_;  // of revisions forgotten_ + 1 … revision_
  std::map<std::string, Held, std::less<>> entries_;
};

}  // namespace evenkeel::store::memory
