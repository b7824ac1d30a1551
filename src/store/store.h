#pragma once
// Store: what a cluster remembers, behind one interface that every backend can keep honestly.
//
// A store holds keys with values; every write has a revision, and revisions grow. Keys are paths ("/evenkeel/c1/nodes/n1"), values are
// bytes. What must not break is written in a txn: it compares what was read with what is there, and writes all or nothing.
//
//   store.get("/c1/config", [&](Result<Read> config) {
//     Txn txn;
//     txn.compare(unchanged(*config->entry)).put("/c1/config", text);
//     store.txn(std::move(txn), [](Result<Committed> done) { … });   // done->succeeded: nobody was quicker
//   });
//   auto watching = store.watch("/c1/live/", {}, [&](Result<Changes> seen) { … });   // until `watching` is destroyed
//
// Backends, chosen by a URL (backends/open.h): memory: (memory/memory.h; tests and the simulator), embedded:DIR, etcd://…, zk://….
//
// What every backend promises:
//   - A txn is atomic and linearizable, and so is a get. A list or a watch's first list may be older than other keys' latest writes, but
//     never older than what this client has read or written before.
//   - A watch delivers the latest state, in order for each key; values in between may be left out. If it fell behind, or the backend has
//     forgotten where it was, it gets a fresh list, flagged as such: what is not in it is gone. It goes on over lost connections by itself.
//   - An answer comes exactly once, on the loop. `unavailable`: certainly not done. `unknown_outcome`: the write may have happened, or may
//     still happen, so read before you try again. Reads never end in `unknown_outcome`.
//   - An ephemeral key goes some time after its writer is gone: clean-up and a hint, never proof. Proof is what a Session (session.h) is for.
//
// Threads: all calls are made, and all answers come, on the loop's thread. Destroying a store or a watching drops what is pending without a
// call. Use Blocking (blocking.h) where there is no loop.
// Cost: a call is one round trip, two or three on ZooKeeper. Batch: many writes in one txn cost little more than one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/id.h"
#include "evenkeel/base/loop.h"
#include "evenkeel/base/result.h"

namespace evenkeel::store {

using Revision = Number<struct RevisionTag, std::int64_t>;

constexpr std::size_t key_bytes_max = 1024;
constexpr std::size_t value_bytes_max = 512 << 10;
constexpr std::size_t operations_max = 128;       // compares and writes of one branch: what etcd takes by default
constexpr std::size_t txn_bytes_max = 1'000'000;  // keys and values together: ZooKeeper takes less than 1 MiB

struct Entry {
  std::string key;
  std::string value;
  Revision created;   // of the write since which it has been there
  Revision modified;  // of its latest write
  bool ephemeral = false;
  friend bool operator==(const Entry&, const Entry&) = default;
};

// `revision`: what was read is as of then, or newer.
struct Read {
  std::optional<Entry> entry;
  Revision revision;
  friend bool operator==(const Read&, const Read&) = default;
};

struct Listing {
  std::vector<Entry> entries;  // by key, in byte order
  Revision revision;
  friend bool operator==(const Listing&, const Listing&) = default;
};

struct Compare {
  enum class Kind : std::uint8_t { absent, present, unchanged };
  Kind kind = Kind::absent;
  std::string key;
  Revision modified;  // unchanged: the latest write is still this one. Not for ephemeral keys.
  friend bool operator==(const Compare&, const Compare&) = default;
};

Compare absent(std::string key);
Compare present(std::string key);
Compare unchanged(std::string key, Revision modified);
Compare unchanged(const Entry& entry);

struct Write {
  enum class Kind : std::uint8_t { put, put_ephemeral, erase, erase_below };
  Kind kind = Kind::put;
  std::string key;  // erase_below: a prefix
  std::string value;
  friend bool operator==(const Write&, const Write&) = default;
};

// If all compares hold, `then` is done, else `otherwise`; either wholly. A branch names no key twice. Erasing what is not there is fine.
struct Txn {
  std::vector<Compare> compares;
  std::vector<Write> then;
  std::vector<Write> otherwise;

