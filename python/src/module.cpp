// SPDX-License-Identifier: Apache-2.0
// The Python module's core: a session of a backend on NumPy arrays. What can take long releases the
// GIL, and is cut into calls after which Python's signals are looked at (Ctrl-C).
#include "diffbench/field.hpp"
#include "diffbench/pace.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/text.hpp"
#include "diffbench/value_range.hpp"

#include "turns.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace diffbench::python {
namespace {

namespace py = pybind11;

std::string text_of(const py::object& object) { return py::str(object).cast<std::string>(); }

/// The dtype of fields that `dtype` is, in this machine's byte order. Raises TypeError for others.
Dtype dtype_from(const py::dtype& dtype) {
  if (dtype.equal(py::dtype::of<float>())) {
    return Dtype::float32;
  }
  if (dtype.equal(py::dtype::of<double>())) {
    return Dtype::float64;
  }
  const bool loses_nothing = dtype.itemsize() <= (dtype.kind() == 'f' ? 4 : 2); // in float32
  throw py::type_error(
      fmt::format("dtype {}: fields are float32 or float64 in this machine's byte order; convert "
                  "with u.astype(numpy.{})",
                  text_of(dtype), loses_nothing ? "float32" : "float64"));
}

/// Where the solver may read and write it as it lies.
constexpr int as_it_lies = int{py::array::c_style} | int{py::detail::npy_api::NPY_ARRAY_ALIGNED_};

/// `object` as an array. Raises TypeError for anything else: a list would be copied unseen, and
/// cells behind a mask would spread.
py::array array_of(const py::object& object, std::string_view name) {
  if (!py::isinstance<py::array>(object)) {
    throw py::type_error(
        fmt::format("{} is a {}: pass an array of NumPy's, such as numpy.asarray({})", name,
                    text_of(py::type::of(object).attr("__name__")), name));
  }
  if (py::hasattr(object, "mask")) {
    throw py::type_error(
        fmt::format("{} is a {}: give its masked cells values, as {}.filled(0) does", name,
                    text_of(py::type::of(object).attr("__name__")), name));
  }
  return py::reinterpret_borrow<py::array>(object);
}

/// Raises TypeError and ValueError for what is no number of steps.
std::int64_t steps_from(const py::object& object) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!number) {
    PyErr_Clear();
    const std::string shown = printable(text_of(py::type::of(object).attr("__name__")));
    throw py::type_error(fmt::format("steps is of type {}: give a whole number", shown));
  }
  int beyond = 0;
  const std::int64_t steps = PyLong_AsLongLongAndOverflow(number.ptr(), &beyond);
  if (steps < 0) { // also for what is beyond
    throw InvalidInput(
        fmt::format("steps{}: from 0 to 2**63 - 1", beyond == 0 ? fmt::format("={}", steps) : ""));
  }
  return steps;
}

/// Throws InvalidInput for cells with which a step can overflow, as a .npy file is refused.
template <typename T>
void require_small(std::span<const T> cells) {
  for (const T cell : cells) {
    if (std::isfinite(cell) && std::abs(cell) > largest_value<T>) {
      throw InvalidInput(fmt::format("u holds {:g}: above {:.3g} a step can overflow in {}", cell,
                                     largest_value<T>, to_string(dtype_of<T>)));
    }
  }
}

/// The extents of a field. Raises ValueError unless it has two dimensions.
std::pair<py::ssize_t, py::ssize_t> shape_of(const py::array& field) {
  if (field.ndim() != 2) {
    throw py::value_error(
        fmt::format("an array of {} dimensions: a field has two, (ny, nx)", field.ndim()));
  }
  return {field.shape(0), field.shape(1)};
}

std::string shape_text(std::int64_t ny, std::int64_t nx) { return fmt::format("({}, {})", ny, nx); }

/// Raises MemoryError unless the host's memory for it can be had; the device's is asked for when
/// the session is made.
void require_memory(const BackendInfo& backend, const Problem& problem,
                    const SessionOptions& options) {
  const MemoryNeed need = backend.memory_need(problem, options);
  const std::int64_t available = available_memory();
  if (need.host > available) {
    PyErr_SetString(
        PyExc_MemoryError,
        fmt::format("{} needs {} bytes for a field of {}, and {} are available", backend.name,
                    need.host, shape_text(problem.ny, problem.nx), available)
            .c_str());
    throw py::error_already_set();
  }
}

