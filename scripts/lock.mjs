// Completes package-lock.json after `npm install`: names the optional binaries of other systems that the registry in use did
// not offer, so that `npm ci` accepts the lock on every system. Each is skipped where its system is another.
import { readFileSync, writeFileSync } from "node:fs";

const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const PROCESSORS = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];
const ONLY = { fsevents: "darwin" }; // packages whose names do not tell

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const { packages } = lock;

/** What a name as `@x/binding-linux-arm64-musl` says of the systems the package is for. */
function systemsOf(name) {
  const words = name.split(/[-/]/);
  const os = ONLY[name] ? [ONLY[name]] : SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  return { ...(os.length > 0 && { os }), ...(cpu.length > 0 && { cpu }) };
}

let added = 0;
for (const [path, found] of Object.entries(packages)) {
  for (const [name, range] of Object.entries(found.optionalDependencies ?? {})) {
    const nested = `${path}/node_modules/${name}`;
    if (packages[`node_modules/${name}`]?.version || packages[nested]?.version) continue;
    const systems = systemsOf(name);
    if (!systems.os && !systems.cpu) throw new Error(`${name}: which system is it for? Add it to ONLY.`);
    packages[`node_modules/${name}`] = {
      version: range.replace(/^[^\d]*/, ""),
      ...(found.dev && { dev: true }),
      ...systems,
      optional: true,
    };
    added++;
  }
}
const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = Object.fromEntries(sorted);
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} packages added`);
