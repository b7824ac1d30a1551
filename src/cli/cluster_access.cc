#include "evenkeel/cli/cluster_access.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/control/shell/documents.h"
#include "evenkeel/locks/locks.h"

namespace evenkeel::cli {

using Kind = Key::Kind;

void add_cluster_reach(CLI::App& command, Session& session, ClusterReach& reach) {
  command
      .add_option("--cluster", reach.cluster,
                  fmt::format("Which cluster; else EVENKEEL_CLUSTER, the context's, or {}", default_cluster))
      ->type_name("NAME");
  add_store_reach(command, session, reach.store);
}

std::optional<ClusterReach> settle(Session& session, const Outside& outside, ClusterReach reach, InUse in_use) {
  if (reach.store.settled) return reach;
  const auto context = choose_context(session, outside, reach.store, in_use);
  if (!context) return std::nullopt;
  reach.store = settle(session, outside, std::move(reach.store), *context);
  const auto take = [&](const std::string& said, const std::string& by) {
    if (reach.cluster.empty() && !said.empty()) reach.cluster = said, reach.said_by = by;
  };
  const std::string by_context = "context " + context->name;
  if (context->named) take(context->says.cluster, by_context);
  take(outside.variable("EVENKEEL_CLUSTER").value_or(""), "EVENKEEL_CLUSTER");
  take(context->says.cluster, by_context);
  if (reach.cluster.empty()) reach.cluster = default_cluster;
  if (const auto why = why_not_a_name(reach.cluster)) throw CLI::ValidationError("--cluster", *why);
  return reach;
}

const KindList& node_kinds() {
  static const KindList kinds{Kind::config, Kind::node,  Kind::permit,   Kind::live,  Kind::member,
                              Kind::beat,   Kind::waits, Kind::workload, Kind::shards};
  return kinds;
}
const KindList& permit_kinds() {
  static const KindList kinds{Kind::config, Kind::node, Kind::permit, Kind::live, Kind::member, Kind::beat};
  return kinds;
}
const KindList& workload_kinds() {
  static const KindList kinds{Kind::config, Kind::node,   Kind::live,  Kind::member, Kind::beat, Kind::workload,
                              Kind::shards, Kind::report, Kind::order, Kind::view,   Kind::waits};
  return kinds;
}
const KindList& all_kinds() {
  static const KindList kinds{Kind::config, Kind::node,     Kind::permit, Kind::live,   Kind::member, Kind::beat,
                              Kind::waits,  Kind::workload, Kind::shards, Kind::report, Kind::order,  Kind::view};
  return kinds;
}

// 1. Reading.

namespace {

// The prefix of all documents of a kind; the key of a kind that has one.
std::string where_of(const Keys& keys, Kind kind) {
  switch (kind) {
    case Kind::node:
      return keys.root() + "nodes/";
    case Kind::workload:
      return keys.root() + "workloads/";
    case Kind::live:
      return keys.live_prefix();
    case Kind::member:
      return keys.root() + "members/";
    case Kind::beat:
      return keys.beat_prefix();
    case Kind::report:
      return keys.root() + "reports/";
    case Kind::shards:
      return keys.root() + "shards/";
    case Kind::view:
      return keys.view_prefix();
    case Kind::permit:
      return keys.root() + "permits/";
    case Kind::order:
      return keys.root() + "orders/";
    case Kind::waits:
      return keys.waits();
    default:
      ensure(kind == Kind::config, "a kind of document that these commands read");
      return keys.config();
  }
}

}  // namespace

Result<> OpenCluster::take(const Keys& keys, const store::Entry& entry, control::Snapshot& seen) {
  const auto key = keys.parse(entry.key);
  if (!key) return {};  // none of ours
  read_.insert_or_assign(entry.key, entry);
  auto document = control::parse_document(*key, entry);
  if (!document) return fail(document.error());
  seen.take(*key, *std::move(document));
  return {};
}

Result<control::Snapshot> OpenCluster::look(const KindList& kinds) {
  const Keys keys(name_);
  control::Snapshot seen{.cluster = name_};
  read_.clear();
  const auto told = std::exchange(unreadable_, {});
  const auto take_all = [&](const std::vector<store::Entry>& entries) {
    for (const store::Entry& entry : entries) {
      const auto taken = take(keys, entry, seen);
      if (taken) continue;
      const auto known = told.find(entry.key);
      if (known == told.end() || known->second != taken.error()) session_.say(taken.error().message);
      unreadable_.insert_or_assign(entry.key, taken.error());
    }
  };
  for (const Kind kind : kinds) {
    const std::string where = where_of(keys, kind);
    if (where.ends_with('/')) {
      const auto listing = store_->list(where);
      if (!listing) return fail(listing.error());
      take_all(listing->entries);
    } else {
      const auto read = store_->get(where);
      if (!read) return fail(read.error());
      if (read->entry) take_all({*read->entry});
    }
  }
  return seen;
}

Result<control::Snapshot> OpenCluster::look_patiently(const KindList& kinds, Interrupt& interrupt) {
  constexpr Duration patience = 30s;  // with a store that does not answer: a leader of its own is elected in less
  constexpr Duration look_again = 200ms;
  const Instant end = clock_.now() + patience;
  bool said = false;
  while (true) {
    auto seen = look(kinds);
    if (seen) return seen;
    if (seen.error().code != Code::unavailable || clock_.now() >= end || interrupt.stopped()) {
      if (!session_.context.empty()) return fail(seen.error().in(fmt::format("the store of context {}", session_.context)));
      return seen;
    }
    if (!std::exchange(said, true))
      session_.say(fmt::format("{}; it is asked again for {}", seen.error().message, format(patience)));
    interrupt.wait(look_again);
  }
}

Result<control::Snapshot> OpenCluster::look_existing(const KindList& kinds) {
  auto seen = look(kinds);
  missing_ = false;
  if (!seen || !seen->empty() || !unreadable_.empty()) return seen;
  const auto controller = look_at_controller();
  if (!controller) return fail(controller.error());
  missing_ = !controller->active;
  if (!missing_) return seen;
  return fail(Code::not_found, "there is no cluster {} in {}; --cluster and --store say where to look", quote(name_.str()), url_);
}

void OpenCluster::failed(const Error& error) {
  fail_store(session_, error);
  if (missing_ && error.code == Code::not_found) tell_context(session_);
}

std::optional<control::Snapshot> OpenCluster::read(const KindList& kinds) {
  auto seen = look(kinds);
  if (!seen) return failed(seen.error()), std::nullopt;
  return *std::move(seen);
}

std::optional<control::Snapshot> OpenCluster::read_existing(const KindList& kinds) {
  auto seen = look_existing(kinds);
  if (!seen) return failed(seen.error()), std::nullopt;
  return *std::move(seen);
}

Result<ControllerSeen> OpenCluster::look_at_controller() {
  std::shared_ptr<locks::Locks> locks;  // destroyed on the loop, after its answer
  const auto state = store_->run<locks::LockState>([&](store::Store& on, store::Answer<locks::LockState> answer) {
    locks = std::make_shared<locks::Locks>(on, nullptr);
    locks->show(Keys(name_).controller(), [&on, &locks, answer = std::move(answer)](Result<locks::LockState> seen) mutable {
      on.loop().post([held = std::move(locks), answer = std::move(answer), seen = std::move(seen)]() mutable {
        held.reset();
        answer(std::move(seen));
      });
    });
  });
  if (!state) return fail(state.error());
  if (!beat_ || beat_->first != state->renewed) beat_.emplace(state->renewed, clock_.now());
  const Duration still = state->ttl + state->ttl / 50;  // as long as those who would follow it wait
  return ControllerSeen{.active = state->held && clock_.now() - beat_->second <= still,
                        .address = parse_controller_address(state->meta)};
}

void OpenCluster::look_after_controller() {
  constexpr Duration often_enough = 900ms;
  if (clock_.now() < controller_due_) return;
  controller_due_ = clock_.now() + often_enough;
  const auto seen = look_at_controller();
  if (!seen || seen->active != said_idle_) return;
  said_idle_ = !seen->active;
  session_.say(said_idle_
                   ? fmt::format("nobody controls cluster {} in {}: nothing happens until `evenkeel serve` runs for it; is "
                                 "the name right?",
                                 name_, url_)
                   : fmt::format("{} controls cluster {}", seen->address.name, name_));
}

std::optional<Error> OpenCluster::unreadable(Kind kind) const {
  const Keys keys(name_);
  for (const auto& [name, error] : unreadable_) {
    if (const auto key = keys.parse(name); key && key->kind == kind) return error;
  }
  return std::nullopt;
}

// 2. Writing.

std::string OpenCluster::key_of(const Key& key) const {
  const Keys keys(name_);
  switch (key.kind) {
    case Kind::node:
      return keys.node(key.node);
    case Kind::workload:
      return keys.workload(key.workload);
    case Kind::order:
      return keys.order({key.workload, key.shard});
    case Kind::permit:
      return keys.permit(key.node);
    default:
      ensure(key.kind == Kind::config, "operators write config, nodes, workloads, orders and permits");
      return keys.config();
  }
}

// As this program would write it, so that only what means something differs.
std::string OpenCluster::text_of(const Key& key) const {
  const auto found = read_.find(key_of(key));
  if (found == read_.end()) return "";
  const store::Entry& entry = found->second;
  const auto document = control::parse_document(key, entry);
  if (!document) return entry.value;
  if (const auto* config = std::get_if<ConfigDocument>(&*document)) return format(*config);
  if (const auto* node = std::get_if<NodeDocument>(&*document)) return format(*node);
  if (const auto* workload = std::get_if<WorkloadDocument>(&*document)) return format(*workload);
  if (const auto* order = std::get_if<OrderDocument>(&*document)) return format(*order);
  if (const auto* permit = std::get_if<PermitDocument>(&*document)) return format(*permit);
  return entry.value;
}

Result<> OpenCluster::check(const control::Changes& changes) const {
  for (const auto& [key, error] : unreadable_) {
    const bool written =
        std::ranges::any_of(changes.writes, [&](const control::Write& write) { return key_of(write.key) == key; });
    if (error.code == Code::refused && !changes.writes.empty())
      return fail(Code::refused, "nothing is written: {}; use a newer evenkeel", error.message);
    if (written) return fail(error.code, "nothing is written over what cannot be read: {}", error.message);
  }
  return {};
}

Result<store::Revision> OpenCluster::commit(const control::Changes& changes) {
  constexpr std::size_t together_max = store::operations_max / 2;
  store::Revision revision;
  for (std::size_t at = 0; at < changes.writes.size();) {
    store::Txn txn;
    const std::size_t from = at;
    do {
      const control::Write& write = changes.writes[at];
      const std::string key = key_of(write.key);
      const auto before = read_.find(key);
      txn.compare(before == read_.end() ? store::absent(key) : store::unchanged(before->second));
      write.text.empty() ? txn.erase(key) : txn.put(key, write.text);
    } while (++at < changes.writes.size() && changes.writes[from].key.kind == Kind::order && at - from < together_max);
    const std::string context = from == 0 ? "" : fmt::format("{} of {} are written", from, changes.writes.size());
    auto done = store_->txn(std::move(txn));
    if (done && !done->succeeded) {
      done = fail(Code::conflict, "somebody else has written {} since it was read; look at it, and try again",
                  name_of(name_, changes.writes[from].key));
    }
    if (!done) return fail(context.empty() ? done.error() : done.error().in(context));
    revision = done->revision;
  }
  return revision;
}

std::unique_ptr<OpenCluster> open_cluster(Session& session, Outside& outside, const ClusterReach& given) {
  const auto reach = settle(session, outside, given);
  if (!reach) return nullptr;
  auto store = open_store(session, outside, reach->store);
  if (!store) return nullptr;
  return std::make_unique<OpenCluster>(session, std::move(store), ClusterId(reach->cluster), reach->store.url);
}

void add_change_options(CLI::App& command, Session& session, ChangeOptions& options, bool asks) {
  command.add_flag("--dry-run", options.dry_run, "Write nothing; print what would be written");
  if (asks) command.add_flag("--yes", options.yes, "Do not ask");
  add_output(command, session, options.output);
}

// 3. What is shown.

std::string name_of(const ClusterId& cluster, const Key& key) {
  switch (key.kind) {
    case Kind::node:
      return fmt::format("node/{}", key.node);
    case Kind::workload:
      return fmt::format("workload/{}", key.workload);
    case Kind::order:
      return fmt::format("shard/{}/{}", key.workload, key.shard);
    case Kind::permit:
      return fmt::format("permit/{}", key.node);
    default:
      return fmt::format("cluster/{}", cluster);
  }
}

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// A comma at a line's end says only that another line follows.
bool same(std::string_view a, std::string_view b) {
  if (a.ends_with(',')) a.remove_suffix(1);
  if (b.ends_with(',')) b.remove_suffix(1);
  return a == b;
}

// The longest run of lines that both have, by the usual table; [i][j]: of what follows line i and line j.
std::vector<std::vector<std::uint32_t>> common_lines(std::span<const std::string_view> a, std::span<const std::string_view> b) {
  std::vector<std::vector<std::uint32_t>> length(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;)
      length[i][j] = same(a[i], b[j]) ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
  }
  return length;
}

}  // namespace

