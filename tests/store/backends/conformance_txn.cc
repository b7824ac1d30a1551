// Txns: compares decide, a branch is done wholly, and nobody comes between.

#include <fmt/format.h>

#include <thread>

#include "tests/store/backends/conformance.h"

namespace evenkeel::test {
namespace {

using store::absent;
using store::Compare;
using store::present;
using store::unchanged;
using store::Write;

std::string value_of(Client& client, const std::string& key) {
  const auto read = client.get(key);
  if (!read) return "error: " + read.error().message;
  return read->entry ? read->entry->value : "(absent)";
}

// Which branch is taken under one compare.
bool holds(Bed& bed, Compare compare) {
  Txn txn;
  txn.compare(std::move(compare)).put(bed.key("/branch"), "then");
  txn.otherwise.push_back({Write::Kind::put, bed.key("/branch"), "otherwise"});
  const auto done = bed.client().txn(txn);
  EXPECT_TRUE(good(done));
  if (!done) return false;
  EXPECT_EQ(value_of(bed.client(), bed.key("/branch")), done->succeeded ? "then" : "otherwise");
  EXPECT_EQ(bed.client().get(bed.key("/branch")).value().entry.value().modified, done->revision);
  return done->succeeded;
}

void compares_decide(Bed& bed) {
  const std::string key = bed.key("/a");
  EXPECT_TRUE(holds(bed, absent(key)));
  EXPECT_FALSE(holds(bed, present(key)));
  EXPECT_FALSE(holds(bed, unchanged(key, Revision(7))));
  const Revision first = bed.client().put(key, "1").value().revision;
  EXPECT_FALSE(holds(bed, absent(key)));
  EXPECT_TRUE(holds(bed, present(key)));
  EXPECT_TRUE(holds(bed, unchanged(key, first)));
  EXPECT_FALSE(holds(bed, unchanged(key, Revision(first.value() - 1))));
  EXPECT_FALSE(holds(bed, unchanged(key, Revision(first.value() + 1'000'000))));
  const Revision second = bed.client().put(key, "1").value().revision;
  EXPECT_FALSE(holds(bed, unchanged(key, first)));
  EXPECT_TRUE(holds(bed, unchanged(key, second)));
  ASSERT_TRUE(good(bed.client().erase(key)));
  EXPECT_TRUE(holds(bed, absent(key)));
  EXPECT_FALSE(holds(bed, present(key)));
  EXPECT_FALSE(holds(bed, unchanged(key, second)));
  const Revision third = bed.client().put(key, "1").value().revision;
  EXPECT_FALSE(holds(bed, unchanged(key, first)));
  EXPECT_FALSE(holds(bed, unchanged(key, second)));
  EXPECT_TRUE(holds(bed, unchanged(key, third)));
  const Revision fourth = bed.client().put(key, "2").value().revision;  // its second write, as `second` once was
  EXPECT_FALSE(holds(bed, unchanged(key, second)));
  EXPECT_TRUE(holds(bed, unchanged(key, fourth)));
}

void a_folder_is_no_key(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/a/b"), "1")));
  EXPECT_TRUE(holds(bed, absent(bed.key("/a"))));
  EXPECT_FALSE(holds(bed, present(bed.key("/a"))));
  EXPECT_FALSE(holds(bed, unchanged(bed.key("/a"), Revision(1))));
  Txn make;
  make.compare(absent(bed.key("/a"))).put(bed.key("/a"), "2");
  EXPECT_TRUE(bed.client().txn(make).value().succeeded);
  EXPECT_FALSE(bed.client().txn(make).value().succeeded);
  EXPECT_EQ(value_of(bed.client(), bed.key("/a")), "2");
}

void all_compares_must_hold(Bed& bed) {
  const Revision a = bed.client().put(bed.key("/a"), "1").value().revision;
  ASSERT_TRUE(good(bed.client().put(bed.key("/b"), "1")));
  Txn txn;
  txn.compare(unchanged(bed.key("/a"), a)).compare(present(bed.key("/b"))).compare(absent(bed.key("/c")));
  txn.put(bed.key("/a"), "2").put(bed.key("/c"), "2").erase(bed.key("/b"));
  for (const Compare& wrong : {absent(bed.key("/b")), present(bed.key("/d"))}) {
    Txn more = txn;
    more.compares.back() = wrong;
    const auto done = bed.client().txn(more);
    ASSERT_TRUE(good(done));
    EXPECT_FALSE(done->succeeded);
    EXPECT_GE(done->revision, a);
    EXPECT_EQ(value_of(bed.client(), bed.key("/a")), "1");
    EXPECT_EQ(value_of(bed.client(), bed.key("/b")), "1");
    EXPECT_EQ(value_of(bed.client(), bed.key("/c")), "(absent)");
  }
  EXPECT_TRUE(bed.client().txn(txn).value().succeeded);
  EXPECT_EQ(value_of(bed.client(), bed.key("/a")), "2");
  EXPECT_EQ(value_of(bed.client(), bed.key("/b")), "(absent)");
  EXPECT_EQ(value_of(bed.client(), bed.key("/c")), "2");
}

void writes_of_one_txn_share_a_revision(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/old"), "1")));
  Txn txn;
  txn.put(bed.key("/old"), "2").put(bed.key("/new"), "2").put(bed.key("/new/below"), "2").put(bed.key("/other/deep/er"), "2");
  const auto done = bed.client().txn(txn);
  ASSERT_TRUE(good(done));
  const auto all = contents(bed.client(), bed.prefix());
  ASSERT_EQ(all.size(), 4U);
  for (const auto& [key, entry] : all) {
    EXPECT_EQ(entry.modified, done->revision) << key;
    EXPECT_EQ(entry.value, "2");
    EXPECT_EQ(entry.created == done->revision, key != bed.key("/old")) << key;
  }
}

void an_empty_txn_only_asks(Bed& bed) {
  const Revision last = bed.client().put(bed.key("/a"), "1").value().revision;
  Txn asks;
  asks.compare(unchanged(bed.key("/a"), last));
  const auto done = bed.client().txn(asks);
  ASSERT_TRUE(good(done));
  EXPECT_TRUE(done->succeeded);
  EXPECT_GE(done->revision, last);
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "2")));
  EXPECT_FALSE(bed.client().txn(asks).value().succeeded);
  EXPECT_TRUE(good(bed.client().txn({})));
}

