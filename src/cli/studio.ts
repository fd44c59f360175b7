import { spawn } from "node:child_process";
import { findProgram } from "#base";
import { startStudio } from "#web";
import { clusterUrl } from "./cluster.js";
import { command } from "./command.js";
import { packageFile } from "./package-file.js";
import { version } from "./version.js";

const PORT = 8440;

/** Opens an address in the browser, where there is a display; says nothing if it cannot. */
async function openBrowser(url: string): Promise<void> {
  const { platform, env } = process;
  const isShown = platform === "darwin" || platform === "win32" || env.DISPLAY || env.WAYLAND_DISPLAY;
  if (!isShown || env.CI) return;
  const [name, args] =
    platform === "darwin" ? ["open", [url]] : platform === "win32" ? ["explorer", [url]] : ["xdg-open", [url]];
  const path = await findProgram(name);
  if (path === undefined) return;
  spawn(path, args, { detached: true, stdio: "ignore" })
    .on("error", () => {})
    .unref();
}

export default command({
  name: "studio",
  summary: "Open the studio in the browser: play, look inside networks, train and evaluate them.",
  details:
    "Serves until Ctrl-C. Works in the current folder: trainings are kept in runs/, contests in contests/, uploads in data/.\n" +
    "Trainings and contests continue when the studio is closed, and are shown again when it is reopened.\n" +
    "The address contains a token; whoever has it can start programs on this machine, so keep it to yourself.",
  examples: [
    "tabiya studio",
    "tabiya studio --port 0 --no-open",
    "tabiya studio --data ../games --data ../books",
    "tabiya studio --cluster redis://localhost:6379",
  ],
  options: {
    port: { type: "integer", minimum: 0, default: PORT, help: "port to listen on; 0 picks a free one" },
    host: { default: "127.0.0.1", help: "address to listen on; 0.0.0.0 lets other machines in, with the token" },
    data: { type: "strings", default: [], help: "further folders with data files" },
    cluster: { help: "show the queues and workers of this Redis too, as redis://HOST:6379" },
    noOpen: { type: "boolean", help: "do not open the browser" },
  },

  async run({ port, host, data, cluster, noOpen }, io) {
    const main = packageFile("dist/cli/main.js");
    const studio = await startStudio({
      folder: process.cwd(),
      home: packageFile(""),
      host,
      port,
      data,
      cluster: cluster === undefined ? undefined : clusterUrl({ cluster }),
      command: [process.execPath, main],
      version,
      log: io.note,
    });
    io.print(`Tabiya studio: ${studio.url}`);
    if (!noOpen) await openBrowser(studio.url);
    await new Promise((resolve) => io.signal.addEventListener("abort", resolve, { once: true }));
    await studio.close();
  },
});
