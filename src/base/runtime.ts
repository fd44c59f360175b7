import { platform } from "#platform";

/** ONNX Runtime for this platform, able to use this device; the first call loads it. */
export const loadRuntime = (device: string) => platform.loadRuntime(device);

/** Processors this program may use. */
export const processors = (): number => platform.processors();

/** Whether it writes results into memory the caller provides (Node), or always into its own (browser). */
export const runtimeFillsOutputs: boolean = platform.runtimeFillsOutputs;
