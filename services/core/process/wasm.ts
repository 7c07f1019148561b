// Loads the WebAssembly modules that are checked in (`npm run wasm` builds them).

/** The part of Node's WebAssembly interface that is used here; its types come only with those of browsers. */
type Wasm = {
  validate(code: Uint8Array): boolean
  Module: new (code: Uint8Array) => object
  Memory: new (pages: { initial: number; maximum: number }) => WasmMemory
  Instance: new (module: object, imports: Record<string, object>) => { exports: object }
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: Wasm }

export type WasmMemory = { buffer: ArrayBuffer; grow(pages: number): number }

/**
 * Instantiates a module with a memory of its own; null on a machine that cannot run it (without SIMD).
 * @param pages bounds of the memory, each page has 64 KiB; as the module was built
 */
export function loadModule<Exports>(
  code: Uint8Array,
  pages: { initial: number; maximum: number },
): { exports: Exports; memory: WasmMemory } | null {
  if (!WebAssembly.validate(code)) return null
  const memory = new WebAssembly.Memory(pages)
  const abort = () => {
    throw new Error('a WebAssembly module has ended')
  }
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory, abort } })
  return { exports: exports as Exports, memory }
}
