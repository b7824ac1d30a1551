#include "evenkeel/broker/trace.h"

#include "evenkeel/broker/detail/trace_runner.h"

namespace evenkeel::broker {

struct TraceRunner::Engine {
  detail::Runner<Scheduler> runner;
};

TraceRunner::TraceRunner(const Options& options) : engine_(new Engine{detail::Runner<Scheduler>(options)}) {}
TraceRunner::TraceRunner(TraceRunner&&) noexcept = default;
TraceRunner& TraceRunner::operator=(TraceRunner&&) noexcept = default;
TraceRunner::~TraceRunner() = default;

tl::expected<void, Diagnostic> TraceRunner::line(std::string_view text, std::string& out) {
  return engine_->runner.line(text, out);
}

}  // namespace evenkeel::broker
