export {
  type Choice,
  type Clock,
  FAULTS,
  type FaultKind,
  type Limits,
  mateScore,
  type Player,
  PlayerFault,
  type Variation,
} from "./player.js";
export {
  type NetworkSpec,
  type PlayerOptions,
  type PlayerSpec,
  parsePlayer,
  resolvePlayer,
  type UciSpec,
} from "./players.js";
export { type UciAnswer, UciClient, type UciTimes } from "./uci-client.js";
export { UciPlayer } from "./uci-player.js";
