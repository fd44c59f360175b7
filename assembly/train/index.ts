/** Where the memory beyond the module's own tables begins. */
export function heapBase(): usize {
  return __heap_base;
}
