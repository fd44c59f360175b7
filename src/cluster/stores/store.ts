/** Files between machines, each named by the SHA-256 of its bytes. Whoever gets one has checked that it is the one asked for. */
export interface FileStore {
  /** Keeps bytes and tells their name. */
  put(bytes: Uint8Array): Promise<string>;
  /** The bytes of a name; undefined if they are not there, or not what they should be. */
  get(hash: string): Promise<Uint8Array | undefined>;
}
