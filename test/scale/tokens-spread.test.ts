import { afterAll, beforeAll, expect, it } from "vitest";
import { findCollection } from "#projections/collections/find-collection.ts";
import { type TokenKey, tokenSorts } from "#projections/tokens/read-token-filter.ts";
import { readTokens } from "#projections/tokens/read-tokens.ts";
import { readTraitKeys } from "#projections/traits/read-tokens-with-traits.ts";
import { block } from "../support/database/given.ts";
import {
  collectionsRegistered,
  described,
  holders,
  nfts,
} from "../support/market-data/token-market.ts";
import { openTokenReads, type TokenReads } from "../support/market-data/token-reads.ts";
import { approval, givenListing, receivedAt, transferred } from "../support/orders/order-facts.ts";

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
});
afterAll(() => reads.close());

const [maker] = holders;
const { punks, kin, kinSecond } = nfts;
/** Ids next to each other, chunks apart with empty ones between, and at both ends of a chunk. */
const near = [0n, 1n, 2n, 3n, 1023n, 1024n, 5000n, 5001n, 9999n, 10_000n];
const far = [7n, 8n, 9n, 2n ** 64n, 2n ** 200n, 2n ** 255n + 1n, 2n ** 256n - 1n];
const tokens = [
  ...near.map((tokenId) => ({ contract: punks.address, tokenId })),
  ...near.map((tokenId) => ({ contract: kin.address, tokenId })),
  ...near.slice(3).map((tokenId) => ({ contract: kinSecond.address, tokenId: tokenId + 20_000n })),
];
const scattered = [
  ...far.map((tokenId) => ({ contract: punks.address, tokenId })),
  ...near.map((tokenId) => ({ contract: kin.address, tokenId })),
  ...far.map((tokenId) => ({ contract: kinSecond.address, tokenId })),
];
type Token = (typeof tokens)[number];

/** Ended when the lists are read, though not by the last tick. */
const atOnce = receivedAt + 1n;

/** Two thirds are red, half are round; a third is listed, of some the only or the cheapest listing has just ended. */
async function openSpread(all: readonly Token[]): Promise<void> {
  if (maker === undefined) throw new Error("no maker to own the tokens");
  await reads.clear();
  await reads.happens(
    ...collectionsRegistered(),
    ...[punks, kin, kinSecond].map(({ address }, log) =>
      approval(address, maker, true, { at: block(1, 5), log }),
    ),
    ...all.map((token, log) => transferred({ ...token, to: maker }, { at: block(1, 10), log })),
    ...all.map(({ contract, tokenId }, index) =>
      described(contract, tokenId, [
        { trait_type: "Color", value: index % 3 === 0 ? "Blue" : "Red" },
        { trait_type: "Form", value: index % 2 === 0 ? "Round" : "Long" },
      ]),
    ),
    ...all
      .filter((_, index) => index % 3 === 1)
      .flatMap((token, index) => {
        const listing = {
          ...token,
          maker,
          standard: "erc721",
          unitPriceWei: BigInt((index * 5) % 7) + 2n,
          salt: BigInt(index),
          endTime: index % 4 === 1 ? atOnce : receivedAt + 1_000n,
        } as const;
        const cheaper = { ...listing, unitPriceWei: 1n, salt: BigInt(1_000 + index) };
        const all = index % 4 === 2 ? [listing, { ...cheaper, endTime: atOnce }] : [listing];
        return all.map((one) => givenListing(one).submitted);
      }),
  );
  await reads.rank();
}

const traits = [
  [["Color", "Red"]],
  [["Form", "Round"]],
  [
    ["Color", "Red"],
    ["Form", "Long"],
  ],
] as const;

it.each([
  ["lie near each other, with gaps", tokens],
  ["lie anywhere", scattered],
])(
  "tokens with traits whose ids %s are those of all that have them, on pages of any size",
  async (_, all) => {
    await openSpread(all);
    for (const slug of ["punks", "kin"]) {
      for (const sort of tokenSorts) {
        const every = await walk(slug, sort, [], 100);
        for (const wanted of traits) {
          const expected = every.filter(({ has }) =>
            wanted.every(([, value]) => has.includes(value)),
          );
          expect(expected.length).toBeGreaterThan(1);
          for (const limit of [1, 3, 100]) {
            expect(await walk(slug, sort, wanted, limit), `${slug} ${sort}`).toEqual(expected);
          }
        }
      }
    }
  },
);

/** All pages of a list. */
async function walk(
  slug: string,
  sort: (typeof tokenSorts)[number],
  wanted: readonly (readonly [string, string])[],
  limit: number,
) {
  const collection = await findCollection(reads.db, 1, slug);
  if (collection === null) throw new Error(`no ${slug}`);
  const { collectionId, contractIds } = collection;
  const traitKeys = await readTraitKeys(reads.db, contractIds, wanted);
  const filter = { collectionId, contractIds, listed: null, tokenIds: null, owner: null };
  const now = new Date(Number(receivedAt) * 1000 + 1000);
  const rows: { id: string; has: unknown[] }[] = [];
  for (let after: TokenKey | null = null; ; ) {
    const slice = { limit, after };
    const page = await readTokens(reads.db, {
      filter: { ...filter, traitKeys },
      sort,
      slice,
      now,
    });
    for (const { row } of page.rows) {
      const has = (row.attributes ?? []).map(({ value }) => value);
      rows.push({ id: `${row.contract}/${row.tokenId}`, has });
    }
    after = page.rows.at(-1)?.key ?? null;
    if (page.rows.length < limit || after === null) return rows;
  }
}
