#pragma once
// The embedded store of this process, opened and served over etcd's API: what `store serve` and `serve` have in common.

#include <memory>
#include <string>

#include "evenkeel/store/backends/embedded/engine.h"
#include "evenkeel/store/backends/embedded/server.h"

namespace evenkeel::cli {

struct ServedStore {
  std::shared_ptr<store::embedded::Engine> engine;
  std::unique_ptr<store::embedded::Server> server;  // goes first
};

// Code::conflict: another process has the folder, or somebody listens there. `quota_bytes` 0: the engine's own.
Result<ServedStore> serve_folder(const std::string& data, std::uint64_t quota_bytes,
                                 const store::embedded::ServerOptions& options);

}  // namespace evenkeel::cli
