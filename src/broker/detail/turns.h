#pragma once
// Turns: which queue's first task a pass looks at next.
//
// A queue that waits is either *open* or *stopped* by its own limit. In a pass, an open queue's first task is granted or blocks the
// resources it needs. A stopped queue matters only where its first task does not fit the node's free amounts either: then it blocks
// them in its place in the order. So queues are kept by the set of resources that their first task needs (the set is blocked as a
// whole or not at all), open ones in a tournament, stopped ones in order with their needs, and a pass skips all others untouched.
//
// That pays from some dozens of queues on. Up to `few_max` of them are kept as sets of bits instead, and looked through: there is then
// nothing to keep in order, and a look at all takes less time than one path in a tree.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "evenkeel/broker/detail/kinetic.h"

namespace evenkeel::broker::detail {

using ResourceSet = std::uint64_t;  // bit i: resource i

ResourceSet set_of(std::span<const std::uint64_t> need);

class Turns {
 public:
  static constexpr std::size_t few_max = 32;

  void reset(std::size_t queues, std::size_t resources);

  // Takes a queue's line out of the order of the stopped ones, since it changed or will; `set` or `clear` must follow. Do it for all
  // queues that change before doing anything else here.
  void set_aside(const Line* lines, QueueIndex q, std::uint64_t now);
  // The first task of queue `q` needs `need`; `stopped` says whether the queue's limit holds it back.
  void set(const Line* lines, QueueIndex q, std::span<const std::uint64_t> need, bool stopped, std::uint64_t now);
  // Nothing waits in `q`.
  void clear(const Line* lines, QueueIndex q, std::uint64_t now);

  bool stopped(QueueIndex q) const { return is_few_ ? (few_.stopped >> q & 1) != 0 : places_[q].stopped; }

  // Whether the first task of every queue that waits needs something of the set.
  bool all_need_any_of(ResourceSet set) const;

  // The first queue whose first task needs nothing of `blocked`, and that is open, or stopped, not before `from`, and with a need
  // beyond `free`. An empty `free` leaves stopped queues out.
  QueueIndex first(const Line* lines, ResourceSet blocked, Cursor from, std::span<const std::uint64_t> free, std::uint64_t now);

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  struct Place {
    std::uint32_t group = nowhere;
    bool stopped = false;
    bool aside = false;
  };
  // The queues whose first tasks need the same set of resources. An empty group is given to the next new set.
  struct Group {
    ResourceSet set = 0;
    std::uint32_t open = 0;
    std::uint32_t stopped = 0;
    Tournament<ByKey> tournament;
    NeedOrder order;
  };

  // The queues, where they are few: bit q.
  using QueueSet = std::uint32_t;
  struct Few {
    QueueSet waiting = 0;
    QueueSet stopped = 0;
    std::vector<QueueSet> needing;     // by resource: those whose first task needs it
    std::vector<std::uint64_t> needs;  // [queue * resources + resource]
  };
  void set_few(QueueIndex q, std::span<const std::uint64_t> need, bool stopped);
  QueueSet needing_any_of(ResourceSet set) const;
  QueueIndex first_of_few(const Line* lines, ResourceSet blocked, Cursor from, std::span<const std::uint64_t> free,
                          std::uint64_t now) const;

  std::uint32_t group_of(ResourceSet set);
  void leave(const Line* lines, QueueIndex q, std::uint64_t now);

  std::size_t resources_ = 0;
  bool is_few_ = true;
  Few few_;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace evenkeel::broker::detail
