export { type Job, jobId, parseJob, type SelfPlayJob } from "./jobs/job.js";
export { playByJobs } from "./play.js";
export { FolderStore } from "./stores/folder.js";
export { sha256 } from "./stores/hash.js";
export type { FileStore } from "./stores/store.js";
export { BullTransport, type ClusterStatus, readStatus, runWorker, type WorkerOptions } from "./transports/bullmq.js";
export { EmbeddedTransport } from "./transports/embedded.js";
export type { Transport } from "./transports/transport.js";
