#include "evenkeel/model/detail/range.h"

#include "evenkeel/base/text.h"

namespace evenkeel::detail {
namespace {

constexpr std::size_t digits_max = 15;  // 10^15 fits 64 bits with room for a count
constexpr std::size_t brackets_max = 8;

bool digits(std::string_view text) {
  return !text.empty() && text.size() <= digits_max && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Result<Range> Range::parse(std::string_view text, std::uint64_t most) {
  const auto wrong = [&](std::string_view what) {
    return fail(Code::invalid, "{} is not a range: {}; write for example w[1-100]", quote(text), what);
  };
  Range range;
  auto rest = text;
  for (auto open = rest.find('['); open != std::string_view::npos; open = rest.find('[')) {
    const auto close = rest.find(']', open);
    if (close == std::string_view::npos) return wrong("a bracket is not closed");
    if (range.counters_.size() == brackets_max) return wrong("it has too many brackets");
    const auto inside = rest.substr(open + 1, close - open - 1);
    const auto dash = inside.find('-');
    const auto low = inside.substr(0, dash), high = dash == std::string_view::npos ? low : inside.substr(dash + 1);
    if (!digits(low) || !digits(high)) return wrong("brackets hold two numbers of at most 15 digits with a dash between");
    const bool padded = low.size() > 1 && low[0] == '0';
    if (padded && low.size() != high.size()) return wrong("with leading zeros both numbers have the same number of digits");
    if (!padded && high.size() > 1 && high[0] == '0') return wrong("only the second number has leading zeros");
    const auto first = *parse_unsigned(low), last = *parse_unsigned(high);
    if (first > last) return wrong("the first number is larger than the second");
    const auto count = last - first + 1;
    if (count > most / range.size_) return fail(Code::too_large, "{} stands for more than {} names", quote(text), most);
    range.size_ *= count;
    range.texts_.back() = rest.substr(0, open);
    range.texts_.emplace_back();
    range.counters_.push_back({first, count, padded ? low.size() : 0});
    rest.remove_prefix(close + 1);
  }
  if (text.find(']') != std::string_view::npos && range.counters_.empty()) return wrong("a bracket is not opened");
  range.texts_.back() = rest;
  return range;
}

std::string Range::at(std::uint64_t position, Order order) const {
  std::vector<std::uint64_t> turns(counters_.size());
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    const std::size_t which = order == Order::first_fastest ? i : counters_.size() - 1 - i;
    turns[which] = position % counters_[which].count;
    position /= counters_[which].count;
  }
  std::string out;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    out += texts_[i];
    out += fmt::format("{:0{}}", counters_[i].first + turns[i], counters_[i].width);
  }
  return out + texts_.back();
}

std::optional<Numbered> split_number(std::string_view text) {
  const auto last_other = text.find_last_not_of("0123456789");
  const auto start = last_other == std::string_view::npos ? 0 : last_other + 1;
  const auto number = text.substr(start);
  if (!digits(number)) return std::nullopt;
  return Numbered{text.substr(0, start), *parse_unsigned(number), number.size(), number.size() > 1 && number[0] == '0'};
}

}  // namespace evenkeel::detail
