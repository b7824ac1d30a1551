#include "evenkeel/model/detail/fold.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "evenkeel/model/detail/range.h"

namespace evenkeel::detail {
namespace {

constexpr std::size_t run_min = 3;

bool same_but_for_name_and_zone(const Node& a, const Node& b) {
  const auto rest = [](const Node& n) {
    return std::tie(n.cores, n.capacity, n.used, n.power, n.labels, n.taints, n.status, n.replicas_max, n.soft_limit,
                    n.hard_limit, n.leaders);
  };
  return rest(a) == rest(b);
}

// Whether `next` is the name that counting on from `first` by `steps` gives, under the width that `first` would fix.
bool counts_on(const Numbered& first, std::string_view next_name, std::uint64_t steps) {
  const auto next = split_number(next_name);
  if (!next || next->prefix != first.prefix || next->number != first.number + steps) return false;
  return first.padded ? next->digits == first.digits : !next->padded;
}

std::vector<std::string_view> parts_of(std::string_view zone) {
  std::vector<std::string_view> parts;
  for (auto slash = zone.find('/'); slash != std::string_view::npos; slash = zone.find('/')) {
    parts.push_back(zone.substr(0, slash));
    zone.remove_prefix(slash + 1);
  }
  parts.push_back(zone);
  return parts;
}

// One part of a zone path over a run of nodes: either the same throughout, or counting up and starting again.
struct Dealt {
  std::string pattern;
  std::uint64_t period = 1;  // how many different values, one after another, before it starts again
};

// What the part at `depth` does when it turns once every `stride` nodes. Nothing if no range says it.
std::optional<Dealt> deal(std::span<const Node> run, std::size_t depth, std::uint64_t stride) {
  const auto at = [&](std::size_t i) { return parts_of(run[i].zone)[depth]; };
  const auto first = at(0);
  std::uint64_t period = 1;
  while (period * stride < run.size() && at(period * stride) != first) ++period;
  const auto numbered = split_number(first);
  if (period > 1 && !numbered) return std::nullopt;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const auto turn = (i / stride) % period;
    if (period == 1 ? at(i) != first : !counts_on(*numbered, at(i), turn)) return std::nullopt;
  }
  if (period == 1) return Dealt{std::string(first), 1};
  return Dealt{fmt::format("{}[{:0{}}-{:0{}}]", numbered->prefix, numbered->number, numbered->padded ? numbered->digits : 0,
                           numbered->number + period - 1, numbered->padded ? numbered->digits : 0),
               period};
}

std::optional<std::string> zone_pattern(std::span<const Node> run) {
  const auto depth = parts_of(run[0].zone).size();
  const auto as_deep = [&](const Node& node) { return parts_of(node.zone).size() == depth; };
  if (!std::ranges::all_of(run, as_deep)) return std::nullopt;
  std::string pattern;
  std::uint64_t stride = 1;
  for (std::size_t i = 0; i < depth; ++i) {
    const auto dealt = deal(run, i, stride);
    if (!dealt) return std::nullopt;
    pattern += (i == 0 ? "" : "/") + dealt->pattern;
    stride *= dealt->period;
  }
  return pattern;
}

}  // namespace

Fold fold_first(std::span<const Node> nodes) {
  const Node& first = nodes.front();
  Fold alone{1, first.name.str(), first.zone};
  const auto numbered = split_number(first.name.str());
  if (!numbered) return alone;
  std::size_t count = 1;
  while (count < nodes.size() && same_but_for_name_and_zone(first, nodes[count]) &&
         counts_on(*numbered, nodes[count].name.str(), count))
    ++count;
  // Halving keeps this linear where the zones follow no pattern; a long run that breaks in the middle is folded in pieces.
  for (; count >= run_min; count /= 2) {
    const auto zone = zone_pattern(nodes.first(count));
    if (!zone) continue;
    const auto width = numbered->padded ? numbered->digits : 0;
    return {count,
            fmt::format("{}[{:0{}}-{:0{}}]", numbered->prefix, numbered->number, width, numbered->number + count - 1, width),
            *zone};
  }
  return alone;
}

}  // namespace evenkeel::detail