std::string diff_of(const std::string& before, const std::string& after) {
  constexpr std::size_t cells_max = 4'000'000;  // 16 MB; past that all lines go and come
  std::vector<std::string_view> old_lines = lines_of(before), new_lines = lines_of(after);
  std::span<const std::string_view> a(old_lines), b(new_lines);
  while (!a.empty() && !b.empty() && same(a.front(), b.front())) a = a.subspan(1), b = b.subspan(1);
  while (!a.empty() && !b.empty() && same(a.back(), b.back())) a = a.first(a.size() - 1), b = b.first(b.size() - 1);
  std::string out;
  std::size_t i = 0, j = 0;
  if (a.size() * b.size() <= cells_max) {
    const auto length = common_lines(a, b);
    while (i < a.size() && j < b.size()) {
      if (same(a[i], b[j])) {
        ++i, ++j;
      } else if (length[i + 1][j] >= length[i][j + 1]) {
        out += fmt::format("- {}\n", a[i++]);
      } else {
        out += fmt::format("+ {}\n", b[j++]);
      }
    }
  }
  for (; i < a.size(); ++i) out += fmt::format("- {}\n", a[i]);
  for (; j < b.size(); ++j) out += fmt::format("+ {}\n", b[j]);
  return out;
}

namespace {

std::string diffs_of(const OpenCluster& cluster, const control::Changes& changes) {
  std::string out;
  for (const control::Write& write : changes.writes) {
    const std::string before = cluster.text_of(write.key);
    out +=
        fmt::format("{}{}\n{}", name_of(cluster.name(), write.key), before.empty() ? " (new)" : "", diff_of(before, write.text));
  }
  return out;
}

std::string written_as(const OpenCluster& cluster, const control::Changes& changes, std::optional<store::Revision> revision,
                       Output output) {
  if (output == Output::name) {
    std::string out;
    for (const control::Write& write : changes.writes) out += name_of(cluster.name(), write.key) + '\n';
    return out;
  }
  if (output == Output::table || output == Output::wide) {
    if (!revision) return diffs_of(cluster, changes);
    std::string out;
    for (const control::Write& write : changes.writes)
      out += fmt::format("{} {}\n", name_of(cluster.name(), write.key), write.text.empty() ? "removed" : "written");
    return out;
  }
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map().key("written").flag(revision.has_value());
  if (revision) out.key("revision").number(fmt::format("{}", revision->value()));
  out.key("documents").begin_list();
  for (const control::Write& write : changes.writes) {
    out.begin_map().key("name").text(name_of(cluster.name(), write.key)).key("before").text(cluster.text_of(write.key));
    out.key("after").text(write.text).end_map();
  }
  out.end_list().end_map();
  return std::move(out).take();
}

}  // namespace

