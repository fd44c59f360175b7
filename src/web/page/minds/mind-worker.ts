// One player in a worker of its own: the same as in the terminal, asked by messages.
import { assert, messageOf, parentChannel } from "#base";
import { formatUci, type Position, parseFen, parseUci } from "#chess";
import { type Player, parsePlayer, type Report, resolvePlayer } from "#engine";
import { describeNetwork } from "./describe.js";
import { openInspector } from "./inspect.js";
import type { FromMind, Question, ToMind, Wish } from "./protocol.js";

const channel = parentChannel();
const say = (message: FromMind) => channel.post(message);
const stops = new Map<number, AbortController>();
let player: Player | undefined;
let network = ""; // where the player has it from
let inspector: ReturnType<typeof openInspector> | undefined; // opened when it is first needed
let last: Promise<void> = Promise.resolve();

function positionOf({ fen, chess960, moves }: Question): Position {
  const position = parseFen(fen, { chess960 });
  for (const word of moves) {
    const move = parseUci(position, word);
    assert(move !== undefined, `the move ${word} is not legal`);
    position.play(move);
  }
  return position;
}

async function choose(id: number, question: Question, wish: Wish, signal: AbortSignal): Promise<void> {
  assert(player, "no player was opened");
  const position = positionOf(question);
  const onReport = (report: Report) => say({ type: "report", id, report });
  const { move, ...report } = await player.choose(position, wish, { signal, onReport });
  say({ type: "chosen", id, thought: { ...report, move: formatUci(position, move) } });
}

async function answer(message: Exclude<ToMind, { type: "stop" }>): Promise<void> {
  switch (message.type) {
    case "open":
      try {
        player = await resolvePlayer(message.player);
        const spec = parsePlayer(message.player);
        network = spec.kind === "network" ? spec.network : "";
        say({ type: "opened" });
      } catch (error) {
        say({ type: "refused", message: messageOf(error) });
      }
      break;
    case "describe":
      try {
        say({ type: "described", description: await describeNetwork(message.address) });
      } catch (error) {
        say({ type: "refused", message: messageOf(error) });
      }
      break;
    case "inspect":
      try {
        inspector ??= openInspector(network);
        const inspected = await (await inspector)(positionOf(message.question), message.inspection);
        say({ type: "inspected", id: message.id, inspected });
      } catch (error) {
        say({ type: "failed", id: message.id, message: messageOf(error) });
      }
      break;
    case "newGame":
      await player?.newGame({ seed: message.seed });
      break;
    case "choose": {
      const { id, question, wish } = message;
      const stop = stops.get(id) ?? new AbortController();
      try {
        await choose(id, question, wish, stop.signal);
      } catch (error) {
        say({ type: "failed", id, message: messageOf(error) });
      } finally {
        stops.delete(id);
      }
      break;
    }
  }
}

// Questions are answered one after another; a stop is heard at once, also by a question that still waits. Looking inside
// does not wait for a search, which has a worker of its own.
channel.listen((message) => {
  const heard = message as ToMind;
  if (heard.type === "stop") stops.get(heard.id)?.abort();
  else if (heard.type === "inspect") void answer(heard);
  else {
    if (heard.type === "choose") stops.set(heard.id, new AbortController());
    last = last.then(() => answer(heard));
  }
});
say({ type: "ready" });
