// evenkeel routes: who serves each shard, printed, or kept in a file for programs that do not link the library.

#include <atomic>
#include <future>
#include <optional>

#include "evenkeel/base/clock.h"
#include "evenkeel/base/log.h"
#include "evenkeel/base/text.h"
#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/route/route.h"
#include "evenkeel/route/shell/map_file.h"
#include "evenkeel/route/shell/router.h"

namespace evenkeel::cli {
namespace {

// The five forms of every command, and one more.
constexpr std::array<std::string_view, 6> routes_form_names = {"table", "wide", "json", "yaml", "name", "rocksplicator"};
enum class RoutesForm : std::uint8_t { table, wide, json, yaml, name, rocksplicator };

struct RoutesOptions {
  ClusterReach reach;
  std::optional<RoutesForm> form;
  bool watch = false;
  std::string out;
};

constexpr Duration try_again = 1s;  // to write the file

// Nothing: for people, not for a file.
std::optional<route::MapFormat> map_format(RoutesForm form) {
  switch (form) {
    case RoutesForm::json:
      return route::MapFormat::json;
    case RoutesForm::yaml:
      return route::MapFormat::yaml;
    case RoutesForm::rocksplicator:
      return route::MapFormat::rocksplicator;
    case RoutesForm::table:
    case RoutesForm::wide:
    case RoutesForm::name:
      break;
  }
  return std::nullopt;
}

std::vector<ShardId> all_shards(const route::Table& table) {
  std::vector<ShardId> shards;
  for (const WorkloadId& workload : table.workloads()) {
    for (const ShardView* view : table.views(workload)) shards.push_back({workload, view->shard});
  }
  return shards;
}

std::string leader_text(const std::optional<NodeId>& node) { return node ? node->str() : std::string(); }

// All columns, or the first ones.
std::vector<std::string> row_of(const route::Table& table, const ShardId& shard) {
  const ShardView* view = table.find(shard);
  if (view == nullptr) return {format(shard), "", "", "gone"};
  std::string others;
  for (const Peer& peer : view->others) others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", peer.node, peer.state);
  const route::Endpoint* leader = view->leader ? table.endpoint(*view->leader) : nullptr;
  const std::string epoch = fmt::format("{}", view->version.epoch), change = fmt::format("{}", view->version.change);
  return {format(shard),
          leader_text(view->leader),
          leader_text(view->next),
          others,
          epoch,
          change,
          leader == nullptr ? "" : leader->address};
}

std::string rows_as(const route::Table& table, const std::vector<ShardId>& shards, bool wide) {
  std::vector<std::string> header{"SHARD", "LEADER", "NEXT", "OTHERS", "EPOCH"};
  if (wide) header.insert(header.end(), {"CHANGE", "ADDRESS"});
  const std::size_t columns = header.size();
  Table out(std::move(header));
  for (const ShardId& shard : shards) {
    std::vector<std::string> row = row_of(table, shard);
    row.resize(columns);
    out.add(std::move(row));
  }
  return out.format();
}

std::string table_as(const route::Table& table, const std::vector<ShardId>& shards, RoutesForm form) {
  if (const auto map = map_format(form)) return route::format_map(table, *map);
  if (form != RoutesForm::name) return rows_as(table, shards, form == RoutesForm::wide);
  std::string out;
  for (const ShardId& shard : shards) out += fmt::format("shard/{}\n", format(shard));
  return out;
}

// Follows the routes and gives them out, once or at each change. All but its making and the waiting is on the loop.
class RoutesFollower {
 public:
  RoutesFollower(Session& session, const RoutesOptions& options, RoutesForm form)
      : session_(session), options_(options), form_(form) {
    if (!options.out.empty()) file_.emplace(options.out, *map_format(form));
  }

  void start(store::Store& store) {
    loop_ = &store.loop();
    router_ = std::make_unique<route::Router>(store, ClusterId(options_.reach.cluster), route::RouterOptions{.log = &log_});
    router_->on_change([this](const auto& table, const std::vector<ShardId>& changed) { take(*table, changed); });
  }
  void stop() {
    router_.reset();
    loop_->cancel(again_);
    over_ = true;
  }

  // From any thread.
  void end() {
    if (!ended_once_.exchange(true)) ended_.set_value();
  }
  // Until it is over, at most so long. False: the time is over.
  bool wait(Duration most) { return ended_.get_future().wait_for(most) == std::future_status::ready; }
  bool given() const { return given_; }
  bool empty() const { return empty_; }

 private:
  void take(const route::Table& table, const std::vector<ShardId>& changed) {
    if (over_ || !router_->ready()) return;
    const bool first = !std::exchange(ready_, true);
    empty_ = table.workloads().empty();
    if (empty_ && (file_ || !options_.watch)) {
      if (!options_.watch) return end();
      session_.say(fmt::format("nobody serves anything in cluster {}: {} stays as it is", options_.reach.cluster, options_.out));
      return;
    }
    if (file_) {
      write(table);
    } else if (first || map_format(form_) || !changed.empty()) {
      session_.print(table_as(table, first ? all_shards(table) : changed, form_));
      given_ = true;
    }
    tell_left_out(table);
    if (!options_.watch || session_.status != Exit::done) end();
  }

  void write(const route::Table& table) {
    loop_->cancel(again_);
    const auto written = file_->update(table);
    if (written) {
      given_ = true;
      return;
    }
    if (!given_) return session_.fail(written.error());  // a wrong path is told at once
    session_.say(written.error().message);
    again_ = loop_->post_after(try_again, [this] {
      if (!over_ && !empty_) write(*router_->table());
    });
  }

