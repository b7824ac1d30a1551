#pragma once
// Throttles: how many copies are under way, by whom, and whether one more may begin. Leadership and seals are never counted.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/control/detail/shard.h"
#include "evenkeel/model/control_spec.h"

namespace evenkeel::control::detail {

struct Copy {
  Slot slot = Slot::recovery;
  std::uint32_t node = 0;
  std::uint32_t workload = 0;
  std::string zone;
  Quantity bytes{0};
  friend bool operator==(const Copy&, const Copy&) = default;
};

class Throttles {
 public:
  using Where = std::pair<std::uint32_t, std::uint32_t>;  // unit, slot

  explicit Throttles(Broken broken) : broken_(broken) {}

  // The copies of a shard that are under way from now on, in place of those before.
  void set(Where where, std::vector<Copy> copies);
  const std::vector<Copy>& of(Where where) const;
  // Whether one more may begin now; then it counts at once, for the same shard may ask for another. If not, the shard is among those who wait; `later` is set if only bytes hold it back.
  bool may_begin(const ControlSettings& settings, Where where, const Copy& copy, Instant now, Instant& later);
  // Those who waited and may be looked at again: recovery first. Each is told once, and waits again if it has to.
  std::vector<Where> take_waiting();
  std::uint32_t under_way() const { return counts_[0].all + counts_[1].all; }
  void forget_waiting() { waiting_[0].clear(), waiting_[1].clear(); }

 private:
  struct Counts {
    std::uint32_t all = 0;
    std::map<std::uint32_t, std::uint32_t> by_node;
    std::map<std::uint32_t, std::uint32_t> by_workload;
    std::map<std::string, std::uint32_t> by_zone;
  };
  struct Lanes {  // when the bytes that were let through so far are over
    Instant all;
    std::map<std::uint32_t, Instant> by_node;
    std::map<std::uint32_t, Instant> by_workload;
    std::map<std::string, Instant> by_zone;
  };
  void count(const Copy& copy, int by);

  Broken broken_;
  Counts counts_[2];
  Lanes lanes_[2];
  std::map<Where, std::vector<Copy>> copies_;
  std::set<Where> waiting_[2];
  bool freed_ = false;
};

}  // namespace evenkeel::control::detail
