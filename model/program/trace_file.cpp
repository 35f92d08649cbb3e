#include "program/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "base/error.h"
#include "program/trace_zstd.h"

namespace mtsim::program {
namespace {

constexpr std::size_t block = std::size_t{256} << 10;

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

/// An open file; closed when nobody reads it any more.
class TraceFile::Handle {
 public:
  Handle(int fd, const std::string& name) : fd_(fd) {
    if (fd_ < 0) throw UserError(name + ": cannot be opened: " + reason());
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { ::close(fd_); }

  std::streamsize read_at(char* to, std::streamsize n, std::uint64_t offset) const {
    for (;;) {
      const ssize_t got = ::pread(fd_, to, static_cast<std::size_t>(n), static_cast<off_t>(offset));
      if (got >= 0) return got;
      if (errno != EINTR) throw std::runtime_error(reason());
    }
  }
  struct stat state() const {
    struct stat now {};
    ::fstat(fd_, &now);
    return now;
  }
  /// From here on the file must not change.
  void settle() { settled_ = state(); }
  bool changed() const {
    const struct stat now = state();
    return now.st_size != settled_.st_size || now.st_mtim.tv_sec != settled_.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != settled_.st_mtim.tv_nsec;
  }
  int fd() const { return fd_; }

 private:
  int fd_;
  struct stat settled_ {};
};

namespace {

template <class Handle>
class Device : public boost::iostreams::source {
 public:
  explicit Device(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}
  std::streamsize read(char* to, std::streamsize n) {
    const std::streamsize got = handle_->read_at(to, n, at_);
    at_ += static_cast<std::uint64_t>(got);
    return got > 0 ? got : -1;
  }

 private:
  std::shared_ptr<const Handle> handle_;
  std::uint64_t at_ = 0;
};

/// A file without a name, gone when its handle is closed.
int temporary(const std::string& name) {
  std::error_code ignored;
  std::string path = (std::filesystem::temp_directory_path(ignored) / "mtsim-trace-XXXXXX").string();
  const int fd = ::mkstemp(path.data());
  if (fd < 0) throw UserError(name + ": cannot be copied to " + path + ": " + reason());
  ::unlink(path.c_str());
  return fd;
}

void copy(int from, int to, const std::string& name) {
  std::vector<char> bytes(block);
  for (;;) {
    const ssize_t got = ::read(from, bytes.data(), bytes.size());
    if (got == 0) return;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw UserError(name + ": cannot be read: " + reason());
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to, bytes.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw UserError(name + ": cannot be copied to a temporary file: " + reason());
      done += put;
    }
  }
}

}  // namespace

/// What the chain of decompressors delivers.
class LineReader::Bytes {
 public:
  boost::iostreams::filtering_streambuf<boost::iostreams::input> chain;
};

TraceFile::TraceFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
  auto handle = std::make_shared<Handle>(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC), name_);
  if (S_ISDIR(handle->state().st_mode)) throw UserError(name_ + ": is a directory, not a trace");
  if (path == "-" || !S_ISREG(handle->state().st_mode)) {
    auto spool = std::make_shared<Handle>(temporary(name_), name_);
    copy(handle->fd(), spool->fd(), name_);
    handle = std::move(spool);
  }
  handle->settle();
  handle_ = handle;

  std::array<char, 4> magic{};
  try {
    handle->read_at(magic.data(), magic.size(), 0);
  } catch (const std::runtime_error&) { throw UserError(name_ + ": cannot be read: " + reason()); }
  if (name_.ends_with(".zst") || std::memcmp(magic.data(), "\x28\xb5\x2f\xfd", 4) == 0) packing_ = Packing::zstd;
  else if (name_.ends_with(".gz") || std::memcmp(magic.data(), "\x1f\x8b", 2) == 0) packing_ = Packing::gzip;
}

TraceFile::TraceFile(TraceFile&&) noexcept = default;
TraceFile::~TraceFile() = default;

LineReader TraceFile::read() const {
  if (handle_->changed()) throw UserError(name_ + ": was written to while it was in use");
  auto bytes = std::make_unique<LineReader::Bytes>();
  if (packing_ == Packing::zstd) bytes->chain.push(ZstdInput(), block);
  if (packing_ == Packing::gzip) bytes->chain.push(boost::iostreams::gzip_decompressor(), block);
  bytes->chain.push(Device<Handle>(handle_), block);
  return LineReader(name_, std::move(bytes));
}

LineReader::LineReader(std::string file, std::unique_ptr<Bytes> bytes) : file_(std::move(file)), bytes_(std::move(bytes)), buffer_(block) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

bool LineReader::refill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  try {
    const std::streamsize got = bytes_->chain.sgetn(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
    if (got <= 0) ended_ = true;
    else end_ += static_cast<std::size_t>(got);
  } catch (const std::exception& e) {
    // Whatever stands before the damage is no trace either: half of one would be taken for the whole.
    throw UserError(file_ + ": is damaged or cut short after line " + std::to_string(number_) + ": " + e.what());
  }
  return !ended_;
}

bool LineReader::next(std::string_view& line) {
  std::size_t seen = 0;
  for (;;) {
    const char* from = buffer_.data() + begin_;
    const auto* stop = static_cast<const char*>(std::memchr(from + seen, '\n', end_ - begin_ - seen));
    if (!stop && end_ - begin_ <= longest_line) {
      seen = end_ - begin_;
      if (refill()) continue;
      if (begin_ == end_) return false;
      from = buffer_.data() + begin_;
      stop = buffer_.data() + end_;
    }
    ++number_;
    if (!stop || static_cast<std::size_t>(stop - from) > longest_line)
      throw UserError(file_ + ":" + std::to_string(number_) + ":1: the line is longer than 1 MiB");
    line = {from, static_cast<std::size_t>(stop - from)};
    begin_ = std::min(end_, begin_ + line.size() + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
}

}  // namespace mtsim::program
