#include "evenkeel/store/backends/zookeeper/detail/walk.h"

#include <zookeeper/zookeeper.h>

#include "evenkeel/store/backends/zookeeper/detail/paths.h"

namespace evenkeel::store::zookeeper {

std::shared_ptr<Walk> Walk::start(Connection& connection, const std::vector<std::string>& tops, std::size_t nodes_max,
                                  OnFound on_found) {
  std::shared_ptr<Walk> walk(new Walk(connection, nodes_max, std::move(on_found)));
  for (const std::string& top : tops) {
    walk->found_.tops.emplace(top, NodeStat{});
    walk->list(top);
  }
  return walk;
}

void Walk::list(const std::string& path) {
  ++under_way_;
  connection_.children(path, Connection::Watch::no, [weak = weak_from_this(), path](Reply reply) {
    if (const auto alive = weak.lock()) alive->take_children(path, reply);
  });
}

void Walk::read(const std::string& path) {
  ++under_way_;
  connection_.read(path, Connection::Watch::no, [weak = weak_from_this(), path](Reply reply) {
    if (const auto alive = weak.lock()) alive->take_node(path, std::move(reply));
  });
}

void Walk::take_children(const std::string& path, const Reply& reply) {
  --under_way_;
  if (!goes_on(reply.code, path)) return;
  const auto node = found_.nodes.find(path);
  if (reply.code == ZNONODE) {
    found_.moved |= node != found_.nodes.end();
    found_.nodes.erase(path);
    found_.tops.erase(path);
  } else {
    if (node != found_.nodes.end()) {
      found_.moved |= node->second.stat != reply.stat;
    } else {
      found_.tops[path] = reply.stat;
    }
    for (const std::string& name : reply.children) {
      if (const std::string child = child_of(path, name); !is_zookeepers(child)) read(child);
    }
  }
  if (under_way_ == 0) finish();
}

void Walk::take_node(const std::string& path, Reply reply) {
  --under_way_;
  if (!goes_on(reply.code, path)) return;
  if (reply.code == ZOK) {
    auto content = parse_node(reply.data, reply.stat);
    if (!content) found_.bad = fail(content.error().in(path));
    if (found_.nodes.size() >= nodes_max_)
      found_.bad = fail(Code::too_large, "there are more than {} keys or traces of erased ones below the prefix", nodes_max_);
    if (!found_.bad) return finish();
    found_.nodes[path] = {.exists = true, .stat = reply.stat, .content = *std::move(content), .data = {}, .as_of = reply.as_of};
    if (reply.stat.children > 0) list(path);
  } else {
    found_.moved = true;
  }
  if (under_way_ == 0) finish();
}

bool Walk::goes_on(int code, const std::string& path) {
  if (over_) return false;
  if (code == ZOK || code == ZNONODE) return true;
  found_.code = code;
  found_.path = path;
  finish();
  return false;
}

void Walk::finish() {
  over_ = true;
  on_found_(std::move(found_));
}

}  // namespace evenkeel::store::zookeeper
