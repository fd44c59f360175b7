// Every reader of what others wrote, and how it is fuzzed. A target makes inputs (`next`) and checks what is made of one
// (`check`): true if the input was read, false if it was refused properly; anything else it throws is a finding.
import "./memory.mjs"; // before the readers

const records = (format) => async (random) => (await import("./records.mjs")).recordTarget(format)(random);
const weights = (name) => async (random) => (await import("./weights.mjs"))[name](random);
const texts = (name) => async (random) => (await import("./texts.mjs"))[name](random);
const module = (load) => async (random) => (await load()).create(random);

export const TARGETS = {
  fen: module(() => import("./fen.mjs")),
  san: module(() => import("./san.mjs")),
  uci: module(() => import("./uci.mjs")),
  pgn: module(() => import("./pgn.mjs")),
  lc0: module(() => import("./lc0.mjs")),
  bagz: records("bagz"),
  bag: records("bag"),
  bin: records("bin"),
  binpack: records("binpack"),
  plain: records("plain"),
  bullet: records("bullet"),
  jsonl: records("jsonl"),
  parquet: records("parquet"),
  nnue: weights("nnue"),
  jnn: weights("jnn"),
  tnn: weights("tnn"),
  safetensors: weights("safetensors"),
  "pb.gz": weights("pbGz"),
  onnx: weights("onnx"),
  books: texts("books"),
  puzzles: texts("puzzles"),
  epd: texts("epd"),
  recipes: texts("recipes"),
  "learn-recipes": texts("learnRecipes"),
  players: texts("players"),
  contests: texts("contests"),
  http: module(() => import("./http.mjs")),
};
