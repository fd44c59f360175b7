// What the server answers and streams: plain JSON, whose shapes both sides share.
import type { ClusterStatus } from "#cluster";
import type { ContestStatus, Inspection, ListedGame } from "#data";

/** Every refusal: a stable code, and a sentence that says what to do. */
export interface ErrorBody {
  error: { code: string; message: string };
}

/** GET /api/health */
export interface Health {
  name: "tabiya";
  version: string;
  hasCluster: boolean; // that it watches
}

/** GET /api/cluster: what `tabiya cluster status` tells. */
export interface ClusterView {
  address: string; // of the Redis, without its password
  status: ClusterStatus | null; // the last that was heard; null: nothing yet
  trouble: string; // why nothing is heard; empty if all is well
}

/** A contest, found by its status file; `id` is for addresses. */
export interface ContestSummary extends ContestStatus {
  id: string;
  name: string;
}

/** GET /api/contests/ID */
export interface ContestDetail {
  contest: ContestSummary;
  games: number; // in its file
  llrPath: { game: number; llr: number }[]; // after so many games
  turning: ListedGame | null; // the game that completed the pair which moved the test most
  endings: { reason: string; count: number }[]; // how games ended, the most frequent first
}

/** GET /api/contests/ID/games?from=N: the latest come last. */
export interface ContestGames {
  games: ListedGame[];
  from: number;
  total: number;
}

/** A file that training or a contest may use. */
export interface DataFile {
  id: string; // its path, as seen from the folder that the server works in
  bytes: number;
  kind: "records" | "games" | "openings";
}

/** GET /api/data/ID/info: what a file holds. */
export interface DataInfo extends Inspection {
  id: string;
  bytes: number;
}

/** A player to choose from: what is written into a contest, and what it is. */
export interface PlayerChoice {
  text: string;
  about: string;
}
