// SPDX-License-Identifier: Apache-2.0
// Thrust as first ports use it: vectors of the device, copies, and algorithms over them, each of
// which is a kernel and waits for it, as CUDA's Thrust does by default. Everything else of Thrust
// is refused by the header's name.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <numeric>
#include <tuple>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace thrust {

struct host_policy {};
inline constexpr host_policy host{};
struct device_policy {};
struct nosync_policy {};
inline constexpr device_policy device{};
namespace cuda {
inline constexpr device_policy par{};
inline constexpr nosync_policy par_nosync{};
} // namespace cuda

namespace emulated {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) {
    throw std::bad_alloc();
  }
}

/// Whether algorithms wait for their kernels: not where the policy is cuda::par_nosync.
inline bool waits = true;
class NoSync {
 public:
  NoSync() { waits = false; }
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;
  ~NoSync() { waits = true; }
};

/// Of a vector or an array of the host, where algorithms run on the host.
template <typename Iterator>
constexpr bool of_host = std::contiguous_iterator<Iterator>;

/// One thread for each i below n, where `Iterator` is not the host's.
template <typename Iterator, typename Body>
void for_each_index(const char* name, std::size_t n, Body body) {
  for (std::size_t i = 0; of_host<Iterator> && i < n; ++i) {
    body(i);
  }
  if (n == 0 || of_host<Iterator>) {
    return;
  }
  constexpr unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
  // Without a line: it is that of the call in the user's code.
  diffbench::emulation::detail::configure_launch(blocks, threads, 0, nullptr);
  emulated_kernel(name, [=]() mutable {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
      body(i);
    }
  });
  if (waits) {
    cudaStreamSynchronize(nullptr);
  }
}

} // namespace emulated

template <typename T>
class device_ptr;

