#include "evenkeel/store/backends/zookeeper/detail/txn_call.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>

#include "evenkeel/store/backends/zookeeper/detail/paths.h"

namespace evenkeel::store::zookeeper {
namespace {

constexpr std::uint32_t races_max = 100;         // lost ones, after which a txn is answered with Code::conflict
constexpr std::uint32_t back_off_doublings = 6;  // 1 ms, 2 ms, … 64 ms, of which a random part is waited
constexpr std::size_t erased_max = 16'384;       // nodes below a prefix: more do not fit one request anyway

}  // namespace

TxnCall::TxnCall(Context& context, Txn txn, Answer<Committed> answer)
    : Call(context), txn_(std::move(txn)), wanted_(wanted(txn_, context.root)), answer_(std::move(answer)) {}

void TxnCall::attempt() {
  context_.memory.use(context_.connection->times_ready());
  if (!write_from_memory()) read();
}

// Once: if what is known is old, the multi fails, and all is read.
bool TxnCall::write_from_memory() {
  auto known = std::exchange(recalled_, true) ? std::nullopt : context_.memory.recall(txn_, wanted_, context_.root);
  if (!known) return false;
  view_ = *std::move(known);
  auto decision = decide(txn_, view_);
  if (!decision || !decision->succeeded) return false;
  write(*std::move(decision));
  return true;
}

void TxnCall::read() {
  view_ = {.root = context_.root, .nodes = {}};
  reads_left_ = wanted_.stats.size() + wanted_.nodes.size();
  Connection& connection = *context_.connection;
  auto begun = guarded([this](const Reply& reply) {
    if (reply.code != ZOK) read_failed(reply.code, "/");
  });
  if (only_reads_)
    connection.confirm(std::move(begun));
  else
    connection.sync(std::move(begun));
  for (const std::string& path : wanted_.stats)
    connection.stat(path, Connection::Watch::no, guarded([this, &path](Reply reply) { take(path, false, std::move(reply)); }));
  for (const std::string& path : wanted_.nodes)
    connection.read(path, Connection::Watch::no, guarded([this, &path](Reply reply) { take(path, true, std::move(reply)); }));
}

void TxnCall::take(const std::string& path, bool with_data, Reply reply) {
  if (reply.code != ZOK && reply.code != ZNONODE) return read_failed(reply.code, path);
  Seen seen{.exists = reply.code == ZOK, .stat = reply.stat, .content = {}, .data = {}, .as_of = reply.as_of};
  if (seen.exists && with_data && path == root_path(context_.root)) {
    seen.data = std::move(reply.data);  // whatever it is: the root is no key
  } else if (seen.exists && with_data) {
    auto content = parse_node(reply.data, reply.stat);
    if (!content) return give_up(content.error().in(path));
    seen.content = *std::move(content);
  }
  view_.nodes[path] = std::move(seen);
  if (--reads_left_ == 0) have_nodes();
}

void TxnCall::have_nodes() {
  const auto subtrees = wanted_subtrees(txn_, view_);
  if (!subtrees) return give_up(subtrees.error());
  if (subtrees->empty()) return decide_and_write();
  walk_ = Walk::start(*context_.connection, *subtrees, erased_max,
                      guarded([this](Walk::Found found) { have_subtrees(std::move(found)); }));
}

void TxnCall::have_subtrees(Walk::Found found) {
  if (!found.bad) return give_up(found.bad.error());
  if (found.code != ZOK) return read_failed(found.code, found.path);
  for (auto& [path, seen] : found.nodes) {
    if (!std::ranges::binary_search(wanted_.nodes, path))
      view_.nodes[path] = std::move(seen);  // others stay as they were compared
  }
  decide_and_write();
}

void TxnCall::decide_and_write() {
  auto decision = decide(txn_, view_);
  if (!decision) return give_up(decision.error());
  if (decision->operations.empty()) {
    if (only_reads_) return answer({.succeeded = decision->succeeded, .revision = decision->revision});
    only_reads_ = true;  // no multi will fail if what was read is old, so it is read again from a member that cannot be
    return read();
  }
  write(*std::move(decision));
}

void TxnCall::write(Decision decision) {
  sent_ = true;
  const std::vector<Operation> operations = decision.operations;
  context_.connection->multi(operations,
                             guarded([this, decision = std::move(decision)](const Reply& reply) { written(decision, reply); }));
}

void TxnCall::written(const Decision& decision, const Reply& reply) {
  sent_ = false;
  if (reply.code == ZOK) {
    const Revision revision = reply.zxid > 0 ? Revision(reply.zxid) : decision.revision;
    if (reply.zxid > 0) context_.memory.learn(view_, wanted_, decision.operations, reply.zxid);
    for (const Operation& operation : decision.operations) {
      const bool erased = operation.kind == Operation::Kind::set && operation.data == tombstone_data();
      if (erased && context_.on_trace) context_.on_trace({operation.path, reply.zxid});
    }
    return answer({.succeeded = decision.succeeded, .revision = revision});
  }
  if (is_contention(reply.code)) return lost_a_race();
  if (!reply.sent || reply.code == ZSESSIONMOVED || reply.code == ZTHROTTLEDOP) return read_failed(reply.code, "a txn");
  if (passes(reply.code))
    return give_up(
        {Code::unknown_outcome, fmt::format("the connection to ZooKeeper at {} was lost before it answered a write: {}",
                                            context_.servers, zerror(reply.code))});
  give_up(write_error_of(reply.code, wanted_.nodes.back()));
}

void TxnCall::lost_a_race() {
  if (++races_lost_ == races_max) return give_up(time_is_up());
  const std::uint64_t most = 1000U << std::min(races_lost_ - 1, back_off_doublings);
  again_after(std::chrono::microseconds(context_.rng.below(most)));
}

Error TxnCall::time_is_up() const {
  if (sent_)
    return {Code::unknown_outcome, fmt::format("ZooKeeper at {} did not answer a write within {}", context_.servers,
                                               evenkeel::format(context_.options.timeout))};
  if (races_lost_ > 0)
    return {Code::conflict,
            fmt::format("contention: others wrote the same keys {} times between reading and writing them", races_lost_)};
  return Call::time_is_up();
}

void TxnCall::answer(Committed committed) {
  const auto alive = shared_from_this();
  forget();
  answer_(committed);
}

}  // namespace evenkeel::store::zookeeper
