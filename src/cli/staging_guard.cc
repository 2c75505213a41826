#include "cli/staging_guard.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>

namespace trivet::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

std::array<int, 2> ends = {-1, -1};
std::thread cleaner;

/// A handler may not remove folders, but it may tell a thread to.
void tell(int signal) {
  const int saved = errno;
  const auto number = static_cast<unsigned char>(signal);
  [[maybe_unused]] const auto written = write(ends[1], &number, 1);
  errno = saved;
}

void wait_and_clean(const std::string& folder) {
  unsigned char signal = 0;
  ssize_t got = 0;
  do {
    got = read(ends[0], &signal, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1 || signal == 0) return;
  // Under another name first: what is being written meanwhile finds no folder to write to.
  std::error_code error;
  const std::string gone = folder + "-gone";
  std::filesystem::rename(folder, gone, error);
  std::filesystem::remove_all(gone, error);
  std::signal(signal, SIG_DFL);
  kill(getpid(), signal);
}

}  // namespace

StagingGuard::StagingGuard(std::string folder) {
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  cleaner = std::thread(wait_and_clean, std::move(folder));
  for (const int signal : kSignals) {
    if (std::signal(signal, tell) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

StagingGuard::~StagingGuard() {
  if (!cleaner.joinable()) return;
  for (const int signal : kSignals) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  tell(0);
  cleaner.join();
  close(ends[0]);
  close(ends[1]);
}

}  // namespace trivet::cli
