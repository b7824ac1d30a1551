#include "evenkeel/store/backends/embedded/detail/watchers.h"

#include <algorithm>

namespace evenkeel::store::embedded::detail {
namespace {

constexpr std::size_t published_bytes_max = 16 << 20;  // waiting for the thread; beyond it, watchers read from the disk
constexpr std::size_t chunk_bytes = 1 << 20;           // of history read at once
constexpr std::size_t chunk_changes = 4096;
constexpr Duration note_every = 10min;  // as etcd

std::size_t bytes_of(const Change& change) {
  return 128 + change.entry.key.size() + change.entry.value.size() + (change.previous ? change.previous->value.size() : 0);
}

std::size_t bytes_of(const Event& event) {
  const auto one = [](const KeyValue& entry) { return 32 + entry.key.size() + entry.value.size(); };
  return one(event.entry) + (event.previous ? one(*event.previous) : 0);
}

bool wanted(const Watch& watch, const Change& change) { return change.stamp.erased ? !watch.no_erases : !watch.no_puts; }

Event to_event(const Change& change, bool previous) {
  return {change.stamp.erased, change.entry, previous ? change.previous : std::nullopt};
}

// Watchers of one span that differ in nothing here get the same value.
std::size_t variant_of(const Watch& watch) {
  return (watch.no_puts ? 1U : 0U) | (watch.no_erases ? 2U : 0U) | (watch.previous ? 4U : 0U);
}

}  // namespace

Watchers::Watchers(Past past, const Clock& clock, bool clock_is_ours, std::size_t fragment_bytes_max, std::int64_t revision)
    : past_(std::move(past)),
      clock_(clock),
      clock_is_ours_(clock_is_ours),
      fragment_bytes_max_(fragment_bytes_max),
      seen_(revision),
      note_due_(later(clock.now(), note_every)),
      thread_([this] { run(); }) {}

Watchers::~Watchers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Watchers::Token Watchers::add(const Watch& watch, Sink sink, std::int64_t next) {
  auto watcher = std::make_shared<Watcher>();
  watcher->watch = watch;
  watcher->sink = std::move(sink);
  watcher->next = next;
  const std::lock_guard lock(mutex_);
  watcher->token = ++last_token_;
  by_token_.emplace(watcher->token, watcher);
  count_ = by_token_.size();
  commands_.push_back({What::add, watcher});
  wake_.notify_one();
  return watcher->token;
}

void Watchers::command(What what, Token token) {
  const std::lock_guard lock(mutex_);
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return;
  commands_.push_back({what, found->second});
  wake_.notify_one();
}

void Watchers::ready(Token token) { command(What::ready, token); }
void Watchers::progress(Token token) { command(What::progress, token); }

void Watchers::remove(Token token) {
  const std::lock_guard lock(mutex_);
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return;
  found->second->gone = true;
  commands_.push_back({What::remove, found->second});
  by_token_.erase(found);
  count_ = by_token_.size();
  wake_.notify_one();
}

void Watchers::publish(std::int64_t first, std::int64_t last, std::shared_ptr<const Changes> changes) {
  std::size_t bytes = 0;
  if (changes)
    for (const auto& change : *changes) bytes += bytes_of(change);
  const std::lock_guard lock(mutex_);
  published_bytes_ += bytes;
  published_.push_back({first, last, std::move(changes)});
  if (published_bytes_ > published_bytes_max) {
    published_ = {{published_.front().first, last, nullptr}};
    published_bytes_ = 0;
  }
  wake_.notify_one();
}

void Watchers::tick() {
  const std::lock_guard lock(mutex_);
  commands_.push_back({What::tick, nullptr});
  wake_.notify_one();
}

void Watchers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto due = [&] { return stop_ || !commands_.empty() || !published_.empty() || !behind_.empty(); };
    if (clock_is_ours_) {
      wake_.wait_for(lock, 10s, due);
    } else {
      wake_.wait(lock, due);
    }
    if (stop_) return;
    const auto commands = std::exchange(commands_, {});
    const auto published = std::exchange(published_, {});
    published_bytes_ = 0;
    lock.unlock();
    for (const auto& command : commands) handle(command);
    for (const auto& one : published) take(one);
    catch_up();
    answer_progress();
    if (clock_.now() >= note_due_) send_notes();
    lock.lock();
  }
}

