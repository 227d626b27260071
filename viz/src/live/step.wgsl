// One time step, a cell an invocation. The order of operations is the program's, but WGSL lets a
// GPU contract a product and a sum and flush denormals, so its bits may differ (proof.ts).
struct Grid {
  nx: i32,
  ny: i32,
  factor: f32,
  outside: f32,
}

override boundary: u32; // the place in `boundaries` of setting.ts

@group(0) @binding(0) var<uniform> grid: Grid;
@group(0) @binding(1) var<storage, read> before: array<f32>;
@group(0) @binding(2) var<storage, read_write> after: array<f32>;

// The nearest place inside, or on the other side.
fn inside(place: i32, extent: i32) -> i32 {
  if (boundary == 0u) {
    return select(select(place, 0, place >= extent), extent - 1, place < 0);
  }
  return clamp(place, 0, extent - 1);
}

fn cell(x: i32, y: i32) -> f32 {
  let is_outside = x < 0 || y < 0 || x >= grid.nx || y >= grid.ny;
  if (boundary == 1u && is_outside) {
    return grid.outside;
  }
  return before[inside(y, grid.ny) * grid.nx + inside(x, grid.nx)];
}

@compute @workgroup_size(32, 4)
fn step_cell(@builtin(global_invocation_id) id: vec3u) {
  let x = i32(id.x);
  let y = i32(id.y);
  if (x >= grid.nx || y >= grid.ny) {
    return;
  }
  let u = before[y * grid.nx + x];
  let sum = ((cell(x, y - 1) + cell(x, y + 1)) + cell(x - 1, y)) + cell(x + 1, y);
  after[y * grid.nx + x] = u + grid.factor * (sum - 4.0 * u);
}
