// Ephemeral keys: they go with their client, and not before.

#include <fmt/format.h>

#include "tests/store/backends/conformance.h"

namespace evenkeel::test {
namespace {

using store::absent;
using store::present;

constexpr store::OpenOptions brief_lease{.timeout = unhurried.timeout, .lease_ttl = 1s};

Result<Committed> put_ephemeral(Client& client, const std::string& key, const std::string& value) {
  Txn txn;
  txn.put_ephemeral(key, value);
  return client.txn(txn);
}

void ephemeral_keys_are_keys(Bed& bed) {
  const auto client = bed.connect(brief_lease);
  Watcher watcher(bed.client(), bed.prefix());
  const auto done = put_ephemeral(*client, bed.key("/a"), "1");
  ASSERT_TRUE(good(done));
  const auto entry = bed.client().get(bed.key("/a")).value().entry;
  ASSERT_TRUE(entry);
  EXPECT_TRUE(entry->ephemeral);
  EXPECT_EQ(entry->modified, done->revision);
  EXPECT_EQ(entry->created, done->revision);
  watcher.wait_for(bed.key("/a"), "1");
  EXPECT_EQ(watcher.state().at(bed.key("/a")), *entry);
  EXPECT_EQ(contents(bed.client(), bed.prefix()).at(bed.key("/a")), *entry);
  const auto again = put_ephemeral(*client, bed.key("/a"), "2");
  ASSERT_TRUE(good(again));
  EXPECT_GT(again->revision, done->revision);
  watcher.wait_for(bed.key("/a"), "2");
  ASSERT_TRUE(good(bed.client().erase(bed.key("/a"))));
  watcher.wait_for(bed.key("/a"), std::nullopt);
  ASSERT_TRUE(good(put_ephemeral(*client, bed.key("/a"), "3")));
  watcher.wait_for(bed.key("/a"), "3");
  EXPECT_TRUE(watcher.state().at(bed.key("/a")).ephemeral);
}

void ephemeral_keys_are_compared(Bed& bed) {
  const auto one = bed.connect(brief_lease);
  const auto two = bed.connect(brief_lease);
  Txn take;
  take.compare(absent(bed.key("/a"))).put_ephemeral(bed.key("/a"), "1").put(bed.key("/log/1"), "taken");
  ASSERT_TRUE(good(one->txn(take)));
  EXPECT_EQ(bed.client().get(bed.key("/log/1")).value().entry.value().ephemeral, false);
  EXPECT_FALSE(two->txn(take).value().succeeded);
  EXPECT_FALSE(one->txn(take).value().succeeded);
  Txn release;
  release.compare(present(bed.key("/a"))).erase(bed.key("/a"));
  EXPECT_TRUE(two->txn(release).value().succeeded);
  EXPECT_FALSE(two->txn(release).value().succeeded);
  EXPECT_TRUE(two->txn(take).value().succeeded);
}

void ephemeral_keys_go_with_their_client(Bed& bed) {
  auto one = bed.connect(brief_lease);
  const auto two = bed.connect(brief_lease);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(good(put_ephemeral(*one, bed.key(fmt::format("/live/{}", i)), "of one")));
  ASSERT_TRUE(good(one->put(bed.key("/stays"), "of one")));
  ASSERT_TRUE(good(put_ephemeral(*two, bed.key("/live/two"), "of two")));
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait("all of them", [](const auto& state) { return state.size() == 5; });
  one.reset();
  watcher.wait("their end", [](const auto& state) { return state.size() == 2; });
  const auto left = contents(bed.client(), bed.prefix());
  EXPECT_TRUE(left.contains(bed.key("/stays")));
  EXPECT_TRUE(left.contains(bed.key("/live/two")));
  EXPECT_EQ(bed.client().get(bed.key("/live/0")).value().entry, std::nullopt);
  ASSERT_TRUE(good(put_ephemeral(*two, bed.key("/live/0"), "of two")));  // free for others
}

// The promise is about time, so time must pass: three times the lease's.
void ephemeral_keys_stay_while_their_client_lives(Bed& bed) {
  const auto client = bed.connect(brief_lease);
  ASSERT_TRUE(good(put_ephemeral(*client, bed.key("/a"), "1")));
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_for(bed.key("/a"), "1");
  std::promise<void> passed;
  bed.client().loop().post_after(3 * brief_lease.lease_ttl, [&] { passed.set_value(); });
  passed.get_future().wait();
  EXPECT_TRUE(bed.client().get(bed.key("/a")).value().entry);
  for (const auto& delivery : watcher.deliveries()) {
    ASSERT_TRUE(good(delivery));
    for (const store::Change& change : delivery->changes) EXPECT_TRUE(change.entry) << "it went for a while";
  }
}

void a_put_over_an_ephemeral_key_stays(Bed& bed) {
  auto client = bed.connect(brief_lease);
  ASSERT_TRUE(good(put_ephemeral(*client, bed.key("/a"), "1")));
  ASSERT_TRUE(good(put_ephemeral(*client, bed.key("/b"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "2")));
  const auto entry = bed.client().get(bed.key("/a")).value().entry;
  ASSERT_TRUE(entry);
  EXPECT_FALSE(entry->ephemeral);
  EXPECT_EQ(entry->value, "2");
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_for(bed.key("/b"), "1");
  client.reset();
  watcher.wait_for(bed.key("/b"), std::nullopt);
  EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry.value().value, "2");
}

void an_ephemeral_put_over_a_key_goes(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/erased"), "1")));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/erased"))));
  auto client = bed.connect(brief_lease);
  for (const char* key : {"/a", "/erased"}) {
    ASSERT_TRUE(good(put_ephemeral(*client, bed.key(key), "2")));
    const auto entry = bed.client().get(bed.key(key)).value().entry;
    ASSERT_TRUE(entry);
    EXPECT_TRUE(entry->ephemeral);
    EXPECT_EQ(entry->value, "2");
  }
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_for(bed.key("/a"), "2");
  client.reset();
  watcher.wait("the end of both", [](const auto& state) { return state.empty(); });
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "3")));
  watcher.wait_for(bed.key("/a"), "3");
}

