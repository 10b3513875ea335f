/**
 * For Node: runs WebAssembly, which is the embedded database, without optimizing its code first. That takes
 * half of the CPU of a start, and a test's processes end before they get it back.
 */
export const UNOPTIMIZED_WASM = '--liftoff-only';
