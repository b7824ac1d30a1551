#include "evenkeel/store/backends/zookeeper/detail/reads.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <limits>

#include "evenkeel/store/backends/zookeeper/detail/paths.h"

namespace evenkeel::store::zookeeper {
namespace {

constexpr int walks_max = 3;

Entry entry_of(std::string key, const NodeStat& stat, NodeContent content) {
  return {std::move(key), std::move(content.value), content.created, content.modified, stat.ephemeral};
}

std::int64_t newest_of(const NodeStat& stat) { return std::max({stat.created, stat.modified, stat.children_changed}); }

}  // namespace

GetCall::GetCall(Context& context, std::string key, Answer<Read> answer)
    : Call(context), key_(std::move(key)), path_(path_of(context.root, key_)), answer_(std::move(answer)) {}

// The answers come in the order of the calls: if the first failed, `again` has made this attempt the last, and the read is dropped.
void GetCall::attempt() {
  context_.connection->confirm(guarded([this](const Reply& reply) {
    if (reply.code != ZOK) read_failed(reply.code, "/");
  }));
  context_.connection->read(path_, Connection::Watch::no, guarded([this](Reply reply) { take(std::move(reply)); }));
}

void GetCall::take(Reply reply) {
  if (reply.code != ZOK && reply.code != ZNONODE) return read_failed(reply.code, key_);
  Read read{.entry = {}, .revision = reply.as_of};
  if (reply.code == ZOK) {
    auto content = parse_node(reply.data, reply.stat);
    if (!content) return give_up(content.error().in(key_));
    if (content->kind == NodeKind::value) read.entry = entry_of(key_, reply.stat, *std::move(content));
  }
  const auto alive = shared_from_this();
  forget();
  answer_(std::move(read));
}

ListCall::ListCall(Context& context, const std::string& prefix, Answer<Listing> answer)
    : Call(context), top_(path_of_prefix(context.root, prefix)), answer_(std::move(answer)) {}

void ListCall::attempt() {
  walks_ = 0;
  context_.connection->sync(guarded([this](const Reply& reply) {
    if (reply.code != ZOK) return read_failed(reply.code, "/");
    walk();
  }));
}

void ListCall::walk() {
  ++walks_;
  before_ = context_.connection->known();
  walk_ = Walk::start(*context_.connection, {top_}, std::numeric_limits<std::size_t>::max(),
                      guarded([this](Walk::Found found) { take(std::move(found)); }));
}

void ListCall::take(Walk::Found found) {
  if (!found.bad) return give_up(found.bad.error());
  if (found.code != ZOK) return read_failed(found.code, found.path);
  found_ = std::move(found);
  newest_ = {};
  for (const auto& [path, stat] : found_.tops) newest_ = std::max(newest_, Revision(newest_of(stat)));
  for (const auto& [path, seen] : found_.nodes) newest_ = std::max(newest_, Revision(newest_of(seen.stat)));
  if (newest_ <= before_) return answer(before_);
  look_again();
}

void ListCall::look_again() {
  moved_ = found_.moved;
  looks_left_ = found_.tops.size() + found_.nodes.size();
  const auto look = [&](const std::string& path, const NodeStat& stat) {
    context_.connection->stat(path, Connection::Watch::no,
                              guarded([this, path, stat](const Reply& reply) { take_look(path, stat, reply); }));
  };
  for (const auto& [path, stat] : found_.tops) look(path, stat);
  for (const auto& [path, seen] : found_.nodes) look(path, seen.stat);
}

void ListCall::take_look(const std::string& path, const NodeStat& before, const Reply& reply) {
  if (reply.code != ZOK && reply.code != ZNONODE) return read_failed(reply.code, path);
  moved_ |= reply.code == ZNONODE || reply.stat != before;
  if (--looks_left_ > 0) return;
  if (!moved_) return answer(std::max(before_, newest_));
  if (walks_ == walks_max) return answer(before_);
  walk();
}

void ListCall::answer(Revision revision) {
  Listing listing{.entries = {}, .revision = revision};
  for (auto& [path, seen] : found_.nodes) {
    if (seen.content.kind != NodeKind::value) {
      if (context_.on_trace && seen.stat.children == 0) context_.on_trace({path, seen.stat.modified});
      continue;
    }
    if (auto key = key_of(context_.root, path))
      listing.entries.push_back(entry_of(*std::move(key), seen.stat, std::move(seen.content)));
  }
  std::ranges::sort(listing.entries, {}, &Entry::key);
  const auto alive = shared_from_this();
  forget();
  answer_(std::move(listing));
}

}  // namespace evenkeel::store::zookeeper
