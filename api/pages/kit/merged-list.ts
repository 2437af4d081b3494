import type { ChainId } from "#chains/index.ts";

type Part<Row> = {
  readonly data: readonly Row[];
  readonly meta?: { readonly next_cursor?: string | null | undefined } | undefined;
};

type Merging<Row> = {
  readonly chains: readonly ChainId[];
  /** "": from the beginning. Of several chains one for each, in their order. */
  readonly cursor: string;
  readonly perPage: number;
  /** A page of a chain's own list. */
  readonly read: (
    chainId: ChainId,
    slice: { readonly cursor: string | undefined; readonly per_page: string },
  ) => Promise<Part<Row>>;
  /** What chains' rows are compared by, the highest first; null: unknown. */
  readonly rankOf: (row: Row) => number | null;
};

/** Between the cursors of chains, and in place of one whose list has ended: neither is in a cursor. */
const [between, ended] = ["~", "."];

/** A page of several chains' lists as one. Each keeps its order; the list of a single chain is as it is. */
export async function mergedPage<Row>({
  chains,
  cursor,
  perPage,
  read,
  rankOf,
}: Merging<Row>): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const cursors = cursorsOf(cursor, chains.length);
  const readPart = async (place: number, count: number): Promise<Part<Row>> => {
    const [chainId, from] = [chains[place], cursors[place]];
    if (chainId === undefined || from === ended) return { data: [] };
    return read(chainId, { cursor: from || undefined, per_page: String(count) });
  };
  const parts = await Promise.all(chains.map((_, place) => readPart(place, perPage)));
  const { rows, counts } = mergeRows(
    parts.map(({ data }) => data),
    perPage,
    rankOf,
  );
  const next = await Promise.all(
    parts.map(async ({ data, meta }, place) => {
      const count = counts[place] ?? 0;
      if (count === data.length) return meta?.next_cursor ?? ended;
      if (count === 0) return cursors[place] ?? "";
      // The list's own cursor after the rows that are shown.
      return (await readPart(place, count)).meta?.next_cursor ?? ended;
    }),
  );
  return { rows, next: next.every((one) => one === ended) ? null : next.join(between) };
}

/** One that is not of as many chains is left to the lists, which refuse it. */
function cursorsOf(cursor: string, count: number): readonly string[] {
  const cursors = cursor.split(between);
  return cursors.length === count ? cursors : Array.from({ length: count }, () => cursor);
}

/** Rows in the order of their ranks, as far as lists allow it, and how many are of each list. */
function mergeRows<Row>(
  lists: readonly (readonly Row[])[],
  most: number,
  rankOf: (row: Row) => number | null,
): { readonly rows: readonly Row[]; readonly counts: readonly number[] } {
  const ranks = lists.map((list) => ranksOf(list.map(rankOf)));
  const counts = lists.map(() => 0);
  const rows: Row[] = [];
  const headOf = (place: number) => ranks[place]?.[counts[place] ?? 0] ?? Number.NEGATIVE_INFINITY;
  while (rows.length < most) {
    const left = [...lists.keys()].filter(
      (place) => (counts[place] ?? 0) < (lists[place]?.length ?? 0),
    );
    if (left.length === 0) break;
    const best = left.reduce((one, other) => (headOf(other) > headOf(one) ? other : one));
    rows.push(...(lists[best]?.slice(counts[best], (counts[best] ?? 0) + 1) ?? []));
    counts[best] = (counts[best] ?? 0) + 1;
  }
  return { rows, counts };
}

/** One that is unknown is that of the next of its list, which stands no higher; without any, of the last. */
const ranksOf = (ranks: readonly (number | null)[]): readonly number[] =>
  ranks.map((rank, place) => rank ?? ranks.slice(place).find((one) => one !== null) ?? 0);
