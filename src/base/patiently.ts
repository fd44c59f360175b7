const BUSY = ["EPERM", "EACCES", "EBUSY"];
const FIRST_MS = 10;
const LAST_MS = 640; // each wait is twice the one before: 1.3 s in all

/**
 * Does something to a file that Windows refuses while another program has the file open, as scanners and indexers do with
 * every new one for a moment: tries again, for a second or so. Elsewhere such an answer is final.
 */
export async function patiently<T>(work: () => Promise<T>, windows = process.platform === "win32"): Promise<T> {
  for (let wait = FIRST_MS; ; wait *= 2) {
    try {
      return await work();
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!windows || wait > LAST_MS || !BUSY.includes(code)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
