#pragma once
// Folder: one watch of the keys beside each other, shared by all who hold or wait for locks there; and Common, what they share besides.

#include <map>
#include <memory>
#include <vector>

#include "evenkeel/locks/detail/record.h"

namespace evenkeel::locks::detail {

class Folder : public std::enable_shared_from_this<Folder> {
 public:
  // What is there now, as of a revision.
  struct Seen {
    std::optional<store::Entry> entry;
    store::Revision revision;
  };
  // With the error that ended the watch, if one did.
  using Told = std::function<void(const Result<Seen>&)>;

  Folder(store::Store& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {}
  void start();

  // Of a key; or of all that is directly below a prefix, then only of what goes away. Until the returned owner is gone.
  std::shared_ptr<Told> follow(std::string key_or_prefix, Told told);

 private:
  using Followers = std::multimap<std::string, std::weak_ptr<Told>, std::less<>>;

  void on_changes(const Result<store::Changes>& seen);
  void tell_all(const Result<store::Changes>& seen);
  void tell(const std::string& key, const Seen& seen);

  store::Store& store_;
  std::string prefix_;
  std::optional<Error> broken_;
  Followers followers_;
  std::unique_ptr<store::Watching> watching_;
};

// What all locks of one Locks share: watches, and the session's end.
class Common {
 public:
  using Lost = std::function<void()>;

  Common(store::Store& store, store::Session* session);

  store::Store& store() const { return store_; }
  store::Session* session() const { return session_; }
  bool session_lost() const;
  std::shared_ptr<Folder> folder(const std::string& key);
  std::shared_ptr<store::Beats> beats(const std::string& key);
  // Called when the session is lost, until the returned owner is gone.
  std::shared_ptr<Lost> on_lost(Lost lost);

  Duration session_ttl = {};  // once it is known

 private:
  struct Losses {
    bool lost = false;
    std::vector<std::weak_ptr<Lost>> followers;
  };

  store::Store& store_;
  store::Session* session_;
  std::shared_ptr<Losses> losses_ = std::make_shared<Losses>();
  std::map<std::string, std::weak_ptr<Folder>> folders_;
  std::map<std::string, std::weak_ptr<store::Beats>> beats_;
};

}  // namespace evenkeel::locks::detail
