// Every rule of the control plane is needed: switched off, it is missed by a checker, by the ledger of acknowledged writes, or by somebody who expected
// something else. For each there is a story (stories/mutations, or one of those beside it) in which it matters: it goes well with all rules, and does
// not without that one.
//
// EVENKEEL_MUTATION: only that one. EVENKEEL_TIMELINE: what happens then, line by line.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "evenkeel/base/file.h"
#include "evenkeel/control/shell/controller.h"
#include "evenkeel/sim/sim.h"

namespace evenkeel::sim {
namespace {

using Broken = std::variant<control::Broken, node::Broken>;

struct Mutation {
  Broken broken;
  std::string_view story;
};

constexpr std::uint64_t seeds_max = 10;  // what depends on chance is noticed at one of so many

const std::vector<Mutation>& mutations() {
  using enum control::Broken;
  using Node = node::Broken;
  static const std::vector<Mutation> all{
      {ignore_incarnations, "restart"},
      {believe_old_reports, "mutations/deleted_under_a_leader"},
      {lead_without_proof, "mutations/fail_over"},
      {reuse_epoch, "mutations/fail_over"},
      {forget_named_epochs, "mutations/epochs_of_reports"},
      {forget_deleted_epochs, "mutations/epochs_of_the_deleted"},
      {ignore_data_id, "new_disk"},
      {drop_on_absence, "mutations/lost_minute"},
      {forget_dropped_at_once, "mutations/move"},
      {begin_over_orphans, "mutations/orphans"},
      {begin_over_loss, "store_lost_with_holders_away"},
      {unguarded_writes, "controller"},
      {skip_seal, "mutations/fail_over"},
      {too_few_seals, "mutations/fail_over"},
      {empty_may_lead, "mutations/empty"},
      {any_may_lead, "mutations/best_of_the_sealed"},
      {no_seal_wait, "seal_wait"},
      {change_under_seal, "mutations/under_a_seal"},
      {ignore_lag, "mutations/far_behind"},
      {lead_before_caught_up, "mutations/hand_over"},
      {never_give_back, "mutations/hand_over"},
      {break_before_make, "mutations/move"},
      {ignore_min_active, "mutations/no_room"},
      {forget_voters_at_once, "mutations/leaver_counts"},
      {too_many_extra, "mutations/extra"},
      {no_linger, "mutations/move"},
      {split_without_pause, "split"},
      {split_before_caught_up, "mutations/split_behind"},
      {split_with_too_few, "mutations/split_with_too_few"},
      {split_unsaid, "mutations/split_unsaid"},
      {show_half_copied, "split"},
      {begin_unsplit, "split"},
      {split_in_maintenance, "mutations/split_in_maintenance"},
      {believe_empty_copies, "mutations/split_copies_nothing"},
      {no_delay, "crash"},
      {wait_below_min_active, "mutations/below_min_active"},
      {forget_waits, "mutations/waits"},
      {permit_for_ever, "mutations/permit_is_over"},
      {no_maintenance, "maintenance"},
      {stay_in_maintenance, "maintenance"},
      {leaders_wait, "maintenance"},
      {believe_all_suspects, "mutations/suspects"},
      {trust_at_once, "mutations/former_suspect"},
      {ignore_loads, "loads"},
      {believe_every_load, "loads_swing"},
      {level_unmeasured, "loads_kept"},
      {no_throttle, "mutations/crowd"},
      {no_opening_throttle, "mutations/openings"},
      {throttle_leaders, "mutations/leaders_and_copies"},
      {never_replace, "failing"},
      {ignore_disabled, "mutations/disable"},
      {ignore_cordon, "cordon"},
      {ignore_no_leaders, "cordon"},
      {removed_come_back, "mutations/removed"},
      {permit_below_min_active, "mutations/permits"},
      {permits_apart, "mutations/permits"},
      {go_while_leading, "mutations/permits"},
      {permit_in_maintenance, "mutations/permit_in_maintenance"},
      {ignore_freeze, "freeze"},
      {forget_freeze, "mutations/freeze_and_controllers"},
      {Node::obey_others, "mutations/told_before"},
      {Node::drop_what_is_unsaid, "mutations/lost_minute"},
      {Node::lead_without_session, "mutations/no_session"},
      {Node::give_up_at_once, "mutations/try_again"},
      {Node::refuse_nothing, "mutations/sealed"},
  };
  return all;
}

std::string_view name_of(const Broken& broken) {
  const auto find = [](const auto& names, auto wanted) {
    const auto found = std::ranges::find_if(names, [&](const auto& one) { return one.broken == wanted; });
    return found == names.end() ? std::string_view() : found->name;
  };
  if (const auto* one = std::get_if<control::Broken>(&broken)) return find(control::all_broken(), *one);
  return find(node::all_broken(), std::get<node::Broken>(broken));
}

Story story_of(std::string_view name) {
  const std::string path = fmt::format("{}/sim/stories/{}.story", EVENKEEL_TESTS_DIR, name);
  const auto text = read_file(path, Bytes(1 << 20));
  if (!text) ADD_FAILURE() << text.error().message;
  auto story = text ? parse_story(*text, fmt::format("{}.story", name)) : Result<Story>(fail(text.error()));
  if (!story) ADD_FAILURE() << story.error().message;
  return story ? *std::move(story) : Story{};
}

SimOptions options_of(const Mutation& mutation, std::uint64_t seed) {
  SimOptions options{.seed = seed};
  if (const auto* broken = std::get_if<control::Broken>(&mutation.broken)) options.broken = *broken;
  if (const auto* broken = std::get_if<node::Broken>(&mutation.broken)) options.broken_nodes = *broken;
  return options;
}

// A store whose watch of everything stands still: what is in it is seen when it goes on. The rest is as it is.
class Late final : public store::Store {
 public:
  Late(std::unique_ptr<store::Store> store, std::string prefix)
      : Store(store->loop()), store_(std::move(store)), prefix_(std::move(prefix)) {}

