import type { ChainClient } from "../../background/chain/clients.ts";
import { type ChainEvent, fetchEvents } from "./chain-events.ts";
import type { SourceFilter } from "./source-filters.ts";

const initialWidth = 500;
const maxWidth = 10_000;

export type Walk = {
  from: number;
  to: number;
  /** Blocks per request; null: adapted to what the node accepts. */
  width: number | null;
};

/** Fetches the events of a range of blocks in steps: fewer blocks after a node rejects a request, more after it succeeds. */
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
