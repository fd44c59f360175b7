import { readdir } from "node:fs/promises";
import { readText, suggestion, UserError } from "#base";
import { refuseOther } from "#formats";
import { packageFile } from "./package-file.js";

/** The recipes that come with the program. */
const folder = packageFile("recipes/");
const SUFFIX = /\.ya?ml$/;

/** Names of the shipped recipes, without their suffix. */
export const shippedRecipes = async (): Promise<string[]> =>
  (await readdir(folder)).filter((name) => SUFFIX.test(name)).map((name) => name.replace(SUFFIX, "")).sort(); // biome-ignore format: one thought

/** A recipe's text: of the file, or else of the shipped recipe of that name (nnue-tiny, recipes/nnue-tiny.yaml). */
export async function readRecipe(file: string): Promise<string> {
  try {
    await refuseOther(file, [], "a recipe: lines of key: value in YAML");
    return await readText(file);
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "FILE_MISSING") throw error;
    const names = await shippedRecipes();
    const name = file.replace(/^recipes[\\/]/, "").replace(SUFFIX, "");
    if (names.includes(name)) return readText(`${folder}${name}.yaml`);
    if (/[\\/]/.test(name)) throw error;
    const known = `The built-in recipes are: ${names.join(", ")}.`;
    throw new UserError("RECIPE_MISSING", `There is no file or recipe "${file}".${suggestion(name, names)}\n${known}`);
  }
}
