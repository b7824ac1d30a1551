#pragma once
// Contexts: named answers to "which store, which cluster, who asks", kept in one file of the user's, so that commands need not be told each time.
//
//   format: 1
//   current: prod
//   contexts:
//     prod:
//       store: etcds://store.example.org:2379
//       cluster: pages
//       user: ann
//       password_file: /home/ann/.evenkeel-password      # never the password itself
//       tls: {authority: /etc/ssl/ours.pem}
//       http: http://daemon.example.org:7070
//
//   const auto file = load_contexts(session, *outside);           // or the session knows why not
//   const auto prod = find_context(*file, "prod");
//   save_contexts(session.io, *file, edited);
//
// The file is $EVENKEEL_CONFIG, else evenkeel/config.yaml below $XDG_CONFIG_HOME, else below ~/.config; one that is not there has no contexts. Paths in
// it that are relative begin at its folder. Fields that we do not know are wrong, unless a higher `format` says that a later version wrote
// the file: then they are passed over, and the file is not written.
//
// Who asks belongs to a store: a context with a user or with TLS files names the store that they are for. How a context and what else was said go
// together is store_access.h's.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/cli/command.h"
#include "evenkeel/store/backends/open.h"

namespace evenkeel::cli {

// An empty field says nothing.
struct Context {
  std::string store;  // a URL
  std::string cluster;
  std::string user;
  std::string password_file;
  store::Tls tls;
  std::string http;  // of a daemon, for scripts: commands find the active one by themselves
  friend bool operator==(const Context&, const Context&) = default;
};

struct Contexts {
  std::string current;  // empty: none is in use. It may name one that is not there
  std::map<std::string, Context> all;
  bool later = false;  // a later version has written it
  friend bool operator==(const Contexts&, const Contexts&) = default;
};

Parsed<Contexts> parse_contexts(std::string_view text, std::string file);
std::string format_contexts(const Contexts& contexts);  // exact round trip, of those that are not `later`

// What is wrong with a context's fields, one by one and together; also of one that was put together from flags.
std::optional<std::string> why_not_a_store(std::string_view text);
std::optional<std::string> why_not_http(std::string_view text);
std::optional<std::string> why_not_together(const Context& context);

struct ContextFile {
  std::string path;  // empty: there is no home folder
  std::string text;  // as it was read
  Contexts contexts;
};
// Nothing after the session was told what is wrong.
std::optional<ContextFile> load_contexts(Session& session, const Outside& outside);
// Code::not_found, with what there is; invalid if it is no name.
Result<Context> find_context(const ContextFile& file, const std::string& name);
// Whole or not at all, readable by its owner alone. Code::refused if a later version has written it, conflict if anybody has since it was read (who writes
// at the same moment is not seen).
Result<> save_contexts(const Io& io, const ContextFile& file, const Contexts& contexts);

// For shells that complete; none if there is any trouble.
std::vector<std::string> context_names(const Io& io);

}  // namespace evenkeel::cli
