#pragma once
// Tests on many random problems: one seed each, and a failure that prints its seed and the problem as a cluster file.
//
//   on_seeds("order", 1500, [](Rng& rng) {
//     const Cluster cluster = random_cluster(rng);
//     const Plan plan = place::plan(cluster);
//     EXPLAIN(cluster, PlanOptions{}, plan);
//     EXPECT_...
//   });

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "evenkeel/base/rng.h"
#include "evenkeel/model/cluster_file.h"
#include "evenkeel/place/place.h"
#include "tests/place/plan_text.h"
#include "tests/story/slow_build.h"

namespace evenkeel::place {

// Runs `test` on so many seeds, and stops at the first that fails: one case is enough to work on.
inline void on_seeds(std::string_view name, std::uint64_t seeds, const std::function<void(Rng&)>& test) {
  for (std::uint64_t seed = 0; seed < seeds_of(seeds); ++seed) {
    Rng rng = Rng(seed).split(name);
    SCOPED_TRACE(fmt::format("seed {} of {}", seed, name));
    test(rng);
    if (::testing::Test::HasFailure()) return;
  }
}

inline std::string replay(const Cluster& cluster, const PlanOptions& options) {
  return fmt::format("seed={} budget={} only={} force={} all={} cores={}\n{}", options.seed, options.budget,
                     static_cast<int>(options.only), options.force, options.all, options.cores,
                     format_cluster(cluster, Syntax::yaml));
}
#define EXPLAIN(cluster, options, plan) SCOPED_TRACE(replay(cluster, options) + "----\n" + whole_text(cluster, plan))

// A cluster that has come to rest, or nothing if it does not within a few runs.
inline std::optional<Cluster> settled(Cluster cluster, const PlanOptions& options) {
  for (int run = 0; run < 4; ++run) {
    const Plan plan = place::plan(cluster, options);
    if (!plan.met()) return std::nullopt;
    if (plan.moves.empty() && plan.leaders.empty() && plan.placement == cluster.placement) return cluster;
    cluster = apply(cluster, plan);
  }
  return std::nullopt;
}

}  // namespace evenkeel::place
