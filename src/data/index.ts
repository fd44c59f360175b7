export { canConvert, convertRecord, findMoveTable } from "./convert.js";
export { type DedupeOptions, dedupeRecords } from "./dedupe.js";
export { parseChoices, parseResults, TIME_CLASSES, VARIANTS } from "./filter.js";
export { IMPORT_KINDS } from "./game-importer.js";
export { type ImportOptions, type ImportResult, importGames } from "./import.js";
export { checkLabelOutput, type LabelOptions, type LabelResult, labelPositions } from "./label.js";
export { randomOpenings } from "./random-openings.js";
export { shuffleRecords } from "./shuffle.js";
export { SPLIT_BY, splitRecords, validationPath } from "./split.js";
