#include "evenkeel/cli/contexts.h"

#include <algorithm>
#include <functional>
#include <ranges>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/model/ids.h"

namespace evenkeel::cli {
namespace {

constexpr std::uint64_t format_number = 1;
constexpr std::string_view contexts_heading = "# Written by `evenkeel context`. Comments are not kept.\n";

bool has_tls(const Context& context) { return context.tls != store::Tls(); }

class Reader {
 public:
  explicit Reader(const Document& document) : document_(document), problems_(document.problems()) {}

  Parsed<Contexts> read() {
    Contexts out;
    if (document_.root().kind() != Value::Kind::null) read_file(out);
    if (!problems_.empty()) return tl::unexpected(std::move(problems_));
    return out;
  }

 private:
  void read_file(Contexts& out) {
    FieldReader fields(document_.root(), problems_, "a file of contexts");
    std::uint64_t number = format_number;
    fields.count("format", number, {.least = 1});
    out.later = number > format_number;
    fields.read("current", out.current, checked(why_not_a_name));
    if (const auto all = fields.take("contexts"); all && expect_map(*all, problems_, "contexts by name")) {
      for (const auto [key, value] : all->pairs()) {
        std::string name(key.text());
        if (auto why = why_not_a_name(name)) problems_.add(key.place(), *std::move(why));
        out.all.insert_or_assign(std::move(name), read_context(value, out.later));
      }
    }
    if (!out.later) fields.finish();
  }

  Context read_context(Value value, bool later) {
    const std::size_t before = problems_.found();
    Context out;
    FieldReader fields(value, problems_, "a context");
    fields.read("store", out.store, checked(why_not_a_store));
    fields.read("cluster", out.cluster, checked(why_not_a_name));
    fields.text("user", out.user);
    fields.text("password_file", out.password_file);
    if (const auto tls = fields.take("tls")) read_tls(*tls, out.tls, later);
    fields.read("http", out.http, checked(why_not_http));
    if (!later) fields.finish();
    if (problems_.found() > before) return out;  // what a field lacks may be what was wrong with it
    if (auto why = why_not_together(out)) problems_.add(value.place(), *std::move(why));
    return out;
  }

  void read_tls(Value value, store::Tls& out, bool later) {
    FieldReader fields(value, problems_, "a context's tls");
    fields.text("authority", out.authority);
    fields.text("certificate", out.certificate);
    fields.text("key", out.key);
    fields.text("server_name", out.server_name);
    if (!later) fields.finish();
  }

  std::function<std::optional<std::string>(Value)> checked(std::optional<std::string> (*why_not)(std::string_view)) {
    return [this, why_not](Value value) -> std::optional<std::string> {
      auto text = read_text(value, problems_);
      if (!text) return text;
      auto why = why_not(*text);
      if (!why) return text;
      problems_.add(value.place(), *std::move(why));
      return std::nullopt;
    };
  }

  const Document& document_;
  Diagnostics problems_;
};

void write_field(Writer& out, std::string_view name, const std::string& text) {
  if (!text.empty()) out.key(name).text(text);
}

void write_context(Writer& out, const Context& context) {
  out.begin_map();
  write_field(out, "store", context.store);
  write_field(out, "cluster", context.cluster);
  write_field(out, "user", context.user);
  write_field(out, "password_file", context.password_file);
  if (has_tls(context)) {
    out.key("tls").begin_map();
    write_field(out, "authority", context.tls.authority);
    write_field(out, "certificate", context.tls.certificate);
    write_field(out, "key", context.tls.key);
    write_field(out, "server_name", context.tls.server_name);
    out.end_map();
  }
  write_field(out, "http", context.http);
  out.end_map();
}

// Nothing but blank lines and comments.
bool says_nothing(std::string_view text) {
  while (!text.empty()) {
    const std::size_t at = text.find_first_not_of(" \r\n");
    if (at == std::string_view::npos) return true;
    if (text[at] != '#') return false;
    text.remove_prefix(std::min(text.find('\n', at), text.size()));
  }
  return true;
}

// Empty: there is no home folder.
Result<std::string> path_of_file(const Outside& outside) {
  const auto given = [&](const char* name) { return outside.variable(name).value_or(""); };
  if (std::string file = given("EVENKEEL_CONFIG"); !file.empty()) {
    if (file == "-") return fail(Code::invalid, "EVENKEEL_CONFIG is \"-\": contexts are kept in a file, name one");
    return file;
  }
  if (const std::string config = given("XDG_CONFIG_HOME"); config.starts_with('/')) return config + "/evenkeel/config.yaml";
  if (const std::string home = given("HOME"); !home.empty()) return home + "/.config/evenkeel/config.yaml";
  return std::string();
}

}  // namespace

std::optional<std::string> why_not_a_store(std::string_view text) {
  const auto url = store::parse_url(text);
  return url ? std::nullopt : std::optional(url.error().message);
}

std::optional<std::string> why_not_http(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::string_view rest = text.substr(scheme.size());
    if (!rest.empty() && rest.find_first_of(" \t@") == std::string_view::npos) return std::nullopt;
  }
  return fmt::format("{} is not where a daemon is: write http://HOST:PORT", quote(text));
}

