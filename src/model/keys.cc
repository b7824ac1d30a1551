#include <algorithm>
#include <bit>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/text.h"
#include "evenkeel/model/documents.h"

namespace evenkeel {
namespace {

// What each kind of key is called, and what follows its name. In the order of Key::Kind.
enum class Parts : std::uint8_t { none, node, workload, workload_bucket, node_workload_bucket, workload_shard };
struct KeyRow {
  std::string_view name;
  Parts parts;
};
constexpr KeyRow key_rows[] = {
    {"config", Parts::none},
    {"nodes", Parts::node},
    {"workloads", Parts::workload},
    {"live", Parts::node},
    {"members", Parts::node},
    {"beats", Parts::node},
    {"reports", Parts::node_workload_bucket},
    {"shards", Parts::workload_bucket},
    {"targets", Parts::node_workload_bucket},
    {"view", Parts::workload_bucket},
    {"controller_epoch", Parts::none},
    {"waits", Parts::none},
    {"permits", Parts::node},
    {"orders", Parts::workload_shard},
};
static_assert(std::size(key_rows) == static_cast<std::size_t>(Key::Kind::order) + 1);

// Takes the text up to the next slash off a key's rest. A key ends where nothing is left, so a part is never empty.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text) {}

  bool ended() const { return ended_; }
  std::string_view part() {
    const auto slash = text_.find('/');
    const auto out = text_.substr(0, slash);
    ended_ = slash == std::string_view::npos;
    text_.remove_prefix(ended_ ? text_.size() : slash + 1);
    return out;
  }
  template <class Id>
  bool name(Id& out) {
    const auto text = ended_ ? std::string_view() : part();
    if (why_not_a_name(text)) return false;
    out = Id(std::string(text));
    return true;
  }
  template <class N>
  bool number(N& out) {
    const auto text = ended_ ? std::string_view() : part();
    const auto value = parse_unsigned(text);
    if (!value || *value > std::numeric_limits<typename N::rep>::max()) return false;
    if (text.size() > 1 && text[0] == '0') return false;  // a key is written in one way
    out = N(static_cast<typename N::rep>(*value));
    return true;
  }

 private:
  std::string_view text_;
  bool ended_ = false;
};

bool read_parts(Parts parts, Rest& rest, Key& out) {
  switch (parts) {
    case Parts::none:
      return true;
    case Parts::node:
      return rest.name(out.node);
    case Parts::workload:
      return rest.name(out.workload);
    case Parts::workload_bucket:
      return rest.name(out.workload) && rest.number(out.bucket);
    case Parts::node_workload_bucket:
      return rest.name(out.node) && rest.name(out.workload) && rest.number(out.bucket);
    case Parts::workload_shard:
      break;
  }
  return rest.name(out.workload) && rest.number(out.shard);
}

}  // namespace

Keys::Keys(const ClusterId& cluster) : root_(fmt::format("/evenkeel/{}/", cluster)) {}

std::string Keys::config() const { return root_ + "config"; }
std::string Keys::node(const NodeId& node) const { return fmt::format("{}nodes/{}", root_, node); }
std::string Keys::workload(const WorkloadId& workload) const { return fmt::format("{}workloads/{}", root_, workload); }
std::string Keys::live(const NodeId& node) const { return live_prefix() + node.str(); }
std::string Keys::live_prefix() const { return root_ + "live/"; }
std::string Keys::member(const NodeId& node) const { return fmt::format("{}members/{}", root_, node); }
std::string Keys::beat(const NodeId& node) const { return beat_prefix() + node.str(); }
std::string Keys::beat_prefix() const { return root_ + "beats/"; }
std::string Keys::report(const NodeId& node, const WorkloadId& workload, Bucket bucket) const {
  return fmt::format("{}reports/{}/{}/{}", root_, node, workload, bucket);
}
std::string Keys::report_prefix(const NodeId& node) const { return fmt::format("{}reports/{}/", root_, node); }
std::string Keys::shards(const WorkloadId& workload, Bucket bucket) const {
  return fmt::format("{}shards/{}/{}", root_, workload, bucket);
}
std::string Keys::target(const NodeId& node, const WorkloadId& workload, Bucket bucket) const {
  return fmt::format("{}targets/{}/{}/{}", root_, node, workload, bucket);
}
std::string Keys::target_prefix(const NodeId& node) const { return fmt::format("{}targets/{}/", root_, node); }
std::string Keys::view(const WorkloadId& workload, Bucket bucket) const {
  return fmt::format("{}view/{}/{}", root_, workload, bucket);
}
std::string Keys::view_prefix() const { return root_ + "view/"; }
std::string Keys::controller() const { return root_ + "office/controller"; }
std::string Keys::controller_epoch() const { return root_ + "controller_epoch"; }
std::string Keys::waits() const { return root_ + "waits"; }
std::string Keys::permit(const NodeId& node) const { return fmt::format("{}permits/{}", root_, node); }
std::string Keys::order(const ShardId& shard) const { return fmt::format("{}orders/{}", root_, format(shard)); }

std::optional<Key> Keys::parse(std::string_view key) const {
  if (!key.starts_with(root_)) return std::nullopt;
  Rest rest(key.substr(root_.size()));
  const auto found = std::ranges::find(key_rows, rest.part(), &KeyRow::name);
  if (found == std::end(key_rows)) return std::nullopt;
  Key out{.kind = static_cast<Key::Kind>(found - key_rows)};
  if (!read_parts(found->parts, rest, out) || !rest.ended()) return std::nullopt;
  return out;
}

// From 22 to 42 shards in a bucket, on average.
std::uint32_t buckets_for(std::uint32_t shards) {
  return static_cast<std::uint32_t>(std::bit_floor(std::max<std::uint64_t>(1, std::uint64_t{shards} * 3 / 64)));
}

Bucket bucket_of(const ShardId& shard, std::uint32_t buckets) {
  ensure(std::has_single_bit(buckets), "the number of buckets is a power of two");
  return Bucket(static_cast<std::uint32_t>(hash64(format(shard)) & (buckets - 1)));
}

}  // namespace evenkeel
