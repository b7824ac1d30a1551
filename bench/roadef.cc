// The public yardstick: instances of the ROADEF/EURO challenge 2012 (machine reassignment), solved by the placement engine.
//
//   roadef MODEL ASSIGNMENT --time 30 --seed 1 -o NEW_ASSIGNMENT     files plain or gzipped
//
// prints one JSON line: the objective at the end and at the start, a proven lower bound, changes evaluated and how many a second, and
// whether the result keeps all constraints and costs what the engine says, which is judged by recomputing everything from the files and not by
// the engine. Exit status: 0; 1 if it does not; 2 if the arguments or files are wrong. With --budget instead of --time, one seed gives one result.
//
// --make MACHINESxPROCESSESxRESOURCES[xSLACK] makes the instance instead of reading one, from --make-seed (1), and --write FOLDER writes it there in the
// challenge's form, for other programs; --threads N searches side by side (2).
// --shifts N instead tries N random shifts and applies none: how many are evaluated in a second, by themselves and with the rules asked.
// Without any arguments an instance is made from a fixed seed and given a fixed budget: what `make bench` runs.

#include <fmt/format.h>
#include <sys/resource.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <barrier>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/roadef_model.h"

#include "evenkeel/base/file.h"
#include "evenkeel/base/text.h"

namespace {

using namespace evenkeel;

struct Arguments {
  std::string model, assignment, shape, out, folder;
  double seconds = 0;
  bool own_time = false;  // the process's, not the wall clock's
  unsigned threads = 2;
  std::string manner = "both";
  std::uint64_t seed = 1, budget = 0, shifts = 0, make_seed = 1;
};

constexpr std::size_t file_most = std::size_t{4} << 30;

// The file's bytes, unpacked if they are gzip.
Result<std::string> read_text(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return fail(Code::not_found, "{}: cannot be opened", path);
  std::string text;
  std::string piece(1 << 20, '\0');
  int got = 0;
  while ((got = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0 && text.size() < file_most)
    text.append(piece, 0, static_cast<std::size_t>(got));
  int code = 0;
  const std::string reason = gzerror(file, &code);
  const bool cut = gzclose(file) == Z_BUF_ERROR;  // the end of the packed data is missing
  if (got < 0) return fail(Code::invalid, "{}: cannot be read: {}", path, reason);
  if (cut) return fail(Code::invalid, "{}: the packed data ends early", path);
  if (text.size() >= file_most) return fail(Code::too_large, "{}: more than {} bytes", path, file_most);
  return text;
}

// The file's, or the one that is asked for.
Result<roadef::Made> read_instance(const Arguments& arguments) {
  if (!arguments.shape.empty()) {
    const auto shape = roadef::parse_shape(arguments.shape);
    if (!shape) return fail(shape.error());
    return roadef::make_instance(arguments.make_seed, *shape);
  }
  const auto model_text = read_text(arguments.model);
  if (!model_text) return fail(model_text.error());
  auto model = roadef::parse_model(*model_text, arguments.model);
  if (!model) return fail(model.error());
  const auto text = read_text(arguments.assignment);
  if (!text) return fail(text.error());
  auto start = roadef::parse_assignment(*text, arguments.assignment, *model);
  if (!start) return fail(start.error());
  const auto verdict = roadef::evaluate(*model, *start, *start);
  if (!verdict.violations.empty())
    return fail(Code::invalid, "{}: breaks a constraint: {}", arguments.assignment, verdict.violations.front());
  return roadef::Made{std::move(*model), std::move(*start)};
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

// What one thread found. Threads share the instance, which nobody changes, and nothing else.
struct Found {
  roadef::Assignment assignment;
  double cost = 0;
  std::uint64_t evaluated = 0;
};

// Where searches meet: each waits for the others, and all are given what the best of them has. Who has ended is not waited for.
class MeetingPoint {
 public:
  explicit MeetingPoint(unsigned threads) : all_here_(threads), all_served_(threads), brought_(threads) {}

  place::Meeting meet(unsigned thread, place::Meeting mine) {
    brought_[thread] = std::move(mine);
    all_here_.arrive_and_wait();
    const std::optional<place::Meeting>* best = &brought_[thread];
    for (const auto& one : brought_)
      if (one && (one->cost < (*best)->cost || (one->cost == (*best)->cost && &one < best))) best = &one;
    place::Meeting told = **best;
    all_served_.arrive_and_wait();
    return told;
  }
  void leave(unsigned thread) {
    brought_[thread].reset();
    all_here_.arrive_and_drop();
    all_served_.arrive_and_drop();
  }

 private:
  std::barrier<> all_here_, all_served_;
  std::vector<std::optional<place::Meeting>> brought_;  // by thread
};

// Threads take turns in their manners, the first one bold, unless all are to have one.
Found search(const roadef::Instance& instance, const Arguments& arguments, unsigned thread, MeetingPoint& point,
             std::chrono::steady_clock::time_point start) {
  place::State state(instance.problem);
  Rng rng = Rng(arguments.seed).split(thread);
  const bool bold = arguments.manner == "both" ? thread % 2 == 0 : arguments.manner == "bold";
  place::ImproveOptions options{.budget = arguments.budget, .manner = bold ? place::Manner::bold : place::Manner::thrifty};
  if (arguments.seconds > 0) {
    options.spent = [&] {
      const double own = static_cast<double>(std::clock()) / CLOCKS_PER_SEC / arguments.threads;
      return (arguments.own_time ? own : since(start)) / arguments.seconds;
    };
  }
  if (arguments.threads > 1) options.meet = [&](place::Meeting mine) { return point.meet(thread, std::move(mine)); };
  place::improve(state, rng, options);
  point.leave(thread);
  return {instance.assignment(state), state.whole().tiers[place::Cost::level], state.evaluated()};
}

// Solves, prints, and writes the result; the process's exit status.
int solve(const roadef::Made& made, const Arguments& arguments, std::string_view name,
          std::chrono::steady_clock::time_point start) {
  const roadef::Instance instance(made.model, made.start);
  const auto search_start = std::chrono::steady_clock::now();
  std::vector<Found> found(arguments.threads);
  MeetingPoint point(arguments.threads);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < arguments.threads; ++i)
      threads.emplace_back([&, i] { found[i] = search(instance, arguments, i, point, start); });
    found[0] = search(instance, arguments, 0, point, start);
  }
  const double search_seconds = since(search_start);
  const Found& best = *std::ranges::min_element(found, {}, &Found::cost);
  const auto& end = best.assignment;
  std::uint64_t evaluated = 0;
  for (const Found& one : found) evaluated += one.evaluated;
  auto verdict = roadef::evaluate(made.model, made.start, end);
  constexpr roadef::Amount exact = roadef::Amount{1} << 53;  // beyond that the engine's sums are rounded
  if (verdict.objective < exact && best.cost != static_cast<double>(verdict.objective))
    verdict.violations.push_back(fmt::format("the engine counts {:.0f} where the judge finds {}", best.cost, verdict.objective));
  const bool valid = verdict.violations.empty();
  fmt::print(
      "{}\n",
      fmt::format(R"({{"bench":"roadef","case":"{}","seed":{},"objective":{},"initial":{},"lower_bound":{},"evaluated_moves":{},)"
                  R"("evaluated_per_s":{:.0f},"seconds":{:.2f},"peak_mib":{},"valid":{}}})",
                  name, arguments.seed, verdict.objective, roadef::evaluate(made.model, made.start, made.start).objective,
                  roadef::lower_bound(made.model), evaluated, static_cast<double>(evaluated) / std::max(search_seconds, 1e-9),
                  since(start), peak_mib(), valid));
  for (const auto& violation : verdict.violations) fmt::print(stderr, "roadef: {}\n", violation);
  if (!arguments.out.empty() && valid) {
    if (const auto written = replace_file(arguments.out, roadef::format_assignment(end)); !written) {
      fmt::print(stderr, "roadef: {}\n", written.error());
      return 2;
    }
  }
  return valid ? 0 : 1;
}

// Random shifts at the start: a trial built and its full cost, whether allowed or not; then the same with the rules asked first.
int measure(const roadef::Made& made, const Arguments& arguments, std::string_view name) {
  const roadef::Instance instance(made.model, made.start);
  const place::State state(instance.problem);
  place::Trial trial(state);
  Rng rng(arguments.seed);
  const auto per_second = [&](bool ask, std::uint64_t& allowed) {
    const std::clock_t start = std::clock();  // of this process alone: others may be at work beside it
    double sum = 0;
    for (std::uint64_t i = 0; i < arguments.shifts; ++i) {
      const auto replica = static_cast<std::uint32_t>(rng.below(instance.problem.replicas()));
      const auto to = static_cast<std::uint32_t>(rng.below(instance.problem.nodes));
      if (to == state.at(replica)) continue;
      trial.shift(replica, to);
      if (ask && !state.allowed(trial)) continue;
      ++allowed;
      sum += state.delta(trial).tiers[place::Cost::level];
    }
    ensure(sum == sum, "costs are numbers");  // and are computed
    return static_cast<double>(arguments.shifts) * CLOCKS_PER_SEC /
           static_cast<double>(std::max<std::clock_t>(1, std::clock() - start));
  };
  std::uint64_t all = 0, allowed = 0;
  const double deltas = per_second(false, all), asked = per_second(true, allowed);
  fmt::print(
      "{}\n",
      fmt::format(R"({{"bench":"roadef","case":"{}","shifts":{},"deltas_per_s":{:.0f},"asked_per_s":{:.0f},"allowed":{:.4f}}})",
                  name, arguments.shifts, deltas, asked, static_cast<double>(allowed) / static_cast<double>(arguments.shifts)));
  return 0;
}

// What stands for the instance in the line that is printed: the model's file without its folders, or what was made.
std::string case_name(const Arguments& arguments) {
  if (!arguments.shape.empty() && arguments.make_seed == 1) return "made_" + arguments.shape;
  if (!arguments.shape.empty()) return fmt::format("made_{}_{}", arguments.shape, arguments.make_seed);
  const std::string& path = arguments.model;
  std::string name = path.substr(path.rfind('/') + 1);
  std::erase_if(name, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; });
  return name;
}

