// Every story below tests/sim/stories is a test of its own: it is played, and nothing may fail.
//
// What each rule of docs/control.md is told by, here or in another test:
//
//   one leader, by proof             crash, standstill, cut, stale, clocks, twin, hung
//   seal, then lead                  acks, seal_wait, new_disk; control/leadership_test
//   a lost leader, by epoch          fencing_by_epoch, fencing_changed, suspect
//   a controller doubts itself       distrust, deaf_controller
//   hand-over, and its time-out      lead, hand_over; control/leadership_test
//   the preferred leader             preferred, restart; properties_test
//   make before break                hard_spread, drain, swap, replicas, linger
//   delay, and its floor             lost_for_good, floor, workload_delay, delay_kept, forget; bans and cool-downs control/waits_test
//   maintenance                      maintenance, zone; with a time-out, and what it holds back control/patience_test
//   splits                           split, split_node_dies, split_controller, split_called_off, split_without_leaders; control/split_test
//   measured loads                   loads, loads_swing, loads_kept; control/loads_test
//   throttles                        throttles, openings; recovery first control/throttles_test, openings control/openings_test
//   errors                           failing, errors, overdue, one_bad; node/reconciler/failures.story
//   operations of nodes              cordon (no-leaders too), drain, swap, remove, disable; refused removals control/permits_test
//   permits                          rolling, permits, permit_time, one_replica; revoked, refused, several at once control/permits_test
//   freeze                           freeze, freeze_kept; with a time-out control/patience_test
//   orphans, a store that lost it    orphans, store_put_back, store_lost_with_holders_away
//   the view                         linger, drain; control/leadership_test; that routers never go back route/table_test
//   a lost session                   cut, stale; node/participant_test, node/reconciler/sessions.story
//   a workload's end                 delete, made_again; its highest epoch control/workloads_test
//   what is not believed             control/lies_test
//   controllers come and go          controller, delay_kept, freeze_kept, deaf_controller; properties_test

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "evenkeel/base/file.h"
#include "evenkeel/sim/run.h"
#include "tests/story/slow_build.h"

namespace evenkeel::sim {
namespace {

std::vector<std::string> story_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(EVENKEEL_TESTS_DIR "/sim/stories")) {
    if (entry.path().extension() == ".story") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class Stories : public testing::TestWithParam<std::string> {};

TEST_P(Stories, GoesAsItSays) {
  const std::string path = fmt::format("{}/sim/stories/{}.story", EVENKEEL_TESTS_DIR, GetParam());
  const auto text = read_file(path, Bytes(1 << 20));
  ASSERT_TRUE(text.has_value()) << text.error().message;
  const auto story = parse_story(*text, GetParam() + ".story");
  ASSERT_TRUE(story.has_value()) << story.error().message;
  for (std::uint64_t seed = 1; seed <= (slow_build ? 1 : 3); ++seed) {
    const Outcome outcome = run(*story, {.seed = seed});
    EXPECT_FALSE(outcome.failure.has_value()) << *outcome.failure << "\n  evenkeel sim " << path << " --seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Stories, testing::ValuesIn(story_names()), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace evenkeel::sim
