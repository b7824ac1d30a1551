// evenkeel serve: the daemon. A controller of one cluster, with its store if that is a folder, and HTTP.

#include <unistd.h>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/cli/live.h"
#include "evenkeel/cli/served_store.h"
#include "evenkeel/serve/daemon.h"
#include "evenkeel/store/backends/embedded/local.h"

namespace evenkeel::cli {
namespace {

constexpr Duration ready_look_every = 20ms;  // whether it is ready
constexpr Duration leave_within = 10s;       // its office, before it stops
constexpr Duration lease_ttl = 10s;          // of ephemeral keys in its own store
constexpr Duration history = 5min;           // of its own store, for watches that were cut off for a while

struct ServeOptions {
  std::string cluster;
  std::string name;
  std::string data;          // empty: below the user's state
  std::string store_listen;  // empty: the store's usual one
  StoreReach reach;          // with a URL: that store, and no folder
  std::string http = serve::DaemonOptions().http;
  std::string pulse = serve::DaemonOptions().pulse;
};

// The folder for a cluster's store, where users' programs keep what is theirs.
Result<std::string> default_folder(const Outside& outside, const std::string& cluster) {
  const auto given = [&](const char* name) { return outside.variable(name).value_or(""); };
  if (const std::string state = given("XDG_STATE_HOME"); state.starts_with('/')) return state + "/evenkeel/" + cluster;
  if (const std::string home = given("HOME"); !home.empty()) return home + "/.local/state/evenkeel/" + cluster;
  return fail(Code::invalid, "there is no home folder to keep the store in; give --data DIR, or --store URL");
}

struct Chosen {
  ServedStore served;  // empty: another one's
  std::string where;
  std::function<Result<std::unique_ptr<store::Store>>(Loop&)> open;
};

std::optional<Chosen> own_store(Session& session, const Outside& outside, const ServeOptions& options, Log& log) {
  const auto folder = options.data.empty() ? default_folder(outside, options.cluster) : Result<std::string>(options.data);
  if (!folder) return session.fail(folder.error()), std::nullopt;
  store::embedded::ServerOptions server;
  if (!options.store_listen.empty()) server.listen = options.store_listen;
  server.log = &log;
  auto served = serve_folder(*folder, 0, server);
  if (!served) return session.fail(served.error().in("store")), std::nullopt;
  Chosen chosen{.served = *std::move(served), .where = {}, .open = {}};
  chosen.where = "etcd://" + chosen.served.server->address();
  chosen.open = [engine = chosen.served.engine](Loop& loop) -> Result<std::unique_ptr<store::Store>> {
    return store::embedded::make_local(loop, engine, lease_ttl);
  };
  return chosen;
}

std::optional<Chosen> other_store(Session& session, const Outside& outside, const ServeOptions& options, Log& log) {
  auto choice = choose_store(session, outside, options.reach, Folder::may_be_made);
  if (!choice) return std::nullopt;
  choice->options.log = &log;
  return Chosen{.served = {}, .where = store::format(choice->url), .open = [choice = *choice](Loop& loop) {
                  return store::open(loop, choice.url, choice.options);
                }};
}

// How our own store stands; nothing if it is another one's.
std::function<serve::StoreMeasured()> measures(const std::shared_ptr<store::embedded::Engine>& engine) {
  if (!engine) return {};
  return [engine] {
    const store::embedded::EngineStatus now = engine->status();
    return serve::StoreMeasured{.revision = static_cast<std::uint64_t>(now.revision),
                                .bytes = now.bytes,
                                .bytes_max = now.bytes_max,
                                .keys = now.keys,
                                .watchers = now.watchers,
                                .leases = now.leases,
                                .full = now.full,
                                .reads = now.reads,
                                .writes = now.writes,
                                .renewals = now.renewals,
                                .watches = now.watches};
  };
}

std::string ready_line(const serve::Daemon& daemon, const ServeOptions& options, const std::string& store) {
  return fmt::format("{{\"cluster\":{},\"name\":{},\"http\":{},\"pulse\":{},\"store\":{},\"pid\":{}}}\n",
                     json_quoted(options.cluster), json_quoted(daemon.name()), json_quoted("http://" + daemon.http()),
                     json_quoted(daemon.pulse()), json_quoted(store), getpid());
}

// It serves from the start; it is ready once it has heard of its store.
bool wait_until_ready(Interrupt& interrupt, const serve::Daemon& daemon) {
  while (!daemon.ready()) {
    if (interrupt.wait(ready_look_every) == Outside::Signal::stop) return false;
  }
  return true;
}

void run_daemon(Session& session, const ServeOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  Interrupt interrupt(*outside);  // before the first thread
  Log log = Log::to_stderr({});
  auto chosen =
      options.reach.url.empty() ? own_store(session, *outside, options, log) : other_store(session, *outside, options, log);
  if (!chosen) return;
  auto daemon = serve::Daemon::start({.cluster = ClusterId(options.cluster),
                                      .name = options.name,
                                      .open_store = std::exchange(chosen->open, {}),
                                      .http = options.http,
                                      .pulse = options.pulse,
                                      .history = chosen->served.engine ? history : Duration{},
                                      .own_store = measures(chosen->served.engine),
                                      .log = &log});
  if (!daemon) return session.fail(daemon.error());
  outside->tell_ready();
  if (wait_until_ready(interrupt, **daemon)) {
    session.print(ready_line(**daemon, options, chosen->where));
    while (session.status == Exit::done && interrupt.wait() != Outside::Signal::stop) {
    }
  }
  session.say("stopping");
  (*daemon)->stop(leave_within);
  daemon->reset();
  if (chosen->served.server) chosen->served.server->stop();
}

// What a context says, if one is named. Neither the environment nor the one in use counts here. False: the session knows why.
bool take_context(Session& session, ServeOptions& options) {
  if (options.reach.context.empty()) return true;
  Outside* outside = outside_of(session);
  if (outside == nullptr) return false;
  const auto context = choose_context(session, *outside, options.reach, InUse::does_not);
  if (!context) return false;
  if (context->says.store.empty() && options.reach.url.empty()) {
    session.fail(Error{Code::invalid, fmt::format("context {} names no store; `evenkeel context set {} --store URL` gives it one",
                                                  context->name, context->name)});
    return false;
  }
  options.reach = settle(session, *outside, options.reach, *context);
  if (options.cluster.empty()) options.cluster = context->says.cluster;
  return true;
}

void check(const ServeOptions& options) {
  if (const auto why = why_not_a_name(options.cluster)) throw CLI::ValidationError("--cluster", *why);
  if (options.reach.url.empty()) {
    const StoreReach& reach = options.reach;
    if (!reach.user.empty() || !reach.password_file.empty() || reach.tls != store::Tls() || reach.timeout != StoreReach().timeout)
      throw CLI::ValidationError("--user",
                                 "is for a store of others, as are --password-file, --tls-… and --timeout: give --store as well");
    return;
  }
  if (options.reach.url.starts_with("embedded:") || options.reach.url.starts_with("memory:"))
    throw CLI::ValidationError("--store", "names a store that no node could reach: --data DIR serves one");
  if (!options.data.empty())
    throw CLI::ValidationError("--data", "is a store of its own, and --store is another one: give one of them");
  if (!options.store_listen.empty())
    throw CLI::ValidationError("--store-listen", "is where its own store is reached, and with --store it has none: leave it out");
}

}  // namespace

void add_serve(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("serve", "Run the daemon: a cluster's controller, its store, and HTTP");
  command->footer(
      "Once it is ready, one JSON object on standard output says where: "
      "{\"cluster\":…,\"name\":…,\"http\":…,\"pulse\":…,\"store\":…,\"pid\":…}.\n"
      "An interrupt stops it: it leaves its office first. A store that does not answer is waited for.\n"
      "Without --store it keeps the store itself, in a folder, and serves it over etcd's v3 API; then it is the only one. With "
      "--store several\n"
      "may run for one cluster: one is active, and the others take over when it goes.\n"
      "It listens only on this host, since there is no encryption or authentication yet.\n\n"
      "Examples:\n"
      "  evenkeel serve\n"
      "  evenkeel serve --cluster pages --data /var/lib/evenkeel/pages\n"
      "  evenkeel serve --cluster pages --store etcd://10.0.0.9:2379 --name host-1");
  auto options = std::make_shared<ServeOptions>();
  command->add_option("--cluster", options->cluster, "Which cluster; default")->type_name("NAME");
  auto* data = command->add_option("--data", options->data, "The folder of its store; else ~/.local/state/evenkeel/CLUSTER");
  data->type_name("DIR");
  session.hints[data] = {.words = {}, .files = true};
  command
      ->add_option("--store-listen", options->store_listen,
                   fmt::format("Where its store is reached; else {}", store::embedded::ServerOptions().listen))
      ->type_name("HOST:PORT");
  command->add_option("--http", options->http, fmt::format("Where its HTTP is reached; else {}", options->http))
      ->type_name("HOST:PORT");
  command->add_option("--pulse", options->pulse, "Where nodes pulse to; else any free port of this host")->type_name("HOST:PORT");
  command
      ->add_option("--name", options->name, "Its name among the cluster's controllers; else this host's, and the port of --http")
      ->type_name("NAME");
  add_store_reach(*command, session, options->reach);
  command->get_option("--context")->description("Which context; the one in use does not count here");
  command->get_option("--store")->description("A store that is there: etcd://…, etcds://…, zk://…; else its own, in --data");
  command->callback([&session, options] {
    if (!take_context(session, *options)) return;
    if (options->cluster.empty()) options->cluster = default_cluster;
    check(*options);
    run_daemon(session, *options);
  });
}

}  // namespace evenkeel::cli
