import { UserError } from "#base";
import { type Evaluator, RolloutEvaluator, UniformEvaluator } from "#search";

export async function openEvaluator(network: string): Promise<Evaluator> {
  if (network === "uniform") return new UniformEvaluator();
  if (network === "rollouts") return new RolloutEvaluator();
  throw new UserError("PLAYER_UNKNOWN", `there is no evaluator for ${network}.`);
}
