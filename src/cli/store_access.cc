#include "evenkeel/cli/store_access.h"

#include <filesystem>

#include "evenkeel/base/text.h"

namespace evenkeel::cli {
namespace {

void add_path(CLI::App& command, Session& session, const std::string& name, std::string& path, const std::string& description) {
  auto* option = command.add_option(name, path, description)->type_name("FILE");
  session.hints[option] = {.words = {}, .files = true};
}

std::string variable_or(const Outside& outside, const std::string& given, const std::string& name, std::string_view otherwise) {
  if (!given.empty()) return given;
  const auto variable = outside.variable(name);
  return variable && !variable->empty() ? *variable : std::string(otherwise);
}

Result<std::string> password_of(Session& session, const Outside& outside, const StoreReach& reach) {
  if (!reach.password_file.empty()) {
    auto text = session.io.read_file(reach.password_file);
    if (!text) return fail(text.error().in("--password-file"));
    if (text->ends_with('\n')) text->pop_back();
    if (text->empty()) return fail(Code::invalid, "{} is empty; write the password into it", reach.password_file);
    return text;
  }
  const auto variable = outside.variable("EVENKEEL_STORE_PASSWORD");
  if (variable && !variable->empty()) return *variable;
  return fail(Code::invalid, "--user needs a password: give --password-file, or set EVENKEEL_STORE_PASSWORD");
}

Result<store::Access> access_of(Session& session, const Outside& outside, const StoreReach& reach) {
  store::Access access{.user = variable_or(outside, reach.user, "EVENKEEL_STORE_USER", ""), .password = {}, .tls = reach.tls};
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
  auto* store = command.add_option("--store", reach.url, fmt::format("Which store; else EVENKEEL_STORE, else {}", default_store));
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

std::string store_url(const Outside& outside, const StoreReach& reach) {
  return variable_or(outside, reach.url, "EVENKEEL_STORE", default_store);
}

std::optional<StoreChoice> choose_store(Session& session, const Outside& outside, const StoreReach& reach, Folder folder) {
  const auto failed = [&](const Error& error) {
    session.fail(error);
    return std::nullopt;
  };
  auto url = store::parse_url(store_url(outside, reach));
  if (!url) return failed(url.error());
  if (const auto good = check(*url, reach, folder); !good) return failed(good.error());
  auto access = access_of(session, outside, reach);
  if (!access) return failed(access.error());
  return StoreChoice{*std::move(url), {.access = *std::move(access), .timeout = reach.timeout}};
}

std::unique_ptr<store::Blocking> open_store(Session& session, Outside& outside, const StoreReach& reach, Folder folder) {
  const auto choice = choose_store(session, outside, reach, folder);
  if (!choice) return nullptr;
  auto opened = store::Blocking::open([&](Loop& loop) { return store::open(loop, choice->url, choice->options); });
  if (opened) return *std::move(opened);
  session.fail(opened.error());
  return nullptr;
}

void fail_store(Session& session, const Error& error) {
  session.fail(error);
  if (error.code == Code::unknown_outcome)
    session.io.err("  it may have been done, or may still be: read before you try again\n");
}

std::string prefix_of(std::string word) {
  if (!word.ends_with('/')) word += '/';
  return word;
}

}  // namespace evenkeel::cli