  void tell_left_out(const route::Table& table) {
    const auto format = map_format(form_);
    if (!format) return;
    std::vector<NodeId> left = route::left_out(table, *format);
    if (left == left_out_) return;
    left_out_ = std::move(left);
    for (const NodeId& node : left_out_) {
      const route::Endpoint* endpoint = table.endpoint(node);
      session_.say(endpoint == nullptr
                       ? fmt::format("{} serves and is not in the map: it has not said its address", node)
                       : fmt::format("{} serves and is not in the map: this form takes only IPv4 addresses with a port, not {}",
                                     node, quote(endpoint->address)));
    }
  }

  Session& session_;
  const RoutesOptions& options_;
  const RoutesForm form_;
  Log log_ = Log::to([this](Level, std::string_view line) { session_.io.err(fmt::format("{}\n", line)); }, {.level = Level::warn},
                     wall_now);
  std::optional<route::MapFile> file_;
  Loop* loop_ = nullptr;
  std::unique_ptr<route::Router> router_;
  std::vector<NodeId> left_out_;
  Timer again_;
  bool ready_ = false;
  bool over_ = false;
  std::atomic<bool> given_ = false;
  std::atomic<bool> empty_ = false;
  std::atomic<bool> ended_once_ = false;
  std::promise<void> ended_;
};

// What there is to say if nobody serves anything.
void answer_empty(Session& session, store::Blocking& store, const RoutesOptions& options, RoutesForm form,
                  const std::string& url) {
  const auto listing = store.list(Keys(ClusterId(options.reach.cluster)).root());
  if (!listing) return fail_store(session, listing.error());
  if (listing->entries.empty())
    return session.fail(Error{Code::not_found, fmt::format("there is no cluster {} in {}", quote(options.reach.cluster), url)}),
           tell_context(session);
  if (!options.out.empty()) {
    return session.fail(
        Error{Code::not_found, fmt::format("nobody serves anything in cluster {}: {} stays as it is; --watch waits",
                                           options.reach.cluster, options.out)});
  }
  session.print(table_as({}, {}, form));
}

void routes(Session& session, RoutesOptions options, RoutesForm form) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  auto reach = settle(session, *outside, options.reach);
  if (!reach) return;
  options.reach = *std::move(reach);
  Interrupt interrupt(*outside);
  const auto store = open_store(session, *outside, options.reach.store);
  if (!store) return;
  // A server that nobody can reach, or that refuses us, is said at once; later the router waits for it.
  const auto there = store->get(Keys(ClusterId(options.reach.cluster)).controller_epoch());
  if (!there) return fail_store(session, there.error());
  RoutesFollower follower(session, options, form);
  const auto on_loop = [&](const std::function<void(store::Store&)>& work) {
    const auto done = store->run<bool>([&](store::Store& on, store::Answer<bool> answer) {
      work(on);
      answer(true);
    });
    ensure(done.has_value(), "what runs on the loop comes to its end");
  };
  on_loop([&](store::Store& on) { follower.start(on); });
  bool in_time = true;
  {
    const std::stop_callback interrupted(interrupt.token(), [&] { follower.end(); });
    constexpr Duration for_ever = 24h * 365 * 100;
    in_time = follower.wait(options.watch ? for_ever : options.reach.store.timeout);
  }
  on_loop([&](store::Store&) { follower.stop(); });
  if (session.status != Exit::done || options.watch || follower.given()) return;
  if (!in_time || !follower.empty()) {
    return session.fail(in_time ? Error{Code::cancelled, "interrupted"}
                                : Error{Code::unavailable, fmt::format("the store did not say who serves within {}",
                                                                       format(options.reach.store.timeout))});
  }
  answer_empty(session, *store, options, form, options.reach.store.url);
}

void check(const RoutesOptions& options, RoutesForm form) {
  if (const auto why = options.reach.cluster.empty() ? std::nullopt : why_not_a_name(options.reach.cluster))
    throw CLI::ValidationError("--cluster", *why);
  if (!options.out.empty() && !map_format(form))
    throw CLI::ValidationError("--out", "a file is json, yaml or rocksplicator; say which with -o");
}

}  // namespace

void add_routes(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("routes", "Show who serves each shard, or keep a shard map file");
  command->footer(
      "With --out the map is written to a file, by a rename and only when it changed; nothing is printed. While nobody serves\n"
      "anything the file is not touched. With --watch it goes on until it is interrupted; printed tables then show what "
      "changed.\n"
      "The map's forms are described in docs/routes.md.\n\n"
      "Examples:\n"
      "  evenkeel routes --cluster pages\n"
      "  evenkeel routes --cluster pages -o rocksplicator --watch --out /var/run/shard_map.json");
  auto options = std::make_shared<RoutesOptions>();
  add_word(
      *command, session, "-o,--output", "a form of output", routes_form_names,
      [options](std::size_t at) { options->form = static_cast<RoutesForm>(at); },
      "Form of the output: table, wide, json, yaml, name or rocksplicator")
      ->type_name("FORM");
  command->add_flag("--watch", options->watch, "Go on with each change, until interrupted");
  auto* out = command->add_option("--out", options->out, "Where to write the map instead; as json unless -o says otherwise");
  out->type_name("FILE");
  session.hints[out] = {.words = {}, .files = true};
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] {
    const RoutesForm form = options->form.value_or(options->out.empty() ? RoutesForm::table : RoutesForm::json);
    check(*options, form);
    routes(session, *options, form);
  });
}

}  // namespace evenkeel::cli
