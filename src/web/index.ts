/**
 * The server of the studio, and reports.
 *
 * @module
 */
export { compareMetrics, type MetricRow, type RunFacts, readRuns, sparkline } from "./report/compare.js";
export { compareConfigs, curveOf, formatValue } from "./report/curves.js";
export { judgeCheckpoint, judgePositions } from "./report/judged.js";
export { formatReport, type ReportedRun } from "./report/report.js";
export { type Studio, type StudioOptions, startStudio } from "./server/studio.js";
