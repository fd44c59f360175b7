import { serve, Transferred } from "#base";
import { GameImporter, type ImportSettings } from "./game-importer.js";

let importer: GameImporter | undefined;

serve({
  configure: (settings: ImportSettings) => {
    importer = new GameImporter(settings);
  },
  run: async ({ bytes, path }: { bytes: Uint8Array; path: string }) => {
    if (!importer) throw new Error("internal: not configured");
    const chunk = await importer.run(bytes, path);
    const buffers = [chunk.packed?.buffer, chunk.keys?.buffer].filter((buffer) => buffer !== undefined);
    return new Transferred(chunk, buffers);
  },
});
