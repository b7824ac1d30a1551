#include "evenkeel/store/backends/zookeeper/detail/sweeper.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>

#include "evenkeel/store/backends/zookeeper/detail/paths.h"

namespace evenkeel::store::zookeeper {
namespace {

constexpr std::size_t remembered_max = 16'384;
constexpr std::size_t at_once = 256;

}  // namespace

Sweeper::Sweeper(Loop& loop, std::shared_ptr<Connection> connection, std::string root, Sweeping sweeping)
    : loop_(loop), connection_(std::move(connection)), root_(std::move(root)), sweeping_(sweeping) {}

void Sweeper::note(const Trace& trace) {
  if (noted_.size() >= remembered_max || !is_below(trace.path, root_path(root_)) || !paths_.insert(trace.path).second) return;
  noted_.push_back({trace, loop_.now()});
}

void Sweeper::plan_next() {
  loop_.post_after(sweeping_.every, [weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->pass();
  });
}

// The root's version is read first: if anything else is removed meanwhile, ours fails, and the next pass tries again.
void Sweeper::pass() {
  plan_next();
  const bool due = !noted_.empty() && loop_.now() - noted_.front().when >= sweeping_.after;
  if (!due || looks_left_ > 0 || !connection_->ready()) return;
  looks_left_ = 1;
  connection_->read(root_path(root_), Connection::Watch::no, [weak = weak_from_this()](Reply reply) {
    if (const auto alive = weak.lock()) alive->take_root(std::move(reply));
  });
}

void Sweeper::take_root(Reply reply) {
  looks_left_ = 0;
  if (reply.code != ZOK) return;
  chosen_ = {{Operation::Kind::set, root_path(root_), std::move(reply.data), reply.stat.version}};
  std::vector<Noted> due;
  while (!noted_.empty() && due.size() < at_once && loop_.now() - noted_.front().when >= sweeping_.after) {
    paths_.erase(noted_.front().trace.path);
    due.push_back(std::move(noted_.front()));
    noted_.pop_front();
  }
  looks_left_ = due.size();
  for (const Noted& noted : due) look_at(noted);
}

void Sweeper::look_at(const Noted& noted) {
  connection_->read(noted.trace.path, Connection::Watch::no, [weak = weak_from_this(), noted](const Reply& reply) {
    if (const auto alive = weak.lock()) alive->take(noted, reply);
  });
}

void Sweeper::take(const Noted& noted, const Reply& reply) {
  --looks_left_;
  const auto content =
      reply.code == ZOK ? parse_node(reply.data, reply.stat) : Result<NodeContent>(NodeContent{NodeKind::value, {}, {}, {}});
  const bool trace = content && content->kind != NodeKind::value && reply.stat.children == 0;
  if (trace && noted.trace.modified == reply.stat.modified) {
    chosen_.push_back({Operation::Kind::remove, noted.trace.path, {}, reply.stat.version});
  } else if (trace) {
    note({noted.trace.path, reply.stat.modified});  // younger than it was thought to be
  } else if (passes(reply.code)) {
    note(noted.trace);
  }
  if (looks_left_ == 0 && chosen_.size() > 1) remove();
}

// A folder may be empty now; whether it is, and has been for long, is seen when its own hour is over.
void Sweeper::remove() {
  connection_->multi(chosen_, [weak = weak_from_this(), removed = chosen_](const Reply& reply) {
    const auto alive = weak.lock();
    if (!alive) return;
    for (std::size_t i = 1; i < removed.size(); ++i)
      alive->note({reply.code == ZOK ? parent_of(removed[i].path) : removed[i].path, 0});
  });
}

}  // namespace evenkeel::store::zookeeper
