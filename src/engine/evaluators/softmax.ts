/** Turns logits into shares that add up to 1, in place. */
export function softmax(logits: Float32Array): Float32Array {
  let [top, sum] = [-Infinity, 0];
  for (let i = 0; i < logits.length; i++) if (logits[i] > top) top = logits[i];
  for (let i = 0; i < logits.length; i++) sum += logits[i] = Math.exp(logits[i] - top);
  for (let i = 0; i < logits.length; i++) logits[i] /= sum;
  return logits;
}
