// Writes the reference of the library into docs-api/, from the comments at the doors:  node scripts/docs.mjs [--check]
// Every name that a door exports must have a comment; with --check nothing is written.
import { Application, ReflectionKind } from "typedoc";

const app = await Application.bootstrap({
  name: "Tabiya",
  entryPoints: ["src/*/index.ts"],
  tsconfig: "tsconfig.json",
  readme: "docs/library.md",
  excludePrivate: true,
  disableSources: true,
  validation: { notExported: false }, // types that only stand in the signatures of others
});
const project = await app.convert();
if (project) {
  app.validate(project);
  const hasComment = (name) =>
    name.isReference() || name.hasComment() || name.signatures?.some((signature) => signature.hasComment());
  const names = project.children.flatMap((door) => [door, ...door.children]);
  for (const name of names.filter((each) => !hasComment(each)))
    app.logger.error(`${name.getFullName()} (${ReflectionKind.singularString(name.kind)}) has no comment`);
  if (!process.argv.includes("--check")) await app.generateDocs(project, "docs-api");
}
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1);
