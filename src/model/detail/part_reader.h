#pragma once
// What cluster files and store documents have in common: settings, state models, workloads and the small values in them.
//
// Problems are collected, and what was wrong is left at its default, so that the rest can still be read and said to be right or wrong.
// A field that is not known is wrong in a file, which people write, and overlooked in a document, which somebody newer may have written.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/read.h"
#include "evenkeel/model/cluster.h"

namespace evenkeel::detail {

class PartReader {
 public:
  enum class Unknown : std::uint8_t { refused, overlooked };

  PartReader(Diagnostics problems, Unknown unknown) : problems_(std::move(problems)), unknown_(unknown) {}

  Diagnostics& problems() { return problems_; }

  // part_reader.cc
  void read_settings(Value value, Settings& out);
  std::optional<StateModel> read_model(Value value);
  std::optional<Spread> read_spread(Value value);
  std::optional<Amounts> read_amounts(Value value);
  std::optional<Labels> read_labels(Value value);
  std::optional<std::uint32_t> read_number(Value value);
  template <class Id>
  std::optional<Id> read_id(Value value) {
    return read_text(value, problems_).transform([](std::string text) { return Id(std::move(text)); });
  }
  template <class Item>
  std::optional<std::vector<Item>> read_list(Value value, std::string_view what,
                                             const std::function<std::optional<Item>(Value)>& read);

  // read_workloads.cc
  // All of a workload but its name and its pins.
  void read_workload_fields(FieldReader& fields, Workload& out);
  std::optional<ShardIndex> read_shard_key(Value key);

  // Reports the fields that nobody asked for, where that is wrong.
  void finish(FieldReader& fields) const {
    if (unknown_ == Unknown::refused) fields.finish();
  }

 protected:
  Diagnostics problems_;

 private:
  void read_control(FieldReader& fields, ControlSettings& out);
  void read_control(FieldReader& fields, WorkloadControl& out);
  void read_throttle(Value value, Throttle& out);
  void read_loads(FieldReader& fields, Workload& workload);
  std::optional<std::vector<ResourceId>> read_load_columns(Value value);
  std::optional<ShardLoads> read_shard_loads(Value value);
  void sort_by_shard(Value value, ShardLoads& loads);
  std::optional<Toleration> read_toleration(Value value);

  Unknown unknown_;
};

template <class Item>
std::optional<std::vector<Item>> PartReader::read_list(Value value, std::string_view what,
                                                       const std::function<std::optional<Item>(Value)>& read) {
  if (!expect_list(value, problems_, what)) return std::nullopt;
  std::vector<Item> out;
  for (const Value item : value.items()) {
    if (auto one = read(item)) out.push_back(*std::move(one));
  }
  return out;
}

// The place of what check() means, from the value that the path starts at; if a field was left out, that of its owner.
Place place_of(Value at, std::span<const std::string> path, bool at_key);

}  // namespace evenkeel::detail
