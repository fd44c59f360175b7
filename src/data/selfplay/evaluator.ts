import { UserError } from "#base";
import { type Evaluator, RolloutEvaluator, UniformEvaluator } from "#search";

/** What guides a tree: chance or nothing at all. */
export async function openEvaluator(network: string): Promise<Evaluator> {
  if (network === "uniform") return new UniformEvaluator();
  if (network === "rollouts") return new RolloutEvaluator();
  throw new UserError("PLAYER_UNKNOWN", `network "${network}": only uniform and rollouts guide a tree here.`);
}
