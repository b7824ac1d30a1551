#include "evenkeel/store/memory/detail/state.h"

#include <algorithm>
#include <map>
#include <set>

namespace evenkeel::store::memory {
namespace {

bool is_below(std::string_view key, std::string_view prefix) { return key.starts_with(prefix); }

}  // namespace

template <class Visit>
void State::each_below(std::string_view prefix, Visit visit) const {
  for (auto at = keys_.lower_bound(prefix); at != keys_.end() && is_below(*at, prefix); ++at) visit(entries_.find(*at)->second);
}

std::optional<Entry> State::get(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(*found->second.entry);
}

std::vector<Entry> State::list(std::string_view prefix) const {
  std::vector<Entry> entries;
  each_below(prefix, [&](const Held& held) { entries.push_back(*held.entry); });
  return entries;
}

std::vector<Entry> State::list_at(std::string_view prefix, Revision at) const {
  ensure(remembers(at), "a list is asked only of a revision that is remembered");
  if (at == revision_) return list(prefix);
  std::map<std::string_view, Shared> entries;
  each_below(prefix, [&](const Held& held) { entries.emplace(held.entry->key, held.entry); });
  for (Revision undone = revision_; undone > at; undone = Revision(undone.value() - 1)) {
    for (const Edit& edit : edits_of(undone)) {
      if (!is_below(edit.key(), prefix)) continue;
      entries.erase(edit.key());
      if (edit.before) entries.emplace(edit.before->key, edit.before);
    }
  }
  std::vector<Entry> result;
  for (const auto& [key, entry] : entries) result.push_back(*entry);
  return result;
}

Result<bool> State::holds(const Compare& compare) const {
  const auto found = entries_.find(compare.key);
  const bool there = found != entries_.end();
  switch (compare.kind) {
    case Compare::Kind::absent:
      return !there;
    case Compare::Kind::present:
      return there;
    case Compare::Kind::unchanged:
      if (there && found->second.entry->ephemeral)
        return fail(Code::invalid, "{} is ephemeral: compare whether it is there, not its revision", compare.key);
      return there && found->second.entry->modified == compare.modified;
  }
  stop_on_bug("every kind of compare is known");
}

void State::set(const Shared& entry, Owner owner) {
  const auto [at, is_new] = entries_.try_emplace(entry->key);
  if (is_new) keys_.insert(at->first);
  at->second = {entry, owner};
}

void State::erase(Entries::iterator found) {
  keys_.erase(found->first);
  entries_.erase(found);
}

void State::put(const Write& write, Owner owner, Revision at, std::vector<Edit>& edits) {
  const bool ephemeral = write.kind == Write::Kind::put_ephemeral;
  const auto found = entries_.find(write.key);
  const Held before = found == entries_.end() ? Held() : found->second;
  const auto after =
      std::make_shared<const Entry>(Entry{write.key, write.value, before.entry ? before.entry->created : at, at, ephemeral});
  edits.push_back({before.entry, after, before.owner});
  if (found == entries_.end()) return set(after, ephemeral ? owner : Owner());
  found->second = {after, ephemeral ? owner : Owner()};
}

void State::write(const Write& write, Owner owner, Revision at, std::vector<Edit>& edits) {
  if (write.kind == Write::Kind::put || write.kind == Write::Kind::put_ephemeral) return put(write, owner, at, edits);
  std::vector<Shared> gone;
  if (write.kind == Write::Kind::erase_below) {
    each_below(write.key, [&](const Held& held) { gone.push_back(held.entry); });
  } else if (const auto found = entries_.find(write.key); found != entries_.end()) {
    gone.push_back(found->second.entry);
  }
  for (Shared& entry : gone) {
    const auto found = entries_.find(entry->key);
    const Owner owner_before = found->second.owner;
    erase(found);
    edits.push_back({std::move(entry), nullptr, owner_before});
  }
}

Result<Committed> State::apply(const Txn& txn, Owner owner) {
  bool succeeded = true;
  for (const Compare& compare : txn.compares) {
    const auto held = holds(compare);
    if (!held) return fail(held.error());
    succeeded = succeeded && *held;
  }
  std::vector<Edit> edits;
  for (const Write& one : succeeded ? txn.then : txn.otherwise) write(one, owner, revision_.next(), edits);
  if (!edits.empty()) {
    ++revision_;
    history_.push_back(std::move(edits));
  }
  return Committed{succeeded, revision_};
}

Txn State::expiry(Owner owner) const {
  Txn txn;
  each_below("", [&](const Held& held) {
    if (held.entry->ephemeral && held.owner == owner) txn.erase(held.entry->key);
  });
  return txn;
}

std::vector<Change> State::changes(std::string_view prefix, Revision after, Revision until, bool latest) const {
  ensure(remembers(after) && until <= revision_, "changes are asked only of what is remembered");
  std::vector<Change> changes;
  std::set<std::string_view> seen;
  for (Revision at = until; at > after; at = Revision(at.value() - 1)) {  // backwards, so that the latest is met first
    const auto& edits = edits_of(at);
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
      if (!is_below(edit->key(), prefix)) continue;
      if (latest && !seen.insert(edit->key()).second) continue;
      changes.push_back({edit->key(), edit->after ? std::optional(*edit->after) : std::nullopt});
    }
  }
  std::reverse(changes.begin(), changes.end());
  return changes;
}

std::vector<std::string_view> State::touched() const {
  std::vector<std::string_view> keys;
  if (!history_.empty()) {
    for (const Edit& edit : history_.back()) keys.push_back(edit.key());
  }
  return keys;
}

// The revision `before` itself stays readable: its state is today's with all edits after it undone.
void State::forget(Revision before) {
  while (forgotten_ < before && !history_.empty()) {
    history_.pop_front();
    ++forgotten_;
  }
}

void State::put_back(Revision to) {
  ensure(remembers(to), "a store is put back only to what it remembers");
  while (revision_ > to) {
    for (auto edit = history_.back().rbegin(); edit != history_.back().rend(); ++edit) {
      if (edit->before) {
        set(edit->before, edit->owner_before);
      } else {
        erase(entries_.find(edit->key()));
      }
    }
    history_.pop_back();
    revision_ = Revision(revision_.value() - 1);
  }
}

void State::clear() {
  revision_ = forgotten_ = Revision(1);
  history_.clear();
  keys_.clear();
  entries_.clear();
}

std::set<Owner> State::owners() const {
  std::set<Owner> owners;
  for (const auto& [key, held] : entries_) {
    if (held.entry->ephemeral) owners.insert(held.owner);
  }
  return owners;
}

void State::keep(std::uint64_t revisions) {
  while (history_.size() > revisions) forget(forgotten_.next());
}

}  // namespace evenkeel::store::memory
