#include "evenkeel/place/detail/above.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "evenkeel/base/text.h"

namespace evenkeel::place::detail {
namespace {

constexpr int decimals_min = 2, decimals_max = 6;

// Whether figures with so many decimals are near enough, and add up to more than the limit as a reader adds them: in whole numbers.
bool looks_above(const std::vector<double>& percents, double limit, int decimals) {
  const double unit = std::pow(10, decimals), finest = std::pow(10, decimals_max);
  double sum = 0;
  for (const double percent : percents) {
    const double figure = std::round(percent * unit);
    if (std::abs(figure - percent * unit) > 0.05 * percent * unit) return false;  // 0.005 as 0.01 would be twice as much
    sum += figure;
  }
  return sum * std::round(finest / unit) > std::round(limit * finest);
}

std::string in_percent(std::string_view resource, const std::vector<double>& percents, double limit) {
  int decimals = decimals_min;
  while (decimals < decimals_max && !looks_above(percents, limit, decimals)) ++decimals;
  std::vector<std::string> figures;
  for (const double percent : percents) figures.push_back(format_decimal(percent, decimals) + '%');
  return fmt::format("{} {} > {}%", resource, fmt::join(figures, "+"), format_decimal(limit, decimals_max));
}

std::string has_none(std::string_view resource) { return fmt::format("has no {}", resource); }

}  // namespace

std::string why_above(std::string_view resource, std::initializer_list<Quantity> amounts, Quantity capacity, Ratio limit) {
  if (capacity <= Quantity()) return has_none(resource);
  std::vector<double> percents;
  for (const Quantity amount : amounts) percents.push_back(100 * amount.to_double() / capacity.to_double());
  return in_percent(resource, percents, static_cast<double>(limit.millionths()) / 1e4);
}

std::string why_above(const Problem& problem, std::uint32_t node, std::size_t dimension, Amount held, Amount more) {
  const std::size_t cell = node * problem.width() + dimension;
  const std::string& name = problem.dimensions[dimension].name;
  const Amount limit = problem.limit[cell];
  std::vector<Amount> amounts = {held};
  if (more > 0) amounts.push_back(more);
  if (problem.dimensions[dimension].counts) return fmt::format("{} {} > {}", name, fmt::join(amounts, "+"), limit);
  if (problem.capacity[cell] <= 0) return has_none(name);
  const auto percent = [&](Amount amount) {
    return 100.0 * static_cast<double>(amount) / static_cast<double>(problem.capacity[cell]);
  };
  std::vector<double> percents;
  for (const Amount amount : amounts) percents.push_back(percent(amount));
  return in_percent(name, percents, problem.limit_part.empty() ? percent(limit) : 100 * problem.limit_part[node]);
}

}  // namespace evenkeel::place::detail
