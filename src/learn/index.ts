/**
 * Networks that learn by playing themselves, generation by generation.
 *
 * @module
 */
export { type LearnRating, rateGenerations } from "./ratings.js";
export { type LearnRecipe, parseLearnRecipe } from "./recipe.js";
export { type GenerationRow, type LearnOptions, listGenerations, runLearning } from "./run.js";
export { type Encountered, type Generation, type LearnState, loadState, type Phase } from "./state.js";
