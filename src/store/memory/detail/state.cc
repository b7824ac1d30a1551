#include "evenkeel/store/memory/detail/state.h"

#include <algorithm>
#include <set>

namespace evenkeel::store::memory {
namespace {

bool is_below(std::string_view key, std::string_view prefix) { return key.starts_with(prefix); }

}  // namespace

std::optional<Entry> State::get(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.entry);
}

std::vector<Entry> State::list(std::string_view prefix) const {
  std::vector<Entry> entries;
  for (auto at = entries_.lower_bound(prefix); at != entries_.end() && is_below(at->first, prefix); ++at)
    entries.push_back(at->second.entry);
  return entries;
}

std::vector<Entry> State::list_at(std::string_view prefix, Revision at) const {
  ensure(remembers(at), "a list is asked only of a revision that is remembered");
  std::map<std::string, Entry, std::less<>> entries;
  for (Entry& entry : list(prefix)) entries.emplace(entry.key, std::move(entry));
  for (Revision undone = revision_; undone > at; undone = Revision(undone.value() - 1)) {
    for (const Edit& edit : edits_of(undone)) {
      if (!is_below(edit.key, prefix)) continue;
      if (edit.before)
        entries.insert_or_assign(edit.key, *edit.before);
      else
        entries.erase(edit.key);
    }
  }
  std::vector<Entry> result;
  for (auto& [key, entry] : entries) result.push_back(std::move(entry));
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
      if (there && found->second.entry.ephemeral)
        return fail(Code::invalid, "{} is ephemeral: compare whether it is there, not its revision", compare.key);
      return there && found->second.entry.modified == compare.modified;
  }
  stop_on_bug("every kind of compare is known");
}

void State::put(const Write& write, Owner owner, Revision at, std::vector<Edit>& edits) {
  const bool ephemeral = write.kind == Write::Kind::put_ephemeral;
  std::optional<Entry> before = get(write.key);
  const Owner owner_before = before ? entries_.find(write.key)->second.owner : Owner();
  Entry after{write.key, write.value, before ? before->created : at, at, ephemeral};
  entries_.insert_or_assign(write.key, Held{after, ephemeral ? owner : Owner()});
  edits.push_back({write.key, std::move(before), std::move(after), owner_before});
}

void State::write(const Write& write, Owner owner, Revision at, std::vector<Edit>& edits) {
  if (write.kind == Write::Kind::put || write.kind == Write::Kind::put_ephemeral) return put(write, owner, at, edits);
  const auto erase = [&](auto found) {
    edits.push_back({found->first, std::move(found->second.entry), std::nullopt, found->second.owner});
    return entries_.erase(found);
  };
  if (write.kind == Write::Kind::erase) {
    if (const auto found = entries_.find(write.key); found != entries_.end()) erase(found);
    return;
  }
  for (auto found = entries_.lower_bound(write.key); found != entries_.end() && is_below(found->first, write.key);)
    found = erase(found);
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
  for (const auto& [key, held] : entries_) {
    if (held.entry.ephemeral && held.owner == owner) txn.erase(key);
  }
  return txn;
}

std::vector<Change> State::changes(std::string_view prefix, Revision after, Revision until, bool latest) const {
  ensure(remembers(after) && until <= revision_, "changes are asked only of what is remembered");
  std::vector<Change> changes;
  std::set<std::string_view> seen;
  for (Revision at = until; at > after; at = Revision(at.value() - 1)) {  // backwards, so that the latest is met first
    const auto& edits = edits_of(at);
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
      if (!is_below(edit->key, prefix)) continue;
      if (latest && !seen.insert(edit->key).second) continue;
      changes.push_back({edit->key, edit->after});
    }
  }
  std::reverse(changes.begin(), changes.end());
  return changes;
}

bool State::touched(std::string_view prefix) const {
  return !history_.empty() && std::any_of(history_.back().begin(), history_.back().end(),
                                          [&](const Edit& edit) { return is_below(edit.key, prefix); });
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
        entries_.insert_or_assign(edit->key, Held{*edit->before, edit->owner_before});
      } else {
        entries_.erase(edit->key);
      }
    }
    history_.pop_back();
    revision_ = Revision(revision_.value() - 1);
  }
}

void State::clear() {
  revision_ = forgotten_ = Revision(1);
  history_.clear();
  entries_.clear();
}

std::set<Owner> State::owners() const {
  std::set<Owner> owners;
  for (const auto& [key, held] : entries_) {
    if (held.entry.ephemeral) owners.insert(held.owner);
  }
  return owners;
}

void State::keep(std::uint64_t revisions) {
  while (history_.size() > revisions) forget(forgotten_.next());
}

}  // namespace evenkeel::store::memory
