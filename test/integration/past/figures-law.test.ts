import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { readCollection } from "#projections/collections/read-collections.ts";
import { tokenMetadataFetched } from "#projections/metadata/facts.ts";
import type { Moment } from "#projections/past/moment.ts";
import { pastTraits } from "#projections/past/past-traits.ts";
import { type PastFigures, readPastFigures } from "#projections/past/read-past-figures.ts";
import { readPastTokenDetails } from "#projections/past/read-past-token-details.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import {
  allTokenParts,
  readTokenDetails,
  type TokenDetails,
} from "#projections/tokens/read-token-details.ts";
import { readTraits } from "#projections/traits/read-traits.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import {
  bookContracts,
  bookHeights,
  bookHistory,
  bookTokens,
} from "#test/support/orders/book-history.ts";
import { feeRecipient } from "#test/support/orders/order-facts.ts";
import { knownContractIds, openPlayedBook } from "#test/support/orders/played-book.ts";
import type { BookStep } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const { live, stopped, play, stopAt, drop } = await openPlayedBook(
  allProjections({ feeRecipient }),
);
afterAll(() => drop());

/** Documents that were there before everything, also of tokens that never come to be. */
const documents = (random: Random): BookStep => ({
  facts: bookContracts.flatMap((contract) =>
    [...bookTokens, 3n].map((tokenId) => {
      const attributes = ["Fur", "Hat"].map((type) => {
        return { trait_type: type, value: random.pick(["plain", "gold"]) };
      });
      const about = { chainId: 1, contract, tokenId, recordedAt: new Date(0) } as const;
      const none = { description: null, image: null, animation: null, contentType: null };
      return tokenMetadataFetched(about, null, { ...none, name: `#${tokenId}`, attributes });
    }),
  ),
});

/** What was compared that is not nothing. */
const seen = {
  supplies: 0,
  floors: 0,
  offers: 0,
  sales: 0n,
  washSales: 0n,
  traitFloors: 0,
  bids: 0,
  burned: 0,
};

/** Nothing of then can be bought. */
const figuresOf = ({ floor, ...row }: Omit<PastFigures, "floorBuyable" | "change">) => ({
  ...{ supply: row.supply, holders: row.holders, listed: row.listed },
  ...{ bestOffer: row.bestOffer, salesFigures: row.salesFigures },
  floor: floor && { ...floor, isBuyable: false },
});

/** Of a contract with ids of both standards today's supply counts ids. */
async function unitsOf(contractIds: readonly number[]): Promise<bigint> {
  const { rows } = await sql<{ units: bigint; isEven: boolean }>`
    select units, (case when standard = 1155 then units else supply end) = units as "isEven"
    from ownership.collection where contract_id = any (${contractIds}::int[])`.execute(stopped.db);
  seen.supplies += rows[0]?.isEven ? 1 : 0;
  return rows[0]?.units ?? 0n;
}

async function compareFigures(
  contract: Address,
  [ours, theirs]: [readonly number[], readonly number[]],
  moment: Moment,
): Promise<void> {
  const row = await readCollection(stopped.db, theirs[0] ?? 0, moment.clock);
  const found = figuresOf(await readPastFigures(live.db, ours, moment));
  const about = [moment.point.block, contract];
  // A contract is a collection from its first transfer on: before it, no figure of tokens is above 0.
  if (row === null) {
    const { supply, holders, bestOffer } = found;
    expect([about, supply, holders, bestOffer]).toEqual([about, 0n, 0n, null]);
    return;
  }
  const supply = await unitsOf(theirs);
  expect([about, found]).toEqual([about, { ...figuresOf(row), supply }]);
  seen.floors += found.floor === null ? 0 : 1;
  seen.offers += found.bestOffer === null ? 0 : 1;
  seen.sales += found.salesFigures.all.sales;
  seen.washSales += found.salesFigures.all.washSales;
}

async function compareTraits(
  contract: Address,
  [ours, theirs]: [readonly number[], readonly number[]],
  { point, clock }: Moment,
): Promise<void> {
  const about = [point.block, contract];
  for (const slice of [{ afterTypeKey: null }, { typeKey: "fur", after: null }]) {
    const past = pastTraits(ours, { point, clock });
    const found = await readTraits(live.db, ours, clock, slice, past);
    expect([about, found]).toEqual([about, await readTraits(stopped.db, theirs, clock, slice)]);
    const values = found.types.flatMap((type) => type.values);
    seen.traitFloors += values.filter(({ floorWei }) => floorWei !== null).length;
  }
}

/** Without the numbers of contracts, and ranks, which no moment has. */
function tokenOf(details: TokenDetails | null | undefined) {
  if (!details) return null;
  const { row, listing, bestBid, lastSale } = details;
  const { status, name, attributes, contract, tokenId, standard, owner, supply } = row;
  return {
    ...{ status, name, attributes, contract, tokenId, standard, owner, supply },
    ...{ isBurned: row.isBurned, holders: row.holders },
    ...{ listing: listing?.orderHash, fillable: listing?.fillable, left: listing?.filled },
    ...{ bid: bestBid?.orderHash, kind: bestBid?.kind },
    ...{ sale: lastSale?.saleId, wash: lastSale?.washRule },
  };
}

async function compareToken(
  tokenId: bigint,
  [ours, theirs]: [readonly number[], readonly number[]],
  moment: Moment,
): Promise<void> {
  const now = moment.clock;
  const row = await readToken(stopped.db, theirs, tokenId);
  const wanted = { collectionId: null, parts: allTokenParts, now };
  const [expected] = row === null ? [] : await readTokenDetails(stopped.db, [row], wanted);
  const found = await readPastTokenDetails(live.db, ours, tokenId, moment);
  const about = [moment.point.block, ours, tokenId];
  expect([about, tokenOf(found)]).toEqual([about, tokenOf(expected)]);
  seen.bids += found?.bestBid ? 1 : 0;
  seen.burned += found?.row.isBurned ? 1 : 0;
}

async function compareAt(height: number, history: readonly BookStep[]): Promise<void> {
  const moment = await stopAt(height, history);
  if (moment === null) return;
  for (const contract of bookContracts) {
    const ids: [number[], number[]] = [
      await knownContractIds(live.db, contract),
      await knownContractIds(stopped.db, contract),
    ];
    await compareFigures(contract, ids, moment);
    await compareTraits(contract, ids, moment);
    for (const tokenId of bookTokens) await compareToken(tokenId, ids, moment);
  }
}

it.each(seedsOf([1, 2, 3, 4, 5, 6], 2))(
  "figures, traits and tokens of every block are those of a database that was stopped there, seed %i",
  async (seed) => {
    const random = randomFrom(seed);
    const history = [documents(random), ...bookHistory(random, 160)];
    await play(history);
    for (let height = 1; height <= bookHeights; height += 1) await compareAt(height, history);
  },
);

it("some of everything was among them", () => {
  expect(Object.entries(seen).filter(([, count]) => Number(count) === 0)).toEqual([]);
});