/// Other Python threads run while it lives.
class OthersRun {
 public:
  OthersRun() : state_(PyEval_SaveThread()) {}
  OthersRun(const OthersRun&) = delete;
  OthersRun& operator=(const OthersRun&) = delete;
  ~OthersRun() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      // The interpreter has ended meanwhile, and before 3.14 it unwinds this thread (pthread_exit):
      // out of a destructor that ends the process. Waiting is what threads of 3.14 do.
      for (;;) {
        ::pause();
      }
    }
  }

 private:
  PyThreadState* state_;
};

/// Whether this thread is the one in which Python runs handlers of signals.
bool heeds_signals() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

/// Runs the handlers of signals that have come, which may call this module. Throws what they raise.
void heed_signals() {
  if (PyErr_CheckSignals() != 0) {
    throw py::error_already_set();
  }
}

/// A session of one backend on one problem. Calls from several threads take turns, an advance one
/// for each call of the backend. A forked child cannot use it: threads are not forked.
class PySession {
 public:
  PySession(std::pair<std::int64_t, std::int64_t> shape, const py::object& dtype, double dt,
            double diffusivity, double spacing, const std::string& boundary, double boundary_value,
            const std::string& backend, std::optional<int> threads, bool allow_unstable) {
    problem_ = {.nx = shape.second,
                .ny = shape.first,
                .spacing = spacing,
                .diffusivity = diffusivity,
                .dt = dt,
                .boundary = boundary_names.parse(boundary),
                .boundary_value = boundary_value,
                .dtype = dtype_from(py::dtype::from_args(dtype))};
    validate(problem_, allow_unstable ? Stability::waived : Stability::required);
    const SessionOptions options{.threads = threads.value_or(0)};
    if (options.threads < 0 || options.threads > max_threads || threads == 0) {
      throw InvalidInput(fmt::format("threads={}: from 1 to {}, or None for the backend's choice",
                                     *threads, max_threads));
    }
    const BackendInfo info = require_backend(backend);
    require_memory(info, problem_, options);
    const OthersRun others_run;
    if (problem_.dtype == Dtype::float32) {
      session_ = info.make_float32(problem_, options);
    } else {
      session_ = info.make_float64(problem_, options);
    }
  }
  PySession(const PySession&) = delete;
  PySession& operator=(const PySession&) = delete;
  ~PySession() {
    if (owner_ != getpid()) { // to end its threads would wait for what the child does not have
      if (auto* const as_float = std::get_if<0>(&session_)) {
        (void)as_float->release();
      }
      if (auto* const as_double = std::get_if<1>(&session_)) {
        (void)as_double->release();
      }
    }
  }

  void upload(const py::object& object) {
    const py::array field = array_of(object, "u");
    require_fit(field, "u");
    const py::array dense = py::array::ensure(field, as_it_lies);
    if (!dense) {
      throw std::bad_alloc(); // ensure() has cleared Python's error
    }
    const void* const cells = dense.data();
    with_session([&]<typename T>(Session<T>& session) {
      const std::span all(static_cast<const T*>(cells), static_cast<std::size_t>(problem_.cells()));
      require_small(all);
      session.upload(all);
      has_field_ = true;
      steps_ = 0;
    });
  }

  void advance(const py::object& asked_steps) {
    std::int64_t steps = steps_from(asked_steps);
    require_field();
    while (steps > 0) {
      with_session([&](auto& session) {
        const std::int64_t count = next(session, steps);
        const Stopwatch<SteadyClock> watch;
        session.advance(count);
        session.wait();
        pace_.took(count, watch.seconds());
        steps -= count;
        steps_ += count;
      });
      heed_signals();
    }
  }

  py::array download(const py::object& out) {
    require_field();
    py::array result = out.is_none() ? py::array(py::dtype(dtype()), {problem_.ny, problem_.nx})
                                     : require_out(out);
    void* const cells = result.mutable_data();
    with_session([&]<typename T>(Session<T>& session) {
      session.download({static_cast<T*>(cells), static_cast<std::size_t>(problem_.cells())});
    });
    return result;
  }

  /// `object` as an array for the result. Raises TypeError and ValueError.
  [[nodiscard]] py::array require_out(const py::object& object) const {
    const py::array out = array_of(object, "out");
    require_fit(out, "out");
    if ((out.flags() & py::array::c_style) == 0) {
      throw InvalidInput("out is not contiguous by rows: pass one from numpy.empty");
    }
    if ((out.flags() & as_it_lies) != as_it_lies) {
      throw InvalidInput("out is not aligned in memory: pass one from numpy.empty");
    }
    if (!out.writeable()) {
      throw InvalidInput("out cannot be written");
    }
    return out;
  }

