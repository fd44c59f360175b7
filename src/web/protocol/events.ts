import type { ClusterView, ContestSummary } from "./answers.js";
import type { MetricsPart, RunSummary } from "./runs.js";

/** What GET /api/events streams. */
export type StudioEvent =
  | { type: "hello" } // ask for everything: the server does not know what you have seen
  | { type: "run"; run: RunSummary } // new, or changed
  | { type: "run-gone"; id: string }
  | ({ type: "metrics"; id: string } & MetricsPart) // added to a run
  | { type: "metrics-reset"; id: string } // a run's metrics were cut: ask for them anew
  | { type: "contest"; contest: ContestSummary }
  | { type: "contest-gone"; id: string }
  | { type: "cluster"; cluster: ClusterView };
