#pragma once
// Keeper: keeps a lock while a command runs, and ends the command before the lock does.
//
// It renews every third of the ttl. If that fails for long, it asks the command to end some time before the deadline (the grace), and
// kills it shortly before; if the lock is known to be another's already, it asks at once. So at the deadline nothing runs any more.
// All on the loop of the lock's store, but lost(), which any thread may ask.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "evenkeel/base/loop.h"
#include "evenkeel/cli/cli.h"
#include "evenkeel/locks/locks.h"

namespace evenkeel::cli {

class Keeper : public std::enable_shared_from_this<Keeper> {
 public:
  struct Options {
    Duration ttl = 30s;
    Duration grace = {};  // 0: a quarter of the ttl, at most 10s
  };
  // `end`: ends the command, on a thread that may wait for it.
  Keeper(Loop& loop, locks::Held& held, Options options, std::function<void(Outside::End)> end);

  void start();
  void stop();  // nothing happens afterwards
  // Why the command was ended, if it was.
  std::optional<std::string> lost() const;

 private:
  void renew();
  void renewed(Result<Instant> deadline);
  void watch_deadline();
  void lose(std::string why);
  void post_at(Instant due, void (Keeper::*what)());
  void kill();

  Loop& loop_;
  locks::Held& held_;
  Duration ttl_, grace_;
  std::function<void(Outside::End)> end_;
  bool over_ = false;
  Instant deadline_;     // the latest one while it was held; once lost, a lock has none that is worth anything
  std::string trouble_;  // what the latest renewal said
  std::unique_ptr<std::stop_callback<std::function<void()>>> on_lost_;
  mutable std::mutex mutex_;
  std::optional<std::string> why_;
};

}  // namespace evenkeel::cli
