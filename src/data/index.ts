export { canConvert, convertRecord, findMoveTable } from "./convert.js";
