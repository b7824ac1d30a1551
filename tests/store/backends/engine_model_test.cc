// The engine against a naive model: all states there ever were, each a whole map. Random requests, reads at old revisions, compactions,
// leases, watches from random revisions, and opening again.

#include <algorithm>
#include <map>
#include <set>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/backends/embedded/detail/record.h"
#include "tests/store/backends/engine_fixture.h"

namespace evenkeel::store::embedded {
namespace {

using namespace test;

using State = std::map<std::string, KeyValue>;

// What etcd would do, said as plainly as possible.
class Model {
 public:
  std::int64_t revision() const { return static_cast<std::int64_t>(states_.size()); }
  const State& at(std::int64_t revision) const { return states_[static_cast<std::size_t>(revision) - 1]; }
  const State& now() const { return states_.back(); }

  void commit(State next, std::vector<Event> events) {
    if (events.empty()) return;
    states_.push_back(std::move(next));
    events_.push_back(std::move(events));
  }
  const std::vector<Event>& events(std::int64_t revision) const { return events_[static_cast<std::size_t>(revision) - 1]; }

 private:
  std::vector<State> states_{State{}};  // of revision 1 first
  std::vector<std::vector<Event>> events_{std::vector<Event>{}};
};

// The state while a request is done.
struct Doing {
  State state;
  std::int64_t revision;  // that its changes get
  std::vector<Event> events;

  void put(const Put& put) {
    auto& entry = state[put.key];
    std::optional<KeyValue> before;
    if (entry.version > 0) before = entry;
    if (entry.version == 0) entry = {put.key, {}, revision, 0, 0, 0};
    entry.value = put.keep_value ? entry.value : put.value;
    entry.lease = put.keep_lease ? entry.lease : put.lease;
    entry.mod_revision = revision;
    ++entry.version;
    events.push_back({false, entry, before});
  }
  void erase(const std::string& key) {
    events.push_back({true, {key, {}, 0, revision, 0, 0}, state.at(key)});
    state.erase(key);
  }
};

bool inside(const Span& span, const std::string& key) {
  if (span.end.empty()) return key == span.key;
  return key >= span.key && (span.end == std::string(1, '\0') || key < span.end);
}

std::string text(const std::vector<KeyValue>& entries) {
  std::string out;
  for (const auto& one : entries)
    out +=
        fmt::format("{}={} c{} m{} v{} l{};", one.key, one.value, one.create_revision, one.mod_revision, one.version, one.lease);
  return out;
}

std::string text(const State& state, const Span& span) {
  std::vector<KeyValue> entries;
  for (const auto& [key, entry] : state)
    if (inside(span, key)) entries.push_back(entry);
  return text(entries);
}

std::string text(const Event& event) {
  return fmt::format("{} {} before {}", event.erased ? "erase" : "put", text(std::vector{event.entry}),
                     event.previous ? text(std::vector{*event.previous}) : "nothing");
}

class Story {
 public:
  explicit Story(std::uint64_t seed) : rng_(seed) { reopen(); }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) step();
  }

 private:
  void step() {
    switch (rng_.below(24)) {
      case 0:
        return reopen();
      case 1:
        return compact();
      case 2:
        return watch();
      case 3:
        return grant();
      case 4:
        return revoke();
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return read();
      default:
        return request();
    }
  }

