// Watches what typed arrays are made: a length found in a file must not be believed before it is held against the file.
// Imported before any reader, since some keep the constructors under names of their own.

const NAMES = ["ArrayBuffer", "Uint8Array", "Int8Array", "Uint16Array", "Int16Array", "Uint32Array", "Int32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"]; // biome-ignore format: a list

let failure;
let limit = Number.POSITIVE_INFINITY;

for (const name of NAMES) {
  const Original = globalThis[name];
  const size = Original.BYTES_PER_ELEMENT ?? 1;
  globalThis[name] = new Proxy(Original, {
    construct(target, args, newTarget) {
      const bytes = typeof args[0] === "number" ? args[0] * size : 0;
      if (bytes > limit) {
        failure = new Error(`takes ${bytes} bytes of memory at once, where ${limit} are allowed`);
        throw failure;
      }
      return Reflect.construct(target, args, newTarget === globalThis[name] ? target : newTarget);
    },
  });
}

/** From here on no more than so many bytes at once. */
export function allow(bytes) {
  limit = bytes;
}

/** Throws if more were taken since it was last called, also if the reader made a message of its own of that. */
export function settle() {
  const found = failure;
  failure = undefined;
  if (found) throw found;
}