  /// Gives back memory and threads; every later call raises ValueError.
  void close() {
    if (std::visit([](const auto& session) { return session != nullptr; }, session_)) {
      with_session([&](auto&) { std::visit([](auto& session) { session.reset(); }, session_); });
    }
  }

  /// What really ran, as the program's tables show it.
  py::dict provenance() {
    Provenance ran;
    with_session([&](auto& session) { ran = session.provenance(); });
    py::dict facts;
    facts["threads"] = ran.threads;
    for (const auto& [key, value] : ran.facts()) {
      facts[py::str(key)] = value;
    }
    return facts;
  }

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> shape() const {
    return {problem_.ny, problem_.nx};
  }
  [[nodiscard]] std::string dtype() const { return std::string(to_string(problem_.dtype)); }

 private:
  template <typename T>
  std::int64_t next(const Session<T>& session, std::int64_t steps) const {
    const std::int64_t count = pace_.next(steps);
    if (count == steps) {
      return count;
    }
    return pace_.next(steps,
                      std::max<std::int64_t>(1, session.provenance().sweep_depth.value_or(1)));
  }

  /// Calls work(Session<T>&) without the GIL when its turn has come; the main thread heeds signals
  /// until then. It asks anew after that, as it keeps no place in the queue while Python runs: a
  /// handler of signals may use this session.
  template <typename Work>
  void with_session(const Work& work) {
    if (owner_ != getpid()) {
      throw Error(
          "this session was made before a fork, and its threads are not in this process: make one "
          "here");
    }
    if (try_with_session(std::chrono::milliseconds(0), work)) {
      return;
    }
    const std::chrono::milliseconds patience =
        heeds_signals() ? std::chrono::milliseconds(100) : std::chrono::hours(24);
    while (!try_with_session(patience, work)) {
      heed_signals();
    }
  }

  template <typename Work>
  bool try_with_session(std::chrono::milliseconds patience, const Work& work) {
    const OthersRun others_run;
    const Turn turn(turns_, patience);
    if (turn.has_come()) {
      std::visit(
          [&](auto& session) {
            if (!session) {
              throw InvalidInput("this session is closed: make another one");
            }
            work(*session);
          },
          session_);
    }
    return turn.has_come();
  }

  void require_field() const {
    if (!has_field_) {
      throw InvalidInput("this session has no field yet: upload one");
    }
  }

  void require_fit(const py::array& field, std::string_view name) const {
    const auto [ny, nx] = shape_of(field);
    if (ny != problem_.ny || nx != problem_.nx) {
      throw InvalidInput(fmt::format("{} has shape {}, and the session {}", name,
                                     shape_text(ny, nx), shape_text(problem_.ny, problem_.nx)));
    }
    if (dtype_from(field.dtype()) != problem_.dtype) {
      throw py::type_error(
          fmt::format("{} is {}, and the session {}", name, text_of(field.dtype()), dtype()));
    }
  }

  Problem problem_;
  std::variant<std::unique_ptr<Session<float>>, std::unique_ptr<Session<double>>> session_;
  Turns turns_;
  Pace pace_;
  std::atomic<bool> has_field_ = false;
  std::atomic<std::int64_t> steps_ = 0;
  pid_t owner_ = getpid();
};

/// Everything is looked at before the session is made.
py::array solve(const py::object& u, const py::object& steps, double dt, double diffusivity,
                double spacing, const std::string& boundary, const std::string& backend,
                std::optional<int> threads, double boundary_value, const py::object& out,
                bool allow_unstable) {
  const py::array field = array_of(u, "u");
  const auto shape = shape_of(field);
  (void)steps_from(steps);
  PySession session(shape, field.dtype(), dt, diffusivity, spacing, boundary, boundary_value,
                    backend, threads, allow_unstable);
  if (!out.is_none()) {
    (void)session.require_out(out);
  }
  session.upload(field);
  session.advance(steps);
  return session.download(out);
}

