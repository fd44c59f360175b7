import { messageOf } from "#base";

const FULL = /^-?(MISCONF|OOM|READONLY|LOADING|NOREPLICAS|BUSY)\b/; // Redis lives, and cannot write at the moment

/** Does something again and again while Redis cannot write (its disk or its memory is full); `onTrouble` is told why, once. */
export async function patiently<T>(
  work: () => Promise<T>,
  onTrouble: (message: string) => void = () => {},
): Promise<T> {
  for (let told = false; ; told = true) {
    try {
      return await work();
    } catch (error) {
      if (!FULL.test(messageOf(error))) throw error;
      if (!told) onTrouble(`Redis cannot write (${messageOf(error)}); waiting until it can.`);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}
