import { platform } from "#platform";

/** Processors this program may use. */
export const processors = (): number => platform.processors();

/** Whether ONNX Runtime writes results into memory the caller provides (Node), or always into its own (browser). */
export const runtimeFillsOutputs: boolean = platform.runtimeFillsOutputs;

/** Whether ONNX Runtime has fast kernels for convolutions (Node), or only for products of matrices (browser). */
export const runtimeConvolves: boolean = platform.runtimeConvolves;
