#pragma once
// Promises: one function each, given one shard's change by one txn, and everything that was seen before it.

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "evenkeel/sim/detail/evidence.h"

namespace evenkeel::sim::detail {

class Findings {
 public:
  // A promise had something to hold.
  void held(std::string_view promise) { ++counts_[promise]; }
  template <class... Args>
  void broken(std::string_view promise, fmt::format_string<Args...> text, Args&&... args) {
    if (!violation_) violation_ = fmt::format("{}: {}", promise, fmt::format(text, std::forward<Args>(args)...));
  }
  void expect(bool holds, std::string_view promise, std::string_view text) {
    held(promise);
    if (!holds) broken(promise, "{}", text);
  }
  // What helps people to understand the first one.
  void add_detail(std::string_view detail) { *violation_ += detail; }
  const std::optional<std::string>& violation() const { return violation_; }
  const std::map<std::string_view, std::uint64_t>& counts() const { return counts_; }

 private:
  std::optional<std::string> violation_;
  std::map<std::string_view, std::uint64_t> counts_;
};

// One shard's change. `seen` has the shard as it was before.
struct ShardChange {
  const Evidence& seen;
  ShardId shard;
  const ShardEvidence& known;
  const ShardRecord& before;
  const ShardRecord& after;
  const ShardView& view_before;
  const ShardView& view_after;
  const Recent<Spec>& specs;

  const Spec& spec() const { return specs.latest(); }
  std::string name() const { return format(shard); }
  // Who is told to lead, and was not before.
  const Holder* granted() const;
  // New ones, and those that are told off or to be dropped just now.
  std::vector<const Holder*> added() const;
  std::vector<const Holder*> told_off() const;
  std::vector<const Holder*> dropped() const;
  bool accepts_loss() const;
  bool is_adopted(const Holder& holder) const;  // an operator asked for it
  // Deleted, wholly or by a smaller number of shards.
  bool is_deleted() const;
};

// "epoch 3 change 2, on n1 leader, n2 follower (arriving), n3 dropped; placed on n1 n2"
std::string describe(const ShardRecord& record);

struct Promise {
  std::string_view name;
  void (*check)(const ShardChange&, Findings&);
};
// In promises_lead.cc, promises_members.cc, promises_limits.cc.
std::span<const Promise> promises_of_leading();
std::span<const Promise> promises_of_members();
std::span<const Promise> promises_of_limits();

// A permit that a controller has written.
void check_permit(const Evidence& seen, const NodeId& node, const std::optional<PermitDocument>& before,
                  const PermitDocument& after, Findings& findings);

}  // namespace evenkeel::sim::detail
