// SPDX-License-Identifier: Apache-2.0
// Texts are UTF-8 of fixed length, filled with zeros: those of variable length lie in a heap of
// which HDF5 1.10 believes what a damaged file says. Numbers are scalars of 64 bits.
#include "attributes.hpp"

#include "handle.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace diffbench::cluster {

namespace {

// Another value: another layout of the file.
const std::string format = "diffbench checkpoint 3";

constexpr std::size_t longest_text = 8192; // a path and some words

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "the type of a text");
  checked(H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1)), "the type of a text");
  checked(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "the type of a text");
  checked(H5Tset_cset(type.get(), H5T_CSET_UTF8), "the type of a text");
  return type;
}

// The root group of a file, written and read attribute by attribute.
class Root {
 public:
  explicit Root(hid_t file) : group_(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "opening '/'") {}

  void write(const char* name, const std::string& value) const {
    const Handle type = text_type(value.size());
    write_as(name, type.get(), type.get(), value.c_str());
  }
  void write(const char* name, std::int64_t value) const {
    write_as(name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
  }
  void write(const char* name, double value) const {
    write_as(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
  }

  void read(const char* name, std::string& value) const {
    const Handle attribute = open(name, H5T_STRING, "a text");
    const Handle type(H5Aget_type(attribute.get()), H5Tclose, name);
    const std::size_t bytes = H5Tget_size(type.get());
    if (H5Tis_variable_str(type.get()) != 0 || bytes > longest_text) {
      throw Error(std::string("its attribute '") + name + "' is not a text of fixed length");
    }
    std::string text(bytes, '\0');
    checked(H5Aread(attribute.get(), type.get(), text.data()), name);
    value = text.substr(0, text.find('\0'));
  }
  void read(const char* name, std::int64_t& value) const {
    checked(H5Aread(open(name, H5T_INTEGER, "an integer").get(), H5T_NATIVE_INT64, &value), name);
  }
  void read(const char* name, double& value) const {
    checked(
        H5Aread(open(name, H5T_FLOAT, "a floating-point number").get(), H5T_NATIVE_DOUBLE, &value),
        name);
  }

 private:
  void write_as(const char* name, hid_t in_file, hid_t in_memory, const void* value) const {
    const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose, "the shape of an attribute");
    const Handle attribute(
        H5Acreate2(group_.get(), name, in_file, scalar.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
        name);
    checked(H5Awrite(attribute.get(), in_memory, value), name);
  }

  [[nodiscard]] Handle open(const char* name, H5T_class_t kind, const char* kind_name) const {
    if (H5Aexists(group_.get(), name) <= 0) {
      throw Error(std::string("it has no attribute '") + name + "'");
    }
    Handle attribute(H5Aopen(group_.get(), name, H5P_DEFAULT), H5Aclose, name);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose, name);
    const Handle shape(H5Aget_space(attribute.get()), H5Sclose, name);
    if (H5Tget_class(type.get()) != kind || H5Sget_simple_extent_type(shape.get()) != H5S_SCALAR) {
      throw Error(std::string("its attribute '") + name + "' is not " + kind_name);
    }
    return attribute;
  }

  Handle group_;
};

} // namespace

void write_attributes(hid_t file, const CheckpointFacts& facts) {
  const Root root(file);
  const Problem& problem = facts.problem;
  root.write("format", format);
  root.write("step", facts.step);
  root.write("nx", problem.nx);
  root.write("ny", problem.ny);
  root.write("spacing", problem.spacing);
  root.write("diffusivity", problem.diffusivity);
  root.write("dt", problem.dt);
  root.write("boundary", std::string(to_string(problem.boundary)));
  root.write("boundary_value", problem.boundary_value);
  root.write("dtype", std::string(to_string(problem.dtype)));
  root.write("initial", facts.initial);
  root.write("digest", facts.digest);
  root.write("version", facts.version);
}

CheckpointFacts read_attributes(hid_t file) {
  const Root root(file);
  std::string text;
  root.read("format", text);
  if (text != format) {
    throw Error("its format is '" + printable(text) + "', and this program reads '" + format +
                "': go on from it with the version that wrote it (its attribute 'version')");
  }
  CheckpointFacts facts;
  Problem& problem = facts.problem;
  root.read("step", facts.step);
  root.read("nx", problem.nx);
  root.read("ny", problem.ny);
  root.read("spacing", problem.spacing);
  root.read("diffusivity", problem.diffusivity);
  root.read("dt", problem.dt);
  root.read("boundary", text);
  problem.boundary = boundary_names.parse(printable(text));
  root.read("boundary_value", problem.boundary_value);
  root.read("dtype", text);
  problem.dtype = dtype_names.parse(printable(text));
  root.read("initial", facts.initial);
  root.read("digest", facts.digest);
  root.read("version", facts.version);
  validate(problem, Stability::waived);
  if (facts.step < 0) {
    throw Error("step = " + std::to_string(facts.step) + "; it is counted from 0");
  }
  return facts;
}

} // namespace diffbench::cluster
