// evenkeel broker serve: a broker for the processes of this host.

#include <unistd.h>

#include "evenkeel/base/file.h"
#include "evenkeel/base/text.h"
#include "evenkeel/broker/config_file.h"
#include "evenkeel/broker/metrics.h"
#include "evenkeel/broker/page.h"
#include "evenkeel/broker/shell/rpc/service.h"
#include "evenkeel/cli/live.h"
#include "evenkeel/serve/http.h"

namespace evenkeel::cli {
namespace {

struct BrokerServeOptions {
  std::string config;  // empty: the built-in one
  std::string listen = std::string(broker::default_address);
  std::string http;  // empty: none
  std::string ready_file;
  Duration ping = 10s;
  std::uint64_t tasks_max = broker::BrokerOptions().tasks_max;
  broker::BrokerOptions broker;
};

// What the broker is to do, from the file or built in. The session is told what is wrong with it.
std::optional<broker::Config> read_config(Session& session, const std::string& file) {
  if (file.empty()) return broker::default_config();
  const auto text = session.io.read_file(file);
  if (!text) {
    session.fail(text.error());
    return std::nullopt;
  }
  auto config = broker::parse_config(*text, file == "-" ? "<stdin>" : file);
  if (!config) {
    session.fail(config.error());
    return std::nullopt;
  }
  return std::move(*config);
}

std::vector<serve::Route> routes(const std::shared_ptr<broker::Broker>& broker) {
  const auto page = [broker](const serve::Request&) {
    const auto seen = broker->observe();
    return serve::Response{.type = "text/html; charset=utf-8", .body = format_page(seen.status, seen.clients), .headers = {}};
  };
  const auto metrics = [broker](const serve::Request&) {
    const auto seen = broker->observe({.waiting_max = 0, .running_max = 0});
    return serve::Response{
        .type = "text/plain; version=0.0.4; charset=utf-8", .body = format_metrics(seen.status), .headers = {}};
  };
  return {{"GET", "/", [](const serve::Request&) { return serve::redirect("/broker"); }},
          {"GET", "/broker", page},
          {"GET", "/metrics", metrics},
          {"GET", "/healthz", [](const serve::Request&) { return serve::Response{.body = "ok\n", .headers = {}}; }}};
}

std::string ready_line(const broker::Service& service, const serve::HttpServer* http) {
  return fmt::format("{{\"broker\":{},\"http\":{},\"pid\":{}}}\n", json_quoted(service.address()),
                     http == nullptr ? "null" : json_quoted("http://" + http->address()), getpid());
}

// After a hang-up: the file again. What is wrong with it is said, and the broker goes on as it was.
void reload(Session& session, broker::Broker& broker, const std::string& file) {
  if (file.empty() || file == "-") return session.say("there is no --config file to read again");
  const auto config = read_config(session, file);
  session.status = Exit::done;
  if (!config) return session.say("the config stays as it was");
  if (const auto done = broker.configure(*config); !done)
    return session.say(fmt::format("{}: {}; the config stays as it was", file, done.error().message));
  session.say(fmt::format("{} was read again", file));
}

void run_until_stopped(Session& session, Interrupt& interrupt, broker::Broker& broker, const BrokerServeOptions& options) {
  while (interrupt.wait() != Outside::Signal::stop) reload(session, broker, options.config);
  session.say("stopping");
}

void serve_broker(Session& session, const BrokerServeOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto config = read_config(session, options.config);
  if (!config) return;
  Interrupt interrupt(*outside);  // before the first thread
  auto broker = broker::Broker::from_config(*config, options.broker);
  if (!broker) {
    const Error error = broker.error();
    // Refused by the broker; here it is the input that is wrong.
    return session.fail(options.config.empty() ? error : Error{Code::invalid, error.message}.in(options.config));
  }
  std::unique_ptr<serve::HttpServer> http;
  if (!options.http.empty()) {
    auto started = serve::HttpServer::start(routes(*broker), {.listen = options.http});
    if (!started) return session.fail(started.error().in("--http"));
    http = std::move(*started);
  }
  auto service =
      broker::Service::start(*broker, {.listen = options.listen, .ping_every = options.ping, .ping_wait = options.ping / 2});
  if (!service) return session.fail(service.error().in("--listen"));

  session.say(fmt::format("the broker listens on {}", (*service)->address()));
  if (http != nullptr) session.say(fmt::format("its page is http://{}/broker", http->address()));
  const std::string ready = ready_line(**service, http.get());
  if (!options.ready_file.empty()) {
    if (const auto written = replace_file(options.ready_file, ready); !written) return session.fail(written.error());
  }
  session.print(ready);
  if (session.status != Exit::done) return;
  run_until_stopped(session, interrupt, **broker, options);
}

}  // namespace

void add_broker_serve(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("serve", "Run a broker for the processes of this host");
  command->footer(
      "When it is ready, one JSON object on standard output says where: {\"broker\":…,\"http\":…,\"pid\":…}.\n"
      "A hang-up (SIGHUP) makes it read its config again; an interrupt stops it. Clients see that as the end of their line.\n"
      "It listens only on this host, since there is no encryption or authentication yet.\n\n"
      "Examples:\n"
      "  evenkeel broker serve\n"
      "  evenkeel broker serve --config broker.yaml --http 127.0.0.1:7070\n"
      "  evenkeel broker serve --listen unix:/run/evenkeel/broker");
  auto options = std::make_shared<BrokerServeOptions>();
  auto* config = command->add_option("--config", options->config,
                                     "The config, in any form that `broker convert` reads; else the built-in one");
  config->type_name("FILE");
  session.hints[config] = {.words = {}, .files = true};
  command
      ->add_option("--listen", options->listen,
                   fmt::format("Where clients reach it: HOST:PORT or unix:PATH; else {}", options->listen))
      ->type_name("ADDRESS");
  command->add_option("--http", options->http, "Where its page and its metrics are: HOST:PORT; else nowhere")
      ->type_name("ADDRESS");
  auto* ready = command->add_option("--ready-file", options->ready_file, "A file to write where it listens to, once it does");
  ready->type_name("FILE");
  session.hints[ready] = {.words = {}, .files = true};
  add_duration(*command, "--ping", options->ping,
               "How often a silent client is asked whether it still lives; it has half of that to answer; 10s");
  auto& scheduling = options->broker.scheduling;
  command->add_flag("--queue-limit-first", scheduling.queue_limit_first,
                    "A queue at its own limit keeps nothing back; large tasks may starve");
  command->add_flag("--refuse-oversized", scheduling.refuse_oversized, "Refuse tasks that could only run alone");
  add_count(*command, "--waiting-max", scheduling.waiting_max, "How many tasks may wait in a queue; else any number");
  add_count(*command, "--tasks-max", options->tasks_max, fmt::format("How many tasks a client may have; {}", options->tasks_max));
  command->callback([&session, options] {
    options->broker.tasks_max = options->tasks_max;
    serve_broker(session, *options);
  });
}

}  // namespace evenkeel::cli
