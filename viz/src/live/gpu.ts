// SPDX-License-Identifier: Apache-2.0
// The problem on a GPU by WebGPU: the device, and the solver. Commands go through the browser to the
// GPU in the order of the calls; only what says so waits.
import { readable } from "../data/json";
import { bytes, shortened } from "../data/units";
import { boundaries, factor, outside, type Setting } from "./setting";
import type { Solver } from "./solver";
import kernel from "./step.wgsl?raw";

export interface Gpu {
  device: GPUDevice;
  /** What the browser tells of it, which may be nothing. */
  vendor: string;
  name: string;
  /** Computes on the CPU. */
  software: boolean;
  /** `promise`, or an Error (one line) when the device is lost before it is done. */
  unlessLost<T>(promise: Promise<T>): Promise<T>;
}

const software = /swiftshader|llvmpipe|lavapipe|softpipe|basic render|\bwarp\b/i;

async function adapterFor(fieldBytes: number): Promise<GPUAdapter> {
  if (navigator.gpu === undefined)
    throw new Error("this browser has no WebGPU, or not for pages opened like this one");
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) throw new Error("this browser has WebGPU, but found no adapter for it");
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
  if (fieldBytes > most)
    throw new Error(
      `a field of this grid has ${bytes(fieldBytes)} and the adapter takes ${bytes(most)} at most; choose a smaller grid`,
    );
  return adapter;
}

/** Throws an Error (one line) that says why there is none for this grid. */
export async function openGpu({ nx, ny }: Setting): Promise<Gpu> {
  const fieldBytes = 4 * nx * ny;
  const adapter = await adapterFor(fieldBytes);
  const info = adapter.info as GPUAdapterInfo | undefined; // older browsers have none
  const told = [info?.vendor, info?.architecture, info?.device, info?.description].map((part) =>
    shortened(readable(part ?? "")),
  );
  const usual = 128 * 2 ** 20; // what every device has without asking
  const device = await adapter
    .requestDevice({
      requiredFeatures: adapter.features.has("timestamp-query") ? ["timestamp-query"] : [],
      requiredLimits:
        fieldBytes > usual
          ? { maxBufferSize: fieldBytes, maxStorageBufferBindingSize: fieldBytes }
          : {},
    })
    .catch((error: Error) => {
      throw new Error(`the adapter gave no device: ${error.message}`);
    });
  const lost = device.lost.then(({ message }): never => {
    throw new Error(
      `the device was lost${message ? ` (${readable(message)})` : ""}; press Measure to try again`,
    );
  });
  lost.catch(() => {}); // nobody may be waiting for it
  // What a device that goes away leaves undone may be told before that it went.
  const afterLoss = async (error: unknown): Promise<never> => {
    await Promise.race([lost, new Promise((resolve) => setTimeout(resolve, 100))]);
    throw error;
  };
  return {
    device,
    vendor: told[0]!,
    name: [...new Set(told)].filter((part) => part !== "").join(" ") || "not told by the browser",
    software: info?.isFallbackAdapter === true || told.some((part) => software.test(part)),
    unlessLost: (promise) => Promise.race([promise.catch(afterLoss), lost]),
  };
}

export interface GpuSolver extends Solver {
  /** Hands the copy over; does not wait. */
  upload(cells: Float32Array<ArrayBuffer>): void;
  /** Encodes and submits steps; does not wait. `times` gets the GPU's clock at begin and end. */
  launch(steps: number, times?: GPUQuerySet): void;
  /** Until all that was submitted is done. */
  sync(): Promise<void>;
  advance(steps: number): Promise<void>;
  download(): Promise<Float32Array<ArrayBuffer>>;
}

/** Throws an Error (one line) when there is no memory, or the kernel is refused. */
async function checked<T>({ device, unlessLost }: Gpu, make: () => T): Promise<T> {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  const made = make();
  const refused = await unlessLost(device.popErrorScope());
  const noMemory = await unlessLost(device.popErrorScope());
  if (noMemory !== null) throw new Error("the GPU has no memory for it; choose a smaller grid");
  if (refused !== null) throw new Error(`the GPU refused the kernel: ${readable(refused.message)}`);
  return made;
}

/** Uniform values, as `Grid` in step.wgsl. */
function gridValues({ nx, ny }: Setting): ArrayBuffer {
  const values = new ArrayBuffer(16);
  new Int32Array(values).set([nx, ny]);
  new Float32Array(values).set([factor, outside], 2);
  return values;
}

function prepare(device: GPUDevice, setting: Setting) {
  const size = 4 * setting.nx * setting.ny;
  const storage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const fields = [0, 1].map(() => device.createBuffer({ size, usage: storage }));
  const staging = device.createBuffer({
    size,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  const grid = device.createBuffer({
    size: 16,
    usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
  });
  device.queue.writeBuffer(grid, 0, gridValues(setting));
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: {
      module: device.createShaderModule({ code: kernel }),
      entryPoint: "step_cell",
      constants: { boundary: boundaries.indexOf(setting.boundary) },
    },
  });
  const bindings = [0, 1].map((from) =>
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [grid, fields[from]!, fields[1 - from]!].map((buffer, binding) => ({
        binding,
        resource: { buffer },
      })),
    }),
  );
  return { size, fields, staging, pipeline, bindings };
}

/** Its buffers go with the device. */
export async function gpuSolver(gpu: Gpu, setting: Setting): Promise<GpuSolver> {
  const { device, unlessLost } = gpu;
  const { size, fields, staging, pipeline, bindings } = await checked(gpu, () =>
    prepare(device, setting),
  );
  const [groupsX, groupsY] = [Math.ceil(setting.nx / 32), Math.ceil(setting.ny / 4)]; // step.wgsl
  let current = 0;

  const sync = () => unlessLost(device.queue.onSubmittedWorkDone());
  function launch(steps: number, times?: GPUQuerySet): void {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass(
      times && {
        timestampWrites: {
          querySet: times,
          beginningOfPassWriteIndex: 0,
          endOfPassWriteIndex: 1,
        },
      },
    );
    pass.setPipeline(pipeline);
    for (let i = 0; i < steps; ++i) {
      pass.setBindGroup(0, bindings[current]!);
      pass.dispatchWorkgroups(groupsX, groupsY);
      current = 1 - current;
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
  }
  return {
    upload: (cells) => device.queue.writeBuffer(fields[current]!, 0, cells),
    launch,
    sync,
    async advance(steps) {
      launch(steps);
      await sync();
    },
    async download() {
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(fields[current]!, 0, staging, 0, size);
      device.queue.submit([encoder.finish()]);
      await unlessLost(staging.mapAsync(GPUMapMode.READ));
      const field = new Float32Array(staging.getMappedRange().slice(0));
      staging.unmap();
      return field;
    },
  };
}
