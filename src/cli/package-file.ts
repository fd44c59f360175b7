import { fileURLToPath } from "node:url";

/** The path of a file or folder of the package. The built program, its modules and the sources lie equally deep in it. */
export const packageFile = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
