#include "arena.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "pointer.h"

namespace mtsim::replay {
namespace {

// Above what a program and its libraries use, below where the kernel maps on its own.
constexpr std::uint64_t first_address = 0x2000'0000'0000, all_bytes = 0x1000'0000'0000;
constexpr std::uint64_t size_2m = std::uint64_t{1} << 21, size_1g = std::uint64_t{1} << 30;

std::uint64_t unit_of(verbs::PageKind page) {
  switch (page) {
    case verbs::PageKind::huge_2m:
      return size_2m;
    case verbs::PageKind::huge_1g:
      return size_1g;
    default:
      return page_bytes.raw;
  }
}

int page_flags(verbs::PageKind page) {
  constexpr int shift = 26;  // MAP_HUGE_SHIFT
  switch (page) {
    case verbs::PageKind::huge_2m:
      return MAP_HUGETLB | 21 << shift;
    case verbs::PageKind::huge_1g:
      return MAP_HUGETLB | 30 << shift;
    default:
      return 0;
  }
}

int protection(bool readable, bool writable) { return (readable ? PROT_READ : PROT_NONE) | (writable ? PROT_WRITE : PROT_NONE); }

/// Memory of a file that has no name; -1 where there is no need of one.
int backing_file(const verbs::MmapRequest& request, std::uint64_t length) {
  if (request.backing != verbs::Backing::file) return -1;
  const int file = memfd_create("mtsim", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(length)) != 0) {
    close(file);
    return -1;
  }
  return file;
}

}  // namespace

Arena::Arena(std::uint32_t index, std::uint32_t count) {
  const std::uint64_t share = round_down(all_bytes / std::max<std::uint32_t>(count, 1), size_1g);
  first_ = first_address + index * share;
  end_ = first_ + share;
  free_ += Free::interval_type::right_open(first_, end_);
}

Arena::~Arena() {
  std::uint64_t at = first_;
  const auto unmap = [&](std::uint64_t until) {
    if (until > at) ::munmap(pointer(at), until - at);
  };
  for (const auto& gap : free_) {
    unmap(gap.lower());
    at = gap.upper();
  }
  unmap(end_);
}

std::uint64_t Arena::place(std::uint64_t length, std::uint64_t align, std::uint64_t at) const {
  for (const auto& gap : free_) {
    std::uint64_t start = round_down(gap.lower(), align) + at % align;
    if (start < gap.lower()) start += align;
    if (start <= gap.upper() && length <= gap.upper() - start) return start;
  }
  return 0;
}

int Arena::mmap(const verbs::MmapRequest& request, std::uint64_t& address) {
  const std::uint64_t unit = unit_of(request.page);
  const std::uint64_t usual = request.page == verbs::PageKind::thp ? size_2m : unit;
  const std::uint64_t align = request.align.raw == 0 ? usual : request.align.raw;
  if (request.length.raw == 0 || align % unit != 0 || request.at.raw % unit != 0) return EINVAL;
  if (request.length.raw > end_ - first_) return ENOMEM;
  const std::uint64_t length = round_up(request.length.raw, unit);
  const std::uint64_t start = place(length, align, request.at.raw);
  if (start == 0) return ENOMEM;

  const int file = backing_file(request, length);
  if (file < 0 && request.backing == verbs::Backing::file) return errno;
  int flags = (request.shared ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED_NOREPLACE | page_flags(request.page);
  if (file < 0) flags |= MAP_ANONYMOUS;
  if (request.populate) flags |= MAP_POPULATE;
  void* const mapped = ::mmap(pointer(start), length, protection(request.readable, request.writable), flags, file, 0);
  const int error = mapped == MAP_FAILED ? errno : 0;
  if (file >= 0) close(file);
  if (error != 0) return error;
  // What a trace calls 4 KiB pages must not turn into huge ones where the system makes them everywhere. A kernel without them says EINVAL.
  if (request.page == verbs::PageKind::thp) ::madvise(mapped, length, MADV_HUGEPAGE);
  if (request.page == verbs::PageKind::base_4k) ::madvise(mapped, length, MADV_NOHUGEPAGE);
  free_ -= Free::interval_type::right_open(start, start + length);
  address = start;
  return 0;
}

int Arena::munmap(std::uint64_t address, std::uint64_t length) {
  if (!owns(address, length)) return EINVAL;
  if (::munmap(pointer(address), length) != 0) return errno;
  const std::uint64_t end = round_up(address + length, page_bytes.raw);
  free_ += Free::interval_type::right_open(address, end);
  return 0;
}

int Arena::mprotect(std::uint64_t address, std::uint64_t length, bool readable, bool writable) {
  if (!owns(address, length)) return ENOMEM;
  return ::mprotect(pointer(address), length, protection(readable, writable)) == 0 ? 0 : errno;
}

int Arena::madvise(std::uint64_t address, std::uint64_t length, verbs::Advice advice) {
  if (!owns(address, length)) return ENOMEM;
  constexpr int pageout = 21;  // MADV_PAGEOUT, Linux 5.4
  const auto number = [&] {
    switch (advice) {
      case verbs::Advice::dontfork:
        return MADV_DONTFORK;
      case verbs::Advice::dofork:
        return MADV_DOFORK;
      case verbs::Advice::hugepage:
        return MADV_HUGEPAGE;
      case verbs::Advice::pageout:
        return pageout;
      default:
        return MADV_DONTNEED;
    }
  }();
  if (advice == verbs::Advice::migrate) return EOPNOTSUPP;
  return ::madvise(pointer(address), length, number) == 0 ? 0 : errno;
}

int Arena::touch(std::uint64_t address, std::uint64_t length, bool write) {
  if (length == 0) return 0;
  if (!owns(address, length)) return EFAULT;
  constexpr int populate_read = 22, populate_write = 23;  // MADV_POPULATE_READ and _WRITE, Linux 5.14
  const std::uint64_t start = round_down(address, page_bytes.raw);
  const std::uint64_t end = round_up(address + length, page_bytes.raw);
  if (::madvise(pointer(start), end - start, write ? populate_write : populate_read) == 0) return 0;
  return errno == EHWPOISON ? EHWPOISON : EFAULT;
}

bool is_readable(std::uint64_t address, std::uint64_t length) {
  std::array<char, 4096> scratch;
  while (length > 0) {
    const std::uint64_t part = std::min<std::uint64_t>(length, scratch.size());
    iovec here{scratch.data(), part}, there{pointer(address), part};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(part)) return false;
    address += part;
    length -= part;
  }
  return true;
}

}  // namespace mtsim::replay
