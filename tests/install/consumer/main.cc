// Uses something compiled of each library and of what they are linked with, so that a missing dependency shows.
#include <fmt/format.h>

#include <evenkeel/base/hash.h>
#include <evenkeel/base/log.h>
#include <evenkeel/model/cluster_file.h>

int main() {
  const auto cluster = evenkeel::parse_cluster("cluster: small\nnodes:\n  - name: n[1-3]\n", "small.yaml");
  if (!cluster) {
    fmt::print(stderr, "{}\n", cluster.error().format());
    return 1;
  }
  const std::string text = evenkeel::format_cluster(*cluster, evenkeel::Syntax::yaml);
  evenkeel::Log::to_stderr({}).info("read",
                                    {{"nodes", cluster->nodes.size()}, {"hash", fmt::format("{:x}", evenkeel::hash64(text))}});
  return cluster->nodes.size() == 3 ? 0 : 1;
}
