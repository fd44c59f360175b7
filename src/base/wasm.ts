import { platform } from "#platform";

const PAGE = 65536;

const compiled = new Map<string, Promise<WebAssembly.Module>>();

/** Compiles one of our modules, once; `name` as in dist/wasm, e.g. "chess" or "chess-shared". */
export function compileWasm(name: string): Promise<WebAssembly.Module> {
  let module = compiled.get(name);
  if (!module) {
    module = platform.readWasm(name).then((bytes) => WebAssembly.compile(bytes));
    compiled.set(name, module);
  }
  return module;
}

/** Memory for a module; shared memory can be used by several threads at once and needs its full size reserved. */
export function createMemory(options: { shared?: boolean; maximumPages?: number } = {}): WebAssembly.Memory {
  const { shared = false, maximumPages = 65536 } = options;
  return new WebAssembly.Memory({ initial: 32, maximum: maximumPages, shared });
}

/**
 * A running instance of one of our modules together with its memory. The modules hold no allocator: whoever needs
 * room takes it here, once, and passes addresses in. What is taken is never given back.
 */
export class WasmInstance<Exports> {
  readonly exports: Exports;
  private top: number;

  constructor(
    module: WebAssembly.Module,
    readonly memory: WebAssembly.Memory,
  ) {
    const abort = () => {
      throw new Error("internal: the wasm module aborted");
    };
    // Milliseconds since 1970, the same for all threads: a search keeps its time by it.
    const now = () => performance.timeOrigin + performance.now();
    const instance = new WebAssembly.Instance(module, { env: { memory, abort, now } });
    this.exports = instance.exports as Exports;
    this.top = (instance.exports.heapBase as () => number)();
  }

  /** The address of `bytes` zeroed bytes, aligned to 64. Views on the memory made before may be detached by it. */
  allocate(bytes: number): number {
    const address = Math.ceil(this.top / 64) * 64; // beyond 2 GiB, where bits would make it negative
    this.top = address + bytes;
    const missing = this.top - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    return address;
  }
}

/** Compiles and instantiates a module with memory of its own. */
export async function loadWasm<Exports>(name: string): Promise<WasmInstance<Exports>> {
  return new WasmInstance<Exports>(await compileWasm(name), createMemory());
}
