// What can be seen of a file of records without knowing how it was made: that positions are possible, moves legal, policies
// whole, values in range, and that the records of one game are of one game.
import { messageOf, UserError } from "#base";
import { formatFen, type Position, parseFen, parseUci } from "#chess";
import type { MoveTable } from "#encodings";
import type { DataRecord } from "#formats";
import { findMoveTable } from "./convert.js";
import { POLICY_TABLE } from "./selfplay/game.js";

/** What was found while records were checked. */
export interface CheckCounts {
  records: number;
  games: number; // told apart by their numbers; 0 if records have none
  linked: number; // records that follow from the one before by a legal move
  problems: number;
}

const SUM_ERROR = 1e-4; // of shares in single precision

/** Checks records in their order. Those of one game, if they say so (`game`, `ply`), must follow each other. */
export class RecordChecker {
  readonly counts: CheckCounts = { records: 0, games: 0, linked: 0, problems: 0 };
  private readonly table: MoveTable;
  private last: { game: number; ply: number; position: Position; whiteValue: number | undefined } | undefined;

  constructor(
    private readonly source: string, // for messages
    moves: string = POLICY_TABLE, // the table that indices of policies refer to
    private readonly onProblem: (error: UserError) => void,
  ) {
    this.table = findMoveTable(moves);
  }

  add(record: DataRecord): void {
    const number = ++this.counts.records;
    try {
      this.check(record);
    } catch (error) {
      this.counts.problems++;
      this.last = undefined;
      this.onProblem(new UserError("RECORD_UNSOUND", `${this.source}: record ${number}: ${messageOf(error)}`));
    }
  }

  private check(record: DataRecord): void {
    const position = parseFen(record.fen);
    const { move, policy, value, result } = record;
    if (typeof move === "string")
      expect(parseUci(position, move) !== undefined, `${move} is not legal in ${record.fen}`);
    if (policy) this.checkPolicy(position, policy);
    for (const [name, number] of Object.entries({ value, root_value: record["root_value"], result }))
      if (typeof number === "number") expect(Math.abs(number) <= 1, `${name} is ${number}; expected -1 to 1`);
    if (typeof record["game"] === "number" && record.ply !== undefined)
      this.checkGame(position, record["game"], record.ply, record);
  }

  private checkPolicy(position: Position, policy: NonNullable<DataRecord["policy"]>): void {
    let sum = 0;
    for (const [index, share] of Object.entries(policy)) {
      if (share === 0) continue;
      expect(share > 0, `the share of move ${index} is ${share}`);
      const move = this.table.decode(position, Number(index));
      expect(move !== undefined, `the policy has move ${index}, which is not legal in ${formatFen(position)}`);
      sum += share;
    }
    expect(Math.abs(sum - 1) < SUM_ERROR, `the policy adds up to ${sum}; expected 1`);
  }

  private checkGame(position: Position, game: number, ply: number, { value, root_value: found }: DataRecord): void {
    const { last } = this;
    // A game that was cut off has no result: its values are those of the search.
    const isResult = value !== undefined && value !== found && Number.isInteger(value);
    const whiteValue = isResult ? (position.turn === "white" ? value : 0 - value) : undefined;
    if (last?.game !== game) this.counts.games++;
    else {
      expect(ply > last.ply, `ply ${ply} of game ${game} comes after ply ${last.ply}`);
      const isOther = (ply - last.ply) % 2 === 1;
      expect(
        (position.turn !== last.position.turn) === isOther,
        `it is ${position.turn}'s turn at ply ${ply}, and was ${last.position.turn}'s at ply ${last.ply}`,
      );
      const before = last.whiteValue;
      expect(
        before === undefined || whiteValue === undefined || before === whiteValue,
        `game ${game} ended ${whiteValue} for White here, and ${before} in the record before`,
      );
      if (ply === last.ply + 1) {
        expect(
          isNext(last.position, position),
          `no legal move leads from ${formatFen(last.position)} to ${formatFen(position)}`,
        );
        this.counts.linked++;
      }
    }
    this.last = { game, ply, position, whiteValue: whiteValue ?? (last?.game === game ? last.whiteValue : undefined) };
  }
}

function expect(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Error(`${problem}.`);
}

const isNext = (from: Position, to: Position): boolean => {
  const fen = formatFen(to);
  return from.moves().some((move) => formatFen(from.clone().play(move)) === fen);
};
