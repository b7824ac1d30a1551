#pragma once
// The processes below this one, for who must be sure that nothing of a command goes on.

namespace evenkeel::cli {

// Kills all children, and theirs, which become ours when their parents die (if this process adopts them: PR_SET_CHILD_SUBREAPER). Only
// children are ever named by number, and none is waited for here, so no number can have gone to another process meanwhile.
// Returns once none runs, or after five seconds, as one that hangs in the kernel cannot be helped.
void kill_children();

}  // namespace evenkeel::cli
