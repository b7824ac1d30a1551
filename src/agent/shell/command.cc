#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "evenkeel/agent/shell/asker.h"
#include "evenkeel/base/clock.h"
#include "evenkeel/base/text.h"

namespace evenkeel::agent {
namespace {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

Error not_run(const std::string& program, int number) {
  return {Code::unavailable, fmt::format("cannot run {}: {}", quote(program), std::strerror(number))};
}

struct Pipe {
  Descriptor read, write;
};
Result<Pipe> open_pipe(const std::string& program, int flags) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | flags) != 0) return fail(not_run(program, errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// The text as a file that has no name: whoever does not read it holds up nobody.
Result<Descriptor> file_of(const std::string& program, std::string_view text) {
  Descriptor file(memfd_create("question", MFD_CLOEXEC));
  if (!file.is_open()) return fail(not_run(program, errno));
  while (!text.empty()) {
    const ssize_t written = write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(not_run(program, errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (lseek(file.number(), 0, SEEK_SET) != 0) return fail(not_run(program, errno));
  return file;
}

// Our environment with some variables set.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::map<std::string, std::string, std::less<>> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view text = *at;
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos)
      all.insert_or_assign(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  for (const auto& [name, value] : variables) all.insert_or_assign(name, value);
  std::vector<std::string> texts;
  for (const auto& [name, value] : all) texts.push_back(name + "=" + value);
  return texts;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Streams {
  int in, out, err, report;
};

// In the new process, before it is another program: only calls that are safe after a fork of many threads.
[[noreturn]] void become(char* const* words, char* const* variables, pid_t parent, const Streams& streams) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it was killed before the line above
  dup2(streams.in, STDIN_FILENO);
  dup2(streams.out, STDOUT_FILENO);
  dup2(streams.err, STDERR_FILENO);
  constexpr unsigned first_of_ours = STDERR_FILENO + 1;
  close_range(first_of_ours, ~0U, CLOSE_RANGE_CLOEXEC);
  std::signal(SIGPIPE, SIG_DFL);  // libraries of ours may have ignored it
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(words[0], words, variables);
  const int number = errno;
  [[maybe_unused]] const auto written = write(streams.report, &number, sizeof number);
  _exit(127);
}

// A process that was started and not waited for yet.
struct Started {
  pid_t pid = 0;
  Descriptor over;    // readable when it has ended
  Descriptor wanted;  // readable when nobody wants it any more
  Descriptor out, err;
};

Error end_at_once(pid_t child, const std::string& program, int number) {
  kill(-child, SIGKILL);
  waitpid(child, nullptr, 0);
  return not_run(program, number);
}

Result<Started> start(std::vector<std::string> words, const Question& question) {
  const std::string program = words[0];
  std::vector<std::string> variables = environment_with(question.variables);
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
  const auto in = file_of(program, question.text);
  if (!in) return fail(in.error());
  auto out = open_pipe(program, 0), err = open_pipe(program, 0), report = open_pipe(program, 0);
  for (const auto* each : {&out, &err, &report})
    if (!*each) return fail(each->error());
  Descriptor wanted(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wanted.is_open()) return fail(not_run(program, errno));
  const Streams streams{in->number(), out->write.number(), err->write.number(), report->write.number()};
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) become(arguments.data(), environment.data(), self, streams);
  const int number = errno;
  report->write.reset();
  if (child < 0) return fail(not_run(program, number));
  setpgid(child, child);  // whoever is first: it must be so before anybody signals the group
  int reason = 0;
  const bool failed = read(report->read.number(), &reason, sizeof reason) == sizeof reason;
  if (failed) {
    waitpid(child, nullptr, 0);
    return fail(not_run(program, reason));
  }
  for (const Pipe* pipe : {&*out, &*err}) fcntl(pipe->read.number(), F_SETFL, O_NONBLOCK);
  Descriptor over(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));  // glibc 2.36 declares it for C alone
  if (!over.is_open()) return fail(end_at_once(child, program, errno));
  return Started{.pid = child,
                 .over = std::move(over),
                 .wanted = std::move(wanted),
                 .out = std::move(out->read),
                 .err = std::move(err->read)};
}

// Follows a command from its start to its end.
class Following {
 public:
  Following(Started started, const Patience& patience, const std::stop_token& stop)
      : started_(std::move(started)), patience_(patience), end_(later(clock_.now(), patience.within)) {
    ended_.within = patience.within;
    on_stop_.emplace(stop, [this] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto told = write(started_.wanted.number(), &one, sizeof one);
    });
  }

  Ended follow() && {
    while (!look()) {
    }
    drain();
    // It has ended, and is not taken away yet, so the group's number is still its own: what is left of a group that is to end ends.
    if (ended_.by != Ended::By::itself) kill(-started_.pid, SIGKILL);
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(started_.pid), &info, WEXITED) != 0 && errno == EINTR) {
    }
    ended_.status = info.si_status;
    ended_.killed = info.si_code != CLD_EXITED;
    return std::move(ended_);
  }

 private:
  // True: it has ended.
  bool look() {
    const bool ending = ended_.by != Ended::By::itself;
    // A negative descriptor is overlooked.
    std::array<pollfd, 4> waited = {pollfd{started_.over.number(), POLLIN, 0},
                                    pollfd{ending ? -1 : started_.wanted.number(), POLLIN, 0},
                                    pollfd{started_.out.number(), POLLIN, 0}, pollfd{started_.err.number(), POLLIN, 0}};
    if (poll(waited.data(), waited.size(), timeout()) < 0) return false;
    if (waited[2].revents != 0) take_out();
    if (waited[3].revents != 0) take_err();
    if (waited[0].revents != 0) return true;
    if (waited[1].revents != 0) {
      end(Ended::By::stopped);
    } else if (clock_.now() >= end_) {
      ending ? end_at_once() : end(Ended::By::overdue);
    }
    return false;
  }

  int timeout() const {
    if (end_ == Instant::max()) return -1;
    constexpr std::int64_t longest = 3'600'000;  // it looks again then
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - clock_.now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, longest));
  }

  void end(Ended::By by) {
    ended_.by = by;
    kill(-started_.pid, SIGTERM);
    end_ = later(clock_.now(), patience_.grace);
  }
  void end_at_once() {
    kill(-started_.pid, SIGKILL);
    end_ = Instant::max();
  }

  // What is there now; false: nothing, or it is closed.
  static bool take(Descriptor& from, const std::function<void(std::string_view)>& keep) {
    std::array<char, 64 << 10> buffer{};
    const ssize_t got = read(from.number(), buffer.data(), buffer.size());
    if (got > 0) {
      keep({buffer.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      from.reset();
    }
    return got > 0;
  }
  bool take_out() {
    return take(started_.out, [this](std::string_view bytes) {
      const std::size_t room = answer_bytes_max - ended_.out.size();
      if (bytes.size() > room) ended_.out_cut = true;
      ended_.out += bytes.substr(0, room);
    });
  }
  bool take_err() {
    return take(started_.err, [this](std::string_view bytes) { ended_.words.add(bytes); });
  }
  // What it wrote before its end; somebody whom it left behind may write on, so not more than pipes hold.
  void drain() {
    constexpr int reads_max = 32;
    for (int i = 0; i < reads_max && started_.out.is_open() && take_out(); ++i) {
    }
    for (int i = 0; i < reads_max && started_.err.is_open() && take_err(); ++i) {
    }
  }

  const BootClock clock_;
  Started started_;
  const Patience patience_;
  Instant end_;  // of the time that it has, or of its grace
  Ended ended_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;  // the last, so the first to go
};

class Commands final : public Asker {
 public:
  explicit Commands(std::vector<std::string> words) : words_(std::move(words)) {
    ensure(!words_.empty(), "a command has a name");
  }
  Result<std::string> ask(const Question& question, const Patience& patience, const std::stop_token& stop) override {
    auto started = start(words_, question);
    if (!started) return fail(std::move(started).error());
    return answer_of(Following(*std::move(started), patience, stop).follow());
  }

 private:
  const std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Asker> make_command(std::vector<std::string> words) { return std::make_unique<Commands>(std::move(words)); }

}  // namespace evenkeel::agent
