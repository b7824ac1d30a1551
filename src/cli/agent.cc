// evenkeel agent: a node in any language. A command is run, or an HTTP hook is called, for each transition.

#include "evenkeel/agent/agent.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "evenkeel/agent/shell/handler.h"
#include "evenkeel/base/text.h"
#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/node/node.h"
#include "evenkeel/serve/http.h"

namespace evenkeel::cli {
namespace {

constexpr Duration ask_again = 500ms;        // a hook that cannot be reached yet
constexpr Duration session_look = 20ms;      // how often it is looked whether the node has its session
constexpr unsigned connections_max = 64;     // of those who ask whether they may lead
constexpr std::uint64_t at_once_max = 1024;  // each takes a thread

struct AgentOptions {
  ClusterReach reach;
  node::NodeOptions node = {.address = "", .session_ttl = 10s};
  std::string name;
  std::string hook;
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> words;
  std::uint64_t at_once = 16;
  Duration within = {};  // 0: none was given
  Duration grace = agent::HandlerOptions().grace;
  Duration report_every = {};
  Duration leave_within = 30s;
};

// KEY=VALUE, into a map, by `parse(value)`.
template <class Map, class Parse>
void add_pair(Map& map, const std::string& option, const std::string& word, const Parse& parse) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    throw CLI::ValidationError(option, fmt::format("{} is not KEY=VALUE", quote(word)));
  const std::string key = word.substr(0, equals);
  if (const auto why = why_not_a_name(key)) throw CLI::ValidationError(option, *why);
  if (!map.emplace(typename Map::key_type(key), parse(word.substr(equals + 1))).second)
    throw CLI::ValidationError(option, fmt::format("{} is given twice", quote(key)));
}

Quantity capacity_of(const std::string& word) {
  const auto amount = Quantity::parse(word);
  if (!amount) throw CLI::ValidationError("--capacity", amount.error().message);
  if (amount->negative()) throw CLI::ValidationError("--capacity", fmt::format("{} is negative", quote(word)));
  return *amount;
}

void check(const AgentOptions& options) {
  if (const auto why = why_not_a_name(options.name)) throw CLI::ValidationError("--name", *why);
  if (!options.node.zone.empty()) {
    if (const auto why = why_not_a_zone(options.node.zone)) throw CLI::ValidationError("--zone", *why);
  }
  if (options.words.empty() == options.hook.empty())
    throw CLI::ValidationError("--hook", "give it, or a command after --, and not both: who shall be asked?");
  if (options.at_once == 0 || options.at_once > at_once_max)
    throw CLI::ValidationError("--at-once", fmt::format("must be from 1 to {}", at_once_max));
  if (!options.hook.empty()) {
    if (const auto url = agent::parse_hook(options.hook); !url) throw CLI::ValidationError("--hook", url.error().message);
  }
}

std::unique_ptr<agent::Asker> asker_of(const AgentOptions& options) {
  if (options.hook.empty()) return agent::make_command(options.words);
  return agent::make_hook(agent::parse_hook(options.hook).value());
}

// The node, for those who ask by HTTP; none yet, or no more: nobody may lead.
class Leads {
 public:
  void set(const node::Node* node) {
    const std::scoped_lock lock(mutex_);
    node_ = node;
  }
  bool may_lead(const agent::MayLead& asked) {
    const std::scoped_lock lock(mutex_);
    return node_ != nullptr && node_->may_lead(asked.shard, asked.epoch);
  }
  bool is_current() {
    const std::scoped_lock lock(mutex_);
    return node_ != nullptr && node_->is_current();
  }