  int watched() const { return whole_; }  // how often, all together
  void stand_still() { still_ = true; }
  void end_watch() { (*latest_)(fail(Code::denied, "not any more")); }
  void go_on() {
    still_ = false;
    for (auto& waiting : std::exchange(waiting_, {})) (*waiting.first)(std::move(waiting.second));
  }

 private:
  using Handler = std::shared_ptr<store::OnChanges>;

  void do_get(std::string key, store::Answer<store::Read> answer) override { store_->get(std::move(key), std::move(answer)); }
  void do_list(std::string prefix, store::Answer<store::Listing> answer) override {
    store_->list(std::move(prefix), std::move(answer));
  }
  void do_txn(store::Txn txn, store::Answer<store::Committed> answer) override { store_->txn(std::move(txn), std::move(answer)); }
  std::unique_ptr<store::Watching> do_watch(std::string prefix, std::optional<store::Revision> after,
                                            store::OnChanges on_changes) override {
    whole_ += prefix == prefix_ ? 1 : 0;
    if (prefix != prefix_) return store_->watch(std::move(prefix), after, std::move(on_changes));
    latest_ = std::make_shared<store::OnChanges>(std::move(on_changes));
    return store_->watch(std::move(prefix), after, [this, handler = latest_](auto changes) {
      if (!still_) return (*handler)(std::move(changes));
      waiting_.emplace_back(handler, std::move(changes));
    });
  }
  void do_status(store::Answer<store::Status> answer) override { store_->status(std::move(answer)); }
  void do_compact(store::Revision before, store::Answer<store::Revision> answer) override {
    store_->compact(before, std::move(answer));
  }

