// SPDX-License-Identifier: Apache-2.0
// Our .npy reader and NumPy's own files. numpy_golden.py npy has read the files that write_npy
// wrote (it fails unless every bit arrived) and saved them again in each format version.
#include "hashed_field.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/verify.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace diffbench::golden {
namespace {

const std::filesystem::path directory = DIFFBENCH_GOLDEN_DIRECTORY;

template <typename T>
class NumpyFileTest : public testing::Test {
 protected:
  static Field<T> read(const std::string& kind) {
    return read_npy<T>(directory / (kind + "_" + std::string(to_string(dtype_of<T>)) + ".npy"));
  }
};
using Dtypes = testing::Types<float, double>;
TYPED_TEST_SUITE(NumpyFileTest, Dtypes);

TYPED_TEST(NumpyFileTest, EveryFormatVersionIsRead) {
  const Field<TypeParam> expected = hashed_field<TypeParam>(7, 5);
  for (const std::string version : {"v1", "v2", "v3"}) {
    const Field<TypeParam> field = this->read(version);
    EXPECT_EQ(field.nx(), 7) << version;
    EXPECT_EQ(field.ny(), 5) << version;
    EXPECT_TRUE(compare<TypeParam>(field.cells(), expected.cells()).bitwise) << version;
  }
}

TYPED_TEST(NumpyFileTest, FortranOrderIsTheSameField) {
  const Field<TypeParam> expected = hashed_field<TypeParam>(7, 5);
  const Field<TypeParam> field = this->read("fortran");
  EXPECT_TRUE(compare<TypeParam>(field.cells(), expected.cells()).bitwise);
}

TYPED_TEST(NumpyFileTest, AnotherByteOrderIsRefused) {
  EXPECT_THROW(this->read("bigendian"), InvalidInput);
}

} // namespace
} // namespace diffbench::golden
