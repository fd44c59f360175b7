import { suggestion, UserError } from "#base";
import { parseLearnRecipe } from "#learn";
import { listSettings, parseRecipe, resolveRecipe, type Setting, trainable } from "#training";
import { command } from "./command.js";
import { readRecipe, shippedRecipes } from "./recipe-files.js";

const GROUPS = { training: "how to train", task: "what to learn", network: "the network" } as const;

/** What values a setting takes, in a few words. */
function valuesOf({ type, choices, minimum, maximum }: Setting): string {
  if (choices) return choices.join(" | ");
  if (minimum !== undefined && maximum !== undefined) return `${type}, ${minimum} to ${maximum}`;
  return minimum === undefined ? type : `${type}, from ${minimum}`;
}

/** Every setting of a family as a page in Markdown. */
function formatSettings(family: string, settings: readonly Setting[]): string[] {
  const lines: string[] = [`## ${family}`];
  for (const [group, title] of Object.entries(GROUPS)) {
    const rows = settings.filter((setting) => setting.group === group);
    if (rows.length === 0) continue;
    lines.push("", `**${title}**`, "", "| key | default | values | meaning |", "|---|---|---|---|");
    for (const setting of rows) {
      const cells = [
        `\`${setting.key}\``,
        `\`${JSON.stringify(setting.default)}\``,
        valuesOf(setting),
        setting.meaning,
      ];
      lines.push(`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
    }
  }
  return [...lines, ""];
}

/** The first sentence of the comment a recipe begins with. */
const summaryOf = (text: string) =>
  (/^(?:#.*\n)+/.exec(text)?.[0] ?? "")
    .replace(/^# ?/gm, "")
    .replace(/\s+/g, " ")
    .split(/(?<=[.:])\s/)[0]
    .replace(/:$/, ".");

export default command({
  name: "recipes",
  summary: "List the built-in recipes, or every setting of a network family with its default and meaning.",
  details:
    "A recipe is a YAML file of settings for `tabiya train` or `tabiya learn`; built-in ones are found by name from any folder.",
  examples: ["tabiya recipes", "tabiya recipes nnue", "tabiya recipes nnue-tiny", "tabiya recipes --all > recipes.md"],
  arguments: {
    name: { optional: true, help: "a recipe to print, or a network family whose settings to list" },
  },
  options: { all: { type: "boolean", help: "the settings of every family, as a Markdown page" } },

  async run({ name, all }, { print }) {
    const recipes = await shippedRecipes();
    const families = trainable();
    const shown = all ? families : families.filter(({ family }) => family === name);
    if (shown.length > 0) {
      if (all) print("# Settings of recipes\n\nMade by `tabiya recipes --all`.\n");
      const settings = Object.fromEntries(shown.map(({ family }) => [family, listSettings(family)]));
      for (const [family, list] of Object.entries(settings))
        for (const line of formatSettings(family, list)) print(line);
      return { settings };
    }
    if (name !== undefined) {
      if (!recipes.includes(name)) {
        const known = [...recipes, ...families.map(({ family }) => family)];
        const message = `There is no recipe or family "${name}".${suggestion(name, known)}\nThere are: ${known.join(", ")}.`;
        throw new UserError("RECIPE_MISSING", message);
      }
      const text = await readRecipe(name);
      print(text.trimEnd());
      return { name, text };
    }
    const found = [];
    for (const recipe of recipes) {
      const text = await readRecipe(recipe);
      const values = parseRecipe(text, recipe);
      const learns = Object.hasOwn(values, "selfplay");
      const training = learns ? parseLearnRecipe(text, recipe).train : values;
      const { family, size } = resolveRecipe(training, recipe).train;
      found.push({ name: recipe, command: learns ? "learn" : "train", family, size, summary: summaryOf(text) });
    }
    for (const { name: recipe, family, size, summary } of found)
      print(`${recipe.padEnd(20)} ${`${family}, ${size}`.padEnd(22)} ${summary}`);
    print(
      `\nUse one: tabiya train NAME --data games.pgn, or tabiya learn learn-NAME\nSettings of a family: tabiya recipes ${families[0].family}`,
    );
    return { recipes: found, families };
  },
});