 private:
  std::mutex mutex_;
  const node::Node* node_ = nullptr;
};

Result<std::unique_ptr<serve::HttpServer>> answer_questions(const std::string& listen, Leads& leads) {
  constexpr int yes = 200, wrong = 400, no = 403, away = 503;
  const auto may_lead = [&leads](const serve::Request& request) {
    const auto epoch = request.query.find("epoch");
    const auto asked = agent::parse_may_lead(request.path, epoch == request.query.end() ? "" : epoch->second);
    if (!asked) return serve::problem(wrong, "not understood", asked.error().message);
    const bool may = leads.may_lead(*asked);
    return serve::Response{.status = may ? yes : no, .body = may ? "yes\n" : "no\n"};
  };
  const auto health = [&leads](const serve::Request&) {
    const bool current = leads.is_current();
    return serve::Response{.status = current ? yes : away, .body = current ? "ok\n" : "no session\n"};
  };
  return serve::HttpServer::start({{"GET", "/may_lead/*", may_lead}, {"GET", "/healthz", health}},
                                  {.listen = listen, .connections_max = connections_max});
}

// Whether what is on disk can be asked for, before the node joins and does so. A hook may be started after the agent: it is waited for.
bool try_inventory(Session& session, Interrupt& interrupt, agent::Handler& handler, bool waits) {
  bool said = false;
  while (true) {
    if (interrupt.stopped()) return false;
    const auto taken = handler.try_inventory();
    if (taken || interrupt.stopped()) return taken && !interrupt.stopped();
    if (!waits && taken.error().code == Code::unavailable) return session.fail({Code::refused, taken.error().message}), false;
    if (taken.error().code != Code::unavailable) return session.fail(taken.error()), false;
    if (!std::exchange(said, true)) session.say(fmt::format("{}; it is asked again until it answers", taken.error().message));
    if (interrupt.wait(ask_again) == Outside::Signal::stop) return false;
  }
}

std::string ready_line(const agent::Who& who) {
  return fmt::format("{{\"node\":{},\"cluster\":{},\"agent\":{},\"store\":{},\"pid\":{}}}\n", json_quoted(who.node.str()),
                     json_quoted(who.cluster.str()), json_quoted(who.agent), json_quoted(who.store), getpid());
}

// False: it is interrupted before it has one, since the store does not answer, or another process has the data folder.
bool await_session(const node::Node& node, Interrupt& interrupt) {
  while (!node.is_current()) {
    if (interrupt.wait(session_look) == Outside::Signal::stop) return false;
  }
  return true;
}

// Joins, and stays until it is interrupted.
void stay(Session& session, Outside& outside, Interrupt& interrupt, const AgentOptions& options, node::NodeOptions how,
          agent::Handler& handler, Leads& leads, const agent::Who& who) {
  auto node = node::Node::join(std::move(how), handler);
  if (!node && interrupt.stopped()) return;
  if (!node) return session.fail(node.error());
  leads.set(node->get());
  if (await_session(**node, interrupt)) {
    session.print(ready_line(who));
    outside.tell_ready();
  }
  while (session.status == Exit::done && interrupt.wait() != Outside::Signal::stop) {
  }
  session.say("leaving");
  if (const auto left = (*node)->leave(options.leave_within); !left)
    session.fail({Code::refused, fmt::format("it has left, but not as it should: {}", left.error().message)});
  leads.set(nullptr);
  handler.stop();
}

void run(Session& session, const AgentOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto reach = settle(session, *outside, options.reach, InUse::does_not);
  if (!reach) return;
  const ClusterId cluster(reach->cluster);
  Interrupt interrupt(*outside);  // before the first thread
  Log log = Log::to_stderr({});
  auto choice = choose_store(session, *outside, reach->store, Folder::must_be_there);
  if (!choice) return;
  if (choice->url.scheme == "embedded" || choice->url.scheme == "memory")
    return session.fail(
        {Code::invalid, "--store: names a store that is open to one process; give the address of one that is served"});
  choice->options.lease_ttl = options.node.session_ttl;
  choice->options.log = &log;
  node::NodeOptions how = options.node;
  std::error_code trouble;
  if (!how.data.empty()) {
    std::filesystem::create_directories(how.data, trouble);
    if (!trouble) how.data = std::filesystem::canonical(how.data, trouble).string();
    if (trouble) return session.fail({Code::invalid, fmt::format("{}: {}", options.node.data, trouble.message())});
  }
  how.store = store::format(choice->url);
  how.open_store = [choice = *choice](Loop& loop) { return store::open(loop, choice.url, choice.options); };
  how.cluster = cluster;
  how.name = NodeId(options.name);
  how.threads = how.transitions_at_once = static_cast<std::uint32_t>(options.at_once);
  how.log = &log;

  Leads leads;
  const auto server = answer_questions(options.listen, leads);
  if (!server) return session.fail(server.error());
  const agent::Who who{.node = how.name,
                       .cluster = cluster,
                       .store = store::format(choice->url),
                       .data = how.data,
                       .agent = "http://" + (*server)->address()};
  const auto given = [](Duration duration) { return duration > Duration{} ? std::optional(duration) : std::nullopt; };
  const auto asker = asker_of(options);
  agent::Handler handler(*asker, who,
                         {.within = given(options.within),
                          .grace = options.grace,
                          .report_every = given(options.report_every),
                          .interrupted = interrupt.token(),
                          .log = &log});
  if (try_inventory(session, interrupt, handler, !options.hook.empty()))
    stay(session, *outside, interrupt, options, std::move(how), handler, leads, who);
}

constexpr std::string_view agent_footer =
    "For each transition, seal and report, and for the inventory, COMMAND is run with the question as JSON on its standard "
    "input\n"
    "and in its environment (EVENKEEL_KIND, EVENKEEL_SHARD, EVENKEEL_TO, EVENKEEL_EPOCH, …), or --hook gets it by POST. Exit "
    "status 0 "
    "or\n"
    "2xx: it is done. Everything else has failed, and the last lines of standard error, or the first of the body, are what "
    "operators "
    "read.\n"
    "Once it has joined, one JSON object on standard output says so: "
    "{\"node\":…,\"cluster\":…,\"agent\":…,\"store\":…,\"pid\":…}. "
    "Under `agent`\n"
    "GET /may_lead/WORKLOAD/SHARD?epoch=E answers 200 or 403: to be asked before each write, and again before each answer.\n"
    "An interrupt makes the node leave: its leaders move first. What could not be finished is said.\n\n"
    "Examples:\n"
    "  evenkeel agent --name n1 --zone z1 --data /var/lib/pages -- ./pages.sh\n"
    "  evenkeel agent --name n1 --data /var/lib/pages --hook http://127.0.0.1:9000/evenkeel --report-every 5s";

void add_node_options(CLI::App& command, Session& session, AgentOptions& options) {
  command.add_option("--name", options.name, "The node's name")->required()->type_name("NAME");
  command.add_option("--zone", options.node.zone, "Where it is, as dc1/r1")->type_name("PATH");
  command.add_option("--address", options.node.address, "What clients connect to; routers hand it out")->type_name("TEXT");
  auto* data = command.add_option("--data", options.node.data, "The folder of its data; without one each start is a new disk");
  data->type_name("DIR");
  session.hints[data] = {.words = {}, .files = true};
  command
      .add_option_function<std::vector<std::string>>(
          "--capacity",
          [&options](const std::vector<std::string>& words) {
            for (const std::string& word : words) add_pair(options.node.capacity, "--capacity", word, capacity_of);
          },
          "How much of a resource it has, as disk=2Ti; may be given for each")
      ->type_name("KEY=AMOUNT")
      ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "--label",
          [&options](const std::vector<std::string>& words) {
            for (const std::string& word : words)
              add_pair(options.node.labels, "--label", word, [](const std::string& value) { return value; });
          },
          "A label, as disk=ssd; may be given for each")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_duration(command, "--ttl", options.node.session_ttl, "How long a dead node is believed in; 10s");
}

}  // namespace

