import { messageOf, parentChannel } from "#base";
import type { FromWorker, ToWorker } from "./protocol.js";
import { SearchThread } from "./search-thread.js";

const channel = parentChannel();
const say = (message: FromWorker) => channel.post(message);
let thread: SearchThread | undefined;

/** Lets messages that came in meanwhile be heard. */
const breathe = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

async function hear(message: ToWorker): Promise<void> {
  switch (message.type) {
    case "create": {
      const { image, hashBytes, threads, shared } = message;
      thread = await SearchThread.create(image, hashBytes, threads, shared);
      say({ type: "created", memory: shared ? thread.memory : undefined, layout: thread.layout });
      break;
    }
    case "join":
      thread = await SearchThread.join(message.memory, message.layout, message.index);
      say({ type: "joined" });
      break;
    case "clear":
      thread?.clear();
      say({ type: "cleared" });
      break;
    case "evaluate":
      say({ type: "evaluated", cp: thread?.evaluate(message.job) ?? 0 });
      break;
    case "stop":
      thread?.stop();
      break;
    case "time":
      thread?.limitTime(message.softMs, message.hardMs);
      break;
    case "go": {
      const report = await thread?.run(message.job, (each) => say({ type: "report", report: each }), breathe);
      if (report) say({ type: "done", report });
      break;
    }
  }
}

channel.listen((message) => {
  hear(message as ToWorker).catch((error: unknown) => say({ type: "failed", message: messageOf(error) }));
});