// Whether they are still there after a restart is the backend's business; that they can be had again is not.
void ephemeral_keys_after_a_restart_of_servers(Bed& bed) {
  auto client = bed.connect(brief_lease);
  ASSERT_TRUE(good(put_ephemeral(*client, bed.key("/a"), "1")));
  bed.deployment().bounce();
  wait_until("an ephemeral key after the restart", patience,
             [&] { return put_ephemeral(*client, bed.key("/b"), "2").has_value(); });
  Watcher watcher(bed.client(), bed.prefix());
  watcher.wait_for(bed.key("/b"), "2");
  EXPECT_TRUE(watcher.state().at(bed.key("/b")).ephemeral);
  client.reset();
  watcher.wait("the end of all", [](const auto& state) { return state.empty(); });
}

constexpr Case lease_table[] = {
    {"EphemeralKeysAreKeys", ephemeral_keys_are_keys},
    {"EphemeralKeysAreCompared", ephemeral_keys_are_compared},
    {"EphemeralKeysGoWithTheirClient", ephemeral_keys_go_with_their_client},
    {"EphemeralKeysStayWhileTheirClientLives", ephemeral_keys_stay_while_their_client_lives},
    {"APutOverAnEphemeralKeyStays", a_put_over_an_ephemeral_key_stays},
    {"AnEphemeralPutOverAKeyGoes", an_ephemeral_put_over_a_key_goes},
    {"EphemeralKeysAfterARestartOfServers", ephemeral_keys_after_a_restart_of_servers},
};

}  // namespace

std::span<const Case> lease_cases() { return lease_table; }

}  // namespace evenkeel::test