void the_otherwise_branch_is_done_wholly(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/b/1"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/b/2"), "1")));
  Txn txn;
  txn.compare(absent(bed.key("/a"))).put(bed.key("/then"), "x");
  txn.otherwise = {{Write::Kind::put, bed.key("/otherwise"), "1"},
                   {Write::Kind::erase, bed.key("/a"), {}},
                   {Write::Kind::erase_below, bed.key("/b/"), {}}};
  const auto done = bed.client().txn(txn);
  ASSERT_TRUE(good(done));
  EXPECT_FALSE(done->succeeded);
  const auto all = contents(bed.client(), bed.prefix());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.begin()->second.key, bed.key("/otherwise"));
  EXPECT_EQ(all.begin()->second.modified, done->revision);
}

void erase_below_takes_a_prefix(Bed& bed) {
  for (const char* key : {"/a", "/a/1", "/a/1/x", "/a/2", "/a2/1", "/b"}) ASSERT_TRUE(good(bed.client().put(bed.key(key), "1")));
  Txn txn;
  txn.erase_below(bed.key("/a/")).put(bed.key("/b"), "2").put(bed.key("/c"), "2");
  const auto done = bed.client().txn(txn);
  ASSERT_TRUE(good(done));
  std::vector<std::string> left;
  for (const auto& [key, entry] : contents(bed.client(), bed.prefix())) left.push_back(key.substr(bed.prefix().size() - 1));
  EXPECT_EQ(left, (std::vector<std::string>{"/a", "/a2/1", "/b", "/c"}));
  EXPECT_EQ(bed.client().get(bed.key("/b")).value().entry.value().modified, done->revision);
  ASSERT_TRUE(good(bed.client().put(bed.key("/a/1/x"), "anew")));
  EXPECT_EQ(value_of(bed.client(), bed.key("/a/1/x")), "anew");
  EXPECT_EQ(value_of(bed.client(), bed.key("/a/1")), "(absent)");
  Txn nothing;
  nothing.erase_below(bed.key("/never/"));
  EXPECT_TRUE(good(bed.client().txn(nothing)));
}

void batches_of_the_largest_size(Bed& bed) {
  Txn make, change, erase;
  for (std::size_t i = 0; i < store::operations_max; ++i) {
    const std::string key = bed.key(fmt::format("/{}/{}", i % 5, i));
    make.compare(absent(key)).put(key, "1");
    erase.erase(key);
  }
  const auto made = bed.client().txn(make);
  ASSERT_TRUE(good(made));
  EXPECT_TRUE(made->succeeded);
  EXPECT_FALSE(bed.client().txn(make).value().succeeded);
  for (const Write& write : make.then) change.compare(unchanged(write.key, made->revision)).put(write.key, "2");
  const auto changed = bed.client().txn(change);
  ASSERT_TRUE(good(changed));
  EXPECT_TRUE(changed->succeeded);
  const auto all = contents(bed.client(), bed.prefix());
  EXPECT_EQ(all.size(), store::operations_max);
  for (const auto& [key, entry] : all) EXPECT_EQ(entry.modified, changed->revision) << key;
  ASSERT_TRUE(good(bed.client().txn(erase)));
  EXPECT_TRUE(contents(bed.client(), bed.prefix()).empty());
}