std::optional<std::string> why_not_together(const Context& context) {
  if (context.store.empty() && (!context.user.empty() || !context.password_file.empty() || has_tls(context)))
    return "user, password_file and tls are for one store: say for which with store";
  if (context.user.empty() && !context.password_file.empty()) return "password_file needs user: whose password is it?";
  if (has_tls(context) && !context.store.starts_with("etcds://"))
    return fmt::format("{} is not spoken to over TLS, so it takes no tls; write etcds://", quote(context.store));
  if (context.tls.certificate.empty() != context.tls.key.empty())
    return "a certificate of tls needs its key, and the other way round: give both";
  return std::nullopt;
}

Parsed<Contexts> parse_contexts(std::string_view text, std::string file) {
  if (says_nothing(text)) return Contexts();  // /dev/null is the file of who wants none
  const auto document = Document::parse(text, std::move(file), Syntax::yaml);
  if (!document) return tl::unexpected(document.error());
  return Reader(*document).read();
}

std::string format_contexts(const Contexts& contexts) {
  Writer out(Syntax::yaml);
  out.begin_map().key("format").number(format_number);
  write_field(out, "current", contexts.current);
  out.key("contexts").begin_map();
  for (const auto& [name, context] : contexts.all) {
    out.key(name);
    write_context(out, context);
  }
  out.end_map().end_map();
  return std::string(contexts_heading) + std::move(out).take();
}

std::optional<ContextFile> load_contexts(Session& session, const Outside& outside) {
  auto path = path_of_file(outside);
  if (!path) return session.fail(path.error()), std::nullopt;
  ContextFile file{.path = *std::move(path), .text = {}, .contexts = {}};
  if (file.path.empty()) return file;
  auto text = session.io.read_file(file.path);
  if (!text && text.error().code == Code::not_found) return file;
  constexpr std::string_view without = "  EVENKEEL_CONFIG names another file of contexts; /dev/null has none\n";
  if (!text) {
    session.fail(text.error().in("contexts"));
    session.io.err(without);
    return std::nullopt;
  }
  auto contexts = parse_contexts(*text, file.path);
  if (!contexts) {
    session.fail(contexts.error());
    session.io.err(without);
    return std::nullopt;
  }
  file.text = *std::move(text);
  file.contexts = *std::move(contexts);
  return file;
}

Result<Context> find_context(const ContextFile& file, const std::string& name) {
  const auto& all = file.contexts.all;
  if (const auto found = all.find(name); found != all.end()) return found->second;
  if (auto why = why_not_a_name(name)) return fail(Code::invalid, "{}", *why);
  if (all.empty()) {
    return fail(Code::not_found, "there is no context {}, nor any other in {}; `evenkeel context set {} --store URL` makes it",
                quote(name), file.path, name);
  }
  constexpr std::size_t shown = 10;
  std::string known;
  for (const auto& [other, context] : all | std::views::take(shown)) known += (known.empty() ? "" : ", ") + other;
  if (all.size() > shown) known += fmt::format(" and {} more", all.size() - shown);
  return fail(Code::not_found, "there is no context {} in {}; there are: {}", quote(name), file.path, known);
}

Result<> save_contexts(const Io& io, const ContextFile& file, const Contexts& contexts) {
  if (file.contexts.later)
    return fail(Code::refused,
                "nothing is written: {} is of a later version, with more in it than this one knows; use that version", file.path);
  if (file.path.empty())
    return fail(Code::invalid, "there is no home folder to keep contexts in; set EVENKEEL_CONFIG to the path of a file");
  if (!io.write_private) return fail(Code::denied, "no file can be written here");
  const auto now = io.read_file(file.path);
  if (now.value_or("") != file.text)
    return fail(Code::conflict, "somebody else has written {} since it was read; look at it, and try again", file.path);
  return io.write_private(file.path, format_contexts(contexts));
}

std::vector<std::string> context_names(const Io& io) {
  std::vector<std::string> names;
  const auto path = io.outside == nullptr ? std::string() : path_of_file(*io.outside).value_or("");
  if (path.empty()) return names;
  const auto text = io.read_file(path);
  if (!text) return names;
  const auto contexts = parse_contexts(*text, path);
  if (!contexts) return names;
  for (const auto& [name, context] : contexts->all) names.push_back(name);
  return names;
}

}  // namespace evenkeel::cli
