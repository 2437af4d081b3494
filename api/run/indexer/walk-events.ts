import type { ChainClient } from "../../work/chain/clients.ts";
import { type ChainEvent, fetchEvents } from "./chain-events.ts";
import type { SourceFilter } from "./source-filters.ts";

const initialWidth = 500;
const maxWidth = 10_000;

export type Walk = {
  from: number;
  to: number;
  /** Blocks of one step; null: found out by trying. */
  width: number | null;
};

/** The events of a range of blocks, step by step: fewer blocks where a node refuses, more while it does not. */
export async function* walkEvents(
  client: ChainClient,
  filters: readonly SourceFilter[],
  { from, to, width: fixedWidth }: Walk,
): AsyncGenerator<{ range: { from: number; to: number }; events: ChainEvent[] }> {
  let next = from;
  let width = fixedWidth ?? initialWidth;
  while (next <= to) {
    const range = { from: next, to: Math.min(next + width - 1, to) };
    const events = await fetchEvents(client, filters, range);
    if (events === null) {
      width = Math.max(1, Math.floor(width / 2));
      continue;
    }
    yield { range, events };
    next = range.to + 1;
    width = Math.min(width * 2, fixedWidth ?? maxWidth);
  }
}
