#include "evenkeel/cli/served_store.h"

namespace evenkeel::cli {

Result<ServedStore> serve_folder(const std::string& data, std::uint64_t quota_bytes,
                                 const store::embedded::ServerOptions& options) {
  auto engine = store::embedded::Engine::open(data, {.bytes_max = quota_bytes, .log = options.log});
  if (!engine) return fail(std::move(engine).error());
  ServedStore served{.engine = *std::move(engine), .server = nullptr};
  auto server = store::embedded::Server::start(*served.engine, options);
  if (!server) return fail(std::move(server).error());
  served.server = *std::move(server);
  return served;
}

}  // namespace evenkeel::cli
