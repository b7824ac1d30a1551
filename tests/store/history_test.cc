#include "tests/store/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "evenkeel/base/rng.h"

namespace evenkeel::test {
namespace {

using store::Revision;
using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

Instant at(std::int64_t moment) { return Instant(Duration(moment)); }

// One operation a line: client, from, to, what, and what came of it.
//   1 0 5 put a = 3           done at revision 3
//   1 0 5 put a if 2 refused  or `= 3`, `unknown` (whatever `to` says), `not_done`; `if 0`: if absent
//   1 0 5 erase = 4
//   2 6 7 get a 3             the value and its modified revision; a third number is the created one, else it is the same
//   2 6 7 get absent          and `list` in the place of `get`: a weak read
Operation parse_line(const std::string& line) {
  std::istringstream words(line);
  Operation operation{.key = "/k"};
  std::int64_t from = 0, to = 0, number = 0;
  std::string verb, word;
  words >> operation.client >> from >> to >> verb;
  operation.called = at(from);
  operation.answered = at(to);
  operation.outcome = Outcome::done;
  if (verb == "get" || verb == "list") {
    operation.kind = verb == "get" ? Kind::read : Kind::weak_read;
    words >> word;
    if (word == "absent") return operation;
    operation.value = word;
    words >> number;
    operation.modified = operation.created = Revision(number);
    if (words >> number) operation.created = Revision(number);
    return operation;
  }
  operation.kind = Kind::write;
  if (verb == "put") operation.value = (words >> word, word);
  words >> word;
  if (word == "if") {
    words >> number >> word;
    operation.expected = Revision(number);
  }
  if (word == "=") operation.modified = Revision((words >> number, number));
  if (word == "refused") operation.outcome = Outcome::refused;
  if (word == "not_done") operation.outcome = Outcome::not_done;
  if (word == "unknown") operation.outcome = Outcome::unknown, operation.answered = Instant::max();
  return operation;
}

std::string check_text(const std::string& text) {
  std::istringstream lines(text);
  std::vector<Operation> operations;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') != std::string::npos) operations.push_back(parse_line(line));
  }
  return check(operations);
}

struct Story {
  const char* name;
  const char* text;
};

class Good : public testing::TestWithParam<Story> {};
class Bad : public testing::TestWithParam<Story> {};
std::string story_name(const testing::TestParamInfo<Story>& story) { return story.param.name; }

const Story good[] = {
    {"nothing", ""},
    {"one_after_another", R"(1 0 1 get absent
                             1 2 3 put a if 0 = 2
                             1 4 5 get a 2
                             1 6 7 put b if 2 = 3
                             1 8 9 get b 3 2
                             1 10 11 erase = 4
                             1 12 13 get absent
                             1 14 15 put c = 7
                             1 16 17 get c 7)"},
    {"a_read_beside_a_write_sees_either", R"(1 0 1 put a = 2
                                             1 10 20 put b = 3
                                             2 11 12 get a 2
                                             3 13 14 get b 3 2)"},
    {"concurrent_writes_in_the_order_of_revisions", R"(1 0 20 put a = 9
                                                       2 0 20 put b = 2
                                                       3 30 31 get a 9 2)"},
    {"an_erase_beside_a_put_comes_second", R"(1 0 20 put a = 2
                                              2 0 20 erase = 3
                                              3 30 31 get absent)"},
    {"an_erase_of_nothing_has_any_revision", R"(1 0 1 erase = 100
                                                1 2 3 put a = 5
                                                1 4 5 get a 5)"},
    {"an_unknown_write_shows_late", R"(1 0 0 put a unknown
                                       2 10 11 get absent
                                       2 20 21 get a 4)"},
    {"an_unknown_write_never_shows", R"(1 0 0 put a unknown
                                        2 10 11 put b = 2
                                        2 20 21 get b 2)"},
    {"an_unknown_write_shows_and_is_overwritten", R"(1 0 0 put a unknown
                                                     2 10 11 get a 4
                                                     2 20 21 put b = 5
                                                     2 30 31 get b 5 4)"},
    {"an_unknown_erase_explains_absence", R"(1 0 1 put a = 2
                                             1 2 2 erase unknown
                                             2 10 11 get a 2
                                             2 20 21 get absent)"},
    {"unknown_writes_in_a_chain", R"(1 0 1 put a = 2
                                     1 2 2 erase unknown
                                     2 3 3 put b if 0 unknown
                                     3 20 21 get b 9)"},
    {"an_unknown_write_fails_a_compare", R"(1 0 1 put a = 2
                                            2 2 2 put b unknown
                                            1 10 11 put c if 2 refused)"},
    {"a_refused_write_in_a_race", R"(1 0 1 put a = 2
                                     1 10 20 put b if 2 = 3
                                     2 10 20 put c if 2 refused
                                     2 30 31 get b 3 2)"},
    {"a_list_may_be_old", R"(1 0 1 put a = 2
                             1 2 3 put b = 3
                             2 10 11 list a 2
                             2 12 13 list b 3 2)"},
    {"a_list_is_as_new_as_its_client", R"(1 0 1 put a = 2
                                          1 2 3 put b = 3
                                          3 2 3 get a 2
                                          1 10 11 list b 3 2
                                          3 10 11 list a 2)"},
    {"a_created_revision_of_an_unknown_write", R"(1 0 0 put a unknown
                                                  2 10 11 put b = 5
                                                  2 12 13 get b 5 4)"},
};

const Story bad[] = {
    {"a_stale_read", R"(1 0 1 put a = 2
                        1 2 3 put b = 3
                        2 10 11 get a 2)"},
    {"a_stale_absence", R"(1 0 1 put a = 2
                           2 10 11 get absent)"},
    {"a_read_that_goes_back_beside_a_write", R"(1 0 1 put a = 2
                                                1 10 40 put b = 3
                                                2 11 12 get b 3 2
                                                3 20 21 get a 2)"},
    {"a_lost_update", R"(1 0 1 put a = 2
                         1 10 20 put b if 2 = 3
                         2 10 20 put c if 2 = 4)"},
    {"a_lost_acknowledged_write", R"(1 0 1 put a = 2
                                     1 2 3 erase = 3
                                     1 4 5 put b = 4
                                     2 10 11 get absent)"},
    {"two_creators", R"(1 0 10 put a if 0 = 2
                        2 0 10 put b if 0 = 3)"},
    {"a_refused_write_that_took_effect", R"(1 0 1 put a = 2
                                            1 2 3 put b if 1 refused
                                            2 10 11 get b 3 2)"},
    {"a_refusal_without_reason", R"(1 0 1 put a = 2
                                    1 2 3 put b if 2 refused)"},
    {"a_refused_creation_of_what_is_absent", R"(1 0 1 get absent
                                                1 2 3 put b if 0 refused)"},
    {"a_write_that_was_not_done_shows", R"(1 0 1 put a not_done
                                           2 10 11 get a 2)"},
    {"an_unknown_write_shows_vanishes_shows", R"(1 0 1 put a = 2
                                                 1 2 2 put b unknown
                                                 2 10 11 get b 3 2
                                                 2 12 13 get a 2
                                                 2 14 15 get b 3 2)"},
    {"an_unknown_write_shows_and_vanishes", R"(1 0 0 put a unknown
                                               2 10 11 get a 3
                                               2 12 13 get absent)"},
    {"an_unknown_write_shows_before_its_call", R"(2 0 1 get a 3
                                                  1 2 2 put a unknown)"},
    {"an_unknown_write_done_twice", R"(1 0 0 put a unknown
                                       2 10 11 get a 3
                                       2 12 13 put b = 4
                                       2 14 15 get a 5 3)"},
    {"an_unknown_write_is_back_after_another", R"(1 0 0 put a unknown
                                                  2 10 11 get a 3
                                                  2 12 13 erase = 4
                                                  2 14 15 get a 3)"},
    {"an_unknown_compare_that_cannot_have_held", R"(1 0 1 put a = 2
                                                    1 2 3 put b = 3
                                                    2 4 4 put c if 2 unknown
                                                    3 10 11 get c 4 2)"},
    {"revisions_that_fall", R"(1 0 1 put a = 5
                               1 2 3 put b = 4)"},
    {"revisions_that_fall_over_an_erase", R"(1 0 1 put a = 5
                                             1 2 3 erase = 6
                                             2 4 5 put b = 6)"},
    {"another_revision_than_was_said", R"(1 0 1 put a = 5
                                          2 2 3 get a 6)"},
    {"another_creation_than_was_said", R"(1 0 1 put a = 5
                                          1 2 3 put b = 6
                                          2 4 5 get b 6 6)"},
    {"an_old_creation_after_an_erase", R"(1 0 1 put a = 5
                                          1 2 3 erase = 6
                                          1 4 5 put b = 7
                                          2 6 7 get b 7 5)"},
    {"a_value_from_nowhere", R"(1 0 1 get x 5)"},
    {"a_list_that_forgets_its_clients_write", R"(1 0 1 put a = 2
                                                 1 2 3 put b = 3
                                                 1 4 5 list a 2)"},
    {"a_list_that_forgets_its_clients_erase", R"(1 0 1 put a = 2
                                                 1 2 3 erase = 3
                                                 1 4 5 list a 2)"},
    {"lists_that_go_back", R"(1 0 1 put a = 2
                              1 2 3 put b = 3
                              2 4 5 list b 3 2
                              2 6 7 list a 2)"},
    {"lists_that_lose_a_key_and_have_it_back", R"(1 0 1 put a = 2
                                                  2 4 5 list a 2
                                                  2 6 7 list absent
                                                  2 8 9 list a 2)"},
    {"a_list_of_the_future", R"(2 0 1 list a 2
                                1 2 3 put a = 2)"},
};

TEST_P(Good, IsExplained) { EXPECT_EQ(check_text(GetParam().text), ""); }
TEST_P(Bad, IsFound) { EXPECT_NE(check_text(GetParam().text), ""); }
INSTANTIATE_TEST_SUITE_P(History, Good, testing::ValuesIn(good), story_name);
INSTANTIATE_TEST_SUITE_P(History, Bad, testing::ValuesIn(bad), story_name);

TEST(History, SaysWhereItIsStuck) {
  const std::string wrong = check_text("1 0 1 put a = 2\n1 2 3 put b = 3\n2 10 11 get a 2");
  EXPECT_NE(wrong.find("/k: no order explains more than 2 of 3 answers; then the key is b"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("c2 [10ns,11ns] get -> a created 2 modified 2"), std::string::npos) << wrong;
}

TEST(History, RecordsWhatHappened) {
  History history;
  const auto put = history.call({.client = 1, .key = "/k", .kind = Kind::write, .value = "a"}, at(1));
  const auto read = history.call({.client = 2, .key = "/k"}, at(2));
  const auto lost = history.call({.client = 1, .key = "/k", .kind = Kind::write, .value = "b"}, at(4));
  const auto compared =
      history.call({.client = 2, .key = "/k", .kind = Kind::write, .value = "c", .expected = Revision(7)}, at(5));
  history.done(put, Revision(7), at(3));
  history.seen(read, store::Entry{.key = "/k", .value = "a", .created = Revision(7), .modified = Revision(7)}, at(4));
  history.refused(compared, at(6));
  const auto operations = history.operations();
  EXPECT_EQ(format(operations[put]), "c1 [1ns,3ns] put a -> done 7");
  EXPECT_EQ(format(operations[read]), "c2 [2ns,4ns] get -> a created 7 modified 7");
  EXPECT_EQ(format(operations[lost]), "c1 [4ns,…] put b -> unknown");
  EXPECT_EQ(format(operations[compared]), "c2 [5ns,6ns] put c if 7 -> refused");
  EXPECT_EQ(check(operations), "");
}

// A register with clients whose calls overlap, and answers that get lost: what an honest store would say, by a seed.
std::vector<Operation> honest(std::uint64_t seed, int clients, int rounds) {
  struct Register {
    std::optional<std::string> value;
    Revision created, modified;
  } now;
  Rng rng(seed);
  Revision revision(1);
  std::vector<Operation> all;
  std::vector<std::int64_t> free(static_cast<std::size_t>(clients));  // when a client calls next
  std::vector<std::pair<std::int64_t, Operation>> late;               // unknown writes that take effect later
  Revision seen;
  const auto write = [&](Operation& one) {
    if (one.expected && *one.expected != (now.value ? now.modified : Revision())) return false;
    if (!one.value && !now.value) return one.modified = revision, true;
    ++revision;
    if (one.value && !now.value) now.created = revision;
    now.value = one.value;
    one.modified = now.modified = revision;
    return true;
  };
  for (int i = 0; i < rounds; ++i) {
    const auto client = rng.below(free.size());
    const std::int64_t effect = 10 * (i + 1);
    Operation one{.client = static_cast<int>(client), .key = "/k"};
    if (effect <= free[client]) continue;
    one.called = at(rng.between(free[client] + 1, effect));
    one.answered = at(effect + rng.between(0, 40));
    free[client] = one.answered.time_since_epoch().count();
    std::erase_if(late, [&](auto& pending) { return pending.first < effect && (write(pending.second), true); });
    const auto dice = rng.below(10);
    one.kind = dice < 4 ? Kind::read : Kind::write;
    one.outcome = Outcome::done;
    if (dice < 4) {
      one.value = now.value;
      if (now.value) one.created = now.created, seen = one.modified = now.modified;
      all.push_back(one);
      continue;
    }
    if (dice < 9) one.value = fmt::format("v{}", i);
    if (dice < 7) one.expected = rng.chance(1, 4) ? Revision() : seen;
    if (rng.chance(1, 12)) {
      one.outcome = Outcome::unknown;
      all.push_back(one);
      all.back().answered = Instant::max();
      if (rng.chance(2, 3)) late.emplace_back(effect + rng.between(0, 100), one);
      continue;
    }
    if (!write(one)) one.outcome = Outcome::refused;
    all.push_back(one);
  }
  return all;
}

TEST(History, HonestHistoriesAreExplained) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto operations = honest(seed, 5, 100);
    ASSERT_EQ(check(operations), "") << "seed " << seed;
  }
  ASSERT_EQ(check(honest(1, 8, 1000)), "");
}

// One read of an honest history is made older than the write before it was called: always found.
TEST(History, OneStaleReadIsFound) {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    auto operations = honest(seed, 4, 80);
    for (Operation& read : operations) {
      if (read.kind != Kind::read) continue;
      const Operation* old = nullptr;
      for (const Operation& write : operations) {
        const bool overwritten = std::ranges::any_of(operations, [&](const Operation& other) {
          return other.kind == Kind::write && other.outcome == Outcome::done && other.value && other.called > write.answered &&
                 other.answered < read.called && other.modified > write.modified;
        });
        if (write.kind == Kind::write && write.outcome == Outcome::done && write.value && overwritten) old = &write;
      }
      if (old == nullptr) continue;
      read.value = old->value;
      read.modified = read.created = old->modified;
      ++tried;
      EXPECT_NE(check(operations), "") << "seed " << seed;
      break;
    }
  }
  EXPECT_GT(tried, 200);
}

}  // namespace
}  // namespace evenkeel::test