  std::unique_ptr<store::Store> store_;
  const std::string prefix_;
  bool still_ = false;
  int whole_ = 0;
  Handler latest_;
  std::vector<std::pair<Handler, Result<store::Changes>>> waiting_;
};

// A third controller has not seen that a lost node was replaced when it is elected, and waits for that node to the end.
std::string first_step_of_a_late_one(control::Broken broken) {
  const auto story = parse_story(
      "cluster: pages\nsettings: {rebalance_delay: 20s}\nnodes: [{name: \"n[1-4]\", zone: \"z[1-4]\"}]\n"
      "workloads: [{name: t, shards: 4, replicas: 2, min_active: 1}]\n---\n",
      "late");
  Simulation simulation({.seed = 1, .cluster = story->cluster});
  simulation.run_until(5s);  // one of its own two is elected
  Late store(simulation.store().connect("controller 3"), simulation.keys().root());
  control::Controller third(
      store, {.cluster = story->cluster.name, .name = "controller 3", .names = Rng(3), .machine = {.broken = broken}});
  const auto perform = [&](Action::Kind kind, Words words) {
    const auto done = simulation.perform({kind, std::move(words)});
    EXPECT_TRUE(done.has_value()) << done.error().message;
  };
  simulation.run_until(10s);
  perform(Action::Kind::kill, {.node = NodeId("n4")});
  simulation.run_until(20s);
  store.stand_still();
  simulation.run_until(50s);
  for (const std::uint64_t number : {1, 2}) perform(Action::Kind::kill_controller, {.number = number});
  simulation.run_until(100s);
  store.go_on();
  simulation.run_until(110s);
  if (!simulation.violation() && !third.active()) return "controller 3 does not act";
  return simulation.violation().value_or("");
}

constexpr std::string_view three_and_one_workload =
    "cluster: pages\nnodes: [{name: \"n[1-3]\", zone: \"z[1-3]\"}]\nworkloads: [{name: t, shards: 4, replicas: 2}]\n---\n";

// A cluster that a third controller has taken over, whose watch can be disturbed.
struct TakenOver {
  explicit TakenOver(control::Broken broken = {})
      : simulation({.seed = 1, .cluster = parse_story(three_and_one_workload, "three")->cluster, .check = false}) {
    simulation.run_until(5s);
    store = std::make_unique<Late>(simulation.store().connect("controller 3"), simulation.keys().root());
    control::ControllerOptions options{.cluster = ClusterId("pages"), .name = "controller 3", .names = Rng(3)};
    options.machine.broken = broken;
    third = std::make_unique<control::Controller>(*store, options);
    for (const std::uint64_t number : {1, 2}) {
      const auto killed = simulation.perform({Action::Kind::kill_controller, {.number = number}});
      EXPECT_TRUE(killed.has_value()) << killed.error().message;
    }
    simulation.run_until(30s);
    EXPECT_TRUE(third->active());
  }
  // It goes on: a node that leaves is noticed.
  bool acts(Duration until) {
    const auto killed = simulation.perform({Action::Kind::kill, {.node = NodeId("n1")}});
    EXPECT_TRUE(killed.has_value());
    simulation.run_until(until);
    return third->active() && third->machine().overview().offline == 1;
  }

