#include "measure/memory.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

extern char** environ;

namespace trivet {
namespace {

constexpr std::size_t kMaxOutputBytes = 1 << 20;

std::string proc_file(const SystemRoot& root, std::string_view name) {
  return cat(root.path, "/proc/self/", name);
}

/// The bytes of a line such as `VmHWM:     1234 kB`.
std::optional<std::uint64_t> status_bytes(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  const std::size_t digits = line.find_first_of("0123456789", key.size());
  if (digits == std::string_view::npos) return std::nullopt;
  std::uint64_t kilobytes = 0;
  const auto parsed = std::from_chars(line.data() + digits, line.data() + line.size(), kilobytes);
  if (parsed.ec != std::errc()) return std::nullopt;
  return kilobytes * 1024;
}

std::uint64_t peak_from_rusage() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

tl::unexpected<Error> system_failure(std::string_view action, int error) {
  return fail(ErrorCode::kFailed, "cannot ", action, ": ", std::generic_category().message(error));
}

/// Both ends of a pipe that a child does not inherit by accident.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void close_end(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(descriptor, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (text.size() < kMaxOutputBytes) text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Starts the program with its standard output (and error, where wanted) in the pipe.
Result<pid_t> spawn(std::span<const std::string> arguments, const Pipe& out) {
  std::vector<std::string> owned = {"trivet"};
  owned.insert(owned.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : owned) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return system_failure("start /proc/self/exe", error);
  return child;
}

}  // namespace

Result<ResidentMemory> resident_memory(const SystemRoot& root) {
  std::ifstream status(proc_file(root, "status"));
  ResidentMemory memory;
  bool found = false;
  for (std::string line; std::getline(status, line);) {
    if (const auto bytes = status_bytes(line, "VmRSS:")) {
      memory.current = *bytes;
      found = true;
    }
    if (const auto bytes = status_bytes(line, "VmHWM:")) memory.peak = *bytes;
  }
  if (!found) return fail(ErrorCode::kIo, "no VmRSS in '", proc_file(root, "status"), "'");
  if (memory.peak == 0) memory.peak = peak_from_rusage();
  return memory;
}

bool reset_peak_memory(const SystemRoot& root) {
  std::ofstream file(proc_file(root, "clear_refs"));
  file << "5";  // see proc(5): resets the peak to the current size
  return static_cast<bool>(file.flush());
}

Result<std::string> run_this_program(std::span<const std::string> arguments) {
  Pipe out;
  if (!out.open()) return system_failure("make a pipe", errno);
  TRIVET_ASSIGN(const pid_t child, spawn(arguments, out));
  out.close_end(1);
  std::string text = read_all(out.ends[0]);
  const int code = wait_for(child);
  if (code != 0) {
    return fail(ErrorCode::kFailed, "the child process ended with code ", code, ": ", text);
  }
  return text;
}

std::string to_lines(const ModelMemory& memory) {
  std::string out = cat("memory ", memory.before, ' ', memory.after_load, ' ', memory.peak, '\n');
  for (const MemorySample& sample : memory.timeline) {
    out += cat("sample ", sample.ms, ' ', sample.bytes, ' ', sample.phase, '\n');
  }
  return out;
}

Result<ModelMemory> parse_model_memory(const std::string& text) {
  std::istringstream lines(text);
  ModelMemory memory;
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string tag;
    words >> tag;
    if (tag == "memory") {
      found = static_cast<bool>(words >> memory.before >> memory.after_load >> memory.peak);
    } else if (MemorySample sample;
               tag == "sample" && words >> sample.ms >> sample.bytes >> std::ws) {
      std::getline(words, sample.phase);
      memory.timeline.push_back(std::move(sample));
    }
  }
  if (!found) return fail(ErrorCode::kFailed, "the child process answered '", text, "'");
  return memory;
}

MemorySampler::MemorySampler(std::uint64_t before)
    : before_(before),
      start_(std::chrono::steady_clock::now()),
      thread_([this] { sample_until_stopped(); }) {}

MemorySampler::~MemorySampler() {
  if (thread_.joinable()) (void)finish();
}

void MemorySampler::enter(const char* phase) {
  const std::lock_guard lock(mutex_);
  sample();
  phase_ = phase;
}

std::vector<MemorySample> MemorySampler::finish() {
  {
    const std::lock_guard lock(mutex_);
    sample();
    stopped_ = true;
  }
  stop_.notify_one();
  thread_.join();
  const std::size_t stretch = (samples_.size() + kTimelineSamples - 1) / kTimelineSamples;
  std::vector<MemorySample> out;
  for (std::size_t begin = 0; begin < samples_.size(); begin += stretch) {
    const auto last =
        samples_.begin() + static_cast<std::ptrdiff_t>(std::min(samples_.size(), begin + stretch));
    out.push_back(*std::max_element(
        samples_.begin() + static_cast<std::ptrdiff_t>(begin), last,
        [](const MemorySample& a, const MemorySample& b) { return a.bytes < b.bytes; }));
  }
  return out;
}

/// The mutex must be held.
void MemorySampler::sample() {
  const auto memory = resident_memory();
  if (!memory) return;
  const std::chrono::duration<double, std::milli> since = std::chrono::steady_clock::now() - start_;
  samples_.push_back(
      {since.count(), memory->current > before_ ? memory->current - before_ : 0, phase_});
}

void MemorySampler::sample_until_stopped() {
  constexpr std::chrono::milliseconds kInterval{2};
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kInterval, [this] { return stopped_; })) sample();
}

}  // namespace trivet
