// Logs are runs of one epoch; held against plain vectors that have one epoch for each position.

#include "evenkeel/sim/write_log.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "evenkeel/base/rng.h"

namespace evenkeel::sim {
namespace {

using Plain = std::vector<std::uint64_t>;

Plain plain(const WriteLog& log) {
  Plain out;
  for (std::uint64_t position = 1; position <= log.length(); ++position) out.push_back(log.epoch_at(position)->value());
  return out;
}

// Few epochs and short runs, so that two of them often begin alike.
Plain draw(Rng& rng) {
  Plain out;
  std::uint64_t epoch = 1;
  for (std::uint64_t runs = rng.below(5); runs > 0; --runs) {
    epoch += rng.below(3);
    out.insert(out.end(), rng.below(4), epoch);
  }
  return out;
}

WriteLog log_of(const Plain& plain) {
  WriteLog log;
  for (const std::uint64_t epoch : plain) log.append(Epoch(epoch));
  return log;
}

bool is_tidy(const WriteLog& log) {
  std::uint64_t before = 0;
  Epoch last;
  for (const auto& run : log.runs()) {
    if (run.end <= before || run.epoch <= last) return false;
    before = run.end;
    last = run.epoch;
  }
  return true;
}

TEST(WriteLog, SaysWhatItHas) {
  WriteLog log;
  EXPECT_TRUE(log.empty());
  log.append(Epoch(1), 12);
  log.append(Epoch(4), 3);
  EXPECT_EQ(log.length(), 15U);
  EXPECT_EQ(format(log), "1×12 4×3");
  EXPECT_EQ(log.epoch_at(12), Epoch(1));
  EXPECT_EQ(log.epoch_at(13), Epoch(4));
  EXPECT_EQ(log.epoch_at(0), std::nullopt);
  EXPECT_EQ(log.epoch_at(16), std::nullopt);
}

TEST(WriteLog, IsWhatAPlainListIs) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    const Plain one = draw(rng);
    const WriteLog log = log_of(one);
    RC_ASSERT(plain(log) == one);
    RC_ASSERT(is_tidy(log));

    WriteLog cut = log;
    const std::uint64_t length = rng.below(one.size() + 3);
    cut.truncate(length);
    RC_ASSERT(plain(cut) ==
              Plain(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(length, one.size()))));
    RC_ASSERT(is_tidy(cut));

    const std::uint64_t longer = rng.below(one.size() + 3);
    cut.extend(log, longer);
    const std::uint64_t expected = std::min<std::uint64_t>(std::max(length, longer), one.size());
    RC_ASSERT(plain(cut) == Plain(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(expected)));
    RC_ASSERT(is_tidy(cut));
  }));
}

TEST(WriteLog, SharesWhatPlainListsShare) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    Plain one = draw(rng), other = draw(rng);
    if (rng.chance(1, 2)) {  // a common beginning
      other = one;
      other.resize(rng.below(one.size() + 1));
      const std::uint64_t last = other.empty() ? 1 : other.back();
      other.insert(other.end(), rng.below(4), last + rng.below(3));
    }
    const auto same = static_cast<std::uint64_t>(std::ranges::mismatch(one, other).in1 - one.begin());
    const WriteLog a = log_of(one), b = log_of(other);
    RC_ASSERT(a.common(b) == same);
    RC_ASSERT(b.common(a) == same);
    RC_ASSERT(a.starts_with(b) == (same == other.size()));
    RC_ASSERT((a == b) == (one == other));
  }));
}

}  // namespace
}  // namespace evenkeel::sim
