// What the engine does, case by case, as etcd 3.4 does it.

#include "evenkeel/store/backends/embedded/engine.h"

#include <algorithm>

#include "tests/store/backends/engine_fixture.h"

namespace evenkeel::store::embedded {
namespace {

using namespace test;

// "a=1 b=2", with "+" if there is more.
std::string text(const Result<Found>& found) {
  if (!found) return found.error().message;
  std::string out;
  for (const auto& entry : found->entries) out += fmt::format("{}{}={}", out.empty() ? "" : " ", entry.key, entry.value);
  return out + (found->more ? " +" : "");
}

std::string numbers(const KeyValue& entry) {
  return fmt::format("{}={} create={} mod={} version={} lease={}", entry.key, entry.value, entry.create_revision,
                     entry.mod_revision, entry.version, entry.lease);
}

const Span all_keys{std::string(1, '\0'), std::string(1, '\0')};

class EngineTest : public testing::Test {
 protected:
  Result<Found> range(const Range& asked) { return engine_->range(asked); }
  KeyValue get(const std::string& key) { return range({.span = {key, {}}}).value().entries.at(0); }
  void reopen() {
    engine_.reset();
    engine_ = open(folder_.path(), options_);
  }

  Folder folder_;
  HandClock clock_;
  EngineOptions options_{.clock = &clock_};
  std::unique_ptr<Engine> engine_ = open(folder_.path(), options_);
};

TEST_F(EngineTest, RevisionsGrowByOneForEachRequestThatChangesSomething) {
  EXPECT_EQ(engine_->status().revision, 1);
  EXPECT_EQ(put(*engine_, "a", "1")->revision, 2);
  EXPECT_EQ(put(*engine_, "a", "1")->revision, 3);
  EXPECT_EQ(numbers(get("a")), "a=1 create=2 mod=3 version=2 lease=0");
  EXPECT_EQ(run(*engine_, Erase{.span = {"none", {}}})->revision, 3);
  EXPECT_EQ(run(*engine_, Range{.span = {"a", {}}})->revision, 3);
  EXPECT_EQ(run(*engine_, Erase{.span = {"a", {}}})->revision, 4);
  EXPECT_EQ(put(*engine_, "a", "2")->revision, 5);
  EXPECT_EQ(numbers(get("a")), "a=2 create=5 mod=5 version=1 lease=0");
  Request both;
  both.then = {Put{.key = "b", .value = "1"}, Put{.key = "c", .value = "1"}};
  EXPECT_EQ(run(*engine_, both)->revision, 6);
  EXPECT_EQ(get("b").mod_revision, get("c").mod_revision);
}

TEST_F(EngineTest, AllIsThereAfterItWasOpenedAgain) {
  put(*engine_, "a", "1").value();
  put(*engine_, "a", "2").value();
  put(*engine_, "b", "").value();
  run(*engine_, Erase{.span = {"a", {}}}).value();
  put(*engine_, "c", std::string("\0\xff", 2)).value();
  const auto before = engine_->status();
  reopen();
  EXPECT_EQ(text(range({.span = all_keys})), "b= c=" + std::string("\0\xff", 2));
  EXPECT_EQ(text(range({.span = {"a", {}}, .revision = 3})), "a=2");
  EXPECT_EQ(text(range({.span = {"a", {}}, .revision = 2})), "a=1");
  EXPECT_EQ(text(range({.span = all_keys, .revision = 4})), "a=2 b=");
  const auto after = engine_->status();
  EXPECT_EQ(after.revision, before.revision);
  EXPECT_EQ(after.cluster_id, before.cluster_id);
  EXPECT_EQ(after.member_id, before.member_id);
  EXPECT_NE(after.cluster_id, 0U);
  EXPECT_EQ(after.keys, 2U);
  EXPECT_EQ(put(*engine_, "d", "1")->revision, before.revision + 1);
}

TEST_F(EngineTest, RangesAreLimitedSortedAndFilteredAsByEtcd) {
  for (const char* key : {"b", "a", "c", "d"}) put(*engine_, key, key).value();
  put(*engine_, "a", "z").value();  // revisions: b 2, a 3 and 6, c 4, d 5
  EXPECT_EQ(text(range({.span = {"a", "c"}})), "a=z b=b");
  EXPECT_EQ(text(range({.span = {"b", std::string(1, '\0')}})), "b=b c=c d=d");
  EXPECT_EQ(text(range({.span = {"c", "a"}})), "");
  EXPECT_EQ(text(range({.span = all_keys, .limit = 2})), "a=z b=b +");
  EXPECT_EQ(range({.span = all_keys, .limit = 2})->count, 4);
  EXPECT_EQ(text(range({.span = all_keys, .limit = 4})), "a=z b=b c=c d=d");
  EXPECT_EQ(text(range({.span = all_keys, .order = Range::Order::descend})), "d=d c=c b=b a=z");
  EXPECT_EQ(text(range({.span = all_keys, .order = Range::Order::ascend, .by = Range::By::mod})), "b=b c=c d=d a=z");
  EXPECT_EQ(text(range({.span = all_keys, .limit = 1, .order = Range::Order::descend, .by = Range::By::version})), "a=z +");
  EXPECT_EQ(text(range({.span = all_keys, .order = Range::Order::descend, .by = Range::By::value})), "a=z d=d c=c b=b");
  EXPECT_EQ(text(range({.span = all_keys, .order = Range::Order::descend, .by = Range::By::create})), "d=d c=c a=z b=b");
  // Without an order the limit comes before the sort.
  EXPECT_EQ(text(range({.span = all_keys, .limit = 1, .by = Range::By::mod})), "b=b +");
  EXPECT_EQ(text(range({.span = all_keys, .keys_only = true})), "a= b= c= d=");
  EXPECT_EQ(text(range({.span = all_keys, .count_only = true})), "");
  EXPECT_EQ(range({.span = all_keys, .count_only = true})->count, 4);
  EXPECT_EQ(text(range({.span = all_keys, .min_mod = 4, .max_mod = 5})), "c=c d=d");
  EXPECT_EQ(range({.span = all_keys, .min_mod = 4})->count, 4);
  EXPECT_EQ(text(range({.span = all_keys, .limit = 1, .max_create = 3})), "a=z +");
  EXPECT_EQ(text(range({.span = all_keys, .min_create = 5})), "d=d");
}

TEST_F(EngineTest, TheRevisionOfAReadMustBeThere) {
  for (int i = 0; i < 5; ++i) put(*engine_, "a", std::to_string(i)).value();
  EXPECT_EQ(text(range({.span = all_keys, .revision = 7})), "etcdserver: mvcc: required revision is a future revision");
  EXPECT_EQ(engine_->compact(4, true).value(), 6);
  EXPECT_EQ(text(range({.span = all_keys, .revision = 3})), "etcdserver: mvcc: required revision has been compacted");
  EXPECT_EQ(text(range({.span = all_keys, .revision = 4})), "a=2");
  EXPECT_EQ(wrong(engine_->compact(4, false)), "etcdserver: mvcc: required revision has been compacted");
  EXPECT_EQ(wrong(engine_->compact(7, false)), "etcdserver: mvcc: required revision is a future revision");
  EXPECT_EQ(wrong(run(*engine_, Range{.span = all_keys, .revision = 3})),
            "etcdserver: mvcc: required revision has been compacted");
  EXPECT_EQ(wrong(run(*engine_, Range{.span = all_keys, .revision = 7})),
            "etcdserver: mvcc: required revision is a future revision");
  EXPECT_EQ(text(range({.span = {"", {}}})), "etcdserver: key is not provided");
}

TEST_F(EngineTest, RequestsThatCannotBeTakenSayWhyInEtcdsWords) {
  const auto ask = [&](std::vector<Operation> then) {
    Request request;
    request.then = std::move(then);
    return wrong(run(*engine_, request));
  };
  const std::string duplicate = "etcdserver: duplicate key given in txn request";
  EXPECT_EQ(ask({Put{.key = "a"}, Put{.key = "a"}}), duplicate);
  EXPECT_EQ(ask({Erase{.span = {"a", "c"}}, Put{.key = "b"}}), duplicate);
  EXPECT_EQ(ask({Put{.key = "c"}, Erase{.span = {"a", "c"}}}), "");
  EXPECT_EQ(ask({Erase{.span = {"a", {}}}, Erase{.span = {"a", {}}}}), "");
  const auto nested = [](std::vector<Operation> then, std::vector<Operation> otherwise = {}) {
    auto request = std::make_shared<Request>();
    request->then = std::move(then);
    request->otherwise = std::move(otherwise);
    return Operation(request);
  };
  EXPECT_EQ(ask({nested({Put{.key = "a"}}), Put{.key = "a"}}), duplicate);
  EXPECT_EQ(ask({nested({Put{.key = "a"}}), nested({}, {Put{.key = "a"}})}), duplicate);
  EXPECT_EQ(ask({nested({Put{.key = "x"}}, {Put{.key = "x"}})}), "");
  EXPECT_EQ(ask({Put{.key = ""}}), "etcdserver: key is not provided");
  EXPECT_EQ(ask({Erase{}}), "etcdserver: key is not provided");
  EXPECT_EQ(ask({Put{.key = "a", .lease = 77}}), "etcdserver: requested lease not found");
  EXPECT_EQ(ask({Put{.key = "none", .keep_value = true}}), "etcdserver: key not found");
  EXPECT_EQ(ask({Put{.key = "none", .keep_lease = true}}), "etcdserver: key not found");
  EXPECT_EQ(ask({Put{.key = "none", .value = "v", .keep_value = true}}), "etcdserver: value is provided");
  EXPECT_EQ(ask({Put{.key = "none", .lease = 7, .keep_lease = true}}), "etcdserver: lease is provided");
  EXPECT_EQ(ask({Put{.key = "a", .value = std::string(1'572'864, 'x')}}), "etcdserver: request is too large");
  EXPECT_EQ(ask(std::vector<Operation>(129, Range{.span = all_keys})), "etcdserver: too many operations in txn request");
  EXPECT_EQ(ask(std::vector<Operation>(128, Range{.span = all_keys})), "");
  // None of them left anything behind.
  EXPECT_EQ(text(range({.span = all_keys})), "c= x=");
}

TEST_F(EngineTest, ATxnIsAllOrNothing) {
  Request request;
  request.then = {Put{.key = "a", .value = "1"}, Put{.key = "b", .value = "1", .lease = 5}};
  EXPECT_EQ(wrong(run(*engine_, request)), "etcdserver: requested lease not found");
  EXPECT_EQ(engine_->status().revision, 1);
  EXPECT_EQ(text(range({.span = all_keys})), "");
}

TEST_F(EngineTest, ConditionsAreAsEtcds) {
  put(*engine_, "a", "5").value();
  put(*engine_, "a", "5").value();
  put(*engine_, "b", "7").value();
  const auto holds = [&](Condition condition) {
    Request request;
    request.conditions.push_back(std::move(condition));
    return run(*engine_, request).value().succeeded;
  };
  using Is = Condition::Is;
  using Of = Condition::Of;
  EXPECT_TRUE(holds({Is::equal, Of::version, {"a", {}}, 2, {}}));
  EXPECT_FALSE(holds({Is::greater, Of::version, {"a", {}}, 2, {}}));
  EXPECT_TRUE(holds({Is::equal, Of::create, {"a", {}}, 2, {}}));
  EXPECT_TRUE(holds({Is::less, Of::mod, {"a", {}}, 4, {}}));
  EXPECT_TRUE(holds({Is::not_equal, Of::mod, {"a", {}}, 4, {}}));
  EXPECT_TRUE(holds({Is::equal, Of::value, {"a", {}}, 0, "5"}));
  EXPECT_TRUE(holds({Is::less, Of::value, {"a", {}}, 0, "6"}));
  EXPECT_TRUE(holds({Is::equal, Of::lease, {"a", {}}, 0, {}}));
  EXPECT_TRUE(holds({Is::equal, Of::version, {"none", {}}, 0, {}}));
  EXPECT_TRUE(holds({Is::equal, Of::mod, {"none", {}}, 0, {}}));
  EXPECT_FALSE(holds({Is::equal, Of::value, {"none", {}}, 0, {}}));
  EXPECT_FALSE(holds({Is::not_equal, Of::value, {"none", {}}, 0, "x"}));
  EXPECT_TRUE(holds({Is::greater, Of::value, {"a", "c"}, 0, "4"}));
  EXPECT_FALSE(holds({Is::greater, Of::value, {"a", "c"}, 0, "5"}));
  EXPECT_TRUE(holds({Is::equal, Of::create, {"x", "z"}, 0, {}}));
}

TEST_F(EngineTest, ATxnSeesItsOwnWritesButNestedConditionsDoNot) {
  put(*engine_, "a", "old").value();
  auto nested = std::make_shared<Request>();
  nested->conditions.push_back({.of = Condition::Of::value, .span = {"a", {}}, .value = "old"});
  nested->then = {Range{.span = {"a", {}}}};
  Request request;
  request.then = {Put{.key = "a", .value = "new", .previous = true}, Range{.span = {"a", {}}},
                  Range{.span = {"a", {}}, .revision = 2}, nested, Erase{.span = {"b", {}}, .previous = true}};
  const auto outcome = run(*engine_, request).value();
  EXPECT_EQ(outcome.revision, 3);
  EXPECT_EQ(std::get<PutDone>(outcome.answers[0]).previous->value, "old");
  EXPECT_EQ(text(std::get<Found>(outcome.answers[1])), "a=new");
  EXPECT_EQ(text(std::get<Found>(outcome.answers[2])), "a=old");
  const auto& inner = std::get<std::shared_ptr<Outcome>>(outcome.answers[3]);
  EXPECT_TRUE(inner->succeeded);
  EXPECT_EQ(text(std::get<Found>(inner->answers[0])), "a=new");
  EXPECT_EQ(std::get<EraseDone>(outcome.answers[4]).deleted, 0);
}

TEST_F(EngineTest, APutMayKeepValueOrLease) {
  grant(*engine_, 9, 60s).value();
  put(*engine_, "a", "1", 9).value();
  run(*engine_, Put{.key = "a", .value = "2", .keep_lease = true}).value();
  EXPECT_EQ(numbers(get("a")), "a=2 create=2 mod=3 version=2 lease=9");
  run(*engine_, Put{.key = "a", .keep_value = true}).value();
  EXPECT_EQ(numbers(get("a")), "a=2 create=2 mod=4 version=3 lease=0");
  EXPECT_TRUE(engine_->lease(9)->keys.empty());
}

TEST_F(EngineTest, ErasingTellsWhatWasThere) {
  put(*engine_, "a", "1").value();
  put(*engine_, "b", "2").value();
  const auto outcome = run(*engine_, Erase{.span = {"a", "z"}, .previous = true}).value();
  const auto& erased = std::get<EraseDone>(outcome.answers[0]);
  EXPECT_EQ(erased.deleted, 2);
  ASSERT_EQ(erased.previous.size(), 2U);
  EXPECT_EQ(numbers(erased.previous[1]), "b=2 create=3 mod=3 version=1 lease=0");
  EXPECT_EQ(outcome.revision, 4);
}

TEST_F(EngineTest, ALeaseTakesItsKeysWithItAtOneRevision) {
  EXPECT_EQ(grant(*engine_, 7, 10s)->ttl, 10s);
  EXPECT_EQ(wrong(grant(*engine_, 7, 10s)), "etcdserver: lease already exists");
  EXPECT_EQ(grant(*engine_, 8, 1ms)->ttl, 1s);
  EXPECT_EQ(wrong(grant(*engine_, 0, std::chrono::seconds(9'000'000'001))), "etcdserver: too large lease TTL");
  const auto drawn = grant(*engine_, 0, 100s).value();
  EXPECT_GT(drawn.id, 0);
  put(*engine_, "b", "1", 7).value();
  put(*engine_, "a", "1", 7).value();
  put(*engine_, "c", "1", 7).value();
  put(*engine_, "c", "1").value();
  EXPECT_EQ(engine_->lease(7)->keys, (std::vector<std::string>{"a", "b"}));
  clock_.advance(9s);
  EXPECT_EQ(engine_->lease(7)->left, 1s);
  EXPECT_EQ(engine_->keep_alive(7)->ttl, 10s);
  clock_.advance(9s);
  engine_->tick();
  EXPECT_EQ(text(range({.span = all_keys})), "a=1 b=1 c=1");
  EXPECT_EQ(wrong(engine_->lease(8)), "etcdserver: requested lease not found");
  clock_.advance(1s);
  engine_->tick();
  EXPECT_EQ(text(range({.span = all_keys})), "c=1");
  EXPECT_EQ(engine_->status().revision, 6);
  EXPECT_EQ(wrong(engine_->keep_alive(7)), "etcdserver: requested lease not found");
  EXPECT_EQ(engine_->leases(), std::vector<LeaseId>{drawn.id});
  put(*engine_, "d", "1", drawn.id).value();
  EXPECT_EQ(revoke(*engine_, drawn.id).value(), 8);
  EXPECT_EQ(wrong(revoke(*engine_, drawn.id)), "etcdserver: requested lease not found");
  EXPECT_EQ(text(range({.span = all_keys})), "c=1");
}

TEST_F(EngineTest, ALeaseHasItsFullTimeAfterItWasOpenedAgain) {
  grant(*engine_, 7, 10s).value();
  put(*engine_, "a", "1", 7).value();
  clock_.advance(9s);
  reopen();
  EXPECT_EQ(engine_->lease(7)->left, 10s);
  EXPECT_EQ(engine_->lease(7)->keys, std::vector<std::string>{"a"});
  clock_.advance(9s);
  engine_->tick();
  EXPECT_EQ(text(range({.span = all_keys})), "a=1");
  clock_.advance(1s);
  engine_->tick();
  reopen();
  EXPECT_EQ(text(range({.span = all_keys})), "");
  EXPECT_TRUE(engine_->leases().empty());
}

// Whoever may join or end a lease is asked when it is done: what hangs on it when he asks says nothing.
TEST_F(EngineTest, ALeaseIsGuardedWhenItIsChangedAndNotWhenThatIsAskedFor) {
  grant(*engine_, 7, 10s).value();
  std::vector<std::vector<std::string>> asked;  // on the writer's thread
  const LeaseGuard guard = [&](const std::vector<std::string>& keys) -> Result<> {
    asked.push_back(keys);
    if (std::ranges::find(keys, "theirs") != keys.end()) return fail(Code::denied, "no");
    return {};
  };
  const auto guarded = [&](Request request) {
    auto done = std::make_shared<std::promise<Result<Outcome>>>();
    engine_->submit(
        std::move(request), [done](Result<Outcome> outcome) { done->set_value(std::move(outcome)); }, guard);
    return done->get_future();
  };
  const auto put_on = [](const std::string& key, LeaseId lease) {
    Request request;
    request.then = {Put{.key = key, .value = "1", .lease = lease}};
    return request;
  };
  EXPECT_TRUE(guarded(put_on("own", 7)).get());
  EXPECT_TRUE(guarded(put_on("free", 0)).get());
  // The writer waits in an answer while all of these are asked for, so that it takes them as one group.
  std::promise<void> wait;
  engine_->submit(put_on("x", 0), [&](Result<Outcome>) { wait.get_future().wait(); });
  std::promise<Result<Outcome>> theirs;
  engine_->submit(put_on("theirs", 7), [&](Result<Outcome> outcome) { theirs.set_value(std::move(outcome)); });
  auto late = guarded(put_on("late", 7));
  Request nested;
  nested.then = {std::make_shared<Request>(put_on("late", 7))};
  nested.otherwise = {Put{.key = "late", .value = "1", .lease = 7}};
  auto late_inside = guarded(nested);
  std::promise<Result<std::int64_t>> revoked;
  engine_->revoke(
      7, [&](Result<std::int64_t> revision) { revoked.set_value(std::move(revision)); }, guard);
  EXPECT_EQ(engine_->lease(7)->keys, std::vector<std::string>{"own"});
  wait.set_value();
  EXPECT_TRUE(theirs.get_future().get());
  EXPECT_EQ(late.get().error().code, Code::denied);
  EXPECT_EQ(late_inside.get().error().code, Code::denied);
  EXPECT_EQ(revoked.get_future().get().error().code, Code::denied);
  EXPECT_EQ(engine_->lease(7)->keys, (std::vector<std::string>{"own", "theirs"}));
  const std::vector<std::string> both{"own", "theirs"};
  EXPECT_EQ(asked, (std::vector<std::vector<std::string>>{{}, both, both, both}));
}

// With the host's clock leases end by themselves.
TEST(EngineLeases, EndByThemselves) {
  const Folder folder;
  const auto engine = open(folder.path(), {.lease_ttl_min = 1ms});
  Collector seen;
  engine->watch({.span = {"a", {}}}, seen.sink()).value();
  grant(*engine, 7, 1ms).value();
  grant(*engine, 8, 1h).value();
  // It may be over before the put; then it is granted again.
  for (int tries = 0; tries < 1000 && !put(*engine, "a", "1", 7); ++tries) EXPECT_TRUE(grant(*engine, 7, 1ms));
  std::string told;
  while (!told.ends_with("erase a@3 ")) told += test::text(seen.take()) + " ";
  EXPECT_EQ(told, "put a=1@2 erase a@3 ");
  EXPECT_EQ(engine->lease(8)->ttl, 1h);
}

TEST_F(EngineTest, AHashIsTheSameForTheSameContents) {
  put(*engine_, "a", "1").value();
  put(*engine_, "a", "2").value();
  run(*engine_, Erase{.span = {"a", {}}}).value();
  put(*engine_, "b", "1").value();
  const auto at4 = engine_->hash(4).value();
  const auto now = engine_->hash(0).value();
  EXPECT_NE(at4.first, now.first);
  EXPECT_EQ(engine_->hash(5).value(), now);
  put(*engine_, "c", "1").value();
  EXPECT_EQ(engine_->hash(5).value(), now);
  engine_->compact(4, false).value();
  const auto compacted = engine_->hash(5).value();
  EXPECT_EQ(compacted.second, 4);
  EXPECT_NE(compacted.first, now.first);
  reopen();
  EXPECT_EQ(engine_->hash(5).value(), compacted);
  EXPECT_EQ(wrong(engine_->hash(3)), "etcdserver: mvcc: required revision has been compacted");
  EXPECT_EQ(wrong(engine_->hash(7)), "etcdserver: mvcc: required revision is a future revision");
}

TEST_F(EngineTest, CompactionTakesOldRecordsOffTheDisk) {
  const std::string value(10'000, 'x');
  for (int i = 0; i < 200; ++i) put(*engine_, "a", value + std::to_string(i)).value();
  EXPECT_GT(engine_->status().bytes, 2'000'000U);
  engine_->compact(engine_->status().revision, true).value();
  EXPECT_TRUE(engine_->defragment());
  EXPECT_LT(engine_->status().bytes, 100'000U);
  EXPECT_EQ(get("a").value, value + "199");
  reopen();
  EXPECT_EQ(get("a").version, 200);
}

TEST_F(EngineTest, AboveTheQuotaPutsAreRefusedUntilThereIsRoom) {
  engine_.reset();
  options_.bytes_max = 3'000'000;
  engine_ = open(folder_.path(), options_);
  const std::string value(100'000, 'x');
  std::string refused;
  int count = 0;
  for (; count < 200 && refused.empty(); ++count) refused = wrong(put(*engine_, "a", value));
  EXPECT_EQ(refused, "etcdserver: mvcc: database space exceeded");
  EXPECT_GT(count, 20);
  EXPECT_TRUE(engine_->status().full);
  EXPECT_EQ(put(*engine_, "a", "").error().code, Code::refused);
  EXPECT_EQ(grant(*engine_, 1, 10s).error().code, Code::refused);
  run(*engine_, Erase{.span = {"a", {}}}).value();
  engine_->compact(engine_->status().revision, true).value();
  put(*engine_, "a", "1").value();
  EXPECT_FALSE(engine_->status().full);
}

TEST_F(EngineTest, ABackupIsAStoreOfItsOwn) {
  put(*engine_, "a", "1").value();
  grant(*engine_, 7, 10s).value();
  const auto to = folder_.beside("copy");
  EXPECT_EQ(wrong(engine_->backup(to)), "");
  EXPECT_EQ(engine_->backup(to).error().code, Code::conflict);
  put(*engine_, "a", "2").value();
  const auto copy = open(to, options_);
  EXPECT_EQ(text(copy->range({.span = all_keys})), "a=1");
  EXPECT_EQ(copy->leases(), std::vector<LeaseId>{7});
  EXPECT_EQ(put(*copy, "b", "1")->revision, 3);
  EXPECT_EQ(text(range({.span = all_keys})), "a=2");
}

TEST_F(EngineTest, ManyWritersShareWrites) {
  std::vector<std::future<std::int64_t>> done;
  for (int i = 0; i < 500; ++i) {
    auto promise = std::make_shared<std::promise<std::int64_t>>();
    done.push_back(promise->get_future());
    Request request;
    request.then = {Put{.key = fmt::format("k{:03}", i), .value = "v"}};
    engine_->submit(std::move(request), [promise](Result<Outcome> outcome) { promise->set_value(outcome.value().revision); });
  }
  for (int i = 0; i < 500; ++i) EXPECT_EQ(done[i].get(), i + 2);
  EXPECT_EQ(engine_->status().keys, 500U);
}

TEST_F(EngineTest, CountsWhatItIsAsked) {
  put(*engine_, "a", "1").value();
  Request both;
  both.then = {Put{.key = "b", .value = "1"}, Range{.span = {"a", {}}}};
  run(*engine_, both).value();
  EXPECT_FALSE(range({.span = {"a", {}}, .revision = 99}).has_value());
  get("a");
  run(*engine_, Range{.span = {"a", {}}}).value();
  EXPECT_FALSE(engine_->keep_alive(7).has_value());
  const auto watcher = engine_->watch({.span = {"a", {}}}, [](const Events&) { return true; });
  engine_->unwatch(watcher.value());
  const auto status = engine_->status();
  EXPECT_EQ(status.writes, 2U) << "a txn is one";
  EXPECT_EQ(status.reads, 3U) << "what was refused was asked, too";
  EXPECT_EQ(status.renewals, 1U);
  EXPECT_EQ(status.watches, 1U);
  reopen();
  EXPECT_EQ(engine_->status().writes, 0U);
}

TEST(EngineEnds, AfterWhatWasSubmitted) {
  const Folder folder;
  auto engine = open(folder.path());
  std::atomic<int> answers = 0;
  for (int i = 0; i < 100; ++i) {
    Request request;
    request.then = {Put{.key = "a", .value = "v"}};
    engine->submit(std::move(request), [&](Result<Outcome> outcome) { answers += outcome ? 1 : 0; });
  }
  engine.reset();
  EXPECT_EQ(answers, 100);
}

}  // namespace
}  // namespace evenkeel::store::embedded
