// Watches: the latest state, in order for each key, whatever happens in between. Watcher itself checks every delivery.

#include <fmt/format.h>

#include <thread>

#include "evenkeel/base/clock.h"
#include "tests/store/backends/conformance.h"

namespace evenkeel::test {
namespace {

using store::Answer;
using store::Change;
using store::Store;

// Whether the deliveries said that a key is gone: by a change, or by a fresh list without it.
bool told_gone(const Watcher& watcher, const std::string& key) {
  bool gone = false;
  for (const auto& delivery : watcher.deliveries()) {
    if (!delivery) continue;
    if (delivery->fresh) gone = true;
    for (const Change& change : delivery->changes) {
      if (change.key == key) gone = !change.entry;
    }
  }
  return gone;
}

// Writes until it is done: servers may just be coming back.
void put_in_the_end(Client& client, const std::string& key, const std::string& value) {
  wait_until("a write after a restart", patience, [&] {
    const auto done = client.put(key, value);
    if (!done) {
      const Code code = done.error().code;
      EXPECT_TRUE(code == Code::unavailable || code == Code::unknown_outcome) << done.error().message;
    }
    return done.has_value();
  });
}

void begins_with_a_fresh_list(Bed& bed) {
  for (const char* key : {"/c", "/a", "/b/1", "/b"}) ASSERT_TRUE(good(bed.client().put(bed.key(key), key)));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/c"))));
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_first();
  const auto first = watcher.deliveries().at(0);
  ASSERT_TRUE(good(first));
  EXPECT_TRUE(first->fresh);
  EXPECT_EQ(watcher.state(), contents(bed.client(), bed.prefix()));
  EXPECT_EQ(watcher.state().size(), 3U);
  Watcher empty(bed.client(), bed.key("/never/"));
  empty.wait_first();
  ASSERT_TRUE(good(empty.deliveries().at(0)));
  EXPECT_TRUE(empty.deliveries().at(0)->fresh);
  EXPECT_TRUE(empty.state().empty());
}

void follows_changes(Bed& bed) {
  const auto other = bed.connect();
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_first();
  for (int round = 0; round < 3; ++round) {
    const std::string value = fmt::format("{}", round);
    ASSERT_TRUE(good(other->put(bed.key("/a"), value)));
    watcher.wait_for(bed.key("/a"), value);
    ASSERT_TRUE(good(bed.client().put(bed.key("/a"), value + "+")));
    watcher.wait_for(bed.key("/a"), value + "+");
    ASSERT_TRUE(good(other->put(bed.key("/x/y/z"), value)));
    watcher.wait_for(bed.key("/x/y/z"), value);
    EXPECT_EQ(watcher.state(), contents(bed.client(), bed.prefix()));
    ASSERT_TRUE(good(other->erase(bed.key("/a"))));
    watcher.wait_for(bed.key("/a"), std::nullopt);
    ASSERT_TRUE(good(other->erase(bed.key("/x/y/z"))));
    watcher.wait_for(bed.key("/x/y/z"), std::nullopt);
  }
}

// A key that is erased and made anew at once: its last life is what counts.
void follows_new_lives(Bed& bed) {
  const auto other = bed.connect();
  ASSERT_TRUE(good(other->put(bed.key("/a"), "first")));
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_for(bed.key("/a"), "first");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(good(other->erase(bed.key("/a"))));
    ASSERT_TRUE(good(other->put(bed.key("/a"), fmt::format("{}", i))));
  }
  watcher.wait_for(bed.key("/a"), "19");
  EXPECT_EQ(watcher.state(), contents(bed.client(), bed.prefix()));
}

void begins_after_a_revision(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/old"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/erased"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/changed"), "1")));
  const auto listing = bed.client().list(bed.prefix());
  ASSERT_TRUE(good(listing));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/erased"))));
  ASSERT_TRUE(good(bed.client().put(bed.key("/changed"), "2")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/new"), "2")));
  Watcher watcher(bed.client(), bed.prefix(), listing->revision);
  watcher.wait_for(bed.key("/new"), "2");
  watcher.wait_for(bed.key("/changed"), "2");
  EXPECT_TRUE(told_gone(watcher, bed.key("/erased")));
  for (const auto& delivery : watcher.deliveries()) {
    if (delivery->fresh) break;  // a backend without a history: it says so
    for (const Change& change : delivery->changes) {
      EXPECT_NE(change.key, bed.key("/old"));
      if (change.entry) {
        EXPECT_GT(change.entry->modified, listing->revision) << change.key;
      }
    }
  }
  ASSERT_TRUE(good(bed.client().erase(bed.key("/old"))));
  ASSERT_TRUE(good(bed.client().put(bed.key("/end"), "3")));
  watcher.wait_for(bed.key("/end"), "3");
  wait_until("the deletion of /old", patience, [&] { return told_gone(watcher, bed.key("/old")); });
}

void goes_on_where_another_ended(Bed& bed) {
  std::optional<Revision> at;
  std::map<std::string, Entry> known;
  for (int round = 0; round < 5; ++round) {
    Watcher watcher(bed.client(), bed.prefix(), at);
    const std::string key = bed.key(fmt::format("/{}", round));
    ASSERT_TRUE(good(bed.client().put(key, "1")));
    watcher.wait_for(key, "1");
    at = watcher.revision();
    for (const auto& delivery : watcher.deliveries()) {
      ASSERT_TRUE(good(delivery));
      if (delivery->fresh) known.clear();
      for (const Change& change : delivery->changes) {
        if (change.entry) known.insert_or_assign(change.key, *change.entry);
        if (!change.entry) known.erase(change.key);
      }
    }
    ASSERT_TRUE(good(bed.client().put(bed.key("/between"), fmt::format("{}", round))));
  }
  Watcher last(bed.client(), bed.prefix(), at);
  last.wait_for(bed.key("/between"), "4");
  EXPECT_EQ(known.size(), 6U);
}

void is_of_its_prefix_alone(Bed& bed) {
  Watcher watcher(bed.client(), bed.key("/p/"));
  watcher.wait_first();
  for (const char* key : {"/p", "/p0", "/pp/a", "/q/p/a", "/p/a"}) ASSERT_TRUE(good(bed.client().put(bed.key(key), "1")));
  watcher.wait_for(bed.key("/p/a"), "1");
  ASSERT_TRUE(good(bed.client().erase(bed.key("/p"))));
  ASSERT_TRUE(good(bed.client().put(bed.key("/p/b"), "1")));
  watcher.wait_for(bed.key("/p/b"), "1");
  EXPECT_EQ(watcher.state().size(), 2U);
}

void sees_txns_and_erase_below(Bed& bed) {
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_first();
  constexpr std::size_t batches = 3;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    Txn txn;
    for (std::size_t i = 0; i < store::operations_max; ++i) txn.put(bed.key(fmt::format("/{}/{}", batch, i)), "1");
    ASSERT_TRUE(good(bed.client().txn(txn)));
  }
  watcher.wait("all keys of the txns", [](const auto& state) { return state.size() == batches * store::operations_max; });
  EXPECT_EQ(watcher.state(), contents(bed.client(), bed.prefix()));
  Txn erase;
  erase.erase_below(bed.key("/1/")).put(bed.key("/end"), "1");
  ASSERT_TRUE(good(bed.client().txn(erase)));
  watcher.wait("the erased keys", [](const auto& state) { return state.size() == (batches - 1) * store::operations_max + 1; });
  EXPECT_EQ(watcher.state(), contents(bed.client(), bed.prefix()));
  Txn all;
  all.erase_below(bed.prefix());
  ASSERT_TRUE(good(bed.client().txn(all)));
  watcher.wait("an empty folder", [](const auto& state) { return state.empty(); });
}

void keeps_up_with_several_writers(Bed& bed) {
  constexpr int writers = 3, writes = 60;
  Watcher early(bed.client(), bed.prefix());
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < writers; ++i) clients.push_back(bed.connect());
  std::vector<std::jthread> threads;
  for (int me = 0; me < writers; ++me) {
    threads.emplace_back([&, me] {
      Client& client = *clients[static_cast<std::size_t>(me)];
      for (int i = 0; i < writes; ++i) {
        const std::string key = bed.key(fmt::format("/{}/{}", i % 4, i * 7 % 20));
        EXPECT_TRUE(good(i % 5 == 4 ? client.erase(key) : client.put(key, fmt::format("{}.{}", me, i))));
      }
    });
  }
  Watcher middle(bed.client(), bed.prefix());
  middle.wait_first();
  threads.clear();
  ASSERT_TRUE(good(bed.client().put(bed.key("/end"), "1")));
  const auto expected = contents(bed.client(), bed.prefix());
  const auto agrees = [&](const auto& state) { return state == expected; };
  early.wait("the state that a list has", agrees);
  middle.wait("the state that a list has", agrees);
}

void several_on_one_client(Bed& bed) {
  auto first = std::make_unique<Watcher>(bed.client(), bed.prefix());
  Watcher second(bed.client(), bed.prefix());
  Watcher third(bed.client(), bed.key("/a/"));
  ASSERT_TRUE(good(bed.client().put(bed.key("/a/1"), "1")));
  for (Watcher* watcher : {first.get(), &second, &third}) watcher->wait_for(bed.key("/a/1"), "1");
  first.reset();
  ASSERT_TRUE(good(bed.client().put(bed.key("/a/1"), "2")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/b"), "2")));
  for (Watcher* watcher : {&second, &third}) watcher->wait_for(bed.key("/a/1"), "2");
  second.wait_for(bed.key("/b"), "2");
  EXPECT_EQ(third.state().size(), 1U);
  for (int i = 0; i < 20; ++i) {  // begun and ended at once, with answers under way
    const Watcher brief(bed.client(), bed.prefix());
  }
  ASSERT_TRUE(good(bed.client().put(bed.key("/b"), "3")));
  second.wait_for(bed.key("/b"), "3");
}

void a_forgotten_history_is_a_fresh_list(Bed& bed) {
  const Revision old = bed.client().put(bed.key("/a"), "1").value().revision;
  ASSERT_TRUE(good(bed.client().put(bed.key("/b"), "1")));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/b"))));
  Revision last;
  for (int i = 0; i < 20; ++i) last = bed.client().put(bed.key("/a"), fmt::format("{}", i)).value().revision;
  const auto compacted =
      bed.client().call<Revision>([last](Store& store, Answer<Revision> answer) { store.compact(last, std::move(answer)); });
  ASSERT_TRUE(good(compacted));
  Watcher watcher(bed.client(), bed.prefix(), old);
  watcher.wait_for(bed.key("/a"), "19");
  EXPECT_TRUE(told_gone(watcher, bed.key("/b")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "end")));
  watcher.wait_for(bed.key("/a"), "end");
  EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry.value().value, "end");
}

// The last thing that is forgotten is a delete: servers keep the deletes of a revision that they are compacted to, or not.
void a_delete_that_is_forgotten_is_told(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "1")));
  const Revision old = bed.client().put(bed.key("/b"), "1").value().revision;
  const Revision last = bed.client().erase(bed.key("/a")).value().revision;
  ASSERT_TRUE(good(
      bed.client().call<Revision>([last](Store& store, Answer<Revision> answer) { store.compact(last, std::move(answer)); })));
  Watcher watcher(bed.client(), bed.prefix(), old);
  ASSERT_TRUE(good(bed.client().put(bed.key("/b"), "2")));
  watcher.wait_for(bed.key("/b"), "2");
  EXPECT_TRUE(told_gone(watcher, bed.key("/a")));
}

