#pragma once
// Turn: a place in a lock's fair queue, from joining to being first.
//
// A place is a session of its own on a key below PATH.queue/: it beats while its owner waits. The order is that of the keys' create
// revisions. Each watches only the one ahead of it: when that one goes, or its beat is proved to stand still and it is swept away, this one
// moves up. Once first, always first: whoever joins later is behind. A place that was swept away while its host slept is taken anew, at the end.

#include "evenkeel/locks/detail/acquirer.h"
#include "evenkeel/locks/detail/folder.h"

namespace evenkeel::locks::detail {

class Turn : public std::enable_shared_from_this<Turn> {
 public:
  struct Events {
    std::function<void(const std::string& key)> first;
    std::function<void(Error)> failed;  // joining did
  };

  Turn(std::shared_ptr<Common> common, const Wish& wish, Events events);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Joins at the end, under a key that was never used before.
  void join();
  // Nothing more comes; the place is given up, unless it went with the taking of the lock.
  void close(bool taken);
  // How many are ahead, as far as is known.
  std::size_t before() const { return before_; }

 private:
  void on_joined(Result<std::unique_ptr<store::Session>> session);
  void on_moved();
  void look();
  void on_listed(const Result<store::Listing>& listing);
  void observe(const std::string& ahead);
  void on_over(const std::string& ahead, const Result<store::Ended>& ended);
  void look_later();
  void sweep(store::Txn txn);
  store::Store& store() const { return common_->store(); }

  std::shared_ptr<Common> common_;
  std::weak_ptr<const void> alive_;
  std::string path_;
  std::string owner_;
  std::string meta_;
  Duration ttl_;
  Instant until_;
  Events events_;

  std::uint64_t joins_ = 0;
  std::string key_;
  std::unique_ptr<store::Session> session_;
  std::shared_ptr<Folder> folder_;
  std::shared_ptr<Folder::Told> following_;
  std::shared_ptr<store::Beats> beats_;
  std::unique_ptr<store::Observer> observer_;
  std::string ahead_;
  std::size_t before_ = 0;
  bool looking_ = false;
  bool again_ = false;  // something happened since the look that is under way began
  bool first_ = false;
  bool closed_ = false;
  Timer timer_;
};

}  // namespace evenkeel::locks::detail
