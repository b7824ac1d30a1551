#include "evenkeel/cli/progress.h"

#include <algorithm>
#include <utility>

namespace evenkeel::cli {
namespace {

constexpr std::size_t bar_width = 30, bar_width_least = 10;

}  // namespace

std::string bar_of(Part part, const std::string& words, std::size_t columns) {
  const std::size_t beside = width_of(words) + 3;  // brackets and a space
  const std::size_t width = std::min(bar_width, columns - std::min(columns, beside));
  if (width < bar_width_least) return cut(words, columns);
  const std::uint64_t done = std::min(part.done, part.all);
  const std::size_t filled = part.all == 0 ? width : static_cast<std::size_t>(done * width / part.all);
  return fmt::format("[{:#<{}}{:.<{}}] {}", "", filled, "", width - filled, words);
}

void Progress::tell(Part part, const std::string& words) {
  if (std::exchange(told_, words) == words) return;
  const auto screen = outside_.screen(Outside::Stream::err);
  if (!screen) return session_.io.err(words + '\n');
  // The last column stays free: some terminals wrap when it is written.
  session_.io.err(fmt::format("\r\033[K{}", bar_of(part, words, screen->columns - std::min<std::size_t>(screen->columns, 1))));
  session_.open_line = true;
}

}  // namespace evenkeel::cli
