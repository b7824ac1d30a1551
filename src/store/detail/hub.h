#pragma once
// Hub: one watch below a prefix, and who wants to know of which key. A change costs O(log followers).

#include <map>
#include <memory>
#include <vector>

#include "evenkeel/store/detail/beat.h"

namespace evenkeel::store::detail {

class Hub : public std::enable_shared_from_this<Hub> {
 public:
  // With the key's state, or with the error that ended the watch.
  using Told = std::function<void(Result<Seen>)>;

  Hub(Store& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {}

  // Begins to watch; `after`: somebody has already seen what was there then.
  void start(std::optional<Revision> after);
  // Calls until the returned owner is gone.
  std::shared_ptr<Told> follow(std::string key, Told told);

  Store& store() const { return store_; }
  const std::string& prefix() const { return prefix_; }

 private:
  using Followers = std::multimap<std::string, std::weak_ptr<Told>, std::less<>>;
  using Telling = std::vector<std::pair<std::weak_ptr<Told>, Result<Seen>>>;

  void on_changes(Result<Changes> seen);
  void sweep();

  Store& store_;
  std::string prefix_;
  bool placed_ = false;  // it has had a place in the store's history, which it may lose
  std::optional<Error> broken_;
  Followers followers_;
  std::size_t sweep_at_ = 16;  // followers, some of whom may be gone
  std::unique_ptr<Watching> watching_;
};

}  // namespace evenkeel::store::detail
