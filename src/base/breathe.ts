/**
 * Lets timers, messages and input have their turn: a long computation calls it now and then to stay stoppable. A timeout
 * of 0 would do the same, but costs a millisecond and more.
 */
export const breathe = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof setImmediate === "function") {
      setImmediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
