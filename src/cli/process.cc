#include "evenkeel/cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/process_tree.h"

namespace evenkeel::cli {
namespace {

// SIGINT, SIGTERM and SIGHUP are ours. The others are for a command that runs; without one they do what they do to any process.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT})
    sigaddset(&set, signal);
  return set;
}

bool asks_for_the_end(int signal) { return signal == SIGINT || signal == SIGTERM; }
bool is_harmless(int signal) { return signal == SIGWINCH || signal == SIGCONT; }

Error not_started(const std::string& program, int number) {
  const Code code = number == ENOENT ? Code::not_found : number == EACCES ? Code::denied : Code::refused;
  return {code, fmt::format("cannot run {}: {}", quote(program), std::strerror(number))};
}

// In the new process, before it is another program: only calls that are safe after a fork of many threads.
[[noreturn]] void become(char* const* words, char* const* variables, pid_t parent, int report) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // it was killed before the line above
  execvpe(words[0], words, variables);
  const int number = errno;
  [[maybe_unused]] const auto written = ::write(report, &number, sizeof number);
  _exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Our environment with some variables set.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view text = *at;
    const auto set = [&](const auto& variable) { return text.starts_with(variable.first + "="); };
    if (std::ranges::none_of(variables, set)) all.emplace_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

// Writes a prompt to the terminal, and reads a line from it without showing it.
Result<std::string> read_unseen(int terminal, std::string_view prompt) {
  termios before{};
  if (tcgetattr(terminal, &before) != 0) return fail(Code::refused, "the terminal cannot be asked: {}", std::strerror(errno));
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  tcsetattr(terminal, TCSAFLUSH, &silent);
  [[maybe_unused]] const auto asked = ::write(terminal, prompt.data(), prompt.size());
  std::string line;
  char c = 0;
  while (line.size() < 4096 && ::read(terminal, &c, 1) == 1 && c != '\n') line += c;
  tcsetattr(terminal, TCSAFLUSH, &before);
  [[maybe_unused]] const auto ended = ::write(terminal, "\n", 1);
  return line;
}

}  // namespace