  std::string key() { return fmt::format("k{}", rng_.below(12)); }
  Span span() {
    switch (rng_.below(5)) {
      case 0:
        return {std::string(1, '\0'), std::string(1, '\0')};
      case 1:
        return {"k1", "k2"};
      case 2:
        return {key(), key()};
      case 3:
        return {key(), std::string(1, '\0')};
      default:
        return {key(), {}};
    }
  }
  LeaseId lease() {
    if (leases_.empty() || rng_.chance(2, 3)) return 0;
    auto at = leases_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(leases_.size())));
    return *at;
  }

  void reopen() {
    engine_.reset();
    engine_ = open(folder_.path(), {.synchronous = false, .clock = &clock_});
    ASSERT_EQ(engine_->status().revision, model_.revision());
    ASSERT_EQ(engine_->status().compacted, compacted_);
    ASSERT_EQ(engine_->leases(), std::vector<LeaseId>(leases_.begin(), leases_.end()));
    ASSERT_EQ(engine_->status().keys, model_.now().size());
  }

  void compact() {
    if (model_.revision() <= compacted_) return;
    compacted_ = rng_.between(compacted_ + 1, model_.revision());
    ASSERT_TRUE(engine_->compact(compacted_, rng_.chance(1, 2)));
    ASSERT_FALSE(engine_->compact(compacted_, false));
  }

  void read() {
    const Range range{.span = span(), .revision = rng_.between(0, model_.revision() + 1)};
    const auto found = engine_->range(range);
    if (range.revision > model_.revision()) {
      ASSERT_EQ(wrong(found), "etcdserver: mvcc: required revision is a future revision");
    } else if (range.revision > 0 && range.revision < compacted_) {
      ASSERT_EQ(wrong(found), "etcdserver: mvcc: required revision has been compacted");
    } else {
      ASSERT_TRUE(found);
      const auto at = range.revision > 0 ? range.revision : model_.revision();
      ASSERT_EQ(text(found->entries), text(model_.at(at), range.span)) << "at " << at;
      ASSERT_EQ(found->revision, model_.revision());
    }
  }

  // Several at once, so that some share a group.
  void request() {
    struct Asked {
      std::string expected;
      std::promise<std::string> got;
    };
    std::deque<Asked> asked;
    std::size_t settled = 0;
    const auto settle = [&] {
      for (; settled < asked.size(); ++settled) ASSERT_EQ(asked[settled].got.get_future().get(), asked[settled].expected);
    };
    const auto count = rng_.between(1, 4);
    for (std::int64_t i = 0; i < count; ++i) {
      std::string expected;
      Request request = make(expected);
      // What only reads may overtake what is being written.
      if (request.then.empty() && request.otherwise.empty()) settle();
      auto& one = asked.emplace_back();
      one.expected = std::move(expected);
      engine_->submit(std::move(request), [&one](Result<Outcome> done) {
        one.got.set_value(done ? fmt::format("{} at {}", done->succeeded, done->revision) : done.error().message);
      });
    }
    settle();
  }

  // A request, done in the model.
  Request make(std::string& expected) {
    Request request;
    const auto guard = key();
    const auto known = model_.now().find(guard);
    const auto modified = known == model_.now().end() ? 0 : known->second.mod_revision;
    const auto number = rng_.chance(1, 2) ? modified : rng_.between(0, model_.revision());
    request.conditions.push_back({.of = Condition::Of::mod, .span = {guard, {}}, .number = number});
    const bool succeeds = number == modified;
    Doing doing{model_.now(), model_.revision() + 1, {}};
    std::set<std::string> touched;
    for (auto left = rng_.between(0, 3); left > 0; --left) {
      if (rng_.chance(1, 4)) {
        const auto from = span();
        if (std::ranges::any_of(touched, [&](const auto& one) { return inside(from, one); })) continue;
        add(request, succeeds, Erase{.span = from});
        std::vector<std::string> gone;
        for (const auto& [name, entry] : doing.state)
          if (inside(from, name)) gone.push_back(name);
        for (const auto& name : gone) doing.erase(name);
        erased_.push_back(from);
      } else {
        const auto name = key();
        if (std::ranges::any_of(erased_, [&](const auto& one) { return inside(one, name); }) || !touched.insert(name).second)
          continue;
        const bool there = doing.state.contains(name);
        const bool keep_value = there && rng_.chance(1, 8);
        const bool keep_lease = there && rng_.chance(1, 8);
        const Put put{.key = name,
                      .value = keep_value ? "" : std::to_string(rng_.below(1000)),
                      .lease = keep_lease ? 0 : lease(),
                      .keep_value = keep_value,
                      .keep_lease = keep_lease};
        add(request, succeeds, put);
        doing.put(put);
      }
    }
    erased_.clear();
    model_.commit(std::move(doing.state), std::move(doing.events));
    expected = fmt::format("{} at {}", succeeds, model_.revision());
    return request;
  }
  static void add(Request& request, bool succeeds, Operation operation) {
    (succeeds ? request.then : request.otherwise).push_back(std::move(operation));
  }

  void grant() {
    const auto id = rng_.between(1, 50);
    const auto granted = test::grant(*engine_, id, 10s);
    ASSERT_EQ(granted.has_value(), leases_.insert(id).second);
  }

  void revoke() {
    const auto id = lease();
    if (id == 0) return;
    if (rng_.chance(1, 2)) {
      test::revoke(*engine_, id).value();
      return drop(id);
    }
    // All others are kept alive.
    clock_.advance(9s);
    for (const auto other : leases_) ASSERT_TRUE(other == id || engine_->keep_alive(other));
    clock_.advance(2s);
    engine_->tick();
    drop(id);
  }
  void drop(LeaseId id) {
    leases_.erase(id);
    Doing doing{model_.now(), model_.revision() + 1, {}};
    for (const auto& [name, entry] : model_.now())
      if (entry.lease == id) doing.erase(name);
    model_.commit(std::move(doing.state), std::move(doing.events));
    ASSERT_EQ(engine_->status().revision, model_.revision());
  }

  // All events from a revision on, with what was before as far as that is not compacted.
  void watch() {
    if (compacted_ > model_.revision()) return;
    const Watch watch{
        .span = span(), .start = rng_.between(std::max<std::int64_t>(compacted_, 1), model_.revision()), .previous = true};
    if (!watch.span.end.empty() && watch.span.end != std::string(1, '\0') && watch.span.end <= watch.span.key) return;
    std::vector<std::string> expected;
    for (auto at = watch.start; at <= model_.revision(); ++at) {
      for (auto event : model_.events(at)) {
        if (!inside(watch.span, event.entry.key)) continue;
        // At the compaction itself only what is the latest is left.
        if (at == compacted_) event.previous.reset();
        expected.push_back(text(event));
      }
    }
    Collector seen;
    const auto token = engine_->watch(watch, seen.sink()).value();
    engine_->progress(token);
    std::vector<std::string> got;
    for (auto events = seen.take(); !events.progress; events = seen.take())
      for (auto& event : events.events) {
        if (event.entry.mod_revision == compacted_) event.previous.reset();
        got.push_back(text(event));
      }
    ASSERT_EQ(got, expected) << "from " << watch.start << ", compacted " << compacted_;
    engine_->unwatch(token);
  }

  Rng rng_;
  Folder folder_;
  HandClock clock_;
  Model model_;
  std::int64_t compacted_ = 0;
  std::set<LeaseId> leases_;
  std::vector<Span> erased_;  // in the request being made
  std::unique_ptr<Engine> engine_;
};

