#include "evenkeel/store/detail/hub.h"

#include <unordered_map>

namespace evenkeel::store::detail {

void Hub::start(std::optional<Revision> after) {
  placed_ = after.has_value();
  watching_ = store_.watch(prefix_, after, [weak = weak_from_this()](Result<Changes> seen) {
    if (const auto hub = weak.lock()) hub->on_changes(std::move(seen));
  });
}

std::shared_ptr<Hub::Told> Hub::follow(std::string key, Told told) {
  auto owner = std::make_shared<Told>(std::move(told));
  std::erase_if(followers_, [](const auto& follower) { return follower.second.expired(); });
  followers_.emplace(std::move(key), owner);
  if (broken_) {
    store_.loop().post([weak = std::weak_ptr(owner), error = *broken_] {
      if (const auto still = weak.lock()) (*still)(fail(error));
    });
  }
  return owner;
}

void Hub::on_changes(Result<Changes> seen) {
  const bool interrupted = placed_ && seen && seen->fresh;
  placed_ = true;
  if (!seen) broken_ = seen.error();
  // Of a key that changed several times only the latest is told: in between it may look as if it was gone.
  std::unordered_map<std::string_view, const std::optional<Entry>*> latest;
  if (seen) {
    for (const Change& change : seen->changes) latest.insert_or_assign(change.key, &change.entry);
  }
  // Whoever is told may follow or leave, so nobody is told before all are found.
  std::vector<std::pair<std::weak_ptr<Told>, Result<Seen>>> told;
  for (const auto& [key, owner] : followers_) {
    const auto found = latest.find(key);
    if (!seen)
      told.emplace_back(owner, fail(seen.error()));
    else if (found != latest.end() || seen->fresh)
      told.emplace_back(owner, Seen{found != latest.end() ? *found->second : std::nullopt, seen->revision, interrupted});
  }
  for (auto& [weak, what] : told) {
    if (const auto owner = weak.lock()) (*owner)(std::move(what));
  }
}

}  // namespace evenkeel::store::detail
