/** Files between machines, each named by the SHA-256 of its bytes. Whoever gets one has checked that it is the one asked for. */
export interface FileStore {
  /** Keeps bytes and tells their name; a file in a folder has an ending behind it, for those who go by endings. */
  put(bytes: Uint8Array, ending?: string): Promise<string>;
  /** The bytes of a name; undefined if they are not there, are not what they should be, or are more than may be. */
  get(hash: string, ending?: string, mostBytes?: number): Promise<Uint8Array | undefined>;
  /** Forgets a file; says nothing if it is not there. */
  remove(hash: string, ending?: string): Promise<void>;
}

export const MOST_BYTES = 512 * 1024 * 1024; // of a file, unless whoever asks expects less: what Redis allows