void goes_on_over_a_restart_of_servers(Bed& bed) {
  const auto other = bed.connect();
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/b"), "1")));
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_for(bed.key("/a"), "1");
  bed.deployment().bounce();
  put_in_the_end(*other, bed.key("/a"), "2");
  watcher.wait_for(bed.key("/a"), "2");
  put_in_the_end(bed.client(), bed.key("/c/d"), "2");
  watcher.wait_for(bed.key("/c/d"), "2");
  ASSERT_TRUE(good(other->erase(bed.key("/b"))));
  watcher.wait_for(bed.key("/b"), std::nullopt);
  EXPECT_EQ(watcher.state(), contents(bed.client(), bed.prefix()));
}

void goes_on_in_another_life(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/b"), "1")));
  const Revision known = bed.client().list(bed.prefix()).value().revision;
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "2")));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/b"))));
  bed.close();
  bed.deployment().restart();
  Watcher watcher(bed.client(), bed.prefix(), known);
  watcher.wait_for(bed.key("/a"), "2");
  wait_until("the deletion of /b", patience, [&] { return told_gone(watcher, bed.key("/b")); });
  put_in_the_end(bed.client(), bed.key("/a"), "3");
  watcher.wait_for(bed.key("/a"), "3");
}

void a_wrong_prefix_ends_it(Bed& bed) {
  Watcher watcher(bed.client(), "/not-a-prefix");
  watcher.wait_first();
  EXPECT_TRUE(failed(watcher.deliveries().at(0), Code::invalid));
  EXPECT_TRUE(good(bed.client().get(bed.key("/a"))));
  EXPECT_EQ(watcher.deliveries().size(), 1U);
}