void Watchers::handle(const Command& command) {
  if (command.what == What::tick) return;  // it only wakes
  auto& watcher = *command.watcher;
  if (command.what == What::remove) return forget(watcher);
  if (watcher.gone) return;
  if (command.what == What::add) {
    all_.insert(command.watcher);
    watcher.place = &spans_.add(watcher.watch.span, &watcher);
  }
  if (command.what == What::progress) asked_.insert(&watcher);
  if (command.what == What::ready) watcher.blocked = false;
  if (!watcher.blocked && watcher.next <= seen_ && (command.what == What::add || command.what == What::ready)) {
    watcher.behind = true;
    behind_.insert(&watcher);
  }
}

void Watchers::forget(Watcher& watcher) {
  if (watcher.place != nullptr) spans_.remove(*std::exchange(watcher.place, nullptr), &watcher);
  behind_.erase(&watcher);
  asked_.erase(&watcher);
  all_.erase(watcher.shared_from_this());
}

void Watchers::take(const Published& published) {
  if (published.changes && published.first == seen_ + 1) {
    dispatch(*published.changes, published.last, false);
  } else {
    fall_behind();
  }
  seen_ = published.last;
}

// Something was not kept: who was up to date reads it from the disk.
void Watchers::fall_behind() {
  for (const auto& watcher : all_) {
    if (watcher->blocked || watcher->behind) continue;
    watcher->next = std::max(watcher->next, seen_ + 1);
    watcher->behind = true;
    behind_.insert(watcher.get());
  }
}

void Watchers::cancel_compacted() {
  const auto compacted = past_.compacted();
  const std::vector<Watcher*> behind(behind_.begin(), behind_.end());
  for (auto* watcher : behind) {
    if (watcher->next >= compacted) continue;
    const auto keep = watcher->shared_from_this();
    if (!deliver(*watcher, {.events = {}, .revision = seen_, .cancelled = true, .compacted = compacted})) {
      block(*watcher);
      continue;
    }
    remove(watcher->token);
    forget(*watcher);
  }
}

// One chunk of the history for all who are behind. What was compacted while it was read may have had gaps, so then it does not count.
void Watchers::catch_up() {
  std::erase_if(behind_, [&](Watcher* watcher) { return (watcher->behind = watcher->next <= seen_, !watcher->behind); });
  cancel_compacted();
  if (behind_.empty()) return;
  const auto first = (*std::ranges::min_element(behind_, {}, &Watcher::next))->next;
  Changes changes;
  std::int64_t last = seen_;
  std::size_t bytes = 0;
  const auto scanned = past_.scan(first, seen_, [&](Stamp stamp, KeyValue&& entry) {
    const bool enough = bytes > chunk_bytes || changes.size() >= chunk_changes;
    if (enough && stamp.revision != changes.back().stamp.revision) return last = changes.back().stamp.revision, false;
    changes.push_back({stamp, std::move(entry), {}});
    bytes += bytes_of(changes.back());
    return true;
  });
  if (past_.compacted() > first) return;
  if (!scanned) last = first - 1;
  if (scanned) dispatch(changes, last, true);
  const std::vector<Watcher*> behind(behind_.begin(), behind_.end());
  for (auto* watcher : behind) {
    // The disk cannot be read: better no watch than one with holes.
    if (!scanned && deliver(*watcher, {.events = {}, .revision = seen_, .cancelled = true})) {
      const auto keep = watcher->shared_from_this();
      remove(watcher->token);
      forget(*watcher);
    } else if (!scanned) {
      block(*watcher);
    } else if (watcher->next <= last) {
      watcher->next = last + 1;
      watcher->skip = 0;
    }
  }
}

void Watchers::dispatch(const Changes& changes, std::int64_t last, bool behind) {
  std::vector<SpanWatchers*> touched;
  for (std::uint32_t i = 0; i < changes.size(); ++i) {
    spans_.find(changes[i].entry.key, [&](SpanWatchers& span) {
      if (span.matched.empty()) touched.push_back(&span);
      span.matched.push_back(i);
    });
  }
  for (auto* span : touched) {
    dispatch(*span, changes, last, behind);
    span->matched.clear();
  }
}