bool agreed(Session& session, Outside& outside, const std::string& question) {
  const auto answer = outside.ask(fmt::format("{} [y/N] ", question));
  if (!answer) return session.fail(answer.error()), false;
  if (!*answer) {
    session.fail(
        Error{Code::refused, fmt::format("{} Nobody can be asked here: say --yes, or look first with --dry-run", question)});
    return false;
  }
  if (same_in_any_case(**answer, "y") || same_in_any_case(**answer, "yes")) return true;
  session.fail(Error{Code::cancelled, "nothing is written"});
  return false;
}

bool change(Session& session, Outside& outside, OpenCluster& cluster, const Result<control::Changes>& changes,
            const ChangeOptions& options, const std::string& question, std::string* later) {
  if (!changes) return session.fail(changes.error()), false;
  if (const auto good = cluster.check(*changes); !good) return session.fail(good.error()), false;
  for (const std::string& note : changes->notes) session.say(note);
  const bool asks = !question.empty() && !options.yes && !options.dry_run && !changes->writes.empty();
  if (asks) {
    session.io.err(diffs_of(cluster, *changes));
    if (!agreed(session, outside, question)) return false;
  }
  if (options.dry_run) return session.print(written_as(cluster, *changes, std::nullopt, options.output)), false;
  std::optional<store::Revision> revision = store::Revision();
  if (!changes->writes.empty()) {
    const auto done = cluster.commit(*changes);
    if (!done) return fail_store(session, done.error()), false;
    revision = *done;
    cluster.look_after_controller();
  }
  std::string written = written_as(cluster, *changes, revision, options.output);
  later != nullptr ? void(*later = std::move(written)) : session.print(written);
  return session.status == Exit::done;
}