  Simulation simulation;  // the third controller is none of its own, so nobody checks
  std::unique_ptr<Late> store;
  std::unique_ptr<control::Controller> third;
};

// It acts, does not see that the store was emptied, loses its session there, and is elected anew.
TEST(Controllers, ActInAnEmptiedStoreOnlyOnceTheySeeIt) {
  for (const control::Broken broken : {control::Broken{}, control::Broken::first_step_too_early}) {
    TakenOver one(broken);
    EXPECT_EQ(one.store->watched(), 1) << "its election and its session look only at what is theirs";
    const ControllerEpoch before = one.third->epoch();
    one.store->stand_still();
    one.simulation.store().lose_everything();
    one.simulation.run_until(60s);
    EXPECT_GT(one.third->epoch(), before) << "it was elected";
    EXPECT_EQ(one.third->active(), broken == control::Broken::first_step_too_early) << "and knows only what was";
    one.store->go_on();
    one.simulation.run_until(90s);
    EXPECT_TRUE(one.third->active());
  }
}

// Who may not read for a while reads everything anew when that is over, and says until then that it is out of touch.
TEST(Controllers, WatchAnewAfterARefusal) {
  TakenOver one;
  one.store->end_watch();
  EXPECT_FALSE(one.third->in_touch());
  ASSERT_TRUE(one.third->trouble());
  EXPECT_EQ(one.third->trouble()->code, Code::denied);
  one.simulation.run_until(60s);
  EXPECT_TRUE(one.third->in_touch());
  EXPECT_FALSE(one.third->trouble());
  EXPECT_EQ(one.store->watched(), 2);
  EXPECT_TRUE(one.acts(2min));
}

// Its writes compare the controllers' epoch: who finds a later one than its own, and holds the office, raises it above.
TEST(Controllers, RaiseAnEpochThatSomebodyElseHasRaised) {
  TakenOver one;
  const auto other = one.simulation.store().connect("another version");
  const ControllerEpoch theirs(one.third->epoch().value() + 5);
  other->put(one.simulation.keys().controller_epoch(), format_controller_epoch(theirs), [](const auto&) {});
  one.simulation.run_until(40s);
  EXPECT_GT(one.third->epoch(), theirs);
  EXPECT_TRUE(one.acts(2min));
}

// How long it has waited, by a later version; then a node is lost, and waited for.
std::string writes_over_newer(control::Broken broken) {
  const auto story = parse_story(
      "cluster: pages\nnodes: [{name: \"n[1-3]\", zone: \"z[1-3]\"}]\nworkloads: [{name: t, shards: 4, replicas: 2}]\n---\n",
      "newer");
  Simulation simulation(
      {.seed = 1, .cluster = story->cluster, .broken = broken, .check = false});  // a checker lets only controllers write it
  simulation.run_until(5s);
  const auto operators = simulation.store().connect("operators");
  const std::string newer = R"({"format": 99})";
  store::Txn txn;
  txn.put(simulation.keys().waits(), newer);
  operators->txn(std::move(txn), [](const Result<store::Committed>& done) { EXPECT_TRUE(done.has_value()); });
  simulation.run_until(6s);
  const auto killed = simulation.perform({Action::Kind::kill, {.node = NodeId("n3")}});
  EXPECT_TRUE(killed.has_value()) << killed.error().message;
  simulation.run_until(1min);
  const std::string now = simulation.store().contents(simulation.keys().waits()).entries.at(0).value;
  return now == newer ? "" : fmt::format("what a later version has waited is now {}", now);
}

// What no story tells, and where it is told.
struct Elsewhere {
  Broken broken;
  std::string_view test;
};
const std::vector<Elsewhere>& elsewhere() {
  using enum control::Broken;
  using Node = node::Broken;
  static const std::vector<Elsewhere> all{
      {first_step_too_early, "below"},       {write_over_newer, "below"},           {tell_before_inventory, "tests/control"},
      {go_on_unread, "tests/control"},       {remove_while_live, "tests/control"},  {remove_last_copy, "tests/control"},
      {permit_until_whole, "tests/control"}, {lead_over_half, "tests/control"},     {go_on_from_the_past, "tests/control"},
      {Node::obey_old, "tests/node"},        {Node::lead_until_done, "tests/node"}, {Node::try_again_at_once, "tests/node"},
  };
  return all;
}

TEST(Mutations, AreNoticed) {
  const char* only = std::getenv("EVENKEEL_MUTATION");
  const bool shows = std::getenv("EVENKEEL_TIMELINE") != nullptr;
  const auto show = [&](const Outcome& outcome) {
    if (shows) fmt::print("{}\n", format_timeline(outcome));
  };
  std::map<std::pair<std::string_view, std::uint64_t>, std::optional<std::string>> played;  // with all rules
  for (const Mutation& mutation : mutations()) {
    const std::string_view name = name_of(mutation.broken);
    if (only != nullptr && name != only) continue;
    const Story story = story_of(mutation.story);
    std::optional<std::string> noticed;
    for (std::uint64_t seed = 1; !noticed && seed <= seeds_max; ++seed) {
      const auto [well, is_new] = played.try_emplace({mutation.story, seed});
      if (is_new) {
        const Outcome outcome = run(story, {.seed = seed});
        show(outcome);
        well->second = outcome.failure;
      }
      EXPECT_FALSE(well->second.has_value()) << mutation.story << ", with all rules: " << well->second.value_or("");
      const Outcome broken = run(story, options_of(mutation, seed));
      show(broken);
      noticed = broken.failure;
    }
    EXPECT_TRUE(noticed.has_value()) << name << ": nobody notices in " << mutation.story;
    fmt::print("{:32} {:34} {}\n", name, mutation.story, noticed.value_or("-").substr(0, 150));
  }
}

TEST(Mutations, AFirstStepTooEarlyIsNoticed) {
  EXPECT_EQ(first_step_of_a_late_one(control::Broken::nothing), "");
  const std::string noticed = first_step_of_a_late_one(control::Broken::first_step_too_early);
  EXPECT_NE(noticed, "");
  fmt::print("{:32} {:34} {}\n", name_of(control::Broken::first_step_too_early), "a controller that sees late",
             noticed.substr(0, 150));
}

TEST(Mutations, WritingOverWhatIsNewerIsNoticed) {
  EXPECT_EQ(writes_over_newer(control::Broken::nothing), "");
  EXPECT_NE(writes_over_newer(control::Broken::write_over_newer), "");
}

TEST(Mutations, AreAllThere) {
  std::vector<Broken> tried;
  for (const Mutation& mutation : mutations()) tried.push_back(mutation.broken);
  for (const Elsewhere& one : elsewhere()) tried.push_back(one.broken);
  const auto expect = [&](const Broken& broken, std::string_view name) {
    EXPECT_NE(std::ranges::find(tried, broken), tried.end()) << name << ": nothing shows that it matters";
  };
  for (const auto& [broken, name] : control::all_broken()) expect(broken, name);
  for (const auto& [broken, name] : node::all_broken()) expect(broken, name);
  for (const Elsewhere& one : elsewhere()) fmt::print("{:32} {}\n", name_of(one.broken), one.test);
}

}  // namespace
}  // namespace evenkeel::sim
