// evenkeel lock list, show, break: who holds which lock, and taking it away.

#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/locks/locks.h"

namespace evenkeel::cli {
namespace {

using locks::LockState;

struct LockShowOptions {
  StoreReach reach;
  std::string path;
  Output output = Output::table;
};

std::string_view name_of(locks::Kind kind) { return kind == locks::Kind::session ? "session" : "expiring"; }

std::string table_of(const std::vector<LockState>& states, bool wide) {
  std::vector<std::string> header{"LOCK", "HELD BY", "TOKEN", "KIND", "TTL", "WAITING"};
  if (wide) header.insert(header.end(), {"OWNER", "RENEWED"});
  Table table(std::move(header));
  for (const LockState& state : states) {
    std::vector<std::string> row{state.path,
                                 !state.held          ? ""
                                 : state.meta.empty() ? state.owner
                                                      : state.meta,
                                 fmt::format("{}", state.token.value()),
                                 state.held ? std::string(name_of(state.kind)) : "",
                                 state.held ? format(state.ttl) : "",
                                 fmt::format("{}", state.waiting.size())};
    if (wide) {
      row.push_back(state.held ? state.owner : "");
      row.push_back(state.held ? fmt::format("{}", state.renewed.value()) : "");
    }
    table.add(std::move(row));
  }
  return table.format();
}

void write_state(Writer& out, const LockState& state) {
  out.begin_map(Writer::Flow::line).key("path").text(state.path).key("held").flag(state.held);
  out.key("token").number(fmt::format("{}", state.token.value()));
  if (state.held) {
    out.key("owner").text(state.owner).key("meta").text(state.meta).key("kind").text(name_of(state.kind));
    out.key("ttl").text(format(state.ttl)).key("renewed").number(fmt::format("{}", state.renewed.value()));
  }
  out.key("waiting").begin_list(Writer::Flow::line);
  for (const std::string& who : state.waiting) out.text(who);
  out.end_list().end_map();
}

std::string states_as(const std::vector<LockState>& states, Output output) {
  if (output == Output::table || output == Output::wide) return table_of(states, output == Output::wide);
  if (output == Output::name) {
    std::string out;
    for (const LockState& state : states) out += state.path + '\n';
    return out;
  }
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_list();
  for (const LockState& state : states) write_state(out, state);
  out.end_list();
  return std::move(out).take();
}

// Asks the locks of a store one thing, and prints what they answer.
void ask(Session& session, const LockShowOptions& options,
         const std::function<void(locks::Locks&, store::Answer<std::vector<LockState>>)>& question) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  std::shared_ptr<locks::Locks> locks;  // destroyed on the loop, after its answer
  const auto states = store->run<std::vector<LockState>>([&](store::Store& on, store::Answer<std::vector<LockState>> answer) {
    locks = std::make_shared<locks::Locks>(on, nullptr);
    question(*locks, [&on, &locks, answer = std::move(answer)](Result<std::vector<LockState>> seen) mutable {
      on.loop().post([held = std::move(locks), answer = std::move(answer), seen = std::move(seen)]() mutable {
        held.reset();
        answer(std::move(seen));
      });
    });
  });
  if (!states) return fail_store(session, states.error());
  session.print(states_as(*states, options.output));
}

// One state as a list of it, unless it is not what was asked for.
store::Answer<LockState> one(store::Answer<std::vector<LockState>> answer, Result<> (*check)(const LockState&)) {
  return [answer = std::move(answer), check](Result<LockState> state) mutable {
    if (!state) return answer(fail(state.error()));
    if (const auto good = check(*state); !good) return answer(fail(good.error()));
    answer(std::vector{*std::move(state)});
  };
}

std::shared_ptr<LockShowOptions> options_of(CLI::App& command, Session& session) {
  auto options = std::make_shared<LockShowOptions>();
  add_output(command, session, options->output);
  add_store_reach(command, session, options->reach);
  return options;
}

}  // namespace

void add_lock_list(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("list", "Show the locks below a prefix");
  command->footer(
      "Examples:\n"
      "  evenkeel lock list /locks\n"
      "  evenkeel lock list -o json");
  auto options = options_of(*command, session);
  command->add_option("PREFIX", options->path, "The prefix; else /")->type_name("");
  command->callback([&session, options] {
    ask(session, *options, [options](locks::Locks& locks, store::Answer<std::vector<LockState>> answer) {
      locks.list(prefix_of(options->path), std::move(answer));
    });
  });
}

void add_lock_show(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("show", "Show who holds a lock, and who waits");
  command->footer(
      "Examples:\n"
      "  evenkeel lock show /locks/nightly -o yaml");
  auto options = options_of(*command, session);
  command->add_option("PATH", options->path, "The lock")->required()->type_name("");
  command->callback([&session, options] {
    ask(session, *options, [options](locks::Locks& locks, store::Answer<std::vector<LockState>> answer) {
      locks.show(options->path, one(std::move(answer), [](const LockState& state) -> Result<> {
                   if (state.held || state.token.value() != 0 || !state.waiting.empty()) return {};
                   return fail(Code::not_found, "there is no lock {}: nobody ever had it", quote(state.path));
                 }));
    });
  });
}

void add_lock_break(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("break", "Take a lock away from whoever holds it");
  command->footer(
      "The holder's fenced writes fail from then on, but what it does without the fence goes on until it notices: be sure that "
      "it is\n"
      "dead. Prints the lock as it was.\n\n"
      "Examples:\n"
      "  evenkeel lock break /locks/nightly");
  auto options = options_of(*command, session);
  command->add_option("PATH", options->path, "The lock")->required()->type_name("");
  command->callback([&session, options] {
    ask(session, *options, [options](locks::Locks& locks, store::Answer<std::vector<LockState>> answer) {
      locks.break_lock(options->path, one(std::move(answer), [](const LockState& state) -> Result<> {
                         if (state.held) return {};
                         return fail(Code::not_found, "nobody has the lock {}", quote(state.path));
                       }));
    });
  });
}

}  // namespace evenkeel::cli