/// An element on the device, which the host reads and writes by copies.
template <typename T>
class device_reference {
 public:
  explicit device_reference(T* element) : element_(element) {}
  operator std::remove_const_t<T>() const {
    std::remove_const_t<T> value;
    emulated::check(cudaMemcpy(&value, element_, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
  const device_reference& operator=(const std::remove_const_t<T>& value) const {
    emulated::check(cudaMemcpy(element_, &value, sizeof value, cudaMemcpyHostToDevice));
    return *this;
  }
  const device_reference& operator=(const device_reference& other) const {
    return *this = static_cast<std::remove_const_t<T>>(other);
  }
  device_ptr<T> operator&() const { return device_ptr<T>(element_); }

 private:
  T* element_;
};

template <typename T>
class device_ptr {
 public:
  using value_type = std::remove_const_t<T>;
  using difference_type = std::ptrdiff_t;
  using reference = device_reference<T>;
  using pointer = device_ptr;
  using iterator_category = std::random_access_iterator_tag;

  device_ptr() = default;
  explicit device_ptr(T* memory) : memory_(memory) {}
  operator device_ptr<const T>() const { return device_ptr<const T>(memory_); }
  [[nodiscard]] T* get() const { return memory_; }
  reference operator*() const { return reference(memory_); }
  reference operator[](difference_type i) const { return reference(memory_ + i); }
  device_ptr& operator+=(difference_type n) {
    memory_ += n;
    return *this;
  }
  device_ptr& operator-=(difference_type n) { return *this += -n; }
  device_ptr& operator++() { return *this += 1; }
  device_ptr& operator--() { return *this += -1; }
  friend device_ptr operator+(device_ptr p, difference_type n) { return p += n; }
  friend device_ptr operator-(device_ptr p, difference_type n) { return p -= n; }
  friend difference_type operator-(device_ptr a, device_ptr b) { return a.memory_ - b.memory_; }
  friend auto operator<=>(device_ptr a, device_ptr b) = default;

 private:
  T* memory_ = nullptr;
};

template <typename T>
device_ptr<T> device_pointer_cast(T* memory) {
  return device_ptr<T>(memory);
}
template <typename T> // what is no pointer
T device_pointer_cast(const T& other) {
  return other;
}
template <typename T>
T* raw_pointer_cast(const device_ptr<T>& pointer) {
  return pointer.get();
}
template <typename T>
T* raw_pointer_cast(T* pointer) {
  return pointer;
}

template <typename Integer>
using counting_iterator = std::ranges::iterator_t<std::ranges::iota_view<Integer>>;
template <typename Integer>
counting_iterator<Integer> make_counting_iterator(Integer first) {
  return counting_iterator<Integer>(first);
}

/// `at(i)` in the place of an element, `at - at` elements apart.
template <typename At>
struct indexed_iterator {
  using reference = decltype(std::declval<const At&>()(std::ptrdiff_t{}));
  using value_type = std::remove_cvref_t<reference>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;
  reference operator[](std::ptrdiff_t i) const { return at(place + i); }
  reference operator*() const { return at(place); }
  indexed_iterator operator+(std::ptrdiff_t n) const { return {at, place + n}; }
  std::ptrdiff_t operator-(const indexed_iterator& o) const { return place - o.place + (at - o.at); }
  bool operator==(const indexed_iterator& other) const { return *this - other == 0; }
  indexed_iterator& operator++() { return ++place, *this; }

  At at;
  std::ptrdiff_t place = 0;
};

using std::get;
using std::make_tuple;
using std::tuple;

namespace emulated {

template <typename Iterator>
struct IsDevice : std::false_type {};
template <typename T>
struct IsDevice<device_ptr<T>> : std::true_type {};

/// What a kernel works on in an iterator's place.
template <typename T>
T* in_kernel(device_ptr<T> pointer) {
  return pointer.get();
}
template <typename Iterator> // that counts, or of thrust::device a plain pointer
Iterator in_kernel(Iterator iterator) {
  return iterator;
}

template <typename Iterator>
auto address(Iterator iterator) {
  if constexpr (IsDevice<Iterator>::value) {
    return iterator.get();
  } else {
    return std::to_address(iterator);
  }
}

} // namespace emulated

namespace emulated {

template <typename T>
struct Constant {
  T value;
  T operator()(std::ptrdiff_t) const { return value; }
  std::ptrdiff_t operator-(const Constant&) const { return 0; }
};
template <typename Operation, typename From>
struct Transformed {
  Operation operation;
  From from;
  decltype(auto) operator()(std::ptrdiff_t i) const { return operation(from[i]); }
  std::ptrdiff_t operator-(const Transformed& other) const { return from - other.from; }
};
template <typename... From>
struct Zipped {
  std::tuple<From...> from;
  auto operator()(std::ptrdiff_t i) const {
    return std::apply(
        [i](auto... each) { return std::tuple<decltype(each[i])...>(each[i]...); }, from);
  }
  std::ptrdiff_t operator-(const Zipped& o) const { return get<0>(from) - get<0>(o.from); }
};

} // namespace emulated

template <typename T>
indexed_iterator<emulated::Constant<T>> make_constant_iterator(T value) {
  return {{value}};
}
template <typename Iterator, typename Operation>
auto make_transform_iterator(Iterator from, Operation operation) {
  const auto inside = emulated::in_kernel(from);
  using At = emulated::Transformed<Operation, std::remove_const_t<decltype(inside)>>;
  return indexed_iterator<At>{{operation, inside}};
}
template <typename... From>
auto make_zip_iterator(From... from) {
  return indexed_iterator<emulated::Zipped<decltype(emulated::in_kernel(from))...>>{
      {{emulated::in_kernel(from)...}}};
}
template <typename... From>
auto make_zip_iterator(const tuple<From...>& from) {
  return std::apply([](auto... each) { return make_zip_iterator(each...); }, from);
}

// Copies

template <typename From, typename To>
To copy(From first, From last, To to) {
  using emulated::IsDevice;
  const auto count = last - first;
  if (count <= 0) {
    return to;
  }
  constexpr bool from_device = IsDevice<From>::value;
  constexpr bool to_device = IsDevice<To>::value;
  if constexpr (!from_device && !to_device) {
    return std::copy(first, last, to);
  } else {
    using Value = typename std::iterator_traits<From>::value_type;
    if constexpr (std::is_void_v<typename std::iterator_traits<To>::value_type>) { // it prints
      std::vector<Value> values(static_cast<std::size_t>(count));
      thrust::copy(first, last, values.begin());
      return std::copy(values.begin(), values.end(), to);
    } else {
    static_assert(std::is_same_v<Value, typename std::iterator_traits<To>::value_type>,
                  "thrust::copy between elements of two types is not emulated");
    emulated::check(cudaMemcpy(emulated::address(to), emulated::address(first),
                               static_cast<std::size_t>(count) * sizeof(Value),
                               from_device
                                   ? (to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost)
                                   : cudaMemcpyHostToDevice));
    return to + count;
    }
  }
}
template <typename From, typename Size, typename To>
To copy_n(From first, Size count, To to) {
  return copy(first, first + static_cast<std::ptrdiff_t>(count), to);
}

// Algorithms on the device

template <typename Iterator, typename T>
void fill(Iterator first, Iterator last, const T& value) {
  const auto to = emulated::in_kernel(first);
  emulated::for_each_index<Iterator>("thrust::fill", static_cast<std::size_t>(last - first),
                           [=](std::size_t i) { to[i] = value; });
}
template <typename Iterator, typename T = typename std::iterator_traits<Iterator>::value_type>
void sequence(Iterator first, Iterator last, T begin = T{0}, T step = T{1}) {
  const auto to = emulated::in_kernel(first);
  emulated::for_each_index<Iterator>("thrust::sequence", static_cast<std::size_t>(last - first),
                           [=](std::size_t i) { to[i] = begin + step * static_cast<T>(i); });
}
template <typename Iterator, typename Operation>
Iterator for_each(Iterator first, Iterator last, Operation operation) {
  const auto from = emulated::in_kernel(first);
  emulated::for_each_index<Iterator>(
      "thrust::for_each", static_cast<std::size_t>(last - first),
      [=](std::size_t i) mutable { operation(from[static_cast<std::ptrdiff_t>(i)]); });
  return last;
}
template <typename Iterator, typename Size, typename Operation>
Iterator for_each_n(Iterator first, Size count, Operation operation) {
  return for_each(first, first + static_cast<std::ptrdiff_t>(count), operation);
}
template <typename To, typename Operation, typename... From>
To transform_into(std::ptrdiff_t count, To result, Operation operation, From... from) {
  const auto to = emulated::in_kernel(result);
  emulated::for_each_index<To>(
      "thrust::transform", static_cast<std::size_t>(count),
      [=](std::size_t i) mutable { to[i] = operation(from[static_cast<std::ptrdiff_t>(i)]...); });
  return result + count;
}
template <typename From, typename To, typename Operation>
To transform(From first, From last, To result, Operation operation) {
  return transform_into(last - first, result, operation, emulated::in_kernel(first));
}
template <typename From, typename Second, typename To, typename Operation>
To transform(From first, From last, Second second, To result, Operation operation) {
  return transform_into(last - first, result, operation, emulated::in_kernel(first),
                        emulated::in_kernel(second));
}

// These by one thread, in order.

namespace emulated {

/// What `body(first, last, with...)` returns, on the host where the elements are there.
template <typename Iterator, typename Body, typename... With>
auto in_order(const char* name, Iterator first, Iterator last, Body body, With... with) {
  if constexpr (of_host<Iterator>) {
    return body(first, last, with...);
  } else {
    const auto from = in_kernel(first);
    const auto to = from + (last - first);
    using Result = decltype(body(from, to, with...));
    Result* result = nullptr;
    check(cudaMalloc(reinterpret_cast<void**>(&result), sizeof(Result)));
    for_each_index<Iterator>(name, 1, [=](std::size_t) mutable { *result = body(from, to, with...); });
    Result value = device_reference<Result>(result);
    cudaFree(result);
    return value;
  }
}

} // namespace emulated

template <typename Iterator, typename Unary, typename T, typename Binary>
T transform_reduce(Iterator first, Iterator last, Unary unary, T init, Binary binary) {
  return emulated::in_order("thrust::reduce", first, last, [=](auto from, auto to) mutable {
    for (; from != to; ++from) {
      init = binary(init, unary(*from));
    }
    return init;
  });
}
/// What the C++ function of that name returns; where that is an iterator, it is one of these, or
/// one behind `result`.
#define DIFFBENCH_IN_ORDER(NAME)                                                         \
  template <typename Iterator, typename... With>                                         \
  auto NAME(Iterator first, Iterator last, With... with) {                               \
    return emulated::in_order("thrust::" #NAME, first, last,                             \
                              [](auto from, auto to, auto... more) {                     \
                                if constexpr (std::is_void_v<decltype(std::NAME(from, to, more...))>) { \
                                  return std::NAME(from, to, more...), 0;                \
                                } else { \
                                  return std::NAME(from, to, more...);                   \
                                } \
                              },                                                         \
                              with...);                                                  \
  }
#define DIFFBENCH_PLACE(NAME)                                                                \
  template <typename Iterator, typename... With>                                             \
  Iterator NAME(Iterator first, Iterator last, With... with) {                               \
    const auto place = [](auto from, auto to, auto... more) {                                \
      return std::NAME(from, to, more...) - from;                                            \
    };                                                                                       \
    return first + emulated::in_order("thrust::" #NAME, first, last, place, with...);        \
  }
#define DIFFBENCH_INTO(NAME)                                                                 \
  template <typename Iterator, typename To, typename... With>                                \
  To NAME(Iterator first, Iterator last, To result, With... with) {                          \
    const auto count = [](auto from, auto to, auto into, auto... more) {                     \
      return std::NAME(from, to, into, more...) - into;                                      \
    };                                                                                       \
    return result + emulated::in_order("thrust::" #NAME, first, last, count,                 \
                                       emulated::in_kernel(result), with...);                \
  }
DIFFBENCH_IN_ORDER(count)
DIFFBENCH_IN_ORDER(count_if)
DIFFBENCH_IN_ORDER(replace)
DIFFBENCH_IN_ORDER(sort)
DIFFBENCH_PLACE(unique)
DIFFBENCH_PLACE(min_element)
DIFFBENCH_PLACE(max_element)
DIFFBENCH_INTO(copy_if)
DIFFBENCH_INTO(inclusive_scan)
DIFFBENCH_INTO(exclusive_scan)
#undef DIFFBENCH_IN_ORDER
#undef DIFFBENCH_PLACE
#undef DIFFBENCH_INTO
template <typename Iterator, typename To>
To exclusive_scan(Iterator first, Iterator last, To result) {
  return thrust::exclusive_scan(first, last, result,
                                typename std::iterator_traits<Iterator>::value_type{});
}
template <typename Iterator, typename Second, typename... With>
auto inner_product(Iterator first, Iterator last, Second second, With... with) {
  const auto sum = [](auto... all) { return std::inner_product(all...); };
  return emulated::in_order("thrust::inner_product", first, last, sum, emulated::in_kernel(second),
                            with...);
}
template <typename Iterator, typename Generator> // by the host's vectors
void generate(Iterator first, Iterator last, Generator generator) {
  static_assert(emulated::of_host<Iterator>, "thrust::generate on the device is not emulated");
  std::generate(first, last, generator);
}
template <typename Iterator, typename T, typename Binary = std::plus<T>>
T reduce(Iterator first, Iterator last, T init, Binary binary = {}) {
  return thrust::transform_reduce(
      first, last, [](const T& value) { return value; }, init, binary);
}
template <typename Iterator>
auto reduce(Iterator first, Iterator last) {
  return thrust::reduce(first, last, typename std::iterator_traits<Iterator>::value_type{});
}

// The same where the policy is named: pointers are the device's where that is.
#define DIFFBENCH_WITH_POLICY(NAME)                             \
  template <typename... Arguments>                              \
  auto NAME(const host_policy&, Arguments... arguments) {       \
    return thrust::NAME(arguments...);                          \
  }                                                             \
  template <typename... Arguments>                              \
  auto NAME(const device_policy&, Arguments... arguments) {     \
    return thrust::NAME(device_pointer_cast(arguments)...);     \
  }                                                             \
  template <typename... Arguments>                              \
  auto NAME(const nosync_policy&, Arguments... arguments) {     \
    const emulated::NoSync no_sync;                             \
    return thrust::NAME(device_pointer_cast(arguments)...);     \
  }
DIFFBENCH_WITH_POLICY(transform)
DIFFBENCH_WITH_POLICY(for_each)
DIFFBENCH_WITH_POLICY(for_each_n)
DIFFBENCH_WITH_POLICY(fill)
DIFFBENCH_WITH_POLICY(reduce)
DIFFBENCH_WITH_POLICY(transform_reduce)
DIFFBENCH_WITH_POLICY(copy)
DIFFBENCH_WITH_POLICY(sort)
DIFFBENCH_WITH_POLICY(inclusive_scan)
DIFFBENCH_WITH_POLICY(exclusive_scan)
DIFFBENCH_WITH_POLICY(count)
DIFFBENCH_WITH_POLICY(count_if)
DIFFBENCH_WITH_POLICY(max_element)
DIFFBENCH_WITH_POLICY(min_element)
DIFFBENCH_WITH_POLICY(inner_product)
#undef DIFFBENCH_WITH_POLICY

// Vectors

template <typename T>
class host_vector;

template <typename T>
class device_vector {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;
  using reference = device_reference<T>;

  device_vector() = default;
  explicit device_vector(std::size_t count, const T& value = T()) {
    allocate(count);
    thrust::fill(begin(), end(), value);
  }
  template <typename Iterator, typename = typename std::iterator_traits<Iterator>::value_type>
  device_vector(Iterator first, Iterator last) {
    allocate(static_cast<std::size_t>(last - first));
    thrust::copy(first, last, begin());
  }
  device_vector(const device_vector& other) : device_vector(other.begin(), other.end()) {}
  device_vector(device_vector&& other) noexcept { swap(other); }
  device_vector(const std::vector<T>& other) : device_vector(other.begin(), other.end()) {}
  ~device_vector() {
    if (memory_ != nullptr) {
      cudaFree(memory_);
    }
  }
  device_vector& operator=(const device_vector& other) {
    if (this != &other) {
      assign(other.begin(), other.end());
    }
    return *this;
  }
  device_vector& operator=(device_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  device_vector& operator=(const std::vector<T>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  template <typename Iterator>
  void assign(Iterator first, Iterator last) {
    if (static_cast<std::size_t>(last - first) != size_) {
      device_vector(first, last).swap(*this);
    } else {
      thrust::copy(first, last, begin());
    }
  }
  void resize(std::size_t count, const T& value = T()) {
    if (count != size_) {
      device_vector grown(count, value);
      thrust::copy(begin(), begin() + static_cast<std::ptrdiff_t>(count < size_ ? count : size_),
                   grown.begin());
      swap(grown);
    }
  }
  void clear() { device_vector().swap(*this); }
  void swap(device_vector& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  device_ptr<T> data() { return device_ptr<T>(memory_); }
  device_ptr<const T> data() const { return device_ptr<const T>(memory_); }
  iterator begin() { return data(); }
  iterator end() { return begin() + static_cast<std::ptrdiff_t>(size_); }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return begin() + static_cast<std::ptrdiff_t>(size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reference operator[](std::size_t i) { return begin()[static_cast<std::ptrdiff_t>(i)]; }
  T operator[](std::size_t i) const { return begin()[static_cast<std::ptrdiff_t>(i)]; }

 private:
  void allocate(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    size_ = count;
    if (count > 0) {
      emulated::check(cudaMalloc(reinterpret_cast<void**>(&memory_), count * sizeof(T)));
    }
  }
  T* memory_ = nullptr;
  std::size_t size_ = 0;
};

template <typename T>
class host_vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  host_vector() = default;
  host_vector(const device_vector<T>& other) : std::vector<T>(other.size()) {
    thrust::copy(other.begin(), other.end(), this->begin());
  }
  host_vector& operator=(const device_vector<T>& other) {
    this->resize(other.size());
    thrust::copy(other.begin(), other.end(), this->begin());
    return *this;
  }
};

template <typename T>
void swap(device_vector<T>& a, device_vector<T>& b) {
  a.swap(b);
}

using std::divides;
using std::greater;
using std::less;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::plus;
template <typename T = void>
struct maximum {
  T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <typename T = void>
struct minimum {
  T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};

} // namespace thrust
