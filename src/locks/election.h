#pragma once
// Elections: one of several is the leader, by a session lock; everybody can see who.
//
//   Election election(locks, "/c1/controller", {.meta = "host:port"});
//   election.on_change([](const Election::View& view) { … });     // leading: act, guarded by view.guard; else stand by
//
// The leader's epoch is its lock's token. A leader whose session is lost is told before anybody else can be elected.

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
    bool leading = false;                 // this one is it, up to `deadline`
    std::optional<store::Compare> guard;  // if leading
    Token epoch;                          // of the latest leader
    std::string leader;                   // its meta; empty: nobody
  };

  Election(store::Store& store, Locks& locks, std::string path, ElectionOptions options);
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

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
