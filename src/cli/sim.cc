// evenkeel sim STORY, evenkeel sim --random: a cluster's life on virtual time, with everything that may go wrong.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/cli/command.h"
#include "evenkeel/sim/run.h"

namespace evenkeel::cli {
namespace {

enum class SimForm : std::uint8_t { text, json };
constexpr std::array<std::string_view, 2> sim_form_names = {"text", "json"};
constexpr std::uint64_t runs_max = 1'000'000'000;
// More runs than this are not shown one by one, but so many at once.
constexpr std::uint64_t runs_shown = 1000;
constexpr std::uint64_t runs_at_once = 100;

struct SimOptions {
  std::string file;
  bool random = false;
  bool phrases = false;
  std::uint64_t seed = 0;
  std::uint64_t runs = 1;
  sim::RandomOptions drawn;
  std::string hours;                  // as given, for the command that repeats a run
  std::optional<std::string> faults;  // as given; empty: none
  std::uint64_t nodes = 0;
  std::uint64_t shards = 0;
  std::string write_story;
  std::string plot;
  bool quiet = false;
  SimForm form = SimForm::text;
};

std::string sim_file_shown(const std::string& file) { return file == "-" ? "<stdin>" : file; }

// 1. What was asked for.

// "crash,pause": only these. "-disks": all but these.
Result<std::vector<sim::Fault>> parse_faults(std::string_view text) {
  const auto all = sim::all_faults();
  std::vector<std::string_view> names;
  for (const sim::Fault fault : all) names.push_back(name(fault));
  std::vector<bool> chosen(all.size(), text.starts_with('-'));
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const bool without = word.starts_with('-');
    if (without) word.remove_prefix(1);
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) return fail(Code::invalid, "{} is no fault; {}", quote(word), suggestion(word, names));
    chosen[static_cast<std::size_t>(found - names.begin())] = !without;
  }
  std::vector<sim::Fault> out;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (chosen[at]) out.push_back(all[at]);
  }
  return out;
}

