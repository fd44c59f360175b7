export { type Studio, type StudioOptions, startStudio } from "./server/studio.js";