TEST(EngineModel, IsLikeTheModel) {
  for (std::uint64_t seed = 1; seed <= 12 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Story story(seed);
    story.run(150);
  }
}

TEST(EngineRecords, RoundTripAndRefuseWhatIsNone) {
  Rng rng(1);
  for (int i = 0; i < 5000; ++i) {
    KeyValue entry;
    const auto bytes = [&](std::uint64_t most) {
      std::string out;
      for (auto left = rng.below(most); left > 0; --left) out.push_back(static_cast<char>(rng.next()));
      return out;
    };
    entry.key = bytes(200);
    entry.mod_revision = static_cast<std::int64_t>(rng.next() >> rng.between(1, 62)) + 1;
    if (rng.chance(3, 4)) {
      entry.value = bytes(300);
      entry.create_revision = rng.between(1, entry.mod_revision);
      entry.version = static_cast<std::int64_t>(rng.next() >> rng.between(1, 62)) + 1;
      entry.lease = static_cast<LeaseId>(rng.next());
    }
    const auto text = detail::format_record(entry);
    ASSERT_EQ(detail::parse_record(text, entry.mod_revision), entry);
    // What is left when the end is missing is another value or none, never another key.
    const auto cut = detail::parse_record(std::string_view(text).substr(0, rng.below(text.size())), entry.mod_revision);
    ASSERT_TRUE(!cut || (cut->key == entry.key && entry.value.starts_with(cut->value)));
  }
  for (const char* bad : {"", "x", "\1", "\3", "\1\1", "\2\1", "\2\1aa", "\1\1a\1\1", "\1\1a\0\1\1"})
    EXPECT_FALSE(detail::parse_record(bad, 5)) << bad;
  EXPECT_EQ(detail::parse_record_key(detail::record_key(7, 3)), (detail::Stamp{7, 3, false}));
  EXPECT_LT(detail::record_key(255, 256), detail::record_key(256, 0));
  EXPECT_FALSE(detail::parse_record_key("r"));
  EXPECT_FALSE(detail::parse_record_key(detail::record_key(0, 0)));
  EXPECT_FALSE(detail::parse_record_key(detail::record_key(-7, 0)));
  EXPECT_EQ(detail::parse_lease_key(detail::lease_key(-5)), -5);
  EXPECT_EQ(detail::parse_ttl(detail::format_ttl(1500ms)), 1500ms);
  EXPECT_FALSE(detail::parse_ttl(detail::format_ttl(0ms)));
}

}  // namespace
}  // namespace evenkeel::store::embedded
