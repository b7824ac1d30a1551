// The stories of place: one file per rule. Commands, each with a cluster file as input:
//   plan [option…]      the plan as short text (plan_text.h): rows, moves, leaders, cancelled, refused, violations
//   summary [option…]   the same without rows: what each node holds and leads in the end
//   stats [option…]     moves, their floor, and how level each resource is
//   next [option…]      the cluster once the plan is carried out, as a file
// Options: seed=N budget=N only=allocate|repair|balance force all cores.
// Every plan goes before the judge, and is planned again from where it ends. What either finds fails the test, whatever is expected.

#include <gtest/gtest.h>

#include <charconv>

#include "evenkeel/model/cluster_file.h"
#include "tests/place/judge.h"
#include "tests/place/plan_text.h"
#include "tests/story/story.h"

namespace evenkeel::place {
namespace {

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(end.ec == std::errc() && end.ptr == text.data() + text.size()) << "not a number: " << text;
  return value;
}

Only only(std::string_view text) {
  if (text == "allocate") return Only::allocate;
  if (text == "repair") return Only::repair;
  EXPECT_EQ(text, "balance");
  return Only::balance;
}

PlanOptions parse_options(const std::vector<std::string>& args) {
  PlanOptions options;
  for (const std::string_view arg : args) {
    if (arg.starts_with("seed=")) {
      options.seed = number(arg.substr(5));
    } else if (arg.starts_with("budget=")) {
      options.budget = number(arg.substr(7));
    } else if (arg.starts_with("only=")) {
      options.only = only(arg.substr(5));
    } else if (arg == "force" || arg == "all" || arg == "cores") {
      (arg == "force" ? options.force : arg == "all" ? options.all : options.cores) = true;
    } else {
      ADD_FAILURE() << "unknown option " << arg;
    }
  }
  return options;
}

std::string stats_text(const Plan& plan) {
  std::string out = fmt::format("moves {}, at least {}{}\n", plan.stats.moves, plan.stats.moves_floor,
                                plan.stats.cut_short ? ", cut short" : "");
  for (const auto& [resource, balance] : plan.stats.balance)
    out += fmt::format("{}: max over mean {:.4f}, floor {:.4f}\n", resource, balance.max_over_mean, balance.floor);
  return out;
}

// What is wrong with a plan, if anything.
std::vector<std::string> verdict(const Cluster& cluster, const Plan& plan, const PlanOptions& options) {
  std::vector<std::string> found = judge(cluster, plan, options);
  if (place::plan(cluster, options) != plan) found.emplace_back("the same problem gives another plan");
  // A run that was cut short goes on; shards with a move in flight were left alone; what was refused may find room that was freed.
  if (plan.stats.cut_short || options.only != Only::everything || !cluster.moving.empty() || !plan.refused.empty()) return found;
  const Cluster next = apply(cluster, plan);
  for (const evenkeel::Problem& problem : check(next)) found.push_back("the next problem: " + problem.message);
  const Plan second = place::plan(next, options);
  if (!second.moves.empty() || !second.leaders.empty())
    found.push_back(fmt::format("a second run changes this:\n{}", plan_text(next, second)));
  return found;
}

std::string handle(const story::Block& block) {
  const auto cluster = parse_cluster(block.input, "c.yaml");
  if (!cluster) return cluster.error().format();
  const PlanOptions options = parse_options(block.args);
  const Plan plan = place::plan(*cluster, options);
  for (const std::string& found : verdict(*cluster, plan, options)) ADD_FAILURE() << "line " << block.line << ": " << found;
  if (block.command == "plan") return plan_text(*cluster, plan);
  if (block.command == "summary") return plan_summary(*cluster, plan);
  if (block.command == "stats") return stats_text(plan);
  if (block.command == "next") return format_cluster(apply(*cluster, plan), Syntax::yaml);
  return "unknown command " + block.command;
}

TEST(Place, Stories) {
  story::run_folder("place/stories", [] { return handle; });
}

}  // namespace
}  // namespace evenkeel::place
