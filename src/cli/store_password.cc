// evenkeel store password: the hash of a password, for the file of users.

#include "evenkeel/cli/live.h"
#include "evenkeel/store/backends/embedded/users.h"

namespace evenkeel::cli {
namespace {

// Typed twice at a terminal, or one line of standard input.
Result<std::string> ask(Session& session, Outside& outside) {
  auto first = outside.ask_secret("Password: ");
  if (!first) return fail(first.error());
  if (*first) {
    const auto second = outside.ask_secret("The same again: ");
    if (!second) return fail(second.error());
    if (*second != *first) return fail(Code::invalid, "the two are not the same");
    return **std::move(first);
  }
  auto text = session.io.read_file("-");
  if (text && text->ends_with('\n')) text->pop_back();
  return text;
}

void hash(Session& session) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto password = ask(session, *outside);
  if (!password) return session.fail(password.error());
  if (password->empty()) return session.fail(Error{Code::invalid, "the password is empty"});
  if (password->find_first_of(std::string_view("\n\0", 2)) != std::string::npos)
    return session.fail(Error{Code::invalid, "a password is one line of text"});
  session.print(store::embedded::hash_password(*password) + "\n");
}

}  // namespace

void add_store_password(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("password", "Print the hash of a password, for the file of users");
  command->footer(
      "It asks at the terminal, or reads one line of standard input. The same password has another hash each time.\n\n"
      "Examples:\n"
      "  evenkeel store password\n"
      "  evenkeel store password < secret.txt");
  command->callback([&session] { hash(session); });
}

}  // namespace evenkeel::cli
