// evenkeel store serve: the embedded store on a folder, for every client of etcd's v3 API.

#include "evenkeel/base/document.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/base/text.h"
#include "evenkeel/cli/live.h"
#include "evenkeel/cli/served_store.h"

namespace evenkeel::cli {
namespace {

struct StoreServeOptions {
  std::string data;
  std::uint64_t quota_bytes = 0;  // 0: the engine's own
  store::embedded::ServerOptions server;
};

// After a hang-up. What is wrong with the file is logged, and users stay as they were.
void reload(store::embedded::Server& server, Log& log) {
  if (const auto done = server.reload(); !done) log.error("users stay as they were", {{"error", done.error().message}});
}

// A certificate is seen only of clients that are asked for one. The server has read the file before, and found it good.
void warn_of_certificates(Session& session, const store::embedded::ServerOptions& options) {
  if (options.users.empty() || !options.tls.client_authority.empty()) return;
  const auto text = session.io.read_file(options.users);
  if (!text) return;
  const auto document = Document::parse(*text, options.users);
  if (!document) return;
  for (const auto [name, users] : document->root().pairs()) {
    for (const Value user : users.items()) {
      for (const auto [field, value] : user.pairs()) {
        if (field.text() != "certificate") continue;
        return session.say(
            fmt::format("warning: {}: the certificate {} is never looked at without --client-authority, by which clients are "
                        "asked for theirs",
                        options.users, quote(value.text())));
      }
    }
  }
}

void serve_store(Session& session, StoreServeOptions options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  Interrupt interrupt(*outside);  // before the first thread
  Log log = Log::to_stderr({});
  options.server.log = &log;
  const auto served = serve_folder(options.data, options.quota_bytes, options.server);
  if (!served) return session.fail(served.error());
  store::embedded::Server& server = *served->server;
  warn_of_certificates(session, options.server);
  session.print(fmt::format("serving {} on {}\n", options.data, server.address()));
  if (session.status != Exit::done) return;
  outside->tell_ready();
  while (interrupt.wait() != Outside::Signal::stop) reload(server, log);
  session.say("stopping");
  server.stop();
}

void add_file(CLI::App& command, Session& session, const std::string& name, std::string& path, const std::string& description) {
  auto* option = command.add_option(name, path, description)->type_name("FILE");
  session.hints[option] = {.words = {}, .files = true};
}

void check_tls(const store::embedded::ServerTls& tls) {
  if (tls.certificate.empty() != tls.key.empty())
    throw CLI::ValidationError("--tls-certificate", "needs --tls-key, and the other way round: give both");
  if (!tls.client_authority.empty() && tls.certificate.empty())
    throw CLI::ValidationError("--client-authority", "needs --tls-certificate and --tls-key: clients show theirs over TLS only");
}

}  // namespace

void add_store_serve(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("serve", "Serve the embedded store over etcd's v3 API");
  command->footer(
      "Once it serves, one line on standard output says where: serving DIR on HOST:PORT. Port 0 takes any free one.\n"
      "A hang-up (SIGHUP) makes it read its users again; an interrupt stops it. Whatever was acknowledged is on the disk, "
      "however it "
      "ends.\n"
      "Without TLS or users it listens only on this host.\n\n"
      "Examples:\n"
      "  evenkeel store serve --data /var/lib/evenkeel/store\n"
      "  evenkeel store serve --data store --listen 0.0.0.0:2379 --tls-certificate host.pem --tls-key host.key --users "
      "users.yaml\n"
      "  etcdctl --endpoints 127.0.0.1:2379 get --prefix /");
  auto options = std::make_shared<StoreServeOptions>();
  auto* data = command->add_option("--data", options->data, "The folder of its data; made if there is none")->required();
  data->type_name("DIR");
  session.hints[data] = {.words = {}, .files = true};
  auto& server = options->server;
  command->add_option("--listen", server.listen, fmt::format("Where clients reach it; else {}", server.listen))
      ->type_name("HOST:PORT");
  command->add_option("--advertise", server.advertise, "The URL that it tells clients to use; else from --listen")
      ->type_name("URL");
  command->add_option("--name", server.name, "Its name in the list of members; default")->type_name("NAME");
  add_file(*command, session, "--tls-certificate", server.tls.certificate, "Its certificate, PEM: clients speak TLS then");
  add_file(*command, session, "--tls-key", server.tls.key, "The key of the certificate, PEM");
  add_file(*command, session, "--client-authority", server.tls.client_authority,
           "Only clients with a certificate of these authorities, PEM");
  add_file(*command, session, "--users", server.users, "Who may read and write what; else everybody everything");
  command
      ->add_option_function<std::string>(
          "--quota",
          [options](const std::string& word) {
            const auto bytes = Bytes::parse(word);
            if (!bytes) throw CLI::ValidationError("--quota", bytes.error().message);
            if (bytes->count() == 0) throw CLI::ValidationError("--quota", "must be more than nothing, for example 8Gi");
            options->quota_bytes = bytes->count();
          },
          "Of the folder: above it writes are refused; 8Gi")
      ->type_name("SIZE");
  command->callback([&session, options] {
    check_tls(options->server.tls);
    serve_store(session, *options);
  });
}

}  // namespace evenkeel::cli
