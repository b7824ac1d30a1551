// No node receives what would take it above a limit, neither in the end nor at the peak on the way there.

#include "evenkeel/place/detail/above.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class Limits : public Term {
 public:
  explicit Limits(const Problem& problem) : nothing_(problem.width()), all_(problem.width(), ~Amount{0}) {
    for (const Dimension& dimension : problem.dimensions) not_held_.push_back(dimension.held ? 0 : ~Amount{0});
  }
  std::string_view name() const override { return "limits"; }

  void reset(const State& state) override {
    const Problem& problem = state.problem();
    room_ = problem.limit;
    overfull_.assign(problem.nodes, 0);
    for (std::uint32_t node = 0; node < problem.nodes; ++node) {
      for (std::size_t d = 0; d < problem.width(); ++d) room_[node * problem.width() + d] -= state.peak(node)[d];
      look(node);
    }
  }
  void settle(const State& state) override { reset(state); }

  void apply(const State& state, const Trial& trial) override {
    for (std::size_t i = 0; i < trial.touched(); ++i) {
      const Trial::Touched touched = trial.touched(i);
      Amount* room = room_.data() + touched.node * state.problem().width();
      for (std::size_t d = 0; d < touched.peak.size(); ++d) room[d] -= touched.peak[d];
      look(touched.node);
    }
  }

  bool allows(const State& state, const Trial& trial) const override {
    const auto steps = trial.steps();
    if (!trial.plain()) return allows_sums(state, trial);
    if (steps.size() == 2) {
      return fits(state, steps[0].to, steps[0].replica, steps[1].replica) &&
             fits(state, steps[1].to, steps[1].replica, steps[0].replica);
    }
    return steps[0].to == none || fits(state, steps[0].to, steps[0].replica, none);
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
        if (more > 0 && held + more > limit) return why_above(problem, node, d, held, more);
      }
    }
    return {};
  }

 private:
  // Shifts and swaps are most of what is ever asked, and most of them are refused here: nothing is added up for them, and there is no
  // branch but at the end, since nobody could foresee it. One that comes home is in the peak there already, and one that leaves its home
  // stays in it. Refused is what adds something and more than there is room for: both differences are negative.
  bool fits(const State& state, std::uint32_t node, std::uint32_t in, std::uint32_t out) const {
    const Problem& problem = state.problem();
    const std::size_t width = nothing_.size();
    const Amount* room = room_.data() + node * width;
    const Amount* coming = problem.loads.data() + problem.replica_load[in] * width;
    const bool in_home = state.home(in) == node;
    Amount refused = 0;
    if (out == none && !in_home) {
      for (std::size_t d = 0; d < width; ++d) refused |= (room[d] - coming[d]) & -coming[d];
      return refused >= 0;  // usage is never above the peak
    }
    const Amount* leaving = out == none ? nothing_.data() : problem.loads.data() + problem.replica_load[out] * width;
    const Amount* in_counts = in_home ? not_held_.data() : all_.data();
    const Amount* out_counts = out != none && state.home(out) == node ? not_held_.data() : all_.data();
    for (std::size_t d = 0; d < width; ++d) {
      const Amount more = (coming[d] & in_counts[d]) - (leaving[d] & out_counts[d]);
      refused |= (room[d] - more) & -more;
    }
    return refused >= 0 && (overfull_[node] == 0 || usage_fits(state, node, coming, leaving));
  }

  // Where the peak is above the limit already, usage may still be below it. Elsewhere the peak has said it all.
  bool usage_fits(const State& state, std::uint32_t node, const Amount* coming, const Amount* leaving) const {
    const std::size_t width = nothing_.size();
    const Amount* usage = state.usage(node).data();
    const Amount* limit = state.problem().limit.data() + node * width;
    for (std::size_t d = 0; d < width; ++d) {
      const Amount more = coming[d] - leaving[d];
      if (room_[node * width + d] < 0 && more > 0 && usage[d] + more > limit[d]) return false;
    }
    return true;
  }

  void look(std::uint32_t node) {
    const Amount* room = room_.data() + node * nothing_.size();
    Amount least = 0;
    for (std::size_t d = 0; d < nothing_.size(); ++d) least |= room[d];
    overfull_[node] = least < 0 ? 1 : 0;
  }

  static bool allows_sums(const State& state, const Trial& trial) {
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

  std::vector<Amount> nothing_;  // the load of nobody
  std::vector<Amount> all_,
      not_held_;              // by dimension, all bits or none: what counts in the peak of somebody from elsewhere, and at home
  std::vector<Amount> room_;  // nodes × dimensions: the limit without the peak
  std::vector<std::uint8_t> overfull_;  // by node: 1 if some room is less than nothing
};

}  // namespace

Made make_limits(const Problem& problem) { return problem.limit.empty() ? nullptr : std::make_unique<Limits>(problem); }

}  // namespace evenkeel::place::detail
