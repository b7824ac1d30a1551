#include "evenkeel/store/backends/embedded/detail/index.h"

#include <algorithm>

namespace evenkeel::store::embedded::detail {
namespace {

// The latest stamp that is not after `revision`.
std::optional<Seen> in_item(std::string_view key, const Item& item, std::int64_t revision) {
  if (item.latest.revision <= revision) return Seen{key, item.latest, nullptr, &item};
  const auto after = std::ranges::upper_bound(item.past, revision, {}, &Stamp::revision);
  if (after == item.past.begin()) return {};
  return Seen{key, after[-1], nullptr, nullptr};
}

std::optional<Seen> in_changes(const std::vector<const Change*>& changes, std::int64_t revision) {
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    if ((*change)->stamp.revision <= revision) return Seen{(*change)->entry.key, (*change)->stamp, &(*change)->entry, nullptr};
  return {};
}

}  // namespace

KeyValue to_entry(const std::string& key, const Item& item) {
  return {key, item.value, item.create, item.latest.revision, item.version, item.lease};
}

void Index::apply(Change& change, bool keep_entry) {
  const auto [at, made] = items_.try_emplace(change.entry.key);
  auto& item = at->second;
  if (!made) {
    if (!item.latest.erased) {
      change.previous = KeyValue{at->first, std::move(item.value), item.create, item.latest.revision, item.version, item.lease};
      --live_;
    }
    item.past.push_back(item.latest);
  }
  item.value = keep_entry ? change.entry.value : std::move(change.entry.value);
  item.create = change.entry.create_revision;
  item.version = change.entry.version;
  item.lease = change.entry.lease;
  item.latest = change.stamp;
  if (!item.latest.erased) ++live_;
}

void Index::load(KeyValue&& entry, Stamp stamp) {
  Change change{stamp, std::move(entry), {}};
  apply(change, false);
}

std::optional<std::string> Index::prune(const std::string& after, std::size_t most, std::int64_t compacted,
                                        std::vector<Stamp>& removed) {
  std::string last;
  auto at = after.empty() ? items_.begin() : items_.upper_bound(after);
  for (std::size_t count = 0; at != items_.end(); ++count) {
    if (count == most) return last;
    last = at->first;
    const Stamp latest = at->second.latest;
    auto& past = at->second.past;
    // A stamp goes if the next one is not after `compacted`, and an erasure if it is before it: one at `compacted` itself stays for
    // watchers that begin there.
    std::size_t gone = 0;
    while (gone < past.size() && (gone + 1 < past.size() ? past[gone + 1] : latest).revision <= compacted) ++gone;
    if (gone < past.size() && past[gone].erased && past[gone].revision < compacted) ++gone;
    const auto first_kept = past.begin() + static_cast<std::ptrdiff_t>(gone);
    removed.insert(removed.end(), past.begin(), first_kept);
    past.erase(past.begin(), first_kept);
    if (past.empty()) past.shrink_to_fit();
    if (past.empty() && latest.erased && latest.revision < compacted) {
      removed.push_back(latest);
      at = items_.erase(at);
    } else {
      ++at;
    }
  }
  return {};
}

void Overlay::add(Change change) {
  changes_.push_back(std::move(change));
  keys_[changes_.back().entry.key].push_back(&changes_.back());
}

void Overlay::roll_back(std::size_t size) {
  while (changes_.size() > size) {
    const auto at = keys_.find(changes_.back().entry.key);
    at->second.pop_back();
    // The map's key is the first change's own string.
    if (at->second.empty()) keys_.erase(at);
    changes_.pop_back();
  }
}

bool contains(const Span& span, std::string_view key) {
  if (span.end.empty()) return key == span.key;
  return key >= span.key && (is_open(span) || key < span.end);
}

std::optional<Seen> View::at(std::string_view key, std::int64_t revision) const {
  std::optional<Seen> seen;
  if (overlay != nullptr)
    if (const auto found = overlay->keys().find(key); found != overlay->keys().end()) seen = in_changes(found->second, revision);
  if (!seen)
    if (const auto found = index.items().find(key); found != index.items().end())
      seen = in_item(found->first, found->second, revision);
  return seen && !seen->stamp.erased ? seen : std::nullopt;
}

void View::walk(const Span& span, std::int64_t revision, const std::function<bool(const Seen&)>& use) const {
  static const Overlay nothing;
  const auto& items = index.items();
  const auto& keys = (overlay != nullptr ? *overlay : nothing).keys();
  auto item = items.lower_bound(span.key);
  auto key = keys.lower_bound(span.key);
  const auto inside = [&](std::string_view name) { return is_open(span) || name < span.end; };
  for (;;) {
    const bool have_item = item != items.end() && inside(item->first);
    const bool have_key = key != keys.end() && inside(key->first);
    if (!have_item && !have_key) return;
    std::optional<Seen> seen;
    const bool take_key = have_key && (!have_item || key->first <= item->first);
    const bool take_item = have_item && (!have_key || item->first <= key->first);
    if (take_key) seen = in_changes(key->second, revision);
    if (take_item && !seen) seen = in_item(item->first, item->second, revision);
    if (take_key) ++key;
    if (take_item) ++item;
    if (seen && !seen->stamp.erased && !use(*seen)) return;
  }
}

}  // namespace evenkeel::store::embedded::detail
