#pragma once
// Index: every key with its latest value and the stamps of its history, in memory. Overlay: what a group of requests changed and is not on
// disk yet. Neither locks: the engine does.
//
// A View is both together, as one request sees them; readers have no overlay.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/store/backends/embedded/detail/record.h"

namespace evenkeel::store::embedded::detail {

// One change of one key.
struct Change {
  Stamp stamp;
  KeyValue entry;  // erased: the key and mod_revision
  std::optional<KeyValue> previous;
};

struct Item {
  std::string value;
  std::int64_t create = 0;
  std::int64_t version = 0;
  LeaseId lease = 0;
  Stamp latest;
  std::vector<Stamp> past;  // before `latest`, in order
};

using Items = std::map<std::string, Item, std::less<>>;

KeyValue to_entry(const std::string& key, const Item& item);

class Index {
 public:
  // Takes the change in as the key's latest. What it replaced, if it was there, is left in change.previous.
  void apply(Change& change, bool keep_entry);
  // The same when a folder is read, where nobody asks what was before.
  void load(KeyValue&& entry, Stamp stamp);
  // Forgets what reads at `compacted` and later do not need, of up to `most` keys after `after`; their stamps go to `removed`.
  // The last key looked at; none: there are no more.
  std::optional<std::string> prune(const std::string& after, std::size_t most, std::int64_t compacted,
                                   std::vector<Stamp>& removed);

  const Items& items() const { return items_; }
  std::uint64_t live() const { return live_; }

 private:
  Items items_;
  std::uint64_t live_ = 0;  // items that are not erased
};

class Overlay {
 public:
  void add(Change change);
  void roll_back(std::size_t size);  // to as it was when it had that many changes
  std::deque<Change>& changes() { return changes_; }
  const std::deque<Change>& changes() const { return changes_; }
  using Keys = std::map<std::string_view, std::vector<const Change*>>;  // the keys are the changes' own
  const Keys& keys() const { return keys_; }

 private:
  std::deque<Change> changes_;
  Keys keys_;
};

// What a key was at some revision: in the overlay, the latest in the index, or in the history on disk.
struct Seen {
  std::string_view key;
  Stamp stamp;
  const KeyValue* pending = nullptr;
  const Item* latest = nullptr;
};

// Whether `end` means all keys from `key` on.
inline bool is_open(const Span& span) { return span.end.size() == 1 && span.end[0] == '\0'; }
bool contains(const Span& span, std::string_view key);

struct View {
  const Index& index;
  const Overlay* overlay = nullptr;

  // Calls with each key of the span that was there at `revision`, in order, until it says false.
  template <class F>
  void visit(const Span& span, std::int64_t revision, F&& use) const {
    if (span.end.empty()) {
      if (const auto seen = at(span.key, revision)) use(*seen);
      return;
    }
    walk(span, revision, [&](const Seen& seen) -> bool { return use(seen); });
  }
  std::optional<Seen> at(std::string_view key, std::int64_t revision) const;

 private:
  void walk(const Span& span, std::int64_t revision, const std::function<bool(const Seen&)>& use) const;
};

}  // namespace evenkeel::store::embedded::detail
