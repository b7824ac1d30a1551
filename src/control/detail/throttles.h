#pragma once
// Throttles: how many copies and openings are under way, by whom, and whether one more may begin. Leadership and seals never wait for that.

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

// Some limit on openings is set.
bool limits_openings(const ControlSettings& settings);

struct Copy {  // or an opening
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
  // Those who wait and for whom something is free now: recovery before balance, not too many at once, and each once after something was freed.
  std::vector<Where> take_waiting(const ControlSettings& settings, Instant now);
  std::uint32_t copies() const { return counts_[0].all + counts_[1].all; }
  std::uint32_t openings() const { return counts_[2].all; }
  // It does not wait any more, unless it asks again.
  void forget(Where where) {
    for (auto& waiting : waiting_) waiting.erase(where);
  }
  bool recovery_waits() const { return !waiting_[0].empty(); }
  // Those who wait are looked at with the next round.
  void look_again() { freed_ = true, copies_from_ = openings_from_ = {}; }
  bool looks_again() const { return freed_ && !(waiting_[0].empty() && waiting_[1].empty() && waiting_[2].empty()); }

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
  void take_waiting(const ControlSettings& settings, Instant now, Slot slot, Where& from, std::vector<Where>& taken);

  Broken broken_;
  // By slot.
  Counts counts_[3];
  Lanes lanes_[3];
  std::map<Where, std::vector<Copy>> waiting_[3];  // what each has asked for
  std::map<Where, std::vector<Copy>> copies_;      // under way, of all slots
  bool freed_ = false;
  // Those before them have been told since something was freed.
  Where copies_from_;
  Where openings_from_;
};

}  // namespace evenkeel::control::detail
