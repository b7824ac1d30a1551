#pragma once
// Tracker: a watch. It keeps a picture of all nodes below a prefix, by one-shot watches on each of them, and tells what differs from what it
// told before.
//
// Every node is at all times either watched or being read again. Events and answers of a session come in the order of the server's state, so
// when no read is under way ("settled"), the picture is as of the newest zxid that the connection knows: that is the revision it tells. If it
// does not settle for a while, because others write all the time, it tells what it has, with the revision it had.
//
// Beginning after a revision: what was modified later is told, tombstones as deletions. That is all there is unless nodes were removed since:
// a removal of persistent ones writes the root, and any removal writes its parent's children; in either case a fresh list is told instead.
// A new session begins with a fresh list.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "evenkeel/store/backends/zookeeper/detail/call.h"

namespace evenkeel::store::zookeeper {

class Tracker final : public Listener, public std::enable_shared_from_this<Tracker> {
 public:
  Tracker(Context& context, const std::string& prefix, std::optional<Revision> after, OnChanges on_changes);
  ~Tracker();
  void begin();
  // Nothing is told after this.
  void close();

  void on_node(const std::string& path, Event event) override;
  void on_ready() override;
  void on_expired() override;
  void on_put_back() override { revision_ = {}; }

 private:
  struct Node {
    std::uint64_t serial = 0;  // answers for an earlier node of this path are dropped
    bool read = false;         // once
    bool listed = false;       // once, or not needed
    bool reading = false;
    bool read_again = false;
    bool listing = false;
    bool list_again = false;
    NodeStat stat;
    NodeContent content;
  };
  enum class Want : std::uint8_t { top, data, children, root };

  void start_over();
  void ask_lost_ones_soon();
  void ask(Want want, const std::string& path);
  void take(Want want, const std::string& path, std::uint64_t serial, Reply reply);
  void take_top(const Reply& reply);
  void take_data(const std::string& path, Node& node, const Reply& reply);
  void take_children(const std::string& path, Node& node, const Reply& reply);
  void drop(const std::string& path);
  void drop_below(const std::string& path);
  void end(Error error);

  bool settled() const { return under_way_ == 0 && lost_.empty(); }
  bool complete() const;
  bool must_be_fresh(const NodeStat& root) const;
  std::optional<Entry> entry_at(const std::string& path, const std::string& key) const;
  void tell_if_due();
  void tell_first(bool fresh, Revision revision);
  void tell_changes(Revision revision);
  void tell(Changes changes);

  std::weak_ptr<Connection> connection_;
  Loop& loop_;
  const std::string root_;
  const std::string top_;
  const std::function<void(const Trace&)> on_trace_;
  std::optional<Revision> after_;
  OnChanges on_changes_;
  bool closed_ = false;

  std::map<std::string, Node> nodes_;  // `top_` too, if it is there
  std::uint64_t serials_ = 0;
  std::uint64_t round_ = 0;                      // answers to earlier ones are dropped
  std::size_t under_way_ = 0;                    // reads
  std::set<std::pair<Want, std::string>> lost_;  // reads to be made again when there is a connection
  bool told_first_ = false;
  std::optional<NodeStat> root_stat_;  // read after all else, to know whether `after_` can be kept
  Revision before_;                    // known when this round began
  Revision revision_;                  // told
  Instant unsettled_since_;
  std::set<std::string> touched_;      // paths, since the last telling
  std::map<std::string, Entry> told_;  // by key: what the other side knows
};

}  // namespace evenkeel::store::zookeeper
