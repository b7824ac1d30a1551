#include "evenkeel/cli/store_access.h"

#include <filesystem>

#include "evenkeel/base/text.h"
#include "evenkeel/model/ids.h"

namespace evenkeel::cli {
namespace {

void add_path(CLI::App& command, Session& session, const std::string& name, std::string& path, const std::string& description) {
  auto* option = command.add_option(name, path, description)->type_name("FILE");
  session.hints[option] = {.words = {}, .files = true};
}

Result<std::string> password_of(Session& session, const Outside& outside, const StoreReach& reach) {
  if (!reach.password_file.empty()) {
    auto text = session.io.read_file(reach.password_file);
    if (!text) return fail(text.error().in("the file of the password"));
    if (text->ends_with('\n')) text->pop_back();
    if (text->empty()) return fail(Code::invalid, "{} is empty; write the password into it", reach.password_file);
    return text;
  }
  const auto variable = outside.variable("EVENKEEL_STORE_PASSWORD");
  if (variable && !variable->empty()) return *variable;
  return fail(Code::invalid, "--user needs a password: give --password-file, or set EVENKEEL_STORE_PASSWORD");
}

Result<store::Access> access_of(Session& session, const Outside& outside, const StoreReach& reach) {
  store::Access access{.user = reach.user, .password = {}, .tls = reach.tls};
  if (access.user.empty()) {
    if (reach.password_file.empty()) return access;
    return fail(Code::invalid, "--password-file needs --user: whose password is it?");
  }
  auto password = password_of(session, outside, reach);
  if (!password) return fail(password.error());
  access.password = *std::move(password);
  return access;
}

Result<> check(const store::Url& url, const StoreReach& reach, Folder folder) {
  const store::Tls& tls = reach.tls;
  const bool files = !tls.authority.empty() || !tls.certificate.empty() || !tls.key.empty() || !tls.server_name.empty();
  if (files && url.scheme != "etcds")
    return fail(Code::invalid, "{} is not spoken to over TLS, so it takes no --tls-…; write etcds://", quote(store::format(url)));
  if (tls.certificate.empty() != tls.key.empty())
    return fail(Code::invalid, "--tls-certificate needs --tls-key, and the other way round: give both");
  std::error_code ignored;
  if (url.scheme == "embedded" && folder == Folder::must_be_there && !std::filesystem::exists(url.path, ignored))
    return fail(Code::not_found, "there is no folder {}; `evenkeel store serve --data` makes one", quote(url.path));
  return {};
}

}  // namespace

void add_store_reach(CLI::App& command, Session& session, StoreReach& reach) {
  auto* context = command.add_option_function<std::string>(
      "--context",
      [&reach](const std::string& name) {  // an empty one, of a variable that is not set, must not mean the one in use
        if (const auto why = why_not_a_name(name)) throw CLI::ValidationError("--context", *why);
        reach.context = name;
      },
      "Which context; else the one in use: `evenkeel context list`");
  context->type_name("NAME");
  session.hints[context] = {.words = {}, .files = false, .contexts = true};
  auto* store = command.add_option("--store", reach.url,
                                   fmt::format("Which store; else EVENKEEL_STORE, the context's, or {}", default_store));
  store->type_name("URL");
  session.hints[store] = {.words = {std::string(default_store), "etcds://", "zk://127.0.0.1:2181", "embedded:"}};
  command.add_option("--user", reach.user, "Who asks; else EVENKEEL_STORE_USER. The password is in EVENKEEL_STORE_PASSWORD")
      ->type_name("NAME");
  add_path(command, session, "--password-file", reach.password_file, "Where the password is, if not in the environment");
  add_path(command, session, "--tls-authority", reach.tls.authority, "Authorities to trust, PEM; else the system's");
  add_path(command, session, "--tls-certificate", reach.tls.certificate, "Our own certificate, PEM, if the server wants one");
  add_path(command, session, "--tls-key", reach.tls.key, "The key of our certificate, PEM");
  command.add_option("--tls-server-name", reach.tls.server_name, "The name in the server's certificate, if not its host's")
      ->type_name("NAME");
  add_duration(command, "--timeout", reach.timeout, fmt::format("How long to wait for an answer; {}", format(reach.timeout)));
}

std::optional<ChosenContext> choose_context(Session& session, const Outside& outside, const StoreReach& reach, InUse in_use) {
  ChosenContext chosen{.name = reach.context, .says = {}, .named = !reach.context.empty()};
  const bool elsewhere =
      in_use == InUse::does_not || !reach.url.empty() || !outside.variable("EVENKEEL_STORE").value_or("").empty();
  if (!chosen.named && elsewhere) return chosen;
  const auto file = load_contexts(session, outside);
  if (!file) return std::nullopt;
  if (!chosen.named) chosen.name = file->contexts.current;
  if (chosen.name.empty()) return chosen;
  auto found = find_context(*file, chosen.name);
  if (!found) {
    session.fail(found.error());
    if (!chosen.named) session.io.err("  it is the one in use: `evenkeel context use` takes another\n");
    return std::nullopt;
  }
  chosen.says = *std::move(found);
  const auto folder = std::filesystem::path(file->path).parent_path();
  constexpr std::string_view embedded = "embedded:";
  if (std::string& url = chosen.says.store; url.starts_with(embedded))
    url = std::string(embedded) + (folder / url.substr(embedded.size())).string();
  store::Tls& tls = chosen.says.tls;
  for (std::string* path : {&chosen.says.password_file, &tls.authority, &tls.certificate, &tls.key}) {
    if (!path->empty()) *path = (folder / *path).string();
  }
  return chosen;
}

StoreReach settle(Session& session, const Outside& outside, StoreReach reach, const ChosenContext& context) {
  const auto variable = [&](const char* name) { return outside.variable(name).value_or(""); };
  const auto take = [](std::string& field, const std::string& said) {
    if (field.empty()) field = said;
  };
  const Context& says = context.says;
  const std::string by_flag = reach.url;
  if (context.named) take(reach.url, says.store);
  take(reach.url, variable("EVENKEEL_STORE"));
  take(reach.url, says.store);
  take(reach.url, std::string(default_store));
  const bool own = !says.store.empty() && reach.url == says.store;
  if (own && by_flag.empty()) session.context = context.name;
  if (own && context.named) take(reach.user, says.user);
  // The environment's user is for the environment's store, if that is another than the one that was asked for by name.
  const std::string around = variable("EVENKEEL_STORE");
  if (!own || !context.named || around.empty() || around == reach.url) take(reach.user, variable("EVENKEEL_STORE_USER"));
  if (own) take(reach.user, says.user);
  // A password is one user's; and if the context was not asked for by name, the environment's comes first.
  if (own && reach.user == says.user && (context.named || variable("EVENKEEL_STORE_PASSWORD").empty()))
    take(reach.password_file, says.password_file);
  if (own) {
    take(reach.tls.authority, says.tls.authority);
    take(reach.tls.server_name, says.tls.server_name);
    const bool pair = reach.tls.certificate.empty() && reach.tls.key.empty();
    if (pair) reach.tls.certificate = says.tls.certificate, reach.tls.key = says.tls.key;
  }
  reach.settled = true;
  return reach;
}

std::optional<StoreReach> settle(Session& session, const Outside& outside, const StoreReach& reach, InUse in_use) {
  if (reach.settled) return reach;
  const auto context = choose_context(session, outside, reach, in_use);
  if (!context) return std::nullopt;
  return settle(session, outside, reach, *context);
}

std::optional<StoreChoice> choose_store(Session& session, const Outside& outside, const StoreReach& given, Folder folder) {
  const auto failed = [&](const Error& error) {
    session.fail(error);
    return std::nullopt;
  };
  const auto reach = settle(session, outside, given);
  if (!reach) return std::nullopt;
  auto url = store::parse_url(reach->url);
  if (!url) return failed(url.error());
  if (const auto good = check(*url, *reach, folder); !good) return failed(good.error());
  auto access = access_of(session, outside, *reach);
  if (!access) return failed(access.error());
  return StoreChoice{*std::move(url), {.access = *std::move(access), .timeout = reach->timeout}};
}

std::unique_ptr<store::Blocking> open_store(Session& session, Outside& outside, const StoreReach& reach, Folder folder) {
  const auto choice = choose_store(session, outside, reach, folder);
  if (!choice) return nullptr;
  auto opened = store::Blocking::open([&](Loop& loop) { return store::open(loop, choice->url, choice->options); });
  if (opened) return *std::move(opened);
  fail_store(session, opened.error());
  return nullptr;
}

void fail_store(Session& session, const Error& error) {
  session.fail(error);
  if (error.code == Code::unknown_outcome)
    session.io.err("  it may have been done, or may still be: read before you try again\n");
  if (exit_of(error.code) == Exit::unreachable || error.code == Code::denied) tell_context(session);
}

void tell_context(Session& session) {
  if (session.context.empty()) return;
  session.io.err(
      fmt::format("  the store is that of context {}: `evenkeel context show {}`; --context or --store names another\n",
                  quote(session.context), session.context));
}

std::string prefix_of(std::string word) {
  if (!word.ends_with('/')) word += '/';
  return word;
}

}  // namespace evenkeel::cli
