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

std::string write_range(const Numbered& first, std::uint64_t count) {
  const auto width = first.padded ? first.digits : 0;
  return fmt::format("{}[{:0{}}-{:0{}}]", first.prefix, first.number, width, first.number + count - 1, width);
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

// One part of the zone paths of a run: a wheel that shows the same throughout, or counts up and starts again.
struct Wheel {
  std::string_view first;
  std::optional<Numbered> numbered;  // its first value, if that ends in a number
  std::uint64_t turn = 0;            // where it stands
  std::uint64_t period = 0;          // after how many turns it starts again; 0: it has not yet

  // How far `part` is from the first value; nothing if no range leads there.
  std::optional<std::uint64_t> turns_to(std::string_view part) const {
    if (part == first) return 0;
    const auto next = numbered ? split_number(part) : std::nullopt;
    if (!next || next->number < numbered->number) return std::nullopt;
    const auto turns = next->number - numbered->number;
    return counts_on(*numbered, part, turns) ? std::optional(turns) : std::nullopt;
  }
  // The wheel turns once and must then show `part`. Whether it does; `again` says that it started again, so the next wheel turns too.
  bool advance(std::string_view part, bool& again) {
    const auto shown = turns_to(part);
    if (!shown) return false;
    if (period == 0 && *shown == 0) period = turn + 1;
    turn = period != 0 ? (turn + 1) % period : turn + 1;
    again = turn == 0;
    return *shown == turn;
  }
  std::string pattern() const {
    const auto values = period != 0 ? period : turn + 1;
    return values == 1 ? std::string(first) : write_range(*numbered, values);
  }
};

// The zones of a run, node by node: the first wheel turns at every node, each other when the one before it starts again.
class Zones {
 public:
  explicit Zones(std::string_view zone) {
    for (const auto part : parts_of(zone)) wheels_.push_back({part, split_number(part)});
  }
  // Whether the next node's zone is the one that is dealt next. False leaves the wheels useless.
  bool advance(std::string_view zone) {
    const auto parts = parts_of(zone);
    if (parts.size() != wheels_.size()) return false;
    bool turns = true;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (turns ? !wheels_[i].advance(parts[i], turns) : wheels_[i].turns_to(parts[i]) != wheels_[i].turn) return false;
    }
    return true;
  }
  std::string pattern() const {
    std::string out;
    for (const Wheel& wheel : wheels_) out += (&wheel == &wheels_.front() ? "" : "/") + wheel.pattern();
    return out;
  }

 private:
  std::vector<Wheel> wheels_;
};

}  // namespace

Fold fold_first(std::span<const Node> nodes) {
  const Node& first = nodes.front();
  const auto numbered = split_number(first.name.str());
  Zones zones(first.zone);
  std::size_t count = 1;
  while (numbered && count < nodes.size() && same_but_for_name_and_zone(first, nodes[count]) &&
         counts_on(*numbered, nodes[count].name.str(), count)) {
    Zones next = zones;
    if (!next.advance(nodes[count].zone)) break;
    zones = std::move(next);
    ++count;
  }
  if (count < run_min) return {1, first.name.str(), first.zone};
  return {count, write_range(*numbered, count), zones.pattern()};
}

}  // namespace evenkeel::detail