// Two files, as the challenge has them.
Result<> write_instance(const roadef::Made& made, const std::string& folder, std::string_view name) {
  if (auto model = replace_file(fmt::format("{}/model_{}.txt", folder, name), roadef::format_model(made.model)); !model)
    return model;
  return replace_file(fmt::format("{}/assignment_{}.txt", folder, name), roadef::format_assignment(made.start));
}

}  // namespace

int main(int count, char** words) {
  const auto start = std::chrono::steady_clock::now();
  if (count == 1) {
    const Arguments arguments{.budget = 10'000'000};
    const auto made = roadef::make_instance(1, {});
    measure(made, {.shifts = 5'000'000}, "made_100x5000x12");
    return solve(made, arguments, "made_100x5000x12", std::chrono::steady_clock::now());
  }
  Arguments arguments;
  CLI::App app("Solves an instance of the machine reassignment problem of the ROADEF/EURO challenge 2012.");
  app.add_option("MODEL", arguments.model, "the problem, plain or gzipped");
  app.add_option("ASSIGNMENT", arguments.assignment, "each process's machine at the start");
  app.add_option("--make", arguments.shape, "MACHINESxPROCESSESxRESOURCES[xSLACK]: an instance that is made, instead of files");
  const auto* make_seed = app.add_option("--make-seed", arguments.make_seed, "of the instance that is made");
  const auto* folder = app.add_option("--write", arguments.folder, "where the instance that is made is written, too");
  const auto* time =
      app.add_option("--time", arguments.seconds, "wall-clock seconds, reading included")->check(CLI::Range(0.01, 1e6));
  app.add_flag("--own-time", arguments.own_time, "--time is of processor time per thread: for machines that others use too");
  app.add_option("--threads", arguments.threads, "searches side by side, the first bold, the second thrifty, and so on")
      ->check(CLI::Range(1, 64));
  app.add_option("--manner", arguments.manner, "of all searches, instead of taking turns")
      ->check(CLI::IsMember({"both", "bold", "thrifty"}));
  const auto* budget = app.add_option("--budget", arguments.budget, "changes to try")->check(CLI::PositiveNumber);
  const auto* shifts =
      app.add_option("--shifts", arguments.shifts, "only measure so many random shifts")->check(CLI::PositiveNumber);
  app.add_option("--seed", arguments.seed, "of the search");
  app.add_option("-o", arguments.out, "where the assignment found is written");
  try {
    app.parse(count, words);
    if (arguments.shape.empty() ? arguments.assignment.empty() : !arguments.model.empty())
      throw CLI::RequiredError("MODEL and ASSIGNMENT, or --make");
    if (arguments.shape.empty() && make_seed->count() + folder->count() > 0) throw CLI::RequiredError("--make");
    if (time->count() + budget->count() + shifts->count() + folder->count() == 0)
      throw CLI::RequiredError("--time, --budget, --shifts or --write");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto made = read_instance(arguments);
  if (!made) {
    fmt::print(stderr, "roadef: {}\n", made.error());
    return 2;
  }
  const std::string name = case_name(arguments);
  if (!arguments.folder.empty()) {
    if (const auto written = write_instance(*made, arguments.folder, name); !written) {
      fmt::print(stderr, "roadef: {}\n", written.error());
      return 2;
    }
  }
  if (arguments.shifts > 0) return measure(*made, arguments, name);
  return arguments.seconds > 0 || arguments.budget > 0 ? solve(*made, arguments, name, start) : 0;
}
