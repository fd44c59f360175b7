/**
 * Work for many machines: jobs, workers, stores and the exchange of weights.
 *
 * @module
 */
export { type ClusterBoard, openBoard } from "./exchange/open.js";
export { helpTrainings, leadHere, leadTraining, type SharedTraining } from "./exchange/trainings.js";
export { type Job, jobId, parseJob } from "./jobs/job.js";
export { clusterMetrics, formatMetrics, type Metric } from "./metrics.js";
export { playContestByJobs } from "./requests/contest.js";
export { type ExamRequest, examineByJobs } from "./requests/exam.js";
export { askByJobs } from "./requests/positions.js";
export { playByJobs } from "./requests/selfplay.js";
export { ASSUMPTIONS, MEANINGS } from "./simulation/assumptions.js";
export { type Assumptions, LIMITS, type Scale, saturation, simulate } from "./simulation/simulate.js";
export { FolderStore } from "./stores/folder.js";
export { sha256 } from "./stores/hash.js";
export { openStore, withoutKeys } from "./stores/open.js";
export { S3Store } from "./stores/s3.js";
export { type S3Keys, signRequest } from "./stores/sign.js";
export type { FileStore } from "./stores/store.js";
export { type BullOptions, BullTransport } from "./transports/bullmq.js";
export { EmbeddedTransport } from "./transports/embedded.js";
export { type ClusterStatus, readStatus } from "./transports/status.js";
export type { Transport } from "./transports/transport.js";
export { runWorker, type WorkerOptions } from "./transports/worker.js";