py::list backends() {
  py::list list;
  for (const BackendInfo& backend : naive_first(all_backends())) {
    const Probe probe = backend.probe(0);
    py::dict entry;
    entry["name"] = backend.name;
    entry["description"] = backend.description;
    entry["device"] = to_string(backend.device);
    entry["threaded"] = backend.threaded;
    entry["available"] = probe.available;
    entry["reason"] = probe.reason;
    list.append(entry);
  }
  for (const NotCompiled& left_out : missing_backends()) {
    py::dict entry;
    entry["name"] = left_out.name;
    entry["description"] = py::none();
    entry["device"] = py::none();
    entry["threaded"] = py::none();
    entry["available"] = false;
    entry["reason"] = "not compiled: " + std::string(left_out.how_to_get);
    list.append(entry);
  }
  return list;
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
  } catch (const Unstable& error) {
    PyErr_SetString(
        PyExc_ValueError,
        fmt::format("{}, or allow_unstable=True to see it diverge", error.what()).c_str());
  } catch (const InvalidInput& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

} // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The core of the package diffbench: its solver on NumPy arrays.";
  py::register_exception_translator(translate);
  py::register_exception<Unavailable>(module, "Unavailable", PyExc_RuntimeError).attr("__doc__") =
      "The backend is not here; the text says why and what would be needed.";
  module.def(
      "backends", &backends,
      R"(Every backend as a dict: name, description, device ("cpu" or "cuda"), threaded, available,
and reason (why it is not). Of one that is not compiled, description, device and threaded are None.)");
  module.def("solve", &solve, R"(The field after so many time steps, as a new array, or in `out`.

u: array (ny, nx), float32 or float64, at least 3 by 3. It is read where it lies when it is
   contiguous by rows and aligned, else copied once, and left as it is. Cells that are not finite
   spread as they do in NumPy; masked arrays are refused.
steps: 0 or more.
dt, diffusivity, spacing: above 0; dt*D/h**2 is at most 1/4 unless allow_unstable.
boundary: "periodic", "dirichlet" (cells outside hold boundary_value) or "neumann" (no flux).
backend: a name of backends(). threads: its threads; None: it chooses.
out: an array like the result, contiguous by rows; it may be u.

Blocks until the result is there. Other Python threads run meanwhile, and signals (Ctrl-C) are
heeded between two calls of the backend, which are cut to about 0.4 s where a step takes less. Raises
ValueError and TypeError for arguments that cannot be used, before any work; Unavailable for a backend that
is not here; MemoryError; and RuntimeError for what goes wrong.)",
             py::arg("u"), py::arg("steps"), py::arg("dt") = 0.1, py::arg("diffusivity") = 1.0,
             py::arg("spacing") = 1.0, py::arg("boundary") = "periodic",
             py::arg("backend") = "simd", py::arg("threads") = py::none(), py::kw_only(),
             py::arg("boundary_value") = 0.0, py::arg("out") = py::none(),
             py::arg("allow_unstable") = false);
  py::class_<PySession>(
      module, "Session",
      R"(One problem on one device, for many calls; arguments are those of solve(). Calls from several
threads take turns, and those of a handler of signals too: a long advance() lets them in between two
calls of the backend. A process that was forked makes its own.)")
      .def(
          py::init<std::pair<std::int64_t, std::int64_t>, const py::object&, double, double, double,
                   const std::string&, double, const std::string&, std::optional<int>, bool>(),
          py::arg("shape"), py::arg("dtype") = "float32", py::kw_only(), py::arg("dt") = 0.1,
          py::arg("diffusivity") = 1.0, py::arg("spacing") = 1.0, py::arg("boundary") = "periodic",
          py::arg("boundary_value") = 0.0, py::arg("backend") = "simd",
          py::arg("threads") = py::none(), py::arg("allow_unstable") = false)
      .def("upload", &PySession::upload, py::arg("u"),
           "Begins anew from u: (ny, nx) in the session's dtype. Copies; u is free afterwards.")
      .def("close", &PySession::close, "Gives back memory and threads.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](PySession& self, const py::args&) { self.close(); })
      .def("advance", &PySession::advance, py::arg("steps"),
           "Advances, and blocks until it is done. After Ctrl-C the field is that after `steps`.")
      .def("download", &PySession::download, py::arg("out") = py::none(),
           "The field, in `out` or a new array.")
      .def("provenance", &PySession::provenance, "What really ran: threads, instruction set, ...")
      .def_property_readonly("steps", &PySession::steps, "Steps since the upload.")
      .def_property_readonly("shape", &PySession::shape, "(ny, nx)")
      .def_property_readonly("dtype", &PySession::dtype, "float32 or float64");
}

} // namespace diffbench::python
