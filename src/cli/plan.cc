// evenkeel plan -f FILE: where everything should be, what has to move for it, and why.

#include <algorithm>
#include <array>

#include "evenkeel/base/clock.h"
#include "evenkeel/cli/command.h"
#include "evenkeel/cli/plan_input.h"
#include "evenkeel/cli/plan_view.h"
#include "evenkeel/model/cluster_file.h"
#include "evenkeel/place/explain.h"
#include "evenkeel/place/kafka.h"
#include "evenkeel/place/methods.h"
#include "evenkeel/place/place.h"

namespace evenkeel::cli {
namespace {

// The five forms of every command, and one of this.
enum class Form : std::uint8_t { table, wide, json, yaml, name, kafka_reassign };
constexpr std::array<std::string_view, 6> form_names = {"table", "wide", "json", "yaml", "name", "kafka-reassign"};
constexpr std::array<std::string_view, 3> only_names = {"allocate", "repair", "balance"};  // of place::Only, after everything

constexpr std::array<std::string_view, 3> method_names = {"engine", "rendezvous",
                                                          "crush"};  // of place::Method, behind the engine

struct PlanOptions {
  PlanInput input;
  Form form = Form::table;
  place::PlanOptions plan;
  Duration time{0};                     // none
  std::optional<place::Method> method;  // none: the engine
  std::optional<ShardId> explain;
  std::string apply;
};

Syntax syntax_of(const std::string& file, Form form) {
  const bool json = file == "-" ? form == Form::json : file.ends_with(".json");
  return json ? Syntax::json : Syntax::yaml;
}

// Only the shell watches the time: the search is told when it is over.
place::PlanOptions with_deadline(const PlanOptions& options, const Clock& clock, Instant start) {
  place::PlanOptions out = options.plan;
  if (options.time > Duration(0)) {
    out.stop = [&clock, deadline = later(start, options.time)] { return clock.now() >= deadline; };
  }
  return out;
}

Result<std::string> plan_as(const Cluster& cluster, const place::Plan& plan, const PlanOptions& options) {
  switch (options.form) {
    case Form::table:
    case Form::wide:
      return plan_table(cluster, balance_before(cluster), plan, options.form == Form::wide);
    case Form::json:
    case Form::yaml:
      return format_plan(cluster, plan, options.form == Form::json ? Syntax::json : Syntax::yaml, options.plan.cores);
    case Form::name:
      return plan_names(cluster, plan);
    case Form::kafka_reassign:
      break;
  }
  auto text = place::format_kafka_reassign(cluster, plan);
  return text ? text : fail(text.error().in("-o kafka-reassign"));
}

Error no_such_shard(const Cluster& cluster, const ShardId& shard) {
  const auto workload = std::ranges::find(cluster.workloads, shard.workload, &Workload::name);
  if (workload == cluster.workloads.end()) return {Code::not_found, fmt::format("there is no workload {}", shard.workload)};
  return {Code::not_found,
          fmt::format("there is no shard {}: {} has {}, counted from 0", shard.shard, shard.workload, workload->shards)};
}

void explain(Session& session, const Cluster& cluster, const PlanOptions& options, const place::Planner& planner) {
  const auto why = planner.explain(*options.explain);
  if (!why) return session.fail(no_such_shard(cluster, *options.explain));
  if (options.form == Form::json || options.form == Form::yaml) {
    session.print(format_explanation(cluster, *why, options.form == Form::json ? Syntax::json : Syntax::yaml));
  } else {
    session.print(format_explanation(cluster, *why));
  }
}

// The next problem, where --apply wants it. True: it was asked for on standard output, which then holds nothing else.
bool write_next(Session& session, const Cluster& cluster, const place::Plan& plan, const PlanOptions& options) {
  const std::string next = format_cluster(apply(cluster, plan), syntax_of(options.apply, options.form));
  if (options.apply == "-") {
    session.print(next);
    return true;
  }
  const auto written = session.io.write_file ? session.io.write_file(options.apply, next)
                                             : Result<void>(fail(Code::refused, "no files can be written here"));
  if (!written) session.fail(written.error());
  return false;
}

void print_plan(Session& session, const Cluster& cluster, const place::Plan& plan, const PlanOptions& options) {
  const auto text = plan_as(cluster, plan, options);
  if (!text) return session.fail(text.error());
  const bool alone = !options.apply.empty() && write_next(session, cluster, plan, options);
  if (session.status != Exit::done) return;
  if (!plan.met()) {
    session.say(fmt::format("the plan does not meet everything: {}", why_not_met(plan)));
    session.status = Exit::failed;
  }
  if (!alone) session.print(*text);
  if (options.form == Form::kafka_reassign && plan.moves.empty() && plan.leaders.empty()) session.say("nothing to reassign");
}

// What was asked for and cannot be had together.
std::optional<Error> contradiction(const PlanOptions& options) {
  const place::PlanOptions& search = options.plan;
  const bool searches = search.budget > 0 || options.time > Duration(0) || search.only != place::Only::everything ||
                        search.force || search.all || search.cores || options.explain;
  if (options.method && searches)
    return Error{Code::invalid,
                 fmt::format("--method {} only computes where things belong: of the options of the search it takes --seed alone",
                             name(*options.method))};
  if (!options.explain) return std::nullopt;
  if (!options.apply.empty())
    return Error{Code::invalid, "--explain and --apply exclude each other: run them one after the other"};
  if (options.form == Form::name || options.form == Form::kafka_reassign)
    return Error{Code::invalid, fmt::format("--explain has no form {}: give table, json or yaml",
                                            form_names[static_cast<std::size_t>(options.form)])};
  return std::nullopt;
}

void plan(Session& session, const PlanOptions& options) {
  if (const auto wrong = contradiction(options)) return session.fail(*wrong);
  const auto cluster = read_plan_input(session, options.input);
  if (!cluster) return;
  const BootClock clock;
  const Instant start = clock.now();
  const auto finish = [&](place::Plan made) {
    made.stats.seconds = std::chrono::duration<double>(clock.now() - start).count();
    print_plan(session, *cluster, made, options);
  };
  if (options.method) return finish(place::plan_by_method(*cluster, *options.method, options.plan.seed));
  place::PlanOptions plan_options = with_deadline(options, clock, start);
  plan_options.cores |= !options.apply.empty() && !cluster->cores.empty();  // the next problem needs those of what comes
  place::Planner planner(*cluster, plan_options);
  place::Plan made = planner.plan();
  options.explain ? explain(session, *cluster, options, planner) : finish(std::move(made));
}

void add_search_options(CLI::App& command, Session& session, PlanOptions& options) {
  add_word(
      command, session, "--method", "a method", method_names,
      [&options](std::size_t at) { options.method = at == 0 ? std::nullopt : std::optional(static_cast<place::Method>(at - 1)); },
      "engine (as without it), or a draw that needs no coordination: rendezvous or crush")
      ->type_name("METHOD");
  add_count(command, "--seed", options.plan.seed, "Another seed breaks ties otherwise; 0 without it")->type_name("NUMBER");
  add_count(command, "--budget", options.plan.budget, "Evaluate at most so many moves; without it, the problem's size tells");
  add_duration(command, "--time", options.time, "Stop the search after this time; plans may then differ from run to run");
  add_word(
      command, session, "--only", "a part of planning", only_names,
      [&options](std::size_t at) { options.plan.only = static_cast<place::Only>(at + 1); },
      "Narrow the work to one of allocate, repair and balance")
      ->type_name("PART");
  command.add_flag("--force", options.plan.force, "Touch shards without a quorum too");
  command.add_flag("--all", options.plan.all, "Lift moves_max, and cut the plan into steps that each respect it");
  command.add_flag("--cores", options.plan.cores, "Choose cores too");
}

void add_result_options(CLI::App& command, Session& session, PlanOptions& options) {
  add_word(
      command, session, "-o,--output", "a form of output", form_names,
      [&options](std::size_t at) { options.form = static_cast<Form>(at); },
      "Form of the output: table, wide, json, yaml, name or kafka-reassign")
      ->type_name("FORM");
  auto* explain = command.add_option_function<std::string>(
      "--explain",
      [&options](const std::string& word) {
        auto shard = parse_shard_id(word);
        if (!shard) throw CLI::ValidationError("--explain", shard.error().message);
        options.explain = *std::move(shard);
      },
      "Instead of the plan, say node by node why this shard is where it is");
  explain->type_name("WORKLOAD/SHARD");
  auto* apply =
      command.add_option("--apply", options.apply, "Write the plan's result as the next cluster file; - is standard output");
  apply->type_name("FILE");
  session.hints[apply] = {.words = {}, .files = true};
}

}  // namespace

void add_plan(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("plan", "Plan where everything should be, what moves for it, and why");
  command->footer(
      "Exit status 1: something was refused or a hard rule stays broken; the plan is printed all the same, with the reasons.\n"
      "The same file, seed and budget give the same plan, whatever the order of nodes. Nothing is carried out.\n\n"
      "Examples:\n"
      "  evenkeel plan -f pages.yaml\n"
      "  evenkeel plan -f pages.yaml -o json --all\n"
      "  evenkeel plan -f pages.yaml --explain t1/9\n"
      "  evenkeel plan -f pages.yaml --apply next.yaml && evenkeel plan -f next.yaml\n"
      "  kcat -b localhost -L -J | evenkeel plan -f - --from kcat -o kafka-reassign > reassign.json");
  auto options = std::make_shared<PlanOptions>();
  add_plan_input(*command, session, options->input);
  add_result_options(*command, session, *options);
  add_search_options(*command, session, *options);
  command->callback([&session, options] { plan(session, *options); });
}

}  // namespace evenkeel::cli
