#pragma once
// Engine: the embedded store itself, on one folder. Keys with a history, leases, watches; what was acknowledged is on the disk.
//
// It speaks etcd's semantics (revisions, versions, txns with ranges, leases, compaction), as plain values: the gRPC server (server.h) and
// the local Store (local.h) are thin shells around it.
//
//   auto engine = Engine::open(folder, {});
//   (*engine)->submit({.then = {Put{.key = "a", .value = "1"}}}, [](Result<Outcome> done) { … });   // on the writer's thread, when durable
//   (*engine)->range({.key = "a"});                                                                // any thread, at once
//
// How: one writer thread takes whatever has been submitted, evaluates it in order on the state in memory and an overlay of what this group
// changes, writes the group as one synchronous RocksDB batch, and only then shows it to readers and watchers and answers. So many clients
// share one write to disk, and nobody ever sees what could still be lost. In memory: every key with its latest value and the revisions of
// its history; on disk: records by revision, leases, and a little about itself.
//
// Disk full: the group gets `unknown_outcome` (it may be there after a restart), later writes `refused` until there is space, which is tried
// at each write; reads go on. A sync that fails: the same, but until the store is opened again. A torn end of the log is dropped, since
// nothing of it was acknowledged; damage anywhere else is an error that names the folder, never an empty store.
// After a restart every lease has its full ttl from when serving begins.
// Threads: any; but what waits for the writer (compact, tick, the destructor) may not be called from an answer or a sink.
// Cost: O(log keys) an operation in memory; a write to disk a group.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evenkeel/base/clock.h"
#include "evenkeel/base/log.h"
#include "evenkeel/base/result.h"

namespace rocksdb {
class FileSystem;
}

namespace evenkeel::store::embedded {

using LeaseId = std::int64_t;

struct KeyValue {
  std::string key;
  std::string value;
  std::int64_t create_revision = 0;
  std::int64_t mod_revision = 0;
  std::int64_t version = 0;  // 0: deleted at mod_revision
  LeaseId lease = 0;
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

// Keys from `key` up to, not including, `end`; end empty: that key alone; "\0": all from `key` on.
struct Span {
  std::string key;
  std::string end;
};

struct Range {
  enum class Order : std::uint8_t { none, ascend, descend };
  enum class By : std::uint8_t { key, version, create, mod, value };
  Span span;
  std::int64_t limit = 0;     // 0: none
  std::int64_t revision = 0;  // 0: now
  Order order = Order::none;
  By by = By::key;
  bool keys_only = false;
  bool count_only = false;
  std::int64_t min_mod = 0, max_mod = 0, min_create = 0, max_create = 0;  // 0: no bound
};
struct Put {
  std::string key;
  std::string value;
  LeaseId lease = 0;
  bool previous = false;  // tell what was there
  bool keep_value = false;
  bool keep_lease = false;
};
struct Erase {
  Span span;
  bool previous = false;
};
struct Request;
struct Condition {
  enum class Is : std::uint8_t { equal, greater, less, not_equal };
  enum class Of : std::uint8_t { version, create, mod, value, lease };
  Is is = Is::equal;
  Of of = Of::version;
  Span span;
  std::int64_t number = 0;
  std::string value;
};
using Operation = std::variant<Range, Put, Erase, std::shared_ptr<Request>>;
struct Request {
  std::vector<Condition> conditions;
  std::vector<Operation> then;
  std::vector<Operation> otherwise;
};

struct Found {
  std::vector<KeyValue> entries;
  bool more = false;
  std::int64_t count = 0;
  std::int64_t revision = 0;  // of the store when it was read
};
struct PutDone {
  std::optional<KeyValue> previous;
};
struct EraseDone {
  std::int64_t deleted = 0;
  std::vector<KeyValue> previous;
};
struct Outcome;
using Done = std::variant<Found, PutDone, EraseDone, std::shared_ptr<Outcome>>;
struct Outcome {
  bool succeeded = false;
  std::vector<Done> answers;
  std::int64_t revision = 0;  // of the store after it
};

struct Event {
  bool erased = false;
  KeyValue entry;
  std::optional<KeyValue> previous;
};
// One revision's events, or several; those of one revision are never parted, unless the watcher asked for fragments of bounded size.
struct Events {
  std::vector<Event> events;
  std::int64_t revision = 0;   // of the store when they were sent
  bool cancelled = false;      // the last that comes
  std::int64_t compacted = 0;  // it asked for what was compacted: up to here
  bool fragment = false;       // cut, since it was too large: more of the same follows
  bool progress = false;       // no events: the watcher has seen all up to `revision`
};
struct Watch {
  Span span;
  std::int64_t start = 0;  // the first revision wanted; 0: from now
  bool no_puts = false, no_erases = false;
  bool previous = false;
  bool fragment = false;
  bool progress = false;  // tell from time to time, when there is nothing else to tell, how far it is
};
// Takes events on an engine's thread. False: its queue is full; it is asked again after ready(), and what it misses meanwhile is read from
// the history, so a slow watcher costs no memory.
using Sink = std::function<bool(const Events&)>;

struct Lease {
  LeaseId id = 0;
  Duration ttl = {};
  Duration left = {};
  std::vector<std::string> keys;  // in order
};

// Whether a lease with these keys may be given another key, or ended: asked on the writer's thread when that is done, so that nothing comes
// in between. Empty: it may.
using LeaseGuard = std::function<Result<>(const std::vector<std::string>& keys)>;

struct EngineOptions {
  std::uint64_t bytes_max = 0;  // of the folder: above it puts are refused; 0: 8 GiB
  std::size_t request_bytes_max = 1'572'864;
  std::size_t operations_max = 128;
  bool synchronous = true;  // false: a crash of the host may lose the last writes; for tests and benchmarks
  Duration lease_ttl_min = 1s;
  const Clock* clock = nullptr;  // null: BootClock; tests pass their own and call tick()
  Log* log = nullptr;
  std::shared_ptr<rocksdb::FileSystem> file_system;  // null: the host's; tests pass one that fails
};

struct EngineStatus {
  std::int64_t revision = 0;
  std::int64_t compacted = 0;
  std::uint64_t bytes = 0, bytes_in_use = 0, bytes_max = 0;
  std::uint64_t keys = 0, watchers = 0, leases = 0;
  // Asked since it was opened, whatever was answered: ranges, and txns of nothing else; txns that may write, single puts and erases among
  // them; leases renewed; watches begun.
  std::uint64_t reads = 0, writes = 0, renewals = 0, watches = 0;
  std::uint64_t cluster_id = 0, member_id = 0;  // of this folder, drawn when it was made
  bool full = false;                            // writes are refused: no space
  std::string version;                          // of the folder's format
};

class Engine {
 public:
  using Token = std::uint64_t;  // of a watcher

