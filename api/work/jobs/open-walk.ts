import type { Hex } from "viem";

/** Orders asked about in turns. */
export type Walk = {
  /** Wants all of them, from where it stands. */
  begin(): void;
  /** The next few; none when it is over. */
  next(): Promise<Hex[]>;
};

export function openWalk<Place extends { orderHash: Hex }>(
  read: (after: Place | null, limit: number) => Promise<Place[]>,
  limit: number,
): Walk {
  let after: Place | null = null;
  let laps = 0;
  return {
    begin() {
      // Half way, what lies behind it was asked about too early.
      laps = after === null ? 1 : 2;
    },
    async next() {
      if (laps === 0) return [];
      const places = await read(after, limit);
      after = places.length < limit ? null : (places.at(-1) ?? null);
      if (after === null) laps -= 1;
      return places.map(({ orderHash }) => orderHash);
    },
  };
}
