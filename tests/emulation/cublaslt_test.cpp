// SPDX-License-Identifier: Apache-2.0
// The emulated cuBLASLt: right products with every epilogue in use; arguments from which the real
// library would compute garbage, or nothing, are refused and reported.
#include "device_vector.hpp"

#include <cublasLt.h>

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace diffbench::emulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// D = A B for column-major 2x2 times 2x3, with an epilogue; a test changes what it wants before
/// run().
struct Case {
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  float alpha = 1;
  float beta = 0;
  bool transposed_a = false;
  std::int64_t a_pitch = 2;
  std::int64_t mask_pitch = 128;
  bool bias = true;
  bool mask = true;
  std::uint64_t most_workspace = 1 << 20;
  std::size_t workspace_bytes = 0;
  std::int64_t depth = 2;
  std::function<void(cublasLtMatmulAlgo_t&)> spoil_algorithm = [](auto&) {};

  std::vector<float> a = {1, 2, 3, 4};        // columns (1, 2) and (3, 4)
  std::vector<float> b = {1, 0, 0, 1, 1, -1}; // so D has columns (1, 2), (3, 4), (-2, -2)
  std::vector<float> d = {9, 9, 9, 9, 9, 9};
  std::vector<float> biases = {-2, 1, 7};

  cublasStatus_t found = CUBLAS_STATUS_SUCCESS; ///< by the heuristic
  cublasStatus_t run();
};

template <typename Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, Value value) {
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value),
            CUBLAS_STATUS_SUCCESS);
}

cublasLtMatrixLayout_t layout(std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
  cublasLtMatrixLayout_t made = nullptr;
  cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                             static_cast<std::uint64_t>(columns), pitch);
  return made;
}

cublasStatus_t Case::run() {
  const DeviceVector<float> on_a(a);
  const DeviceVector<float> on_b(b);
  const DeviceVector<float> on_d(d);
  const DeviceVector<float> on_bias(biases);
  const DeviceVector<std::uint8_t> on_mask(std::vector<std::uint8_t>(48, 1)); // row 0 passes
  const DeviceVector<std::uint8_t> workspace(1 << 10);
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtCreate(&handle);
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &most_workspace, sizeof most_workspace);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias ? on_bias.data() : nullptr);
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask ? on_mask.data() : nullptr);
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, mask_pitch);
  cublasLtMatrixLayout_t layouts[] = {layout(2, depth, a_pitch), layout(depth, 3, depth),
                                      layout(2, 3, 2)};
  cublasLtMatmulHeuristicResult_t choice{};
  int count = 0;
  found = cublasLtMatmulAlgoGetHeuristic(handle, operation, layouts[0], layouts[1], layouts[2],
                                         layouts[2], preference, 1, &choice, &count);
  spoil_algorithm(choice.algo);
  cublasStatus_t status =
      cublasLtMatmul(handle, operation, &alpha, on_a.data(), layouts[0], on_b.data(), layouts[1],
                     &beta, on_d.data(), layouts[2], on_d.data(), layouts[2], &choice.algo,
                     workspace.data(), workspace_bytes, nullptr);
  d = on_d.values();
  biases = on_bias.values();
  for (cublasLtMatrixLayout_t made : layouts) {
    cublasLtMatrixLayoutDestroy(made);
  }
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatmulDescDestroy(operation);
  cublasLtDestroy(handle);
  return status;
}

class CublasLt : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    EXPECT_THAT(live_resources(), IsEmpty());
    EXPECT_THAT(take_reports(), IsEmpty());
    reset();
  }

  /// The product is refused, and the report says why.
  static void expect_refused(Case product, const std::string& why) {
    EXPECT_EQ(product.run(), CUBLAS_STATUS_INVALID_VALUE) << why;
    const std::vector<std::string> reports = take_reports();
    ASSERT_FALSE(reports.empty()) << why;
    EXPECT_THAT(reports.back(), HasSubstr(why));
  }
};

TEST_F(CublasLt, PlainProducts) {
  Case product;
  EXPECT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(product.d, ElementsAre(1, 2, 3, 4, -2, -2));
  product = {.alpha = 2, .beta = -1};
  EXPECT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(product.d, ElementsAre(-7, -5, -3, -1, -13, -13));
  product = {.transposed_a = true};
  EXPECT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(product.d, ElementsAre(1, 3, 2, 4, -1, -1));
}

TEST_F(CublasLt, Epilogues) {
  Case product{.epilogue = CUBLASLT_EPILOGUE_BIAS};
  EXPECT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(product.d, ElementsAre(-1, 3, 1, 5, -4, -1));
  product = {.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS};
  EXPECT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(product.d, ElementsAre(0, 3, 1, 5, 0, 0));
  product = {.epilogue = CUBLASLT_EPILOGUE_DRELU_BGRAD};
  EXPECT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(product.d, ElementsAre(1, 0, 3, 0, -2, 0));
  EXPECT_THAT(product.biases, ElementsAre(2, 0, 7));
  product = {.epilogue = CUBLASLT_EPILOGUE_BGRADB};
  EXPECT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(product.d, ElementsAre(1, 2, 3, 4, -2, -2));
  EXPECT_THAT(product.biases, ElementsAre(1, 1, 0));
}

TEST_F(CublasLt, WrongArgumentsAreRefused) {
  expect_refused({.a_pitch = 1}, "a leading dimension of 1 for columns of 2");
  expect_refused({.a_pitch = 3}, "A of 20 bytes does not lie in device memory");
  expect_refused({.epilogue = CUBLASLT_EPILOGUE_BIAS, .bias = false}, "no pointer to it");
  expect_refused({.epilogue = CUBLASLT_EPILOGUE_BIAS, .biases = {1}},
                 "the bias of 8 bytes does not lie in device memory");
  expect_refused({.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS, .mask = false}, "no pointer to it");
  expect_refused({.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS, .mask_pitch = 64},
                 "a multiple of 128");
  expect_refused({.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS, .mask_pitch = 256},
                 "the mask of 96 bytes does not lie in device memory");
  expect_refused({.spoil_algorithm = [](cublasLtMatmulAlgo_t& algorithm) { ++algorithm.data[0]; }},
                 "the algorithm was chosen for another product");
}

TEST_F(CublasLt, AMissingWorkspaceIsRefused) {
  Case deep{.depth = 8, .a = std::vector<float>(16, 1), .b = std::vector<float>(24, 1)};
  Case with = deep;
  with.workspace_bytes = 1 << 10;
  EXPECT_EQ(with.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(with.d, ElementsAre(8, 8, 8, 8, 8, 8));
  expect_refused(deep, "the workspace is smaller");
}

TEST_F(CublasLt, ProductsMayHaveNoAlgorithm) {
  reset({.shortest_matmul_side = 3});
  Case product;
  (void)product.run();
  EXPECT_EQ(product.found, CUBLAS_STATUS_NOT_SUPPORTED);
  (void)take_reports(); // of the product without an algorithm
  reset();
  Case deep{.most_workspace = 4,
            .depth = 8,
            .a = std::vector<float>(16, 1),
            .b = std::vector<float>(24, 1)};
  (void)deep.run();
  EXPECT_EQ(deep.found, CUBLAS_STATUS_NOT_SUPPORTED);
  (void)take_reports();
}

TEST_F(CublasLt, DestroyedDescriptorsAreReported) {
  cublasLtHandle_t handle = nullptr;
  cublasLtCreate(&handle);
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_THAT(take_reports().back(), HasSubstr("destroyed, or never made"));
}

} // namespace
} // namespace diffbench::emulation
