// evenkeel context VERB: named contexts, so that commands need not be told each time which store and cluster is meant.

#include <filesystem>

#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/cli/contexts.h"

namespace evenkeel::cli {
namespace {

struct ContextOptions {
  ChangeOptions change;
  Output output = Output::table;
  std::string name;
};

// 1. How they are shown.

struct ContextRow {
  std::string name;
  bool current = false;
  Context says;
};

std::string table_of(const std::vector<ContextRow>& rows, bool wide) {
  std::vector<std::string> header{"CURRENT", "NAME", "STORE", "CLUSTER", "USER"};
  if (wide) header.insert(header.end(), {"PASSWORD FILE", "TLS", "HTTP"});
  Table table(std::move(header));
  for (const ContextRow& row : rows) {
    const Context& says = row.says;
    std::vector<std::string> cells{row.current ? "*" : "", row.name, says.store, says.cluster, says.user};
    if (wide) cells.insert(cells.end(), {says.password_file, says.tls == store::Tls() ? "" : "yes", says.http});
    table.add(std::move(cells));
  }
  return table.format();
}

using Fields = std::vector<std::pair<std::string_view, std::string>>;

Fields fields_of(const Context& says) {
  return {{"store", says.store},
          {"cluster", says.cluster},
          {"user", says.user},
          {"password_file", says.password_file},
          {"tls_authority", says.tls.authority},
          {"tls_certificate", says.tls.certificate},
          {"tls_key", says.tls.key},
          {"tls_server_name", says.tls.server_name},
          {"http", says.http}};
}

void write_context_row(Writer& out, const ContextRow& row) {
  out.begin_map().key("name").text(row.name).key("current").flag(row.current);
  for (const auto& [field, text] : fields_of(row.says)) {
    if (!text.empty()) out.key(field).text(text);
  }
  out.end_map();
}

std::string rows_as(const std::vector<ContextRow>& rows, Output output) {
  return list_as(
      rows, output, [&](bool wide) { return table_of(rows, wide); },
      [](const ContextRow& row) { return fmt::format("context/{}", row.name); }, write_context_row);
}

std::string page_of(const ContextRow& row, const std::string& file) {
  Table table({"CONTEXT", row.name});
  table.add({"current", row.current ? "yes" : "no"});
  for (const auto& [field, text] : fields_of(row.says)) {
    if (!text.empty()) table.add({std::string(field), text});
  }
  table.add({"file", file});
  return table.format();
}

// The file, or nothing after the session was told why not.
std::optional<ContextFile> open_file(Session& session) {
  const Outside* outside = outside_of(session);
  return outside == nullptr ? std::nullopt : load_contexts(session, *outside);
}

void tell_of_later(Session& session, const ContextFile& file) {
  if (file.contexts.later)
    session.say(fmt::format("{} is of a later version: what this one does not know is not shown", file.path));
}

void list(Session& session, const ContextOptions& options) {
  const auto file = open_file(session);
  if (!file) return;
  tell_of_later(session, *file);
  const Contexts& contexts = file->contexts;
  std::vector<ContextRow> rows;
  for (const auto& [name, says] : contexts.all) rows.push_back({name, name == contexts.current, says});
  if (!contexts.current.empty() && !contexts.all.contains(contexts.current))
    session.say(fmt::format("context {} is in use, and there is none of this name: `evenkeel context use` takes another",
                            quote(contexts.current)));
  session.print(rows_as(rows, options.output));
}

void show(Session& session, const ContextOptions& options) {
  const auto file = open_file(session);
  if (!file) return;
  const std::string& current = file->contexts.current;
  const std::string name = options.name.empty() ? current : options.name;
  if (name.empty())
    return session.fail(Error{
        Code::not_found, "no context is in use; `evenkeel context list` shows what there is, `evenkeel context use` takes one"});
  const auto says = find_context(*file, name);
  if (!says) return session.fail(says.error());
  tell_of_later(session, *file);
  const ContextRow row{name, name == current, *says};
  const bool page = options.output == Output::table || options.output == Output::wide;
  session.print(page ? page_of(row, file->path) : rows_as({row}, options.output));
}

// 2. How they are changed.

std::string written_as(const std::string& name, std::string_view done, const std::string& before, const std::string& after,
                       const ChangeOptions& options) {
  if (options.output == Output::name) return fmt::format("context/{}\n", name);
  if (options.output == Output::table || options.output == Output::wide)
    return options.dry_run ? diff_of(before, after) : fmt::format("context/{} {}\n", name, done);
  Writer out(options.output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map().key("written").flag(!options.dry_run).key("documents").begin_list();
  out.begin_map().key("name").text("context/" + name).key("before").text(before).key("after").text(after).end_map();
  out.end_list().end_map();
  return std::move(out).take();
}

// `done`: what has become of the context of that name. `question`: asked first, if there is one.
void change(Session& session, const ContextFile& file, const Contexts& contexts, const ContextOptions& options,
            std::string_view done, const std::string& question = "") {
  const std::string after = format_contexts(contexts);
  if (file.contexts.later) {  // before anybody is asked
    const auto refused = save_contexts(session.io, file, contexts);
    return session.fail(refused.error());
  }
  if (!question.empty() && !options.change.yes && !options.change.dry_run) {
    session.io.err(diff_of(file.text, after));
    if (!agreed(session, *session.io.outside, question)) return;
  }
  if (!options.change.dry_run) {
    if (const auto saved = save_contexts(session.io, file, contexts); !saved) return session.fail(saved.error());
  }
  session.print(written_as(options.name, done, file.text, after, options.change));
}

struct Field {
  std::string_view flag;
  std::string_view type;
  std::string_view what;
  std::string Context::*field = nullptr;
  std::string store::Tls::*tls = nullptr;
  bool path = false;
  std::optional<std::string> (*why_not)(std::string_view) = nullptr;

  std::string& of(Context& context) const { return tls != nullptr ? context.tls.*tls : context.*field; }
};

// Everything that a context may say, in the order of --help.
const std::vector<Field>& all_fields() {
  using store::Tls;
  static const std::vector<Field> fields = {
      {"--store", "URL", "Which store", &Context::store, nullptr, false, why_not_a_store},
      {"--cluster", "NAME", "Which cluster", &Context::cluster, nullptr, false, why_not_a_name},
      {"--user", "NAME", "Who asks the store", &Context::user},
      {"--password-file", "FILE", "Where the password is; it is never kept here itself", &Context::password_file, nullptr, true},
      {"--tls-authority", "FILE", "Authorities to trust, PEM", nullptr, &Tls::authority, true},
      {"--tls-certificate", "FILE", "Our own certificate, PEM", nullptr, &Tls::certificate, true},
      {"--tls-key", "FILE", "The key of our certificate, PEM", nullptr, &Tls::key, true},
      {"--tls-server-name", "NAME", "The name in the server's certificate, if not its host's", nullptr, &Tls::server_name},
      {"--http", "URL", "Where the daemon's HTTP is, for scripts; commands find the active one by themselves", &Context::http,
       nullptr, false, why_not_http},
  };
  return fields;
}

struct SetOptions : ContextOptions {
  std::vector<std::pair<const Field*, std::string>> given;
};

// What is named from here has to be found from everywhere.
std::string from_everywhere(const Field& field, const std::string& word) {
  constexpr std::string_view embedded = "embedded:";
  const auto absolute = [](std::string_view path) { return std::filesystem::absolute(path).lexically_normal().string(); };
  if (field.path) return absolute(word);
  if (field.field == &Context::store && word.starts_with(embedded))
    return std::string(embedded) + absolute(std::string_view(word).substr(embedded.size()));
  return word;
}

void set(Session& session, const SetOptions& options) {
  if (const auto why = why_not_a_name(options.name)) throw CLI::ValidationError("NAME", *why);
  if (options.given.empty())
    throw CLI::ValidationError("--store", "give it, or another of these options: what shall the context say?");
  for (const auto& [field, word] : options.given) {
    if (field->why_not == nullptr || word.empty()) continue;
    if (const auto why = field->why_not(word)) throw CLI::ValidationError(std::string(field->flag), *why);
  }
  const auto file = open_file(session);
  if (!file) return;
  Contexts contexts = file->contexts;
  Context& context = contexts.all[options.name];
  for (const auto& [field, word] : options.given) field->of(context) = word.empty() ? "" : from_everywhere(*field, word);
  if (auto why = why_not_together(context))
    return session.fail(Error{Code::invalid, fmt::format("context {}: {}", quote(options.name), *why)});
  const bool is_new = !file->contexts.all.contains(options.name);
  if (contexts == file->contexts) return session.say(fmt::format("context {} says so already", quote(options.name)));
  change(session, *file, contexts, options, "written");
  if (session.status == Exit::done && is_new && !options.change.dry_run)
    session.say(fmt::format("`evenkeel context use {}` makes it the one in use", options.name));
}

void use(Session& session, const ContextOptions& options) {
  const auto file = open_file(session);
  if (!file) return;
  if (const auto found = find_context(*file, options.name); !found) return session.fail(found.error());
  Contexts contexts = file->contexts;
  contexts.current = options.name;
  if (contexts == file->contexts) return session.say(fmt::format("context {} is in use already", quote(options.name)));
  change(session, *file, contexts, options, "in use");
}

void remove(Session& session, const ContextOptions& options) {
  const auto file = open_file(session);
  if (!file) return;
  if (const auto found = find_context(*file, options.name); !found) return session.fail(found.error());
  Contexts contexts = file->contexts;
  contexts.all.erase(options.name);
  if (contexts.current == options.name) contexts.current.clear();
  change(session, *file, contexts, options, "removed", fmt::format("Delete context {}?", options.name));
  const bool was_current = file->contexts.current == options.name;
  if (session.status == Exit::done && was_current && !options.change.dry_run)
    session.say("it was the one in use: `evenkeel context use` takes another");
}

// 3. The words.

CLI::Option* add_name(CLI::App& command, Session& session, ContextOptions& options, const std::string& what) {
  auto* name = command.add_option("NAME", options.name, what)->type_name("");
  session.hints[name] = {.words = {}, .files = false, .contexts = true};
  return name;
}

void add_context_list(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("list", "Show all contexts, and which is in use");
  command->footer("Examples:\n  evenkeel context list\n  evenkeel context list -o name");
  auto options = std::make_shared<ContextOptions>();
  add_output(*command, session, options->output);
  command->callback([&session, options] { list(session, *options); });
}

void add_context_show(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("show", "Show a context; without a name the one in use");
  command->footer("Examples:\n  evenkeel context show\n  evenkeel context show prod -o yaml");
  auto options = std::make_shared<ContextOptions>();
  add_name(*command, session, *options, "Which one; else the one in use");
  add_output(*command, session, options->output);
  command->callback([&session, options] { show(session, *options); });
}

void add_context_set(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("set", "Make a context, or change what it says");
  command->footer(
      "What is not given stays as it is; an empty word takes a field back. User, password and TLS files are for this store "
      "alone.\n\n"
      "Examples:\n"
      "  evenkeel context set demo --store etcd://127.0.0.1:2379\n"
      "  evenkeel context set prod --store etcds://store.example.org:2379 --cluster pages --user ann --password-file ~/.pages\n"
      "  evenkeel context set prod --cluster ''");
  auto options = std::make_shared<SetOptions>();
  add_name(*command, session, *options, "Which one")->required();
  for (const Field& field : all_fields()) {
    auto* option = command->add_option_function<std::string>(
        std::string(field.flag), [options, &field](const std::string& word) { options->given.emplace_back(&field, word); },
        std::string(field.what));
    option->type_name(std::string(field.type));
    session.hints[option] = {.words = {}, .files = field.path};
  }
  add_change_options(*command, session, options->change, false);
  command->callback([&session, options] { set(session, *options); });
}

void add_use(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("use", "Let commands use a context, where nobody says otherwise");
  command->footer("Examples:\n  evenkeel context use prod");
  auto options = std::make_shared<ContextOptions>();
  add_name(*command, session, *options, "Which one")->required();
  add_change_options(*command, session, options->change, false);
  command->callback([&session, options] { use(session, *options); });
}

void add_context_delete(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("delete", "Forget a context");
  command->footer("Examples:\n  evenkeel context delete demo --yes");
  auto options = std::make_shared<ContextOptions>();
  add_name(*command, session, *options, "Which one")->required();
  add_change_options(*command, session, options->change, true);
  command->callback([&session, options] { remove(session, *options); });
}

}  // namespace

void add_context(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("context", "Name stores and clusters, and say which one commands use");
  noun->footer(
      "What counts is the first that says something: a flag, the context that --context names, the environment (EVENKEEL_STORE, "
      "…), "
      "the\n"
      "context in use. Who names a store by a flag or in the environment has left the context in use: nothing of it counts "
      "then.\n"
      "They are kept in $EVENKEEL_CONFIG, else in evenkeel/config.yaml below $XDG_CONFIG_HOME or ~/.config.");
  add_context_list(*noun, session);
  add_context_show(*noun, session);
  add_context_set(*noun, session);
  add_use(*noun, session);
  add_context_delete(*noun, session);
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
