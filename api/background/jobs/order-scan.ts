import type { Hex } from "viem";

/** Repeated passes over a list of orders, a batch at a time. */
export type OrderScan = {
  /** Requests a full pass, starting at the current position. */
  restart(): void;
  /** The next batch; empty when the pass is complete. */
  nextBatch(): Promise<Hex[]>;
};

export function createOrderScan<Position extends { orderHash: Hex }>(
  read: (after: Position | null, limit: number) => Promise<Position[]>,
  limit: number,
): OrderScan {
  let after: Position | null = null;
  let passesLeft = 0;
  return {
    restart() {
      // In the middle of a pass, orders before the position were read too early and need another pass.
      passesLeft = after === null ? 1 : 2;
    },
    async nextBatch() {
      if (passesLeft === 0) return [];
      const batch = await read(after, limit);
      after = batch.length < limit ? null : (batch.at(-1) ?? null);
      if (after === null) passesLeft -= 1;
      return batch.map(({ orderHash }) => orderHash);
    },
  };
}
