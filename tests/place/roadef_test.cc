// The public yardstick's own parts: its files, its judge, and a small instance from end to end.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <string>

#include "bench/roadef_model.h"

#include "evenkeel/base/file.h"

namespace roadef {
namespace {

using namespace evenkeel;

std::string text_of(const std::string& name) {
  const auto text = read_file(fmt::format("{}/place/data/{}", EVENKEEL_TESTS_DIR, name), Bytes(1 << 20));
  return text ? *text : fmt::format("{}", text.error());
}

Model tiny() { return *parse_model(text_of("tiny_model.txt"), "tiny_model.txt"); }

std::string model_error(const std::string& text) {
  const auto model = parse_model(text, "m.txt");
  return model ? "no error" : model.error().message;
}

TEST(RoadefFiles, AreReadAndSayWhereTheyAreWrong) {
  const Model model = tiny();
  EXPECT_EQ(model.machines.size(), 3u);
  EXPECT_EQ(model.processes[2].needs, (std::vector<Amount>{7, 9}));
  EXPECT_EQ(model.services[1].depends_on, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(model_error(""), "m.txt: token 1: the file ends here; expected the number of resources");
  EXPECT_EQ(model_error("1\n2 5"), "m.txt: token 2: expected whether a resource is transient, 0 or 1 from 0 to 1, found 2");
  EXPECT_EQ(model_error("1 0 5x"), "m.txt: token 3: expected a resource's weight, found '5x'");
  EXPECT_EQ(model_error("1 0 5 1 0 0 -3"), "m.txt: token 7: expected a capacity from 0 to 1099511627776, found -3");
  EXPECT_EQ(model_error("9999999 0"),
            "m.txt: token 1: expected the number of resources, found 9999999, more than the file has bytes");
  EXPECT_EQ(model_error("99999999999999999999"),
            "m.txt: token 1: expected the number of resources, found '99999999999999999999'");
  EXPECT_EQ(model_error(text_of("tiny_model.txt") + " 7"), "m.txt: token 65: expected the end of the model");
}

TEST(RoadefFiles, EveryTextThatEndsEarlyIsAnError) {
  const std::string text = text_of("tiny_model.txt");
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    if (text[size] != ' ' && text[size] != '\n') continue;
    EXPECT_FALSE(parse_model(text.substr(0, size), "m.txt").has_value()) << size;
  }
}

TEST(RoadefFiles, AssignmentsHaveAMachineForEachProcess) {
  const Model model = tiny();
  const auto error = [&](const std::string& text) {
    const auto found = parse_assignment(text, "a.txt", model);
    return found ? "no error" : found.error().message;
  };
  EXPECT_EQ(error("0 1 0"), "a.txt: token 4: the file ends here; expected a process's machine");
  EXPECT_EQ(error("0 1 0 3"), "a.txt: token 4: expected a process's machine from 0 to 2, found 3");
  EXPECT_EQ(error("0 1 0 1 1"), "a.txt: token 5: expected the end of the assignment, one machine for each process of the model");
  const auto read = parse_assignment("0 1\n0\t1", "a.txt", model);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(parse_assignment(format_assignment(*read), "a.txt", model), read);
}

// Machine 0 holds 15 of 10 safe units at 5 each and 13 of 12 at 2 each; machine 1 has 12 units free of the first resource and 11 of
// the second.
TEST(RoadefJudge, AddsUpTheFiveCosts) {
  const Model model = tiny();
  const Assignment start = {0, 1, 0, 1};
  EXPECT_EQ(evaluate(model, start, start).objective, 5 * 5 + 2 * 1 + 1);
  EXPECT_EQ(lower_bound(model), 0);
  // Processes 2 and 3 change places: 1 + 4 for them, 2 for two moves of one service, 2 + 2 between machines; machine 1 has 7 and 5 free.
  const auto verdict = evaluate(model, start, {0, 1, 1, 0});
  EXPECT_EQ(verdict.objective, 5 * 3 + 2 * 3 + 2 + (4 + 1) + 2 + (2 + 2));
  EXPECT_EQ(verdict.violations, std::vector<std::string>{});
}

TEST(RoadefJudge, NamesWhatIsBroken) {
  const Model model = tiny();
  const Assignment start = {0, 1, 0, 1};
  const auto broken = [&](const Assignment& end) { return evaluate(model, start, end).violations; };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(broken({2, 1, 0, 1}), Texts{});
  EXPECT_EQ(broken({0, 1, 2, 1}), Texts{"service 1 is in a neighbourhood without service 0"});
  EXPECT_EQ(broken({0, 1, 0, 0}), Texts{"service 1 has two processes on one machine"});
  EXPECT_EQ(broken({0, 2, 0, 1}), Texts{"service 0 is in 1 locations of 2"});
  EXPECT_EQ(broken({2, 1, 2, 1}), Texts{"machine 2 holds 15 + 0 of resource 0, and has 12"});
  // The second resource of machine 0 is held by who leaves it: 4 + 9 of processes 0 and 2, on top of the 6 + 3 that come.
  EXPECT_EQ(broken({1, 0, 1, 0}),
            (Texts{"machine 0 holds 9 + 13 of resource 1, and has 20", "machine 1 holds 13 + 9 of resource 1, and has 20"}));
}

TEST(RoadefTiny, TheSearchFindsWhatTryingAllDoes) {
  const Model model = tiny();
  const auto start = parse_assignment(text_of("tiny_assignment.txt"), "tiny_assignment.txt", model);
  ASSERT_TRUE(start.has_value());
  Amount least = std::numeric_limits<Amount>::max();
  for (std::uint32_t i = 0; i < 81; ++i) {
    const auto verdict = evaluate(model, *start, {i % 3, i / 3 % 3, i / 9 % 3, i / 27});
    if (verdict.violations.empty()) least = std::min(least, verdict.objective);
  }
  const Instance instance(model, *start);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    place::State state(instance.problem);
    Rng rng(seed);
    place::improve(state, rng, {.budget = 5000});
    const auto verdict = evaluate(model, *start, instance.assignment(state));
    EXPECT_EQ(verdict.violations, std::vector<std::string>{});
    EXPECT_EQ(verdict.objective, least) << "seed " << seed;
    EXPECT_EQ(state.whole(), place::Cost::of(place::Cost::level, static_cast<double>(verdict.objective)));
  }
}

TEST(RoadefMade, ShapesAreReadAndWrongOnesSaid) {
  const auto shape = parse_shape("10x200x3");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(std::tuple(shape->machines, shape->processes, shape->resources, shape->slack), std::tuple(10u, 200u, 3u, 25u));
  EXPECT_EQ(parse_shape("10x200x3x5")->slack, 5u);
  for (const char* wrong : {"", "10", "10x200", "10x200x", "10x200x3x", "10x200x3x5x1", "0x200x3", "10x0x3", "10x200x0",
                            "ax200x3", "10x-2x3", "10x200x3 ", "99999x200x3", "10x200x65", "10x99999999999x3"}) {
    EXPECT_FALSE(parse_shape(wrong).has_value()) << wrong;
  }
}

TEST(RoadefMade, TheEngineAndTheJudgeAgree) {
  EXPECT_TRUE(rc::check("for every seed", [](std::uint64_t seed) {
    Rng rng(seed);
    const auto made = make_instance(seed, {.machines = static_cast<std::uint32_t>(rng.between(2, 15)),
                                           .processes = static_cast<std::uint32_t>(rng.between(1, 80)),
                                           .resources = static_cast<std::uint32_t>(rng.between(1, 5)),
                                           .slack = static_cast<std::uint32_t>(rng.between(0, 50))});
    const auto text = format_model(made.model);
    const auto again = parse_model(text, "made.txt");
    RC_ASSERT(again.has_value());
    RC_ASSERT(format_model(*again) == text);
    RC_ASSERT(evaluate(*again, made.start, made.start).objective == evaluate(made.model, made.start, made.start).objective);
    const auto at_start = evaluate(made.model, made.start, made.start);
    RC_ASSERT(at_start.violations.empty());
    const Instance instance(made.model, made.start);
    place::State state(instance.problem);
    RC_ASSERT(instance.assignment(state) == made.start);
    place::improve(state, rng, {.budget = 5000, .manner = seed % 2 == 0 ? place::Manner::bold : place::Manner::thrifty});
    const auto verdict = evaluate(made.model, made.start, instance.assignment(state));
    RC_ASSERT(verdict.violations.empty());
    RC_ASSERT(verdict.objective <= at_start.objective);
    RC_ASSERT(verdict.objective >= lower_bound(made.model));
    RC_ASSERT(state.whole().tiers[place::Cost::level] == static_cast<double>(verdict.objective));
  }));
}

}  // namespace
}  // namespace roadef