std::optional<std::string> Process::variable(const std::string& name) const {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<Outside::Screen> Process::screen(Stream stream) const {
  const int descriptor = stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
  if (isatty(descriptor) != 1) return std::nullopt;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return Screen{};  // it does not say
  return Screen{.rows = size.ws_row, .columns = size.ws_col};
}

class Process::SignalWatch final : public Watch {
 public:
  SignalWatch(Process& process, std::function<void(Signal)> heard) : process_(process), heard_(std::move(heard)) {
    const sigset_t set = watched_signals();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    signals_ = signalfd(-1, &set, SFD_CLOEXEC);
    end_ = eventfd(0, EFD_CLOEXEC);
    ensure(signals_ >= 0 && end_ >= 0, "a process may open two descriptors");
    thread_ = std::thread([this] { listen(); });
  }

  ~SignalWatch() override {
    const std::uint64_t one = 1;
    ensure(::write(end_, &one, sizeof one) == sizeof one, "an event can be told");
    thread_.join();
    close(signals_);
    close(end_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  void listen() {
    std::array<pollfd, 2> waited = {pollfd{signals_, POLLIN, 0}, pollfd{end_, POLLIN, 0}};
    bool asked = false;
    while (true) {
      if (poll(waited.data(), waited.size(), -1) < 0) continue;
      if (waited[1].revents != 0) return;
      signalfd_siginfo info{};
      if (::read(signals_, &info, sizeof info) != sizeof info) continue;
      const int signal = static_cast<int>(info.ssi_signo);
      if (process_.pass_on(signal, info.ssi_code <= 0)) continue;
      if (signal == SIGHUP) {
        heard_(Signal::reload);
      } else if (asks_for_the_end(signal) && !std::exchange(asked, true)) {
        heard_(Signal::stop);
      } else if (asks_for_the_end(signal) || (!is_harmless(signal) && !process_.ran())) {
        end_at_once(signal);
      }
    }
  }

  static void end_at_once(int signal) {
    std::signal(signal, SIG_DFL);
    const sigset_t set = watched_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    raise(signal);
  }

  Process& process_;
  std::function<void(Signal)> heard_;
  sigset_t before_{};
  int signals_ = -1, end_ = -1;
  std::thread thread_;
};

std::unique_ptr<Outside::Watch> Process::watch(std::function<void(Signal)> heard) {
  return std::make_unique<SignalWatch>(*this, std::move(heard));
}

bool Process::ran() {
  const std::lock_guard lock(mutex_);
  return ran_;
}

bool Process::pass_on(int signal, bool to_us_alone) {
  const std::lock_guard lock(mutex_);
  if (child_ == 0) return false;
  if (to_us_alone) kill(child_, signal);
  asked_ = asked_ || asks_for_the_end(signal);
  return true;
}

Result<Outside::Ended> Process::run(const Command& command) {
  std::vector<std::string> words = command.words, variables = environment_with(command.variables);
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
  std::array<int, 2> report{};  // closed by the program's start, or told why there was none
  if (pipe2(report.data(), O_CLOEXEC) != 0) return fail(not_started(words[0], errno));
  if (command.adopt) prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = getpid();
  pid_t child = -1;
  {
    const std::lock_guard lock(mutex_);
    child = fork();
    if (child == 0) become(arguments.data(), environment.data(), self, report[1]);
    const int number = errno;
    close(report[1]);
    if (child < 0) {
      close(report[0]);
      return fail(not_started(words[0], number));
    }
    child_ = child;
    ran_ = true;
    asked_ = false;
    adopting_ = command.adopt;
  }
  int number = 0;
  const bool failed = ::read(report[0], &number, sizeof number) == sizeof number;
  close(report[0]);
  // It is looked at first and taken away under the lock, so that no signal is ever passed on to a later process of its number.
  siginfo_t ended{};
  bool asked = false;
  while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  {
    const std::lock_guard lock(mutex_);
    waitpid(child, nullptr, 0);
    child_ = 0;
    asked = asked_;
  }
  if (failed) return fail(not_started(words[0], number));
  return Ended{.status = ended.si_status, .killed = ended.si_code != CLD_EXITED, .asked = asked};
}

void Process::end_command(End how) {
  const std::lock_guard lock(mutex_);
  if (child_ != 0) kill(child_, how == End::politely ? SIGTERM : SIGKILL);
  if (how == End::at_once && adopting_) kill_children();
}

Result<std::optional<std::string>> Process::ask(std::string_view prompt) {
  if (isatty(STDIN_FILENO) != 1) return std::nullopt;
  std::fwrite(prompt.data(), 1, prompt.size(), stderr);
  std::string line;
  for (char c = 0;;) {
    const ssize_t got = ::read(STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Code::refused, "cannot read from the terminal: {}", std::strerror(errno));
    if (got == 0 && line.empty()) return std::nullopt;
    if (got == 0 || c == '\n') return std::optional(std::move(line));
    line += c;
  }
}

Result<std::optional<std::string>> Process::ask_secret(std::string_view prompt) {
  if (isatty(STDIN_FILENO) != 1) return std::nullopt;
  auto line = read_unseen(STDIN_FILENO, prompt);
  if (!line) return fail(line.error());
  return std::optional(*std::move(line));
}

void Process::tell_ready() {
  const auto path = variable("NOTIFY_SOCKET");
  sockaddr_un to{};
  if (!path || path->empty() || path->size() >= sizeof to.sun_path) return;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path->data(), path->size());
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';  // a name that is in no file system
  const int socket_of_ours = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_of_ours < 0) return;
  constexpr std::string_view words = "READY=1";
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path->size());
  // Nobody there: then nobody wants to know.
  [[maybe_unused]] const auto sent =
      sendto(socket_of_ours, words.data(), words.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), length);
  close(socket_of_ours);
}

Result<Outside::Writer> Process::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr)
    return fail(errno == EACCES ? Code::denied : Code::refused, "cannot write {}: {}", path, std::strerror(errno));
  return [path, held = std::shared_ptr<std::FILE>(file, std::fclose)](std::string_view text) -> Result<void> {
    if (std::fwrite(text.data(), 1, text.size(), held.get()) == text.size() && std::fflush(held.get()) == 0) return {};
    return fail(Code::refused, "cannot write {}: {}", path, std::strerror(errno));
  };
}

}  // namespace evenkeel::cli
