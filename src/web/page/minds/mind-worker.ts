// One player in a worker of its own: the same as in the terminal, asked by messages.
import { assert, messageOf, parentChannel } from "#base";
import { formatUci, type Position, parseFen, parseUci } from "#chess";
import { type Player, type Report, resolvePlayer } from "#engine";
import type { FromMind, Question, ToMind, Wish } from "./protocol.js";

const channel = parentChannel();
const say = (message: FromMind) => channel.post(message);
const stops = new Map<number, AbortController>();
let player: Player | undefined;
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
        say({ type: "opened" });
      } catch (error) {
        say({ type: "refused", message: messageOf(error) });
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

// Questions are answered one after another; a stop is heard at once, also by a question that still waits.
channel.listen((message) => {
  const heard = message as ToMind;
  if (heard.type === "stop") stops.get(heard.id)?.abort();
  else {
    if (heard.type === "choose") stops.set(heard.id, new AbortController());
    last = last.then(() => answer(heard));
  }
});
say({ type: "ready" });
