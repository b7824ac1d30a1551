// What cases use: clients that wait, and watchers that check what they are told.

#include <fmt/format.h>

#include <algorithm>

#include "tests/store/backends/conformance.h"

namespace evenkeel::test {

using store::Answer;
using store::Change;
using store::Store;

Result<Read> Client::get(std::string key) {
  return call<Read>([key = std::move(key)](Store& store, Answer<Read> answer) { store.get(key, std::move(answer)); });
}

Result<Listing> Client::list(std::string prefix) {
  return call<Listing>(
      [prefix = std::move(prefix)](Store& store, Answer<Listing> answer) { store.list(prefix, std::move(answer)); });
}

Result<Committed> Client::txn(Txn txn) {
  return call<Committed>([txn = std::move(txn)](Store& store, Answer<Committed> answer) { store.txn(txn, std::move(answer)); });
}

Result<Committed> Client::put(std::string key, std::string value) {
  Txn one;
  one.put(std::move(key), std::move(value));
  return txn(std::move(one));
}

Result<Committed> Client::erase(std::string key) {
  Txn one;
  one.erase(std::move(key));
  return txn(std::move(one));
}

void Client::on_loop(std::function<void()> work) {
  auto ran = std::make_shared<std::promise<void>>();
  auto future = ran->get_future();
  loop().post([ran, work = std::move(work)] {
    work();
    ran->set_value();
  });
  if (future.wait_for(patience) != std::future_status::ready) throw std::runtime_error("the loop stands still");
}

struct Watcher::Seen {
  std::string prefix;
  std::mutex mutex;
  std::condition_variable changed;
  bool closed = false;
  std::function<void(const Changes&)> on_changes;
  std::vector<Result<Changes>> deliveries;
  std::map<std::string, Entry> state;
  std::map<std::string, Revision> latest;  // that was ever seen of a key
  Revision revision;

  // With the mutex held.
  void take(Result<Changes> delivery) {
    EXPECT_FALSE(closed) << "a delivery after the watch was destroyed";
    if (delivery) apply(*delivery);
    if (delivery && on_changes) on_changes(*delivery);
    deliveries.push_back(std::move(delivery));
    changed.notify_all();
  }

  void apply(const Changes& delivery) {
    EXPECT_GE(delivery.revision, revision) << "a watch went back";
    revision = std::max(revision, delivery.revision);
    if (delivery.fresh) {
      state.clear();
      EXPECT_TRUE(std::ranges::is_sorted(delivery.changes, std::ranges::less_equal{}, &Change::key))
          << "a fresh list in disorder";
    }
    EXPECT_TRUE(delivery.fresh || !delivery.changes.empty()) << "a delivery of nothing";
    Revision before;
    for (const Change& change : delivery.changes) {
      EXPECT_TRUE(change.key.starts_with(prefix)) << change.key << " is not below " << prefix;
      if (!change.entry) {
        EXPECT_FALSE(delivery.fresh) << "a fresh list with a deletion";
        state.erase(change.key);
        continue;
      }
      const Entry& entry = *change.entry;
      EXPECT_EQ(entry.key, change.key);
      EXPECT_LE(entry.created, entry.modified);
      EXPECT_TRUE(delivery.fresh || entry.modified >= before) << "changes not in order of revision";
      if (!delivery.fresh) before = entry.modified;
      EXPECT_GE(entry.modified, latest[change.key]) << change.key << " went back";
      latest[change.key] = entry.modified;
      state.insert_or_assign(change.key, entry);
    }
  }
};

Watcher::Watcher(Client& client, std::string prefix, std::optional<Revision> after,
                 std::function<void(const Changes&)> on_changes)
    : client_(client), seen_(std::make_shared<Seen>()) {
  seen_->prefix = prefix;
  seen_->on_changes = std::move(on_changes);
  client_.on_loop([&] {
    watching_ = client_.store().watch(prefix, after, [seen = seen_](Result<Changes> delivery) {
      const std::lock_guard lock(seen->mutex);
      seen->take(std::move(delivery));
    });
  });
}

Watcher::~Watcher() {
  client_.on_loop([&] {
    watching_.reset();
    const std::lock_guard lock(seen_->mutex);
    seen_->closed = true;
  });
}

std::map<std::string, Entry> Watcher::state() const {
  const std::lock_guard lock(seen_->mutex);
  return seen_->state;
}

Revision Watcher::revision() const {
  const std::lock_guard lock(seen_->mutex);
  return seen_->revision;
}

std::vector<Result<Changes>> Watcher::deliveries() const {
  const std::lock_guard lock(seen_->mutex);
  return seen_->deliveries;
}

void Watcher::wait(std::string_view what, const std::function<bool(const std::map<std::string, Entry>&)>& holds) {
  std::unique_lock lock(seen_->mutex);
  if (!seen_->changed.wait_for(lock, patience, [&] { return holds(seen_->state); }))
    throw std::runtime_error(
        fmt::format("a watch was not told of {}: {} deliveries, {} keys", what, seen_->deliveries.size(), seen_->state.size()));
}

void Watcher::wait_for(const std::string& key, const std::optional<std::string>& value) {
  wait(fmt::format("{} = {}", key, value.value_or("(gone)")), [&](const auto& state) {
    const auto found = state.find(key);
    return value ? found != state.end() && found->second.value == *value : found == state.end();
  });
}

void Watcher::wait_first() {
  std::unique_lock lock(seen_->mutex);
  if (!seen_->changed.wait_for(lock, patience, [&] { return !seen_->deliveries.empty(); }))
    throw std::runtime_error("a watch was told nothing");
}

std::map<std::string, Entry> contents(Client& client, const std::string& prefix) {
  const auto listing = client.list(prefix);
  if (!listing) throw std::runtime_error(fmt::format("list {}: {}", prefix, listing.error().message));
  EXPECT_TRUE(std::ranges::is_sorted(listing->entries, std::ranges::less_equal{}, &Entry::key)) << "a list in disorder";
  std::map<std::string, Entry> all;
  for (const Entry& entry : listing->entries) {
    EXPECT_TRUE(entry.key.starts_with(prefix)) << entry.key;
    all.emplace(entry.key, entry);
  }
  return all;
}

}  // namespace evenkeel::test
