#pragma once
// Walk: reads all nodes below some others, once each, without watches. What changes meanwhile is seen or not; `moved` says that something did
// where that was noticed.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evenkeel/store/backends/zookeeper/detail/connection.h"

namespace evenkeel::store::zookeeper {

class Walk : public std::enable_shared_from_this<Walk> {
 public:
  struct Found {
    int code = 0;      // of the C client: why it failed, and where
    std::string path;  // …
    Result<> bad;      // a node that we cannot read, or too many of them
    std::map<std::string, Seen> nodes;
    std::map<std::string, NodeStat> tops;  // those that are there
    bool moved = false;
  };
  using OnFound = std::move_only_function<void(Found)>;

  // Until it is destroyed. At most `nodes_max` are read; more is Code::too_large.
  static std::shared_ptr<Walk> start(Connection& connection, const std::vector<std::string>& tops, std::size_t nodes_max,
                                     OnFound on_found);

 private:
  Walk(Connection& connection, std::size_t nodes_max, OnFound on_found)
      : connection_(connection), nodes_max_(nodes_max), on_found_(std::move(on_found)) {}
  void list(const std::string& path);
  void read(const std::string& path);
  void take_children(const std::string& path, const Reply& reply);
  void take_node(const std::string& path, Reply reply);
  // After each reply: fails at the first code that is not "no such node", ends at the last.
  bool goes_on(int code, const std::string& path);
  void finish();

  Connection& connection_;
  std::size_t nodes_max_;
  OnFound on_found_;
  Found found_;
  std::size_t under_way_ = 0;
  bool over_ = false;
};

// ZooKeeper's own nodes, which are never keys.
inline bool is_zookeepers(std::string_view path) { return path == "/zookeeper" || path.starts_with("/zookeeper/"); }

}  // namespace evenkeel::store::zookeeper
