// Locks on a store that is full: it says so of every write, and may have done it all the same, as etcd does at its quota.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/locks/locks.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::locks {
namespace {

using testing::HasSubstr;
using Got = std::optional<Result<std::unique_ptr<Held>>>;

// Another store, whose writes end in a doubt.
class Full final : public store::Store {
 public:
  Full(Loop& loop, store::Store& inner) : Store(loop), inner_(inner) {}

  bool full = true;
  bool does_it = false;  // and says that it is full
  int writes = 0;

 protected:
  void do_get(std::string key, store::Answer<store::Read> answer) override { inner_.get(std::move(key), std::move(answer)); }
  void do_list(std::string prefix, store::Answer<store::Listing> answer) override {
    inner_.list(std::move(prefix), std::move(answer));
  }
  void do_txn(store::Txn txn, store::Answer<store::Committed> answer) override {
    ++writes;
    if (!full) return inner_.txn(std::move(txn), std::move(answer));
    if (!does_it) txn = store::Txn();
    inner_.txn(std::move(txn), [answer = std::move(answer)](const Result<store::Committed>&) mutable {
      answer(fail(Code::unknown_outcome, "space exceeded"));
    });
  }
  std::unique_ptr<store::Watching> do_watch(std::string prefix, std::optional<store::Revision> after,
                                            store::OnChanges on_changes) override {
    return inner_.watch(std::move(prefix), after, std::move(on_changes));
  }
  void do_status(store::Answer<store::Status> answer) override { inner_.status(std::move(answer)); }
  void do_compact(store::Revision before, store::Answer<store::Revision> answer) override {
    inner_.compact(before, std::move(answer));
  }

 private:
  store::Store& inner_;
};

class FullStore : public testing::Test {
 protected:
  void ask(AcquireOptions options) {
    locks.acquire("/locks/a", std::move(options), {}, [this](Result<std::unique_ptr<Held>> held) { got = std::move(held); });
  }
  bool held() {
    bool is = false;
    Locks(*inner, nullptr).show("/locks/a", [&](const Result<LockState>& state) { is = state && state->held; });
    loop.run_for(1s);
    return is;
  }

  VirtualLoop loop;
  store::World world{loop, {.delay_min = 1ms, .delay_max = 1ms}};
  std::unique_ptr<store::Store> inner = world.connect();
  Full full{loop, *inner};
  Locks locks{full, nullptr};
  Got got;
};

TEST_F(FullStore, WhatWasTakenAllTheSameIsFound) {
  full.does_it = true;
  ask({.ttl = 10s});
  loop.run_for(1s);
  ASSERT_TRUE(got && *got) << (got ? got->error().message : "no answer");
  EXPECT_TRUE(got->value()->valid());
  EXPECT_TRUE(held());
}

TEST_F(FullStore, WhoIsToldNoLeavesNoLock) {
  ask({.ttl = 10s});
  loop.run_for(1s);
  ASSERT_TRUE(got && !*got);
  EXPECT_EQ(got->error().code, Code::unknown_outcome);
  EXPECT_THAT(got->error().message, HasSubstr("space exceeded"));
  EXPECT_FALSE(held());
}

TEST_F(FullStore, IsNotAskedWithoutAPause) {
  ask({.ttl = 10s, .wait = Duration::max()});
  loop.run_for(10s);
  EXPECT_FALSE(got);
  EXPECT_GE(full.writes, 10);
  EXPECT_LE(full.writes, 21);  // one in ttl/20
  full.full = false;
  loop.run_for(1s);
  EXPECT_TRUE(got && *got);
}

TEST_F(FullStore, OpensNoSessionAndSaysSoInTime) {
  for (const Duration wait : {Duration(0s), Duration(20s)}) {
    std::optional<Result<std::unique_ptr<store::Session>>> opened;
    store::Session::open(full, {.key = "/beats/a", .ttl = 10s}, wait,
                         [&](Result<std::unique_ptr<store::Session>> result) { opened = std::move(result); });
    loop.run_for(wait + 2s);
    ASSERT_TRUE(opened && !*opened) << "no answer in " << format(wait);
    EXPECT_EQ(opened->error().code, Code::unknown_outcome);
    EXPECT_THAT(opened->error().message, HasSubstr("space exceeded"));
  }
}

}  // namespace
}  // namespace evenkeel::locks
