/** One game to be played; `index` counts all games of the contest from 0, two to each pairing. */
export interface ContestGame {
  index: number;
  pair: number;
  round: number; // which opening
  white: number; // index of a player
  black: number;
}

/** Two games with one opening: in the first of them `first` has White, in the second `second`. */
export interface Pairing {
  first: number; // index of a player
  second: number;
  round: number; // which opening: everybody plays the same one in a round, so that nobody gets the easier book
}

/** Everybody against everybody, `rounds` times; the circle method, so that nobody waits long for the next game. */
export function roundRobin(players: number, rounds: number): Pairing[] {
  const seats = Array.from({ length: players + (players % 2) }, (_, i) => i);
  const pairings: Pairing[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let turn = 1; turn < seats.length; turn++) {
      for (let i = 0; i < seats.length / 2; i++) {
        const [first, second] = [seats[i], seats[seats.length - 1 - i]].sort((a, b) => a - b);
        if (second < players) pairings.push({ first, second, round }); // the seat beyond the last player is a rest
      }
      seats.splice(1, 0, seats.pop()!);
    }
  }
  return pairings;
}

/** The first player against each of the others, `rounds` times. */
export function gauntlet(players: number, rounds: number): Pairing[] {
  return Array.from({ length: rounds }, (_, round) =>
    Array.from({ length: players - 1 }, (_, i) => ({ first: 0, second: i + 1, round })),
  ).flat();
}

/** The games of all pairings, both colours of each, in order; `limit` games at most. */
export function listGames(pairings: readonly Pairing[], limit = Infinity): ContestGame[] {
  return pairings
    .flatMap(({ first, second, round }, pair) => [
      { index: 2 * pair, pair, round, white: first, black: second },
      { index: 2 * pair + 1, pair, round, white: second, black: first },
    ])
    .slice(0, limit);
}

/** A game of two players who meet again and again: every opening with both colours. */
export function gameOfTwo(index: number): ContestGame {
  const white = index % 2;
  const pair = (index - white) / 2;
  return { index, pair, round: pair, white, black: 1 - white };
}
