#pragma once
// State: what a memory store holds and held: entries, and the edits of the latest revisions, from which both watches and older lists are made.
//
// Pure: a txn and its writer in, a revision out. No network, no time, no chance; those are the server's (server.h).
// An entry never changes once it is written: what is there and what the past remembers share it.
// Cost: O(1) for each compare and each write of a key that is there, O(log entries) for one that comes or goes; what is asked of the past costs the
// edits since then.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
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
  // The keys that the latest revision changed.
  std::vector<std::string_view> touched() const;

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
  using Shared = std::shared_ptr<const Entry>;
  struct Held {
    Shared entry;
    Owner owner;
  };
  struct Edit {
    Shared before;  // null: it was not there
    Shared after;   // null: it is gone
    Owner owner_before;

    const std::string& key() const { return (after ? after : before)->key; }
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  using Entries = std::unordered_map<std::string, Held, Hash, std::equal_to<>>;

  Result<bool> holds(const Compare& compare) const;
  void write(const Write& write, Owner owner, Revision at, std::vector<Edit>& edits);
  void put(const Write& write, Owner owner, Revision at, std::vector<Edit>& edits);
  void set(const Shared& entry, Owner owner);
  void erase(Entries::iterator found);
  template <class Visit>
  void each_below(std::string_view prefix, Visit visit) const;  // in order
  // The edits of one revision; only if it is remembered.
  const std::vector<Edit>& edits_of(Revision at) const {
    return history_[static_cast<std::size_t>(at.value() - forgotten_.value() - 1)];
  }

  Revision revision_{1};
  Revision forgotten_{1};                  // history_ begins with the revision after it
  std::deque<std::vector<Edit>> history_;  // of revisions forgotten_ + 1 … revision_
  Entries entries_;
  std::set<std::string_view> keys_;  // of entries_, in order
};

}  // namespace evenkeel::store::memory
