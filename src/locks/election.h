#pragma once
// Elections: one of several is the leader, by a session lock; everybody can see who.
//
//   Election election(store, locks, "/c1/office/leader", {.meta = "host:port"});   // stands from now on
//   election.on_change([](const Election::View& view) { … });     // leading: act, guarded by view.guard; else stand by
//
// The leader's epoch is its lock's token. A leader whose session is lost is told before anybody else can be elected. A session is lost for
// good: to stand again after that, open a new one, with Locks and an Election of its own. One that loses its office otherwise, since
// somebody broke the lock, stands again by itself; so does one that could not read the lock, once it can.
// All that is in the path's folder is watched, so that it had better be there alone, or among other locks.
// Threads and ownership are those of Store; the store and the locks outlive it. Destroying it while it leads is like a crash: resign() first.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evenkeel/locks/locks.h"

namespace evenkeel::locks {

struct ElectionOptions {
  std::string meta;
  bool fair = false;
};

class Election {
 public:
  struct View {
    bool leading = false;                 // this one is it, as long as leading() says so
    std::optional<store::Compare> guard;  // if leading
    Token epoch;                          // of the latest leader
    std::string leader;                   // its meta; empty: nobody, or one without
    std::optional<Error>
        trouble;  // why this one cannot stand, if so: its session is lost, it is not allowed to, the lock is of a newer version
  };

  Election(store::Store& store, Locks& locks, std::string path, ElectionOptions options);
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  // Called on the loop with each new view, the first one included. It replaces the handler before it.
  void on_change(std::function<void(const View&)> handler);
  const View& view() const;
  bool leading() const;  // local, no I/O; false from the deadline on
  // Leaves the office, and stands again only with stand().
  void resign(store::Answer<void> answer);
  void stand();

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace evenkeel::locks
