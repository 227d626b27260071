// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/safetensors.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace diffbench::mlp {

static_assert(std::endian::native == std::endian::little,
              "numbers are copied as they lie in files");

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The format's own limit.
constexpr std::uint64_t most_header_bytes = 100'000'000;
constexpr std::uint64_t size_bytes = 8;

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

class Reader {
 public:
  explicit Reader(fs::path file) : path_(std::move(file)) {
    std::error_code error;
    if (!fs::is_regular_file(path_, error)) { // opening a pipe might wait for ever
      fail(fs::exists(path_, error) ? "cannot be opened; it is not a regular file"
                                    : "cannot be opened");
    }
    stream_.open(path_, std::ios::binary);
    file_bytes_ = fs::file_size(path_, error);
    if (error || !stream_) {
      fail("cannot be opened");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidInput(path_.string() + ": " + what);
  }

  /// All tensors by name. Every byte of the data belongs to one of them.
  std::map<std::string, Tensor> read() {
    const json header = read_header();
    std::map<std::string, Tensor> tensors;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    for (const auto& [name, entry] : header.items()) {
      if (name != "__metadata__") {
        tensors[name] = read_tensor(name, entry, places);
      }
    }
    std::ranges::sort(places);
    std::uint64_t end = 0;
    for (const auto& [from, to] : places) {
      if (from != end) {
        fail("its tensors overlap, or leave bytes between them");
      }
      end = to;
    }
    if (data_ + end != file_bytes_) {
      fail("has bytes that belong to no tensor");
    }
    return tensors;
  }

 private:
  json read_header() {
    std::uint64_t bytes = 0;
    if (file_bytes_ < size_bytes) {
      fail("is too short for a safetensors file");
    }
    stream_.read(reinterpret_cast<char*>(&bytes), size_bytes);
    if (bytes > most_header_bytes || bytes > file_bytes_ - size_bytes) {
      fail("claims a header of " + std::to_string(bytes) + " bytes; is it a safetensors file?");
    }
    std::string text(bytes, '\0');
    stream_.read(text.data(), static_cast<std::streamsize>(bytes));
    data_ = size_bytes + bytes;
    json header = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!stream_ || !header.is_object()) {
      fail("has a header that is not a JSON object");
    }
    return header;
  }

  Tensor read_tensor(const std::string& name, const json& entry,
                     std::vector<std::pair<std::uint64_t, std::uint64_t>>& places) {
    const std::string tensor = "tensor " + printable(name);
    const auto numbers = [&](const char* key) {
      std::vector<std::uint64_t> all;
      if (entry.is_object() && entry.contains(key) && entry[key].is_array()) {
        for (const json& number : entry[key]) {
          if (!number.is_number_unsigned()) {
            fail(tensor + " has a strange " + key);
          }
          all.push_back(number.get<std::uint64_t>());
        }
        return all;
      }
      fail(tensor + " has no " + key);
    };
    const std::vector<std::uint64_t> shape = numbers("shape");
    const std::vector<std::uint64_t> place = numbers("data_offsets");
    const std::string dtype = entry.value("dtype", json()).is_string() ? entry["dtype"] : "none";
    if (dtype != "F32" && dtype != "F64") {
      fail(tensor + " has dtype " + printable(dtype) + "; F32 and F64 can be read");
    }
    const std::uint64_t data_bytes = file_bytes_ - data_;
    std::uint64_t bytes = dtype == "F32" ? 4 : 8;
    for (const std::uint64_t extent : shape) {
      if (extent != 0 && bytes > data_bytes / extent) {
        fail(tensor + " is larger than the file");
      }
      bytes *= extent;
    }
    if (place.size() != 2 || place[0] > place[1] || place[1] > data_bytes ||
        place[1] - place[0] != bytes) {
      fail(tensor + " has data_offsets that do not fit its shape or the file");
    }
    places.emplace_back(place[0], place[1]);
    Tensor read{.shape = {shape.begin(), shape.end()},
                .values = dtype == "F32" ? values<float>(place[0], bytes)
                                         : values<double>(place[0], bytes)};
    const auto bad =
        std::ranges::count_if(read.values, [](float value) { return !std::isfinite(value); });
    if (bad > 0) {
      fail(tensor + " holds " + std::to_string(bad) +
           " values that are NaN or infinite in float32; save a model whose training has not "
           "diverged");
    }
    return read;
  }