// A store goes away with calls and watches under way: no answer comes afterwards, and nothing breaks.
void a_client_goes_with_all_it_has_under_way(Bed& bed) {
  for (int round = 0; round < 5; ++round) {
    auto client = bed.connect();
    auto watching = std::make_shared<std::vector<std::unique_ptr<store::Watching>>>();
    auto gone = std::make_shared<std::atomic<bool>>(false);
    client->on_loop([&] {
      for (int i = 0; i < 10; ++i) {
        Store& store = client->store();
        watching->push_back(store.watch(bed.prefix(), {}, [gone](const Result<Changes>&) { EXPECT_FALSE(*gone); }));
        store.put(bed.key(fmt::format("/{}", i)), "1", [gone](const Result<Committed>&) { EXPECT_FALSE(*gone); });
        store.get(bed.key(fmt::format("/{}", i)), [gone](const Result<Read>&) { EXPECT_FALSE(*gone); });
        store.list(bed.prefix(), [gone](const Result<Listing>&) { EXPECT_FALSE(*gone); });
      }
    });
    client->on_loop([&] { watching->clear(); });
    client.reset();
    *gone = true;
  }
  EXPECT_TRUE(good(bed.client().put(bed.key("/a"), "1")));
}

constexpr Case watch_table[] = {
    {"WatchBeginsWithAFreshList", begins_with_a_fresh_list},
    {"WatchFollowsChanges", follows_changes},
    {"WatchFollowsNewLives", follows_new_lives},
    {"WatchBeginsAfterARevision", begins_after_a_revision},
    {"WatchGoesOnWhereAnotherEnded", goes_on_where_another_ended},
    {"WatchIsOfItsPrefixAlone", is_of_its_prefix_alone},
    {"WatchSeesTxnsAndEraseBelow", sees_txns_and_erase_below},
    {"WatchKeepsUpWithSeveralWriters", keeps_up_with_several_writers},
    {"WatchSeveralOnOneClient", several_on_one_client},
    {"WatchAForgottenHistoryIsAFreshList", a_forgotten_history_is_a_fresh_list},
    {"WatchADeleteThatIsForgottenIsTold", a_delete_that_is_forgotten_is_told},
    {"WatchGoesOnOverARestartOfServers", goes_on_over_a_restart_of_servers},
    {"WatchGoesOnInAnotherLife", goes_on_in_another_life},
    {"WatchAWrongPrefixEndsIt", a_wrong_prefix_ends_it},
    {"AClientGoesWithAllItHasUnderWay", a_client_goes_with_all_it_has_under_way},
};

}  // namespace

std::span<const Case> watch_cases() { return watch_table; }

}  // namespace evenkeel::test
