#pragma once
// Sweeper: removes tombstones and empty folders when they are old.
//
// It remembers what this client erased or came by, and when, on its own clock; an hour later it removes what is still the same. That is safe at
// any age: revisions are zxids, so no compare of the interface can take a new node for an old one, and the removal writes the root, so no
// multi that was decided before it passes after it (decide.h, rule 1). The hour is there for watches that begin after a revision: they get a
// fresh list if something was removed since. What a client does not live long enough to sweep, the next one that lists it does.
// Bounds: `remembered_max` traces, `at_once` of them in one pass.

#include <deque>
#include <set>
#include <string>

#include "evenkeel/store/backends/zookeeper/detail/call.h"

namespace evenkeel::store::zookeeper {

struct Sweeping {
  Duration after = 1h;
  Duration every = 10min;
};

class Sweeper : public std::enable_shared_from_this<Sweeper> {
 public:
  Sweeper(Loop& loop, std::shared_ptr<Connection> connection, std::string root, Sweeping sweeping);
  void begin() { plan_next(); }
  void note(const Trace& trace);

 private:
  struct Noted {
    Trace trace;
    Instant when;
  };

  void plan_next();
  void pass();
  void take_root(Reply reply);
  void look_at(const Noted& noted);
  void take(const Noted& noted, const Reply& reply);
  void remove();

  Loop& loop_;
  const std::shared_ptr<Connection> connection_;
  const std::string root_;
  const Sweeping sweeping_;
  std::deque<Noted> noted_;        // the oldest first
  std::set<std::string> paths_;    // of these
  std::size_t looks_left_ = 0;     // of the present pass
  std::vector<Operation> chosen_;  // of the present pass
};

}  // namespace evenkeel::store::zookeeper