  Txn& compare(Compare compare) & { return compares.push_back(std::move(compare)), *this; }
  Txn& put(std::string key, std::string value) & {
    return then.push_back({Write::Kind::put, std::move(key), std::move(value)}), *this;
  }
  Txn& put_ephemeral(std::string key, std::string value) & {
    return then.push_back({Write::Kind::put_ephemeral, std::move(key), std::move(value)}), *this;
  }
  Txn& erase(std::string key) & { return then.push_back({Write::Kind::erase, std::move(key), {}}), *this; }
  Txn& erase_below(std::string prefix) & { return then.push_back({Write::Kind::erase_below, std::move(prefix), {}}), *this; }
  friend bool operator==(const Txn&, const Txn&) = default;
};

struct Committed {
  bool succeeded = false;  // which branch was taken
  // Of the writes; where nothing was written, of a state in which the compares were as the answer says.
  Revision revision;
  friend bool operator==(const Committed&, const Committed&) = default;
};

struct Change {
  std::string key;
  std::optional<Entry> entry;  // none: it was deleted
  friend bool operator==(const Change&, const Change&) = default;
};

struct Changes {
  bool fresh = false;           // `changes` are all the entries there are below the prefix; what is not among them is gone
  std::vector<Change> changes;  // in order of key if fresh, else in order of revision
  Revision revision;            // up to which this is; a later watch may begin after it
  friend bool operator==(const Changes&, const Changes&) = default;
};

// What people ask about a backend.
struct Status {
  std::string backend;  // "memory", "embedded", "etcd", "zookeeper"
  std::string version;  // of the server
  Revision revision;
  std::uint64_t bytes = 0;        // on disk, as the server says; 0: it does not
  std::uint64_t bytes_quota = 0;  // 0: none, or not known
  std::vector<std::string> members;
  std::vector<std::string> warnings;  // in sentences: an old server, a quota nearly reached, a history that nobody compacts
};

template <class T>
using Answer = std::move_only_function<void(Result<T>)>;

// A watch, until it is destroyed; then nothing more comes.
class Watching {
 public:
  virtual ~Watching() = default;
};
using OnChanges = std::move_only_function<void(Result<Changes>)>;

class Store {
 public:
  explicit Store(Loop& loop) : loop_(loop) {}
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void get(std::string key, Answer<Read> answer);
  // All keys below a prefix: "/" or a path with a "/" at its end.
  void list(std::string prefix, Answer<Listing> answer);
  void txn(Txn txn, Answer<Committed> answer);
  // Changes after a revision, as a listing or earlier changes gave it; without one, a fresh list comes first. An error ends the watch, and
  // comes only where waiting cannot help (denied, invalid).
  std::unique_ptr<Watching> watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes);
  void status(Answer<Status> answer) { do_status(std::move(answer)); }
  // Forget what was before this revision, where the backend keeps a history; elsewhere done at once.
  void compact(Revision before, Answer<Revision> answer) { do_compact(before, std::move(answer)); }

  // One write in a txn of its own.
  void put(std::string key, std::string value, Answer<Committed> answer);
  void erase(std::string key, Answer<Committed> answer);

  Loop& loop() const { return loop_; }
  // Expires with the store: for work that goes on between calls, as a session's does.
  std::weak_ptr<const void> alive() const { return alive_; }

 protected:
  // The same, with arguments that were checked.
  virtual void do_get(std::string key, Answer<Read> answer) = 0;
  virtual void do_list(std::string prefix, Answer<Listing> answer) = 0;
  virtual void do_txn(Txn txn, Answer<Committed> answer) = 0;
  virtual std::unique_ptr<Watching> do_watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) = 0;
  virtual void do_status(Answer<Status> answer) = 0;
  virtual void do_compact(Revision before, Answer<Revision> answer) = 0;

 private:
  template <class T>
  void refuse(Answer<T> answer, Error error) {
    loop_.post([answer = std::move(answer), error = std::move(error)]() mutable { answer(fail(std::move(error))); });
  }

  Loop& loop_;
  std::shared_ptr<const void> alive_ = std::make_shared<char>();
};

// Whether it can be a key: '/' and one or more parts of UTF-8 without control characters, joined by '/'; no part is empty, "." or "..", and
// the first is not "zookeeper". Code::invalid or too_large says what is wrong and where.
Result<> check_key(std::string_view key);
// "/" or a key with '/' at its end.
Result<> check_prefix(std::string_view prefix);
Result<> check_txn(const Txn& txn);

}  // namespace evenkeel::store
