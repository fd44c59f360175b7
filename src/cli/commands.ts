import agreement from "./agreement.js";
import analyse from "./analyse.js";
import benchArena from "./bench-arena.js";
import benchCore from "./bench-core.js";
import benchData from "./bench-data.js";
import benchInfer from "./bench-infer.js";
import benchSearch from "./bench-search.js";
import benchTrain from "./bench-train.js";
import type { Command } from "./command.js";
import dataConvert from "./data-convert.js";
import dataDedupe from "./data-dedupe.js";
import dataGenerate from "./data-generate.js";
import dataImport from "./data-import.js";
import dataInfo from "./data-info.js";
import dataLabel from "./data-label.js";
import dataShuffle from "./data-shuffle.js";
import dataSplit from "./data-split.js";
import doctor from "./doctor.js";
import encode from "./encode.js";
import evaluate from "./eval.js";
import match from "./match.js";
import nnueEval from "./nnue-eval.js";
import perft from "./perft.js";
import pgnCheck from "./pgn-check.js";
import puzzles from "./puzzles.js";
import suite from "./suite.js";
import tour from "./tour.js";
import tournament from "./tournament.js";
import train from "./train.js";
import uci from "./uci.js";

/** Every command of the program, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  pgnCheck,
  encode,
  dataImport,
  dataLabel,
  dataGenerate,
  dataInfo,
  dataConvert,
  dataShuffle,
  dataSplit,
  dataDedupe,
  train,
  evaluate,
  match,
  tournament,
  puzzles,
  suite,
  agreement,
  analyse,
  uci,
  nnueEval,
  perft,
  benchCore,
  benchData,
  benchTrain,
  benchInfer,
  benchSearch,
  benchArena,
  doctor,
  tour,
];
