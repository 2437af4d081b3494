import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import {
  collectionRegistered,
  contractRoyaltyStated,
  operatorRoyaltyStated,
  type StatedRoyalty,
} from "#projections/collections/facts.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import { creatorFeeRead } from "#projections/partners/sync-fees.ts";
import { feesOfSale } from "#projections/sales/read-sale.ts";
import { addressOf, appendEvents, block, zeroAddress } from "#test/support/database/given.ts";
import { nfts } from "#test/support/market-data/token-market.ts";
import { openTokenReads, type TokenReads } from "#test/support/market-data/token-reads.ts";
import { filled, givenListing } from "#test/support/orders/order-facts.ts";

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
});
afterAll(() => reads.close());
beforeEach(async () => {
  await reads.clear();
  await sell();
});

const [creator, stranger] = [addressOf(0xcafe), addressOf(0x717)];
const contract = nfts.punks.address;
const soldAt = block(1, 5_000);
const at = new Date(1_700_000_000_000);

/** A sale with a service fee, a part for the creator and a tip of the buyer. */
async function sell(): Promise<void> {
  const terms = { maker: addressOf(300), contract, tokenId: 1n, salt: 1n };
  const order = givenListing({ ...terms, royaltyWei: 5n * 10n ** 16n });
  const { components } = order;
  const [sellersLeg] = components.consideration;
  if (sellersLeg === undefined) throw new Error("the order pays nobody");
  const tip = { ...sellersLeg, recipient: stranger, startAmount: 10n ** 17n };
  const consideration = [...components.consideration, tip];
  const tipped = { ...order, components: { ...components, consideration } };
  await appendEvents(reads.db, [filled(tipped, 1n, { at: soldAt, log: 0 })]);
  await reads.happens();
}

const Sales = z.object({
  data: z.array(
    z.looseObject({ fees: z.array(z.looseObject({ recipient: z.string(), kind: z.string() })) }),
  ),
});

/** Of the fees of the sale after the service's. */
async function kinds(): Promise<Record<string, string>> {
  const { data } = Sales.parse(await reads.answer("/v1/sales?chainId=1"));
  const fees = data[0]?.fees ?? [];
  expect(fees.map(({ recipient }) => recipient).slice(1)).toEqual([creator, stranger]);
  expect(fees[0]?.kind).toBe("service");
  return Object.fromEntries(fees.slice(1).map(({ recipient, kind }) => [recipient, kind]));
}

const basis = { number: BigInt(soldAt.number), hash: soldAt.hash, timestamp: at };
const stated = (royalty: StatedRoyalty) =>
  contractRoyaltyStated({ chainId: 1, contract, royalty, basis });
const required = (recipient = creator) => ({
  ...({ chainId: 1, contract, marketplace: "opensea", change: 0, readAt: at } as const),
  fees: [{ recipient, bps: 500, isRequired: true }],
});
const registered = (recipient = creator) =>
  collectionRegistered({
    chainId: 1,
    primary: contract,
    payload: {
      ...{ chainId: 1, slug: "punks", name: "Punks", verified: true, primary: contract },
      ...{ contracts: [contract], royalty: { recipient, bps: 500 } },
    },
    replaces: 0n,
    recordedAt: at,
  });

it("a part that goes to nobody known is no royalty, however small", async () => {
  expect(await kinds()).toEqual({ [creator]: "other", [stranger]: "other" });
});

it.each<[string, Observation[]]>([
  ["the contract states it (ERC-2981)", [stated({ recipient: creator, bps: 500 })]],
  [
    "the contract stated it before another",
    [stated({ recipient: creator, bps: 500 }), stated({ recipient: addressOf(9), bps: 100 })],
  ],
  ["a partner requires it", [creatorFeeRead(required())]],
  [
    "an operator decided it",
    [
      operatorRoyaltyStated({
        chainId: 1,
        contract,
        royalty: { recipient: creator, bps: 500 },
        at,
      }),
    ],
  ],
  ["it is configured", [registered()]],
])("the creator's part is a royalty once %s, and the tip is not", async (_, facts) => {
  await appendObservations(reads.db, facts);
  await reads.happens();
  expect(await kinds()).toEqual({ [creator]: "royalty", [stranger]: "other" });
});

it.each<[string, Observation[]]>([
  ["no share", [stated({ recipient: creator, bps: 0 })]],
  ["nobody", [stated({ recipient: null, bps: 500 })]],
  ["the zero address", [stated({ recipient: zeroAddress, bps: 500 })]],
  [
    "a fee that waits for an operator",
    [creatorFeeRead({ ...required(), review: { state: "held", reason: "above_cap" } })],
  ],
])("%s makes no royalty", async (_, facts) => {
  await appendObservations(reads.db, facts);
  await reads.happens();
  expect(await kinds()).toEqual({ [creator]: "other", [stranger]: "other" });
});

it("another contract's recipient is nobody known", async () => {
  const elsewhere = { chainId: 1, contract: nfts.editions.address, basis } as const;
  await appendObservations(reads.db, [
    contractRoyaltyStated({ ...elsewhere, royalty: { recipient: creator, bps: 500 } }),
  ]);
  await reads.happens();
  expect(await kinds()).toEqual({ [creator]: "other", [stranger]: "other" });
});

it("analysts' views and exports say the same", async () => {
  await appendObservations(reads.db, [stated({ recipient: creator, bps: 500 })]);
  await reads.happens();
  const { rows } = await sql<{ kinds: string[] }>`
    select array(select fee ->> 'kind' from jsonb_array_elements(${sql.raw(feesOfSale("o"))}) fee) as kinds
    from sales.sale o`.execute(reads.db);
  expect(rows).toEqual([{ kinds: ["service", "royalty", "other"] }]);
});
