import type { ChainReader } from "#api/background/chain-reader/chain-reader.ts";
import { type ChainEvent, readEvents } from "./chain-events.ts";
import type { SourceFilter } from "./source-filters.ts";

const usualWidth = 2_000;

export type Walk = {
  from: number;
  to: number;
  /** Blocks of a step; null: the usual number. */
  width: number | null;
};

/** Reads the events of a range of blocks in steps. */
export async function* walkEvents(
  reader: ChainReader,
  filters: readonly SourceFilter[],
  { from, to, width }: Walk,
): AsyncGenerator<{ range: { from: number; to: number }; events: ChainEvent[] }> {
  const step = width ?? usualWidth;
  for (let next = from; next <= to; next += step) {
    const range = { from: next, to: Math.min(next + step - 1, to) };
    yield { range, events: await readEvents(reader, filters, range) };
  }
}
