import { type AdadeltaConfig, adadelta } from "./optimisers/adadelta.js";
import { type AdamConfig, adam, adamW } from "./optimisers/adam.js";
import { type MuonConfig, muon } from "./optimisers/muon.js";
import type { Optimiser } from "./optimisers/optimiser.js";
import { type SgdConfig, sgd } from "./optimisers/sgd.js";

/** An optimiser as plain data, as it stands in a recipe and travels to a worker. */
export type OptimiserChoice =
  | ({ name: "sgd" } & Partial<SgdConfig>)
  | ({ name: "adam" } & Partial<AdamConfig>)
  | ({ name: "adamw" } & Partial<AdamConfig>)
  | ({ name: "adadelta" } & Partial<AdadeltaConfig>)
  | ({ name: "muon" } & Partial<MuonConfig>);

/** The optimiser of a name, with its settings. */
export function buildOptimiser({ name, ...config }: OptimiserChoice): Optimiser {
  switch (name) {
    case "sgd":
      return sgd(config);
    case "adam":
      return adam(config);
    case "adamw":
      return adamW(config);
    case "adadelta":
      return adadelta(config);
    case "muon":
      return muon(config);
  }
}
