// Decompression of zstd as a Boost.Iostreams filter. Boost's own takes a file that stops inside a frame for a complete one; half a
// trace would then be simulated as if it were whole.
#pragma once

#include <zstd.h>

#include <boost/iostreams/concepts.hpp>
#include <boost/iostreams/read.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

namespace mtsim::program {

class ZstdInput : public boost::iostreams::multichar_input_filter {
 public:
  /// Reads up to `n` decompressed bytes; -1 at the end of the last frame. Throws std::runtime_error for damage and for truncation.
  template <class Source>
  std::streamsize read(Source& source, char* to, std::streamsize n) {
    ZSTD_outBuffer out{to, static_cast<std::size_t>(n), 0};
    while (out.pos == 0) {
      // What was decompressed but had no room comes out before more is read.
      if (state_->in.pos == state_->in.size && !state_->full) {
        const std::streamsize got =
            boost::iostreams::read(source, state_->packed.data(), static_cast<std::streamsize>(state_->packed.size()));
        if (got <= 0) {
          if (state_->wanted != 0) throw std::runtime_error("it ends inside the compressed data");
          return -1;
        }
        state_->in = {state_->packed.data(), static_cast<std::size_t>(got), 0};
      }
      state_->wanted = ZSTD_decompressStream(state_->stream.get(), &out, &state_->in);
      if (ZSTD_isError(state_->wanted)) throw std::runtime_error(ZSTD_getErrorName(state_->wanted));
      state_->full = out.pos == out.size;
    }
    return static_cast<std::streamsize>(out.pos);
  }

 private:
  struct State {
    struct Free {
      void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
    };
    std::unique_ptr<ZSTD_DStream, Free> stream{ZSTD_createDStream()};
    std::vector<char> packed = std::vector<char>(ZSTD_DStreamInSize());
    ZSTD_inBuffer in{nullptr, 0, 0};
    std::size_t wanted = 1;  ///< 0 once a frame is complete: an empty file is not one
    bool full = false;       ///< the last call filled its output, so there may be more without further input
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();  // filters are copied into their chain
};

}  // namespace mtsim::program
