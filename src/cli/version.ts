import { readFileSync } from "node:fs";
import { packageFile } from "./package-file.js";

const manifest = JSON.parse(readFileSync(packageFile("package.json"), "utf8"));

/** The version of this program. */
export const version: string = manifest.version;
