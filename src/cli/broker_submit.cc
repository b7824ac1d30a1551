// evenkeel broker submit: waits for a grant, and runs a command under it.

#include "evenkeel/base/text.h"
#include "evenkeel/cli/live.h"

namespace evenkeel::cli {
namespace {

struct BrokerSubmitOptions {
  Reach reach;
  broker::Task task;
  Duration wait = Duration::max();
  bool instant = false;
  std::vector<std::string> words;
};

std::uint64_t amount_of(const std::string& option, const std::string& word) {
  const auto amount = Bytes::parse(word);  // whole numbers, with or without a suffix
  if (!amount) throw CLI::ValidationError(option, amount.error().message);
  return amount->count();
}

void add_need(broker::Need& need, const std::string& word) {
  const auto equals = word.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw CLI::ValidationError("--need", fmt::format("{} is not NAME=AMOUNT", quote(word)));
  const std::string name = word.substr(0, equals);
  if (name == "cpu" || name == "memory")
    throw CLI::ValidationError("--need", fmt::format("{} has an option of its own: --{}", name, name));
  if (broker::find_amount(need.others, name)) throw CLI::ValidationError("--need", fmt::format("{} is given twice", quote(name)));
  need.others.emplace_back(name, amount_of("--need", word.substr(equals + 1)));
}

using SteadyClock = std::chrono::steady_clock;

Result<broker::Grant> wait_for_grant(broker::Client& client, const BrokerSubmitOptions& options, const Interrupt& interrupt) {
  if (!options.instant) {
    auto grant = client.acquire(options.task, options.wait, interrupt.token());
    if (grant || grant.error().code != Code::cancelled) return grant;
    if (interrupt.stopped()) return fail(Code::cancelled, "interrupted while it waited");
    return fail(Code::unavailable, "not granted within {}; wait longer with --timeout, or ask for less", format(options.wait));
  }
  auto grant = client.try_acquire(options.task);
  if (!grant) return fail(grant.error());
  if (!*grant) return fail(Code::refused, "not granted at once; without --instant it would wait");
  return std::move(**grant);
}

// The command's end is ours, as shells tell it: its status, or 128 and the number of the signal that killed it.
void run_under(Session& session, Outside& outside, broker::Grant grant, const std::vector<std::string>& words) {
  const auto ended = outside.run({.words = words});
  if (!grant.active()) session.say("the broker went away while the command ran; others may have had what it used");
  if (!ended || ended->killed) {
    grant.cancel();  // how long it took says nothing of its type
  } else {
    grant.finish();
  }
  if (!ended) return session.fail(ended.error());
  session.status = static_cast<Exit>(ended->killed ? 128 + ended->status : ended->status);
}

void submit(Session& session, const BrokerSubmitOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  Interrupt interrupt(*outside);
  // People look for the task's name, so the client has it too, if it may.
  const bool named = !options.task.name.empty() && options.task.name.size() <= broker::Broker::client_name_bytes_max;
  auto client = broker::connect_client(address_of(*outside, options.reach), named ? options.task.name : "evenkeel-submit",
                                       options_of(options.reach));
  if (!client) return session.fail(client.error());
  const auto began = SteadyClock::now();
  auto grant = wait_for_grant(**client, options, interrupt);
  if (!grant) return session.fail(grant.error());
  if (!options.words.empty()) return run_under(session, *outside, std::move(*grant), options.words);
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - began);
  grant->cancel();
  session.print(fmt::format("granted after {}\n", format(Duration(waited))));
}

}  // namespace

void add_broker_submit(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("submit", "Wait for a grant, and run a command under it");
  command->footer(
      "The command's exit status is ours. Its time counts for the mean of its type unless it was killed or could not be "
      "started.\n"
      "Without a command the grant is given back at once, and how long it took to get is printed.\n\n"
      "Examples:\n"
      "  evenkeel broker submit --type background_compaction --cpu 1 --memory 1Gi -- nice ./compact\n"
      "  evenkeel broker submit --type transaction --cpu 2 --instant");
  auto options = std::make_shared<BrokerSubmitOptions>();
  broker::Task& task = options->task;
  command->add_option("--type", task.type, "The type of the task")->required()->type_name("TYPE");
  command
      ->add_option_function<std::string>(
          "--cpu", [&task](const std::string& word) { task.need.cpu = amount_of("--cpu", word); }, "How much cpu it needs")
      ->type_name("AMOUNT");
  command
      ->add_option_function<std::string>(
          "--memory", [&task](const std::string& word) { task.need.memory = amount_of("--memory", word); },
          "How much memory, such as 512Mi")
      ->type_name("AMOUNT");
  command
      ->add_option_function<std::vector<std::string>>(
          "--need",
          [&task](const std::vector<std::string>& words) {
            for (const std::string& word : words) add_need(task.need, word);
          },
          "How much of another resource; may be given for each")
      ->type_name("NAME=AMOUNT")
      ->allow_extra_args(false);
  add_count(*command, "--priority", task.priority, "Smaller is sooner, within the queue; 0")->type_name("NUMBER");
  command->add_option("--name", task.name, "What people see it as")->type_name("NAME");
  add_duration(*command, "--timeout", options->wait, "How long to wait for the grant; else without end");
  command->add_flag("--instant", options->instant, "Have it at once or not at all");
  add_address(*command, session, options->reach.address);
  command->add_option("COMMAND", options->words, "What to run, after --")->type_name("");
  command->callback([&session, options] { submit(session, *options); });
}

}  // namespace evenkeel::cli
