/** Files between machines, each named by the SHA-256 of its bytes. Whoever gets one has checked that it is the one asked for. */
export interface FileStore {
  /** Keeps bytes and tells their name; a file in a folder has an ending behind it, for those who go by endings. */
  put(bytes: Uint8Array, ending?: string): Promise<string>;
  /** The bytes of a name; undefined if they are not there, or not what they should be. */
  get(hash: string, ending?: string): Promise<Uint8Array | undefined>;
}
