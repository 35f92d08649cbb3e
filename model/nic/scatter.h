// Writing the data of a message to a list of scatter elements, as the requester does for READ responses and the responder for SENDs.
#pragma once

#include <span>

#include "engine/flow.h"
#include "engine/scheduler.h"
#include "nic/qp.h"
#include "ports/data_watch.h"
#include "ports/dma.h"
#include "ports/translator.h"

namespace mtsim::nic {

struct Scatter {
  engine::Scheduler& scheduler;
  Clock clock;
  ports::Translator& translator;
  ports::Dma& dma;
  ports::DataWatch* watch;         ///< null: nobody follows the data
  ports::Mishap& mishap;           ///< what it finds is added to that
  std::uint64_t* whole = nullptr;  ///< where a refusal leaves the bytes that were written, a number of whole packets
};

/// Bytes [offset, offset + length) of a message go to where the elements say; look-ups begin at `begin` at the earliest. Elements are
/// judged in order, each when the data needs it, for LOCAL_WRITE in `pd`. False when one refused; the packets before it are written. Stops
/// early, true, when the QP's life ends. `query` keeps the last look-up; elements must live as long as the QP's queues.
engine::Task<bool> scatter(const Scatter& units, Qp& qp, std::uint32_t pd, std::span<const verbs::Sge> sges, std::uint64_t offset,
                           std::uint64_t length, Time begin, ports::Query& query);

}  // namespace mtsim::nic
