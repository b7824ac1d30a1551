#include "evenkeel/locks/detail/folder.h"

#include <utility>

namespace evenkeel::locks::detail {

void Folder::start() {
  watching_ = store_.watch(prefix_, {}, [weak = weak_from_this()](Result<store::Changes> seen) {
    if (const auto folder = weak.lock()) folder->on_changes(seen);
  });
}

std::shared_ptr<Folder::Told> Folder::follow(std::string key_or_prefix, Told told) {
  auto owner = std::make_shared<Told>(std::move(told));
  std::erase_if(followers_, [](const auto& follower) { return follower.second.expired(); });
  followers_.emplace(std::move(key_or_prefix), owner);
  if (broken_) {
    store_.loop().post([weak = std::weak_ptr(owner), error = *broken_] {
      if (const auto still = weak.lock()) (*still)(fail(error));
    });
  }
  return owner;
}

void Folder::on_changes(const Result<store::Changes>& seen) {
  if (!seen) broken_ = seen.error();
  if (!seen || seen->fresh) return tell_all(seen);
  for (const store::Change& change : seen->changes) {
    tell(change.key, {change.entry, seen->revision});
    if (!change.entry) tell(folder_of(change.key), {std::nullopt, seen->revision});
  }
}

// Whoever is told may follow or leave, so nobody is told before all are found.
void Folder::tell_all(const Result<store::Changes>& seen) {
  std::map<std::string_view, const std::optional<store::Entry>*> there;
  if (seen) {
    for (const store::Change& change : seen->changes) there.emplace(change.key, &change.entry);
  }
  std::vector<std::pair<std::weak_ptr<Told>, Result<Seen>>> told;
  for (const auto& [key, owner] : followers_) {
    const auto found = there.find(key);
    if (!seen)
      told.emplace_back(owner, fail(seen.error()));
    else
      told.emplace_back(owner, Seen{found != there.end() ? *found->second : std::nullopt, seen->revision});
  }
  for (const auto& [weak, what] : told) {
    if (const auto owner = weak.lock()) (*owner)(what);
  }
}

void Folder::tell(const std::string& key, const Seen& seen) {
  std::vector<std::weak_ptr<Told>> told;
  for (auto [at, end] = followers_.equal_range(key); at != end; ++at) told.push_back(at->second);
  for (const auto& weak : told) {
    if (const auto owner = weak.lock()) (*owner)(seen);
  }
}

Common::Common(store::Store& store, store::Session* session) : store_(store), session_(session) {
  if (session_ == nullptr) return;
  session_->on_event([losses = losses_](store::Session::Event event) {
    if (event != store::Session::Event::lost) return;
    losses->lost = true;
    for (const auto& weak : std::exchange(losses->followers, {})) {
      if (const auto owner = weak.lock()) (*owner)();
    }
  });
}

bool Common::session_lost() const { return losses_->lost || session_ == nullptr || !session_->valid(); }

std::shared_ptr<Folder> Common::folder(const std::string& key) {
  std::erase_if(folders_, [](const auto& one) { return one.second.expired(); });
  const std::string prefix = folder_of(key);
  if (auto there = folders_[prefix].lock()) return there;
  auto made = std::make_shared<Folder>(store_, prefix);
  made->start();
  folders_[prefix] = made;
  return made;
}

std::shared_ptr<store::Beats> Common::beats(const std::string& key) {
  std::erase_if(beats_, [](const auto& one) { return one.second.expired(); });
  const std::string prefix = folder_of(key);
  if (auto there = beats_[prefix].lock()) return there;
  auto made = std::make_shared<store::Beats>(store_, prefix);
  beats_[prefix] = made;
  return made;
}

std::shared_ptr<Common::Lost> Common::on_lost(Lost lost) {
  auto owner = std::make_shared<Lost>(std::move(lost));
  std::erase_if(losses_->followers, [](const auto& follower) { return follower.expired(); });
  losses_->followers.push_back(owner);
  return owner;
}

}  // namespace evenkeel::locks::detail