// `behind`: to those who are, else to those who are up to date.
void Watchers::dispatch(SpanWatchers& span, const Changes& changes, std::int64_t last, bool behind) {
  const auto concerned = [&](const Watcher* watcher) { return !watcher->blocked && watcher->behind == behind; };
  const bool previous =
      std::ranges::any_of(span.watchers, [&](const Watcher* watcher) { return concerned(watcher) && watcher->watch.previous; });
  Changes with_previous;
  if (behind && previous) {
    with_previous = changes;
    for (const auto i : span.matched) with_previous[i].previous = past_.at(changes[i].entry.key, changes[i].stamp.revision - 1);
  }
  const auto& use = behind && previous ? with_previous : changes;
  std::array<Prepared, 8> same;
  for (auto* watcher : span.watchers)
    if (concerned(watcher) && !send(*watcher, span.matched, use, last, &same[variant_of(watcher->watch)])) block(*watcher);
}

// `whole`: what another watcher got that wants the same, all of it; empty: nobody yet.
bool Watchers::send(Watcher& watcher, const std::vector<std::uint32_t>& which, const Changes& changes, std::int64_t last,
                    Prepared* whole) {
  const bool all = watcher.next <= changes[which.front()].stamp.revision && watcher.skip == 0;
  Prepared own;
  auto& [events, bytes] = all ? *whole : own;
  if (events.events.empty()) {
    std::size_t skip = watcher.skip;
    for (const auto i : which) {
      const auto& change = changes[i];
      if (change.stamp.revision < watcher.next || !wanted(watcher.watch, change)) continue;
      if (change.stamp.revision == watcher.next && skip > 0 && skip-- > 0) continue;
      events.events.push_back(to_event(change, watcher.watch.previous));
      bytes += bytes_of(events.events.back());
    }
    events.revision = last;
  }
  if (events.events.empty()) return true;
  if (watcher.watch.fragment && bytes > fragment_bytes_max_) return send_fragments(watcher, events);
  const auto first_revision = events.events.front().entry.mod_revision;
  if (first_revision != watcher.next) watcher.skip = 0;
  watcher.next = first_revision;
  if (!deliver(watcher, events)) return false;
  watcher.next = last + 1;
  watcher.skip = 0;
  return true;
}

bool Watchers::send_fragments(Watcher& watcher, Events all) {
  std::size_t at = 0;
  const std::size_t count = all.events.size();
  while (at < count) {
    Events piece;
    piece.revision = all.revision;
    std::size_t bytes = 0;
    const auto first = at;
    while (at < count && (at == first || bytes + bytes_of(all.events[at]) <= fragment_bytes_max_)) {
      bytes += bytes_of(all.events[at]);
      piece.events.push_back(std::move(all.events[at++]));
    }
    piece.fragment = at < count;
    const auto first_revision = piece.events.front().entry.mod_revision;
    if (first_revision != watcher.next) watcher.skip = 0;
    watcher.next = first_revision;
    if (!deliver(watcher, piece)) return false;
    const auto last_revision = piece.events.back().entry.mod_revision;
    if (last_revision != watcher.next) watcher.skip = 0;
    watcher.next = last_revision;
    watcher.skip += static_cast<std::size_t>(
        std::ranges::count(piece.events, last_revision, [](const Event& event) { return event.entry.mod_revision; }));
  }
  watcher.next = all.revision + 1;
  watcher.skip = 0;
  return true;
}

bool Watchers::deliver(Watcher& watcher, const Events& events) {
  if (watcher.gone) return true;
  watcher.quiet = false;
  return watcher.sink(events);
}

void Watchers::block(Watcher& watcher) {
  watcher.blocked = true;
  watcher.behind = false;
  behind_.erase(&watcher);
}

void Watchers::answer_progress() {
  const std::vector<Watcher*> asked(asked_.begin(), asked_.end());
  for (auto* watcher : asked) {
    if (watcher->blocked || watcher->behind) continue;
    asked_.erase(watcher);
    if (deliver(*watcher, {.events = {}, .revision = seen_, .progress = true})) continue;
    asked_.insert(watcher);
    watcher->next = std::max(watcher->next, seen_ + 1);
    block(*watcher);
  }
}

void Watchers::send_notes() {
  note_due_ = later(clock_.now(), note_every);
  for (const auto& watcher : all_) {
    const bool due = watcher->watch.progress && watcher->quiet && !watcher->blocked && !watcher->behind;
    if (due && !deliver(*watcher, {.events = {}, .revision = seen_, .progress = true})) {
      watcher->next = std::max(watcher->next, seen_ + 1);
      block(*watcher);
    }
    watcher->quiet = true;
  }
}

}  // namespace evenkeel::store::embedded::detail