  template <typename T>
  std::vector<float> values(std::uint64_t from, std::uint64_t bytes) {
    std::vector<T> stored(bytes / sizeof(T));
    stream_.seekg(static_cast<std::streamoff>(data_ + from));
    stream_.read(reinterpret_cast<char*>(stored.data()), static_cast<std::streamsize>(bytes));
    if (!stream_) {
      fail("ends early");
    }
    std::vector<float> result;
    std::ranges::transform(stored, std::back_inserter(result),
                           [](T value) { return static_cast<float>(value); });
    return result;
  }

  fs::path path_;
  std::ifstream stream_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t data_ = 0; ///< where it begins
};

/// The last number in a name without its last part: 12 of "net.12.weight".
std::optional<std::int64_t> number_in(const std::string& layer) {
  std::size_t end = layer.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(layer[end - 1])) == 0) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(layer[begin - 1])) != 0) {
    --begin;
  }
  if (begin == end || end - begin > 9) {
    return std::nullopt;
  }
  return parse_number<std::int64_t>(std::string_view(layer).substr(begin, end - begin));
}

} // namespace

Model read_safetensors(const fs::path& file) {
  Reader reader(file);
  const std::map<std::string, Tensor> tensors = reader.read();
  std::map<std::int64_t, std::string> layers; // in order
  for (const auto& [name, values] : tensors) {
    const std::string tensor = "tensor " + printable(name);
    if (values.values.empty()) {
      continue; // has nothing to say of a layer
    }
    if (!name.ends_with(".weight") && !name.ends_with(".bias")) {
      reader.fail(tensor + " is neither weights nor biases of a linear layer");
    }
    const std::string layer = name.substr(0, name.rfind('.'));
    const auto number = number_in(layer);
    if (!number || (layers.contains(*number) && layers[*number] != layer)) {
      reader.fail(tensor + ": its name does not say which layer it belongs to");
    }
    layers[*number] = layer;
  }
  std::vector<std::int64_t> widths;
  std::vector<float> parameters;
  for (const auto& [number, layer] : layers) {
    const std::string shown = "layer " + printable(layer);
    const auto weights = tensors.find(layer + ".weight");
    const auto biases = tensors.find(layer + ".bias");
    if (weights == tensors.end() || biases == tensors.end()) {
      reader.fail(shown + " lacks its weights or its biases");
    }
    const std::vector<std::int64_t>& shape = weights->second.shape;
    if (shape.size() != 2 || biases->second.shape != std::vector<std::int64_t>{shape[0]} ||
        (!widths.empty() && widths.back() != shape[1])) {
      reader.fail(shown + " is not a linear layer that fits the one before");
    }
    if (std::max(shape[0], shape[1]) > max_width) {
      reader.fail(shown + " is wider than " + std::to_string(max_width));
    }
    if (widths.empty()) {
      widths.push_back(shape[1]);
    }
    widths.push_back(shape[0]);
    for (const auto& part : {weights, biases}) {
      parameters.insert(parameters.end(), part->second.values.begin(), part->second.values.end());
    }
  }
  if (layers.empty()) {
    reader.fail("holds no layers");
  }
  return {.network = Network(std::move(widths)), .parameters = std::move(parameters)};
}

void write_safetensors(const fs::path& file, const Network& network,
                       std::span<const float> parameters) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}, {"written_by", "diffbench"}};
  std::int64_t at = 0;
  auto add = [&](const std::string& name, std::vector<std::int64_t> shape, std::int64_t count) {
    header[name] = {{"dtype", "F32"},
                    {"shape", std::move(shape)},
                    {"data_offsets", {4 * at, 4 * (at + count)}}};
    at += count;
  };
  for (std::int64_t l = 0; l < network.layers(); ++l) {
    const std::int64_t inputs = network.inputs(l);
    const std::int64_t outputs = network.outputs(l);
    const std::string name = std::to_string(2 * l); // every other one is a ReLU
    add(name + ".weight", {outputs, inputs}, outputs * inputs);
    add(name + ".bias", {outputs}, outputs);
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // so that the data is aligned
  const std::uint64_t bytes = text.size();
  write_atomically(file, [&](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(&bytes), size_bytes);
    out << text;
    out.write(reinterpret_cast<const char*>(parameters.data()),
              static_cast<std::streamsize>(parameters.size_bytes()));
  });
}

} // namespace diffbench::mlp
