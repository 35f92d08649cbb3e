#include "program/workload_closed_loop.h"

#include <algorithm>
#include <utility>

namespace mtsim::program {

RequestForm request_form(const Shape& shape, const Workload::ClientThread& thread) {
  RequestForm form;
  form.actor = thread.actor;
  form.cq = thread.cq;
  form.wait = shape.wait;
  form.opcode = shape.opcode;
  form.flags = shape.inlined() ? verbs::Send::inline_data : verbs::Send::none;
  form.length = shape.block.raw;
  form.compute_ns = static_cast<std::uint64_t>(shape.compute / ns(1));
  form.thread = thread.thread;
  form.threads = shape.threads;
  return form;
}

ClosedLoop::ClosedLoop(const Shape& shape, const Workload::ClientThread& thread, std::unique_ptr<Places> places)
    : form_(request_form(shape, thread)),
      places_(std::move(places)),
      operations_(shape.operations),
      window_(shape.window),
      signal_every_(shape.signal_every) {
  for (const NameId qp : thread.qps) {
    queues_.emplace_back();
    queues_.back().qp = qp;
  }
}

bool ClosedLoop::next(Op& op) {
  if (posted_ < operations_) {
    const Queue& q = queues_[turn_];
    if (q.posted - q.polled == window_) {
      poll(op);
    } else if (form_.compute_ns != 0 && !computed_) {
      form_.compute(op);
      computed_ = true;
    } else {
      post(op);
      computed_ = false;
    }
    return true;
  }
  // All is posted. The QP whose turn it is has the oldest request.
  for (std::size_t tried = 0; tried < queues_.size(); ++tried, advance())
    if (const Queue& q = queues_[turn_]; q.polled != q.posted) {
      poll(op);
      advance();
      return true;
    }
  return false;
}

void ClosedLoop::post(Op& op) {
  Queue& q = queues_[turn_];
  const bool last = posted_ + queues_.size() >= operations_;
  const bool signaled = last || q.unsignaled + 1 == signal_every_;
  form_.post(op, q.qp, form_.wr(posted_), signaled, places_->next());
  q.unsignaled = signaled ? 0 : q.unsignaled + 1;
  ++q.posted;
  ++posted_;
  advance();
}

void ClosedLoop::poll(Op& op) {
  Queue& q = queues_[turn_];
  q.polled = std::min(q.polled + signal_every_, q.posted);
  if (queues_.size() == 1) form_.poll_next(op);
  else form_.poll_for(op, form_.wr((q.polled - 1) * queues_.size() + turn_));
}

std::uint64_t ClosedLoop::size(const Shape& shape) {
  std::uint64_t polls = 0;
  for (std::uint64_t q = 0; q < std::min<std::uint64_t>(shape.qps, shape.operations); ++q)
    polls += ceil_div((shape.operations - q - 1) / shape.qps + 1, shape.signal_every);
  return shape.operations * (shape.compute == Time(0) ? 1 : 2) + polls;
}

}  // namespace mtsim::program
