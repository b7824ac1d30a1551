// Hard spread: a group's replicas lie in at least so many domains, or in as many as there are replicas.

#include <fmt/format.h>

#include "evenkeel/place/detail/spread_count.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class HardSpread : public Term {
 public:
  std::string_view name() const override { return "spread"; }

  bool allows(const State& state, const Trial& trial) const override {
    bool holds = true;
    for_groups(state.problem(), trial, [&](std::uint32_t group) {
      if (!holds || !count_.minds(state.problem(), group)) return;
      const std::uint32_t after = count_.short_after(state, trial, group);
      holds = after == 0 || after <= count_.short_of(state, group);
    });
    return holds;
  }

  std::string why_not(const State& state, std::uint32_t replica, std::uint32_t node) const override {
    if (state.at(replica) == node) return {};
    Trial trial(state);
    return allows(state, trial.shift(replica, node)) ? "" : "a replica of this shard is in its domain";
  }

  void apply(const State& state, const Trial& trial) override { count_.apply(state, trial); }
  void reset(const State& state) override { count_.reset(state); }
  void grow(const State&, std::uint32_t) override {}  // groups that it has not counted are looked through

 private:
  SpreadCount count_{true};
};

}  // namespace

Made make_hard_spread(const Problem& problem) {
  for (const Family& family : problem.families) {
    if (family.spread_hard && family.partition != none) return std::make_unique<HardSpread>();
  }
  return nullptr;
}

}  // namespace evenkeel::place::detail