// 4. Looking again.

void add_watch(CLI::App& command, bool& watch) {
  command.add_flag("--watch", watch, "Look again each second, and print what changed, until interrupted");
}

void operate(Session& session, const ClusterReach& reach, const ChangeOptions& options, const KindList& kinds,
             const std::function<Result<control::Changes>(const control::Snapshot&)>& decide, const std::string& question) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto cluster = open_cluster(session, *outside, reach);
  if (!cluster) return;
  if (const auto seen = cluster->read_existing(kinds)) change(session, *outside, *cluster, decide(*seen), options, question);
}

namespace {

// What is printed before a picture, if it takes the place of the one before.
std::string_view before_picture(const Outside& outside, bool watch, bool first) {
  if (watch && outside.terminal()) return "\033[H\033[J";  // the upper left corner, and nothing below it
  return first ? "" : "\n";
}

}  // namespace

void show(Session& session, const ClusterReach& reach, bool watch, const std::function<Result<std::string>(OpenCluster&)>& look) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  std::optional<Interrupt> watching;
  if (watch) watching.emplace(*outside);  // before the first thread
  const auto cluster = open_cluster(session, *outside, reach);
  if (!cluster) return;
  std::optional<std::string> before;
  bool away = false;
  do {
    auto text = look(*cluster);
    const bool waits = !text && before && text.error().code == Code::unavailable;
    if (!text && !waits) return cluster->failed(text.error());
    if (waits && !away) session.say(fmt::format("{}; it is asked again until it answers", text.error().message));
    const bool back = std::exchange(away, waits) && outside->terminal();  // what was said is in the picture
    if (!text || (*text == before && !back)) continue;
    session.print(std::string(before_picture(*outside, watch, !before)) + *text);
    before = *std::move(text);
  } while (session.status == Exit::done && watching && watching->wait(1s) != Outside::Signal::stop);
}

}  // namespace evenkeel::cli