  static Result<std::unique_ptr<Engine>> open(const std::string& folder, const EngineOptions& options);
  virtual ~Engine() = default;  // ends the writer after what was submitted

  // Errors carry etcd's own words where it has some (server.h maps them by text), and codes of ours.
  virtual Result<Found> range(const Range& range) const = 0;
  // The guard is asked for every lease that a put of the branches taken names.
  virtual void submit(Request request, std::function<void(Result<Outcome>)> done, LeaseGuard guard) = 0;
  void submit(Request request, std::function<void(Result<Outcome>)> done) { submit(std::move(request), std::move(done), {}); }

  virtual void grant(LeaseId id, Duration ttl, std::function<void(Result<Lease>)> done) = 0;              // id 0: it draws one
  virtual void revoke(LeaseId id, std::function<void(Result<std::int64_t>)> done, LeaseGuard guard) = 0;  // gives the revision
  void revoke(LeaseId id, std::function<void(Result<std::int64_t>)> done) { revoke(id, std::move(done), {}); }
  virtual Result<Lease> keep_alive(LeaseId id) = 0;
  virtual Result<Lease> lease(LeaseId id) const = 0;  // with its keys
  virtual std::vector<LeaseId> leases() const = 0;

  virtual Result<Token> watch(const Watch& watch, Sink sink) = 0;
  virtual void ready(Token watcher) = 0;     // its queue has room again
  virtual void progress(Token watcher) = 0;  // it asks how far it is: a `progress` comes once it is up to date
  virtual void unwatch(Token watcher) = 0;   // no call to its sink begins after this returned; one that has begun may still run

  virtual Result<std::int64_t> compact(std::int64_t revision, bool physical) = 0;
  virtual Result<> defragment() = 0;
  // A hash of all that is there up to a revision (0: now), and the revision up to which was compacted.
  virtual Result<std::pair<std::uint32_t, std::int64_t>> hash(std::int64_t revision) const = 0;
  virtual EngineStatus status() const = 0;
  // A copy of the folder as of now, that Engine::open takes. `to` must not exist.
  virtual Result<> backup(const std::string& to) const = 0;
  // For tests with a clock of their own: ends leases that are over.
  virtual void tick() = 0;
};

}  // namespace evenkeel::store::embedded
