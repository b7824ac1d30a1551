#include <algorithm>

#include "evenkeel/base/result.h"
#include "evenkeel/place/detail/room.h"
#include "evenkeel/place/detail/stages.h"
#include "evenkeel/place/explain.h"
#include "evenkeel/place/place.h"

namespace evenkeel::place {
namespace {

using detail::Board;

// Rounds after which whatever still wants to move is left to the next run.
constexpr std::uint32_t rounds_max = 64;
// What is added up change by change is counted from nothing after every plan of so many replicas, where that is a small part of its time; a
// mistake in it does not ask how large a cluster is. Larger ones are counted where the general search was asked (improve.cc).
constexpr std::uint32_t counted_most = 1 << 17;

bool does(Only only, Only stage) { return only == Only::everything || only == stage; }

std::uint64_t default_budget(const Board& board) {
  return 4'000'000 + 400 * (std::uint64_t{board.problem.replicas()} + board.problem.nodes);
}

void put_right(Board& board) {
  board.homeless.clear();
  board.hopeful.clear();
  detail::fail_over(board);
  detail::shrink(board);
  detail::repair(board);
  detail::grow(board);
  detail::refine_movers(board);
}

void put_level(Board& board) {
  detail::keep_limits(board);
  detail::spread_out(board);
  // What leaders carry is levelled best by passing it on, which moves nothing.
  if (std::ranges::any_of(board.rows, [](const detail::LoadRows& rows) { return rows.lead != none; }))
    detail::level_leaders(board);
  detail::balance(board);
  detail::level_leaders(board);
}

// Moves that undo each other leave the limits on moves room for what waits.
bool may_go_on(const Board& board) { return board.unsettled || (board.waits && board.may_move_more()); }

// Once all else rests, replicas that took over from a lost leader may go as well: the next run does not know that they did.
bool let_heirs_go(Board& board) {
  if (!board.heirs_stay || !board.unsettled) return false;
  board.heirs_stay = false;
  return detail::any_heir(board);
}

void play(Board& board) {
  const Only only = board.options.only;
  board.budget = board.options.budget;
  do {
    board.begin_round();
    if (does(only, Only::repair)) put_right(board);
    if (board.round == 1 && does(only, Only::allocate)) {
      detail::allocate(board);
      if (board.options.budget == 0) board.budget = board.state->evaluated() + default_budget(board);
      detail::level_fresh(board);
      detail::refine_fresh(board);
    }
    if (does(only, Only::balance)) put_level(board);
    board.unsettled = board.unsettled || !board.homeless.empty() || !board.hopeful.empty();
    if (!board.heirs_stay) detail::keep_leaders(board);
  } while (((board.end_round() && may_go_on(board)) || let_heirs_go(board)) && board.round <= rounds_max &&
           !board.out_of_budget());
  ensure(board.problem.replicas() > counted_most || board.state->adds_up(), "usage is what counting from nothing gives");
  for (const std::uint32_t replica : board.homeless) board.without_home.push_back(detail::refusal_of(board, replica));
  detail::order(board);
  // Whoever was promised room and is still waiting has none.
  for (const std::uint32_t replica : board.hopeful) {
    const bool added = board.state->at(replica) == none;
    if (added || board.standing(replica) != detail::Standing::fine)
      board.without_home.push_back(detail::refusal_of(board, replica));
  }
  if (board.round > rounds_max || board.waits || !board.left_out.empty()) board.cut_short = true;
}

// As it is when the new shards of that workload are asked for. Whoever is asked to explain a plan is in no haste.
std::unique_ptr<Board> board_before(const Cluster& cluster, PlanOptions options, std::uint32_t workload) {
  options.stop = nullptr;
  auto board = detail::compile(cluster, options);
  board->budget = options.budget;
  if (does(options.only, Only::repair)) put_right(*board);
  if (does(options.only, Only::allocate)) detail::allocate(*board, workload);
  return board;
}

}  // namespace

class Planner::Run {
 public:
  Run(const Cluster& cluster, const PlanOptions& options) : board(detail::compile(cluster, options)) {}

  std::unique_ptr<Board> board;
  std::optional<Plan> plan;
};

Planner::Planner(const Cluster& cluster, const PlanOptions& options) : run_(std::make_unique<Run>(cluster, options)) {}

Planner::~Planner() = default;

Plan Planner::plan() {
  if (!run_->plan) {
    play(*run_->board);
    run_->plan = detail::report(*run_->board);
  }
  return *run_->plan;
}

std::optional<Explanation> Planner::explain(const ShardId& shard) const {
  if (!run_->plan) return std::nullopt;
  const Board& board = *run_->board;
  const auto workload = detail::workload_of(*board.cluster, shard);
  if (!workload) return std::nullopt;
  if (board.group_of(*workload, shard.shard.value()) != none) return detail::explain(board, *run_->plan, shard, *workload);
  // What it was refused on is played over since: that board is made again.
  const auto before = board_before(*board.cluster, board.options, *workload);
  return detail::explain(*before, *run_->plan, shard, *workload);
}

Plan plan(const Cluster& cluster, const PlanOptions& options) { return Planner(cluster, options).plan(); }

std::optional<Explanation> explain(const Cluster& cluster, const PlanOptions& options, const ShardId& shard) {
  Planner planner(cluster, options);
  (void)planner.plan();
  return planner.explain(shard);
}

}  // namespace evenkeel::place