void a_key_twice_is_refused(Bed& bed) {
  Txn twice;
  twice.put(bed.key("/a"), "1").erase(bed.key("/a"));
  EXPECT_TRUE(failed(bed.client().txn(twice), Code::invalid));
  Txn below;
  below.put(bed.key("/a/b"), "1").erase_below(bed.key("/a/"));
  EXPECT_TRUE(failed(bed.client().txn(below), Code::invalid));
  Txn apart;  // once in each branch is fine
  apart.put(bed.key("/a"), "1");
  apart.otherwise.push_back({Write::Kind::put, bed.key("/a"), "2"});
  EXPECT_TRUE(good(bed.client().txn(apart)));
}

// Runs something on several clients at once.
void at_once(Bed& bed, int clients, const std::function<void(Client&, int)>& work) {
  std::vector<std::unique_ptr<Client>> all;
  for (int i = 0; i < clients; ++i) all.push_back(bed.connect());
  std::vector<std::jthread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      try {
        work(*all[static_cast<std::size_t>(i)], i);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
}

void one_of_many_creates(Bed& bed) {
  for (int round = 0; round < 5; ++round) {
    const std::string key = bed.key(fmt::format("/{}", round));
    std::atomic<int> won = 0;
    at_once(bed, 4, [&](Client& client, int me) {
      Txn txn;
      txn.compare(absent(key)).put(key, fmt::format("{}", me));
      const auto done = client.txn(txn);
      EXPECT_TRUE(good(done));
      if (done && done->succeeded) ++won;
    });
    EXPECT_EQ(won, 1);
  }
}

// Adds one to a counter, unless somebody was quicker.
bool add_one(Client& client, const std::string& key) {
  const auto read = client.get(key);
  EXPECT_TRUE(good(read));
  if (!read) return false;
  Txn txn;
  txn.compare(read->entry ? unchanged(*read->entry) : absent(key));
  txn.put(key, fmt::format("{}", read->entry ? std::stoi(read->entry->value) + 1 : 1));
  const auto done = client.txn(txn);
  EXPECT_TRUE(good(done));
  return done && done->succeeded;
}

void no_update_is_lost(Bed& bed) {
  constexpr int clients = 4, each = 15, tries_max = 2000;
  at_once(bed, clients, [&](Client& client, int) {
    int added = 0;
    for (int i = 0; i < tries_max && added < each; ++i) added += add_one(client, bed.key("/counter")) ? 1 : 0;
    EXPECT_EQ(added, each);
  });
  EXPECT_EQ(value_of(bed.client(), bed.key("/counter")), fmt::format("{}", clients * each));
}

// Two keys always change together, and are erased together: a txn that asks both never finds them apart.
void nobody_comes_between(Bed& bed) {
  const std::string a = bed.key("/a"), b = bed.key("/x/b");
  std::atomic<bool> over = false;
  at_once(bed, 3, [&](Client& client, int me) {
    if (me < 2) {
      for (int i = 0; i < 30; ++i) {
        Txn txn;
        if (i % 3 == 2) {
          txn.erase(a).erase(b);
        } else {
          txn.put(a, fmt::format("{}.{}", me, i)).put(b, fmt::format("{}.{}", me, i));
        }
        EXPECT_TRUE(good(client.txn(txn)));
      }
      over = true;
      return;
    }
    for (int i = 0; i < 1000 && !over; ++i) {
      Txn apart;
      apart.compare(absent(a)).compare(present(b));
      const auto asked = client.txn(apart);
      EXPECT_TRUE(good(asked));
      EXPECT_FALSE(asked && asked->succeeded) << "a txn was seen half done";
      const auto read = client.get(a);
      if (!read || !read->entry) continue;
      Txn same;
      same.compare(unchanged(*read->entry)).compare(absent(b));
      const auto seen = client.txn(same);
      EXPECT_FALSE(seen && seen->succeeded) << "a txn was seen half done";
    }
  });
  const auto left = contents(bed.client(), bed.prefix());
  EXPECT_EQ(left.contains(a), left.contains(b));
  if (left.contains(a)) {
    EXPECT_EQ(left.at(a).modified, left.at(b).modified);
  }
}

constexpr Case txn_table[] = {
    {"ComparesDecide", compares_decide},
    {"AFolderIsNoKey", a_folder_is_no_key},
    {"AllComparesMustHold", all_compares_must_hold},
    {"WritesOfOneTxnShareARevision", writes_of_one_txn_share_a_revision},
    {"AnEmptyTxnOnlyAsks", an_empty_txn_only_asks},
    {"TheOtherwiseBranchIsDoneWholly", the_otherwise_branch_is_done_wholly},
    {"EraseBelowTakesAPrefix", erase_below_takes_a_prefix},
    {"BatchesOfTheLargestSize", batches_of_the_largest_size},
    {"AKeyTwiceIsRefused", a_key_twice_is_refused},
    {"OneOfManyCreates", one_of_many_creates},
    {"NoUpdateIsLost", no_update_is_lost},
    {"NobodyComesBetween", nobody_comes_between},
};

}  // namespace

std::span<const Case> txn_cases() { return txn_table; }

}  // namespace evenkeel::test
