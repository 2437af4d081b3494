import fc from "fast-check";
import { expect, it } from "vitest";
import { chainIds } from "#chains/index.ts";
import { mergedPage } from "./merged-list.ts";

type Row = { readonly chain: number; readonly place: number; readonly rank: number | null };

/** Lists with cursors of their own, as the endpoints' are: the place after the last row. */
function listsOf(ranks: readonly (readonly (number | null)[])[]) {
  const lists = ranks.map((all, chain) => all.map((rank, place): Row => ({ chain, place, rank })));
  const page = (cursor: string, perPage: number) =>
    mergedPage<Row>({
      ...{ chains: chainIds.slice(0, lists.length), cursor, perPage },
      async read(chainId, { cursor: from = "0", per_page }) {
        const list = lists[chainIds.indexOf(chainId)] ?? [];
        const end = Number(from) + Number(per_page);
        const next_cursor = end < list.length ? String(end) : null;
        return { data: list.slice(Number(from), end), meta: { next_cursor } };
      },
      rankOf: ({ rank }) => rank,
    });
  return { lists, page };
}

async function pagesOf(page: ReturnType<typeof listsOf>["page"], perPage: number) {
  const pages: Row[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { rows, next }: Awaited<ReturnType<typeof page>> = await page(cursor, perPage);
    pages.push([...rows]);
    cursor = next;
  }
  return pages;
}

const rank = fc.oneof({ weight: 4, arbitrary: fc.nat(20) }, fc.constant(null));
const list = fc.array(rank, { maxLength: 12 });

it("has each row of each list once, in its list's order, on full pages", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(list, { minLength: 1, maxLength: chainIds.length }),
      fc.integer({ min: 1, max: 9 }),
      async (ranks, perPage) => {
        const { lists, page } = listsOf(ranks);
        const pages = await pagesOf(page, perPage);
        for (const [chain, own] of lists.entries())
          expect(pages.flat().filter((row) => row.chain === chain)).toEqual(own);
        expect(pages.slice(0, -1).every((rows) => rows.length === perPage)).toBe(true);
      },
    ),
  );
});

it("is in the order of ranks, where each list is", async () => {
  const sorted = fc
    .array(fc.nat(20), { maxLength: 12 })
    .map((ranks) => ranks.toSorted((one, other) => other - one));
  await fc.assert(
    fc.asyncProperty(
      fc.array(sorted, { minLength: 1, maxLength: chainIds.length }),
      fc.integer({ min: 1, max: 9 }),
      async (ranks, perPage) => {
        const rows = (await pagesOf(listsOf(ranks).page, perPage)).flat();
        expect(rows.map((row) => row.rank)).toEqual(
          ranks.flat().toSorted((one, other) => other - one),
        );
      },
    ),
  );
});

it("has what is unknown no lower than what its list has below it", async () => {
  const { page } = listsOf([
    [null, 8, null],
    [9, 7, 1],
  ]);
  const { rows } = await page("", 10);
  expect(rows.map(({ chain, place }) => `${chain}${place}`)).toEqual([
    ...["10", "00", "01", "11", "12", "02"],
  ]);
});