Result<double> parse_hours(std::string_view text) {
  const auto hours = Quantity::parse(text);
  if (!hours) return fail(hours.error());
  if (*hours <= Quantity(0) || *hours > Quantity(10'000)) return fail(Code::invalid, "from more than 0 to 10000");
  return hours->to_double();
}

std::optional<Error> sim_contradiction(const SimOptions& options) {
  const bool drawn =
      !options.hours.empty() || options.faults || options.nodes > 0 || options.shards > 0 || !options.write_story.empty();
  const auto wrong = [](std::string text) { return Error{Code::invalid, std::move(text)}; };
  if (options.phrases) return std::nullopt;
  if (options.random && !options.file.empty()) return wrong("give either a story or --random");
  if (!options.random && options.file.empty()) return wrong("give a story, or --random for one made up from a seed");
  if (!options.random && drawn) return wrong("--hours, --faults, --nodes, --shards and --write-story go with --random");
  if (options.runs == 0 || options.runs > runs_max) return wrong("--runs is at least 1");
  if (options.runs > 1 && !(options.plot.empty() && options.write_story.empty()))
    return wrong("--plot and --write-story show one run: leave out --runs");
  if (options.nodes > 1000 || options.shards > 1'000'000) return wrong("at most 1000 nodes and 1000000 shards");
  return std::nullopt;
}

// A word as a shell takes it.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return is_digit(c) || std::isalpha(static_cast<unsigned char>(c)) != 0 || std::string_view("._/-+,=:@%").contains(c);
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The one command that repeats a run.
std::string replay_command(const SimOptions& options, std::uint64_t seed) {
  std::string out = "evenkeel sim";
  if (!options.random) out += " " + shell_word(options.file);
  if (options.random) out += " --random";
  out += fmt::format(" --seed {}", seed);
  if (!options.hours.empty()) out += " --hours " + shell_word(options.hours);
  if (options.faults) out += (options.faults->empty() ? " --faults " : " --faults=") + shell_word(*options.faults);
  if (options.nodes > 0) out += fmt::format(" --nodes {}", options.nodes);
  if (options.shards > 0) out += fmt::format(" --shards {}", options.shards);
  return out;
}

// 2. Output.

void write_calm(Writer& out, const sim::Calm& calm) {
  out.begin_map(Writer::Flow::line);
  out.key("moves").number(calm.moves).key("thrash").number(calm.thrash).key("leader_changes").number(calm.leader_changes);
  out.key("leaderless").text(format(calm.leaderless)).key("leaderless_longest").text(format(calm.leaderless_longest));
  out.key("unsettled").text(format(calm.unsettled));
  out.key("writes").number(calm.writes).key("refused").number(calm.refused).key("bytes_written").number(calm.bytes_written);
  out.end_map();
}

void write_outcome(Writer& out, const sim::Outcome& outcome, std::uint64_t seed, bool timeline) {
  out.begin_map().key("seed").number(seed).key("time").text(format(outcome.time));
  out.key("failure");
  if (outcome.failure) {
    out.text(*outcome.failure);
  } else {
    out.null();
  }
  out.key("digest").text(fmt::format("{:016x}", outcome.digest)).key("calm");
  write_calm(out, outcome.calm);
  if (timeline) {
    out.key("timeline").begin_list();
    for (const sim::Moment& moment : outcome.timeline) {
      out.begin_map(Writer::Flow::line).key("at").text(format(moment.at)).key("who").text(moment.who);
      out.key("what").text(moment.what).end_map();
    }
    out.end_list();
  }
  out.end_map();
}

std::string one_line(const sim::Outcome& outcome, std::uint64_t seed) {
  return fmt::format("seed {}  {}  {}  {} moves, {} leader changes, {:016x}\n", seed, outcome.failure ? "FAILED" : "as expected",
                     format(outcome.time), outcome.calm.moves, outcome.calm.leader_changes, outcome.digest);
}

std::string summary(const sim::Outcome& outcome, std::uint64_t seed, bool after_timeline) {
  return (after_timeline ? "\n" : "") + one_line(outcome, seed) + sim::format_calm(outcome.calm);
}

void print_phrases(Session& session, SimForm form) {
  const std::pair<std::string_view, std::vector<sim::Phrase>> tables[] = {{"actions", sim::action_phrases()},
                                                                          {"conditions", sim::condition_phrases()}};
  if (form == SimForm::json) {
    Writer out(Syntax::json);
    out.begin_map();
    for (const auto& [what, phrases] : tables) {
      out.key(what).begin_list();
      for (const sim::Phrase& phrase : phrases)
        out.begin_map(Writer::Flow::line).key("pattern").text(phrase.pattern).key("meaning").text(phrase.meaning).end_map();
      out.end_list();
    }
    out.end_map();
    return session.print(std::move(out).take());
  }
  std::string text;
  for (const auto& [what, phrases] : tables) {
    std::size_t width = 0;
    for (const sim::Phrase& phrase : phrases) width = std::max(width, phrase.pattern.size());
    text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", what);
    for (const sim::Phrase& phrase : phrases) text += fmt::format("  {:<{}}  {}\n", phrase.pattern, width, phrase.meaning);
  }
  text +=
      "\nexpectations:\n  expect CONDITION              now\n  expect CONDITION within TIME  at some moment until then\n"
      "  expect CONDITION for TIME     all the time until then\n  expect not CONDITION …        the opposite\n";
  session.print(text);
}

// 3. Runs.

bool write_file(Session& session, const std::string& path, const std::string& content) {
  const auto written = session.io.write_file ? session.io.write_file(path, content)
                                             : Result<void>(fail(Code::refused, "no files can be written here"));
  if (!written) session.fail(written.error());
  return written.has_value();
}

// So that a picture has some hundreds of samples, whatever the story's length.
Duration sample_every(const sim::Story& story) {
  Duration length = 1s;
  for (const sim::Line& line : story.lines) {
    const auto* const expectation = std::get_if<sim::Expectation>(&line.what);
    length = std::max(length, line.at + (expectation != nullptr ? expectation->time : Duration(0)));
  }
  return std::max(Duration(50ms), length / 800);
}

sim::Outcome play(Session& session, const SimOptions& options, const sim::Story& story, std::uint64_t seed) {
  sim::SimOptions with{.seed = seed};
  if (!options.plot.empty()) with.sample_every = sample_every(story);
  const bool live = options.form == SimForm::text && !options.quiet && options.runs == 1;
  return sim::run(story, with, [&session, live](const sim::Moment& moment) {
    if (live && session.status == Exit::done) session.print(format(moment) + "\n");
  });
}

// What many runs have come to.
struct Runs {
  std::uint64_t done = 0;
  Duration time = {};
};

void show_some(Session& session, const SimOptions& options, const Runs& runs) {
  if (runs.done % runs_at_once != 0 && runs.done != options.runs) return;
  session.print(fmt::format("{} of {} runs as expected, {} hours\n", runs.done, options.runs, runs.time / 1h));
}

void show(Session& session, const SimOptions& options, const sim::Outcome& outcome, std::uint64_t seed, Writer& json,
          Runs& runs) {
  ++runs.done;
  runs.time += outcome.time;
  if (options.form == SimForm::json) {
    write_outcome(json, outcome, seed, options.runs == 1 && !options.quiet);
  } else if (options.runs > runs_shown && !outcome.failure) {
    show_some(session, options, runs);
  } else if (options.runs > 1) {
    session.print(one_line(outcome, seed));
  } else {
    session.print(summary(outcome, seed, !options.quiet && !outcome.timeline.empty()));
  }
}

std::optional<sim::Story> read_story(Session& session, const std::string& file) {
  const auto text = session.io.read_file(file);
  if (!text) return session.fail(text.error()), std::nullopt;
  auto story = sim::read_story(*text, sim_file_shown(file));
  if (!story) return session.fail(story.error()), std::nullopt;
  return *std::move(story);
}

sim::Story draw_story(const SimOptions& options, std::uint64_t seed) {
  sim::RandomOptions drawn = options.drawn;
  drawn.seed = seed;
  drawn.nodes = static_cast<std::uint32_t>(options.nodes);
  drawn.shards = static_cast<std::uint32_t>(options.shards);
  if (!options.faults) drawn.faults = sim::draw_faults(seed);
  return sim::random_story(drawn);
}

void simulate(Session& session, const SimOptions& options) {
  if (const auto why = sim_contradiction(options)) return session.fail(*why);
  if (options.phrases) return print_phrases(session, options.form);
  std::optional<sim::Story> story;
  if (!options.random && !(story = read_story(session, options.file))) return;
  Writer json(Syntax::json);
  if (options.runs > 1) json.begin_list();
  std::optional<std::string> failure;
  Runs runs;
  std::uint64_t seed = options.seed;
  for (std::uint64_t left = options.runs; left > 0 && !failure && session.status == Exit::done; --left, ++seed) {
    if (options.random) story = draw_story(options, seed);
    if (!options.write_story.empty() && !write_file(session, options.write_story, format(*story))) return;
    const sim::Outcome outcome = play(session, options, *story, seed);
    show(session, options, outcome, seed, json, runs);
    failure = outcome.failure;
    if (!options.plot.empty()) write_file(session, options.plot, sim::plot_svg(outcome));
  }
  if (options.runs > 1) json.end_list();
  if (options.form == SimForm::json) session.print(std::move(json).take());
  // What went wrong is said also if there is no picture of it.
  if (!failure || (session.status != Exit::done && options.plot.empty())) return;
  session.fail({Code::refused, *failure});
  session.io.err(fmt::format("  to see it again: {}\n", replay_command(options, seed - 1)));
}

constexpr std::string_view sim_footer =
    "A story is a cluster file, a line `---`, and what happens when: `at 10s kill n3`, `expect every shard has a leader within "
    "15s`.\n"
    "docs/simulator.md has the whole language, --phrases its tables. The real controllers and nodes run on virtual time over a "
    "store in\n"
    "memory; a story and a seed give the same run, byte for byte. After every step the promises are checked: one leader, no "
    "acknowledged\n"
    "write lost, limits kept.\n"
    "Exit status 1: an expectation or a promise did not hold; what is printed up to there is the run, and the last line says how "
    "to see\n"
    "it again. 2: the story is wrong. 3: it is not there.\n\n"
    "Examples:\n"
    "  evenkeel sim crash.story --plot crash.svg\n"
    "  evenkeel sim crash.story --runs 100 --quiet\n"
    "  evenkeel sim --random --seed 7 --hours 2 --faults crash,cut,store --write-story life.story\n"
    "  evenkeel sim --random --runs 50 --faults=-rollback\n"
    "  evenkeel sim --random --hours 2 --runs 500000     # a million hours, up to the first that goes wrong";

}  // namespace

void add_sim(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("sim", "Play a cluster's life on virtual time, with faults, and check every promise");
  command->footer(std::string(sim_footer));
  auto options = std::make_shared<SimOptions>();
  const auto add_file_option = [&](const std::string& name, std::string& file, const std::string& description) {
    auto* option = command->add_option(name, file, description);
    option->type_name(name.starts_with('-') ? "FILE" : "");
    session.hints[option] = {.words = {}, .files = true};
  };
  add_file_option("STORY", options->file, "The story; - is standard input");
  command->add_flag("--random", options->random, "Make the story up, from the seed");
  add_count(*command, "--seed", options->seed, "Another seed is another run; 0 without it")->type_name("NUMBER");
  add_count(*command, "--runs", options->runs, "So many runs, with seeds that follow each other, up to the first that fails");
  command
      ->add_option_function<std::string>(
          "--hours",
          [options](const std::string& word) {
            const auto hours = parse_hours(word);
            if (!hours) throw CLI::ValidationError("--hours", hours.error().message);
            options->hours = word;
            options->drawn.hours = *hours;
          },
          "With --random: how long; 1 without it")
      ->type_name("NUMBER");
  auto* faults = command->add_option_function<std::string>(
      "--faults",
      [options](const std::string& word) {
        auto parsed = parse_faults(word);
        if (!parsed) throw CLI::ValidationError("--faults", parsed.error().message);
        options->faults = word;
        options->drawn.faults = *std::move(parsed);
      },
      "With --random: only these, as in crash,cut; or all but some, as in --faults=-disks; else drawn: a few, or all");
  faults->type_name("LIST");
  for (const sim::Fault fault : sim::all_faults()) session.hints[faults].words.emplace_back(name(fault));
  add_count(*command, "--nodes", options->nodes, "With --random: so many nodes; else drawn");
  add_count(*command, "--shards", options->shards, "With --random: so many shards; else drawn");
  add_file_option("--write-story", options->write_story, "With --random: write the story that was made up");
  add_file_option("--plot", options->plot, "Write a picture of the run, as SVG");
  command->add_flag("-q,--quiet", options->quiet, "No timeline");
  command->add_flag("--phrases", options->phrases, "Print the language of stories: every action and condition");
  add_word(
      *command, session, "-o,--output", "a form of output", sim_form_names,
      [options](std::size_t at) { options->form = static_cast<SimForm>(at); }, "Form of the output: text or json")
      ->type_name("FORM");
  command->callback([&session, options] { simulate(session, *options); });
}

}  // namespace evenkeel::cli
