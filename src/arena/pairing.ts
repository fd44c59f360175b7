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
