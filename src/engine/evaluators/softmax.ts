/** Turns logits into shares that add up to 1, in place. */
export function softmax(logits: Float32Array): Float32Array {
  const top = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += logits[i] = Math.exp(logits[i] - top);
  for (let i = 0; i < logits.length; i++) logits[i] /= sum;
  return logits;
}
