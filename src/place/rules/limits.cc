// No node receives what would take it above a limit, neither in the end nor at the peak on the way there.

#include <fmt/format.h>

#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

// Parts of a capacity as people read them, rounded so that what is above a limit never looks as if it were not: "95.2%".
std::string percent(Amount amount, Amount capacity) {
  const double value = capacity <= 0 ? 0 : 100.0 * static_cast<double>(amount) / static_cast<double>(capacity);
  return fmt::format("{:.4g}%", value);
}

class Limits : public Term {
 public:
  std::string_view name() const override { return "limits"; }

  bool allows(const State& state, const Trial& trial) const override {
    const Problem& problem = state.problem();
    const std::size_t width = problem.width();
    for (std::size_t i = 0; i < trial.touched(); ++i) {
      const Trial::Touched touched = trial.touched(i);
      const Amount* limit = problem.limit.data() + touched.node * width;
      const Amount* usage = state.usage(touched.node).data();
      const Amount* peak = state.peak(touched.node).data();
      for (std::size_t d = 0; d < width; ++d) {
        if (touched.usage[d] > 0 && usage[d] + touched.usage[d] > limit[d]) return false;
        if (touched.peak[d] > 0 && peak[d] + touched.peak[d] > limit[d]) return false;
      }
    }
    return true;
  }

  std::string why_not(const State& state, std::uint32_t replica, std::uint32_t node) const override {
    const Problem& problem = state.problem();
    Trial trial(state);
    if (state.at(replica) == node) return {};
    trial.shift(replica, node);
    for (std::size_t i = 0; i < trial.touched(); ++i) {
      const Trial::Touched touched = trial.touched(i);
      if (touched.node != node) continue;
      for (std::size_t d = 0; d < problem.width(); ++d) {
        const Amount limit = problem.limit[node * problem.width() + d];
        // A replica that comes home is in the peak there already.
        const bool by_peak = touched.peak[d] > 0;
        const Amount held = by_peak ? state.peak(node)[d] : state.usage(node)[d];
        const Amount more = by_peak ? touched.peak[d] : touched.usage[d];
        if (more <= 0 || held + more <= limit) continue;
        const Dimension& dimension = problem.dimensions[d];
        if (dimension.counts) return fmt::format("{} {}+{} > {}", dimension.name, held, more, limit);
        const Amount capacity = problem.capacity[node * problem.width() + d];
        return fmt::format("{} {}+{} > {}", dimension.name, percent(held, capacity), percent(more, capacity),
                           percent(limit, capacity));
      }
    }
    return {};
  }
};

}  // namespace

Made make_limits(const Problem& problem) { return problem.limit.empty() ? nullptr : std::make_unique<Limits>(); }

}  // namespace evenkeel::place::detail
