// Soft spread: as many domains as possible. Costs one for every domain too few.

#include "evenkeel/place/detail/spread_count.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class SoftSpread : public Term {
 public:
  std::string_view name() const override { return "spread"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    double sum = 0;
    for_groups(state.problem(), trial, [&](std::uint32_t group) {
      if (!count_.minds(state.problem(), group)) return;
      sum += static_cast<double>(count_.short_after(state, trial, group)) - static_cast<double>(count_.short_of(state, group));
    });
    total.tiers[Cost::spread] += sum;
  }

  Cost whole(const State& state) const override {
    double sum = 0;
    for (std::uint32_t group = 0; group < state.problem().groups(); ++group) {
      if (count_.minds(state.problem(), group)) sum += static_cast<double>(count_.short_of(state, group));
    }
    return Cost::of(Cost::spread, sum);
  }

  void apply(const State& state, const Trial& trial) override { count_.apply(state, trial); }
  void reset(const State& state) override { count_.reset(state); }
  void grow(const State&, std::uint32_t) override {}  // groups that it has not counted are looked through

 private:
  SpreadCount count_{false};
};

}  // namespace

Made make_soft_spread(const Problem& problem) {
  for (const Family& family : problem.families) {
    if (!family.spread_hard && family.partition != none) return std::make_unique<SoftSpread>();
  }
  return nullptr;
}

}  // namespace evenkeel::place::detail
