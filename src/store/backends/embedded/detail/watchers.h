#pragma once
// Watchers: tells them what changed, on a thread of its own. The writer hands over what it committed and goes on.
//
// A watcher is up to date, behind, or blocked. Those up to date get what the writer hands over; those behind (they asked for older
// revisions, or their sink was full) get chunks of the history from the disk, all of them from one reading, until they are up to date; those
// blocked wait for ready(). So nothing is kept for anybody, and a change goes to a thousand watchers of one span as one value.

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "evenkeel/store/backends/embedded/detail/spans.h"

namespace evenkeel::store::embedded::detail {

// Where a watcher's past comes from.
struct Past {
  std::function<std::int64_t()> compacted;
  std::function<Result<>(std::int64_t from, std::int64_t to, const std::function<bool(Stamp, KeyValue&&)>&)> scan;
  std::function<std::optional<KeyValue>(const std::string& key, std::int64_t revision)> at;
};

struct Watcher : std::enable_shared_from_this<Watcher> {
  Watch watch;
  Sink sink;
  Engine::Token token = 0;
  std::atomic<bool> gone = false;
  // The rest is the thread's. `next`: what was sent is all before it; for one that is up to date it may be older than it could be.
  std::int64_t next = 0;
  std::size_t skip = 0;  // events of revision `next` that were sent: fragments
  bool blocked = false;
  bool behind = false;
  bool quiet = true;  // nothing was sent since the last note of progress
  SpanWatchers* place = nullptr;
};

class Watchers {
 public:
  using Token = Engine::Token;
  using Changes = std::deque<Change>;

  Watchers(Past past, const Clock& clock, bool clock_is_ours, std::size_t fragment_bytes_max, std::int64_t revision);
  ~Watchers();

  Token add(const Watch& watch, Sink sink, std::int64_t next);
  void ready(Token token);
  void progress(Token token);
  void remove(Token token);
  std::size_t count() const { return count_.load(); }
  // What was committed, in order; without changes: they were not kept, and who wants them reads them from the disk.
  void publish(std::int64_t first, std::int64_t last, std::shared_ptr<const Changes> changes);
  // Notes of progress that are due are sent.
  void tick();

 private:
  enum class What : std::uint8_t { add, remove, ready, progress, tick };
  struct Command {
    What what;
    std::shared_ptr<Watcher> watcher;
  };
  struct Published {
    std::int64_t first = 0, last = 0;
    std::shared_ptr<const Changes> changes;
  };

  // What all watchers get that want the same.
  struct Prepared {
    Events events;
    std::size_t bytes = 0;
  };

  void command(What what, Token token);
  void run();
  void handle(const Command& command);
  void forget(Watcher& watcher);
  void take(const Published& published);
  void fall_behind();
  void catch_up();
  void cancel_compacted();
  void dispatch(const Changes& changes, std::int64_t last, bool behind);
  void dispatch(SpanWatchers& span, const Changes& changes, std::int64_t last, bool behind);
  bool send(Watcher& watcher, const std::vector<std::uint32_t>& which, const Changes& changes, std::int64_t last,
            Prepared* whole);
  bool send_fragments(Watcher& watcher, Events all);
  bool deliver(Watcher& watcher, const Events& events);
  void block(Watcher& watcher);
  void answer_progress();
  void send_notes();

  const Past past_;
  const Clock& clock_;
  const bool clock_is_ours_;
  const std::size_t fragment_bytes_max_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::unordered_map<Token, std::shared_ptr<Watcher>> by_token_;
  Token last_token_ = 0;
  std::vector<Command> commands_;
  std::vector<Published> published_;
  std::size_t published_bytes_ = 0;
  std::atomic<std::size_t> count_ = 0;

  // The thread's own.
  std::set<std::shared_ptr<Watcher>> all_;
  Spans spans_;
  std::set<Watcher*> behind_;
  std::set<Watcher*> asked_;  // for progress
  std::int64_t seen_;         // all up to here was handed to those who are up to date
  Instant note_due_;
  std::thread thread_;
};

}  // namespace evenkeel::store::embedded::detail
