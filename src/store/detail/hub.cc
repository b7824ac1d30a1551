#include "evenkeel/store/detail/hub.h"

#include <string_view>
#include <utility>

namespace evenkeel::store::detail {

void Hub::start(std::optional<Revision> after) {
  placed_ = after.has_value();
  watching_ = store_.watch(prefix_, after, [weak = weak_from_this()](Result<Changes> seen) {
    if (const auto hub = weak.lock()) hub->on_changes(std::move(seen));
  });
}

std::shared_ptr<Hub::Told> Hub::follow(std::string key, Told told) {
  auto owner = std::make_shared<Told>(std::move(told));
  if (followers_.size() >= sweep_at_) sweep();
  followers_.emplace(std::move(key), owner);
  if (broken_) {
    store_.loop().post([weak = std::weak_ptr(owner), error = *broken_] {
      if (const auto still = weak.lock()) (*still)(fail(error));
    });
  }
  return owner;
}

void Hub::sweep() {
  std::erase_if(followers_, [](const auto& follower) { return follower.second.expired(); });
  sweep_at_ = 16 + 2 * followers_.size();
}

// Whoever is told may follow or leave, so nobody is told before all are found.
void Hub::on_changes(Result<Changes> seen) {
  Telling telling;
  if (!seen) {
    broken_ = seen.error();
    for (const auto& [key, owner] : followers_) telling.emplace_back(owner, fail(seen.error()));
  } else {
    const bool interrupted = std::exchange(placed_, true) && seen->fresh;
    // Of a key that changed several times only the latest is told: in between it may look as if it was gone.
    std::map<std::string_view, const std::optional<Entry>*> latest;
    for (const Change& change : seen->changes) {
      if (followers_.contains(change.key)) latest.insert_or_assign(change.key, &change.entry);
    }
    const std::optional<Entry> none;
    if (seen->fresh) {
      for (const auto& [key, owner] : followers_) latest.emplace(key, &none);
    }
    for (const auto& [key, entry] : latest) {
      const auto [begin, end] = followers_.equal_range(key);
      for (auto at = begin; at != end; ++at) telling.emplace_back(at->second, Seen{*entry, seen->revision, interrupted});
    }
  }
  for (auto& [weak, what] : telling) {
    if (const auto owner = weak.lock()) (*owner)(std::move(what));
  }
}

}  // namespace evenkeel::store::detail