void add_agent(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("agent", "Make a node of a program in any language");
  command->footer(std::string(agent_footer));
  auto options = std::make_shared<AgentOptions>();
  add_node_options(*command, session, *options);
  command->add_option("--hook", options->hook, "Whom to ask by HTTP, instead of a command")->type_name("URL");
  add_duration(*command, "--within", options->within,
               "How long a command or call may take; else as the workload says, and 10s for seals, reports and the inventory");
  add_duration(*command, "--grace", options->grace, "Between SIGTERM and SIGKILL for a command that is over its time; 5s");
  add_duration(*command, "--report-every", options->report_every, "How often to ask for progress, load and lag; else never");
  add_count(*command, "--at-once", options->at_once, "How many transitions may run at once, and as many urgent ones; 16");
  add_duration(*command, "--leave-within", options->leave_within, "How long leaving may take; 30s");
  command->add_option("--listen", options->listen, "Where it says who may lead; else any free port of this host")
      ->type_name("HOST:PORT");
  add_cluster_reach(*command, session, options->reach);
  command->get_option("--context")->description("Which context; the one in use does not count here");
  command->get_option("--timeout")->description("How long to wait for an answer of the store; 5s");
  command->add_option("COMMAND", options->words, "What to run, after --")->type_name("");
  command->callback([&session, options] {
    check(*options);
    run(session, *options);
  });
}

}  // namespace evenkeel::cli
