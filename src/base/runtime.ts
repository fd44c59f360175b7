import { platform } from "#platform";

/** ONNX Runtime for this platform; the first call loads it. */
export const loadRuntime = () => platform.loadRuntime();

/** Whether it writes results into memory the caller provides (Node), or always into its own (browser). */
export const runtimeFillsOutputs: boolean = platform.runtimeFillsOutputs;
