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
  // Whether one more may begin now; then it counts at once, for the same shard may ask for another. If not, the shard is among those who wait; `later` is set if bytes hold it back. `no_balance`: nothing is
  // copied for balance.
  bool may_begin(const ControlSettings& settings, Where where, const Copy& copy, Instant now, bool no_balance, Instant& later);
  // The same, without taking any.
  bool has_room(const ControlSettings& settings, const Copy& copy, Instant now, bool no_balance) const;
  // Those who wait and for whom something is free now: recovery first, not too many at once, and each once after something was freed.
  std::vector<Where> take_waiting(const ControlSettings& settings, Instant now);
  std::uint32_t under_way() const { return counts_[0].all + counts_[1].all; }
  // It does not wait any more, unless it asks again.
  void forget(Where where) { waiting_[0].erase(where), waiting_[1].erase(where); }
  bool recovery_waits() const { return !waiting_[0].empty(); }
  // Those who wait are looked at with the next round.
  void look_again() { freed_ = true, from_ = {}; }
  bool looks_again() const { return freed_ && !(waiting_[0].empty() && waiting_[1].empty()); }

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
  struct Scope {
    const Throttle& limit;
    std::uint32_t count;
    Instant& lane;
  };
  std::vector<Scope> scopes(const ControlSettings& settings, const Copy& copy);
  bool is_free(const ControlSettings& settings, const Copy& copy, Instant now, Instant& later);

  Broken broken_;
  Counts counts_[2];
  Lanes lanes_[2];
  std::map<Where, std::vector<Copy>> copies_;
  std::map<Where, std::vector<Copy>> waiting_[2];  // what each has asked for
  bool freed_ = false;
  Where from_;  // those before it have been told since something was freed
};

}  // namespace evenkeel::control::detail
