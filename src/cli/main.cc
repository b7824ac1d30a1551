// The program: binds the command line to the process.

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "evenkeel/base/document.h"
#include "evenkeel/base/file.h"
#include "evenkeel/cli/cli.h"
#include "evenkeel/cli/process.h"

// Read by jemalloc where it is linked. Memory that is not needed any more goes back at once: files of hundreds of megabytes are read within limits on the
// address space.
extern "C" const char* malloc_conf;
const char* malloc_conf = "retain:false";

int main(int argc, char** argv) {
  using namespace evenkeel;
  setenv("GRPC_VERBOSITY", "NONE", 0);  // what it has to say we say, in our words; whoever sets it sees its own
  std::signal(SIGCHLD, SIG_DFL);        // who started us may have ignored it, and then nobody learns how a command has ended
  cli::Process process;
  const char* no_color = std::getenv("NO_COLOR");
  const bool colours = no_color == nullptr || *no_color == '\0';
  cli::Io io{
      .out = [](std::string_view text) -> Result<void> {
        if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
        return fail(Code::refused, "{}", std::strerror(errno));
      },
      .err = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); },
      .read_file = [](const std::string& path) { return read_file(path, Bytes(Document::size_max)); },
      .write_file = replace_file,
      .write_private = replace_private_file,
      .out_colour = colours && isatty(STDOUT_FILENO) == 1,
      .err_colour = colours && isatty(STDERR_FILENO) == 1,
      .outside = &process,
  };
  return cli::run(std::vector<std::string>(argv + 1, argv + argc), io);
}
