import { command } from "./command.js";

export default command({
  name: "doctor",
  summary: "Say what is installed, what is missing, and how to get it.",
  examples: ["tabiya doctor", "tabiya doctor --json"],
  run(_, { print }) {
    print(`node ${process.version}`);
    return { node: process.version };
  },
});
