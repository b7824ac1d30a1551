#pragma once
// From a Document to a Cluster. One method per section of the file, each in the .cc file named after it.

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "evenkeel/model/detail/part_reader.h"

namespace evenkeel::detail {

class ClusterReader : private PartReader {
 public:
  explicit ClusterReader(const Document& document) : PartReader(document.problems(), Unknown::refused), document_(document) {}

  // The whole file, checked.
  Parsed<Cluster> read();

 private:
  // cluster_reader.cc
  void read_settings(Value value);
  void read_models(Value value);
  // Problems so far, also those that were not worth saying.
  std::size_t trouble() const { return problems_.found() + unsaid_; }
  // Remembers `what` as spoilt if there is more trouble than there was `before`.
  void mark_if_spoilt(std::size_t before, std::string_view section, std::string_view what);
  void add_checked();  // what check() finds, at its places in the text
  Place place_of(const Problem& problem) const;
  bool spoilt(const Problem& problem) const;

  // read_nodes.cc
  void read_nodes(Value value);
  void read_node(Value value, std::uint32_t at);
  bool expand_node(const Node& node, Value name, std::optional<Value> zone, std::uint32_t at);
  std::optional<Taint> read_taint(Value value);

  // read_workloads.cc
  void read_workloads(Value value);
  void read_workload(Value value);
  std::optional<Pins> read_pins(Value value);

  // read_placement.cc
  template <class Cell>
  void read_tables(Value value, std::string_view section, std::map<WorkloadId, Rows<Cell>>& out, std::string_view cells,
                   const std::function<std::optional<Cell>(Value)>& read);
  void read_placement(Value value);
  void read_cores(Value value);
  void read_moving(Value value);
  void read_recent(Value value);
  void read_barred(Value value);
  template <class Entry>
  void read_replica(Value value, std::string_view section, std::string_view what, std::vector<Entry>& out);
  std::optional<ShardIndex> read_shard(Value value);
  std::optional<NodeIndex> find_node(Value value);
  void index_nodes();

  const Document& document_;
  Cluster cluster_;
  std::vector<std::uint32_t> node_entries_;   // by node: which entry of `nodes` wrote it
  std::vector<std::uint32_t> model_entries_;  // the same of `state_models`, of which unsound ones are left out
  std::unordered_map<std::string_view, std::uint32_t> nodes_by_name_;  // views into cluster_.nodes, which grows no more by then
  std::size_t unsaid_ = 0;                                             // problems that only follow from another
  std::size_t node_parts_ = 0;   // labels, amounts and taints of all nodes, a bound on memory
  bool workloads_sound_ = true;  // as nodes_sound_
  bool nodes_sound_ = true;      // else a name may be unknown only because its entry was wrong
  std::unordered_set<std::string>
      spoilt_;  // "nodes/2", "workloads/t1", "placement/t1": read with problems, so what follows from them is not judged
};

}  // namespace evenkeel::detail
