import { UserError } from "#base";
import {
  formatFen,
  formatSan,
  formatUci,
  type Move,
  mateScore,
  type Position,
  parseFen,
  parseSan,
  parseUci,
  START_FEN,
  winProbability,
} from "#chess";
import { type Line, type Player, resolvePlayer, type ThoughtMove } from "#engine";
import type { Limits } from "#search";
import { command } from "./command.js";

const MOVETIME_MS = 1_000;
const POLICY_SHOWN = 5; // moves that a network likes best

const showScore = ({ scoreCp, mate }: Line): string =>
  mate !== undefined ? `#${mate}` : scoreCp === undefined ? "?" : (scoreCp / 100).toFixed(2);

/** A move in thought with its value, and a mark where the network would have got the board after it wrong. */
const showThought = ({ move, value, agreed }: ThoughtMove): string =>
  `${move}${agreed ? "" : "?"} (${value.toFixed(2)})`;

/**
 * What a move is worth to the mover: what the player says of it, or the position after it, seen by the opponent, turned
 * around.
 */
async function moveValue(player: Player, position: Position, move: Move, limits: Limits) {
  if (player.valueMoves) {
    const [{ move: _, ...value }] = await player.valueMoves(position, [move]);
    return { move: formatUci(position, move), ...value };
  }
  const after = position.clone().play(move);
  const outcome = after.outcome();
  const scoreCp = outcome
    ? outcome.winner === undefined
      ? 0
      : mateScore(1)
    : -((await player.choose(after, { ...limits, multiPv: 1 })).lines[0]?.scoreCp ?? 0);
  // A search gives one value, not a distribution: it has no confidence to report.
  return { move: formatUci(position, move), scoreCp, winProbability: winProbability(scoreCp), confidence: null };
}

function parseMove(position: Position, text: string, where: string): Move {
  const move = parseUci(position, text) ?? parseSan(position, text);
  if (move !== undefined) return move;
  throw new UserError("MOVE_ILLEGAL", `${where}: ${text} is not a legal move in ${formatFen(position)}.`);
}

/** A line in UCI as SAN. */
function formatSans(position: Position, line: readonly string[]): string {
  const board = position.clone();
  const words: string[] = [];
  for (const uci of line) {
    const move = parseUci(board, uci);
    if (move === undefined) break;
    words.push(formatSan(board, move));
    board.play(move);
  }
  return words.join(" ");
}

export default command({
  name: "analyse",
  summary: "Analyse a position: the best moves with their scores and variations.",
  examples: [
    'tabiya analyse nnue@ab --fen "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3" --multipv 3',
    "tabiya analyse uci:stockfish --depth 12 --move e4 --json",
    "tabiya analyse runs/a@none --move e4",
    'tabiya analyse runs/a@mcts --moves "e4 e5 Nf3" --nodes 800 --json',
  ],
  arguments: { player: { help: "as nnue@ab, net.nnue@ab, runs/a@none or uci:stockfish" } },
  options: {
    fen: { default: START_FEN, help: "the position" },
    chess960: { type: "boolean", help: "the position is of Chess960" },
    moves: { help: 'moves played from the position first, so that history counts, as "e2e4 e7e5" (UCI or SAN)' },
    move: { help: "also value this move (UCI or SAN)" },
    multipv: { type: "integer", default: 1, minimum: 1, help: "how many moves to show" },
    nodes: { type: "integer", minimum: 1, help: "nodes to search" },
    movetime: { type: "integer", minimum: 1, help: "milliseconds to think; 1000 if no other limit is given" },
    depth: { type: "integer", minimum: 1, help: "plies to search" },
  },
  async run({ player: name, fen, chess960, moves, move, multipv, nodes, movetime, depth }, { print }) {
    const position = parseFen(fen, { chess960 });
    for (const word of (moves ?? "").split(/\s+/).filter(Boolean)) position.play(parseMove(position, word, "--moves"));
    const legal = position.moves();
    if (legal.length === 0)
      throw new UserError("ANALYSE_OVER", `${formatFen(position)}: the game is over, there is no move to choose.`);
    const asked = move === undefined ? undefined : parseMove(position, move, "--move");
    const moveTimeMs = movetime ?? (nodes === undefined && depth === undefined ? MOVETIME_MS : undefined);
    const limits: Limits = { nodes, depth, moveTimeMs, multiPv: Math.min(multipv, legal.length) };
    const player = await resolvePlayer(name);
    try {
      const choice = await player.choose(position, limits);
      const [{ scoreCp, wdl, pv } = { pv: [] }] = choice.lines;
      const lines = choice.lines.map((line) => ({ move: line.pv[0], ...line }));
      for (const line of choice.lines) print(`${showScore(line).padStart(8)}  ${formatSans(position, line.pv)}`);
      const { policy = null, visits, values, thoughts } = choice;
      const looked = Object.keys(visits ?? policy ?? {}).slice(0, POLICY_SHOWN);
      for (const variation of thoughts ?? []) print(`          ${variation.map(showThought).join(" ")}`);
      if (wdl) print(`win ${wdl[0] / 10} %, draw ${wdl[1] / 10} %, loss ${wdl[2] / 10} %`);
      for (const uci of looked) {
        const share = policy?.[uci] === undefined ? "" : `${(policy[uci] * 100).toFixed(1)} %`;
        const count = visits?.[uci] === undefined ? "" : `, ${visits[uci]} visits`;
        print(`${share.padStart(8)}  ${formatSans(position, [uci])}${count}`);
      }
      const result = {
        best: pv[0],
        scoreCp,
        wdl,
        pv,
        policy,
        ...(visits && { visits }),
        ...(values && { values }),
        lines,
        nodes: choice.nodes,
        ...(thoughts && { thoughts }),
      };
      if (asked === undefined) return result;
      const answer = await moveValue(player, position, asked, limits);
      const sure = answer.confidence === null ? "" : ` (likeliest answer: ${(answer.confidence * 100).toFixed(1)} %)`;
      print(`${formatSan(position, asked)}: ${(answer.winProbability * 100).toFixed(1)} % to win${sure}`);
      return { ...result, move: answer };
    } finally {
      await player.close();
    }
  },
});
