import { maxUint256, parseEther } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Actor } from "#devnet/market/actors.ts";
import { criteriaTree } from "#projections/domain/seaport/criteria.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { orderQuantity } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { tokenSetSubmitted } from "#projections/orders/token-sets.ts";
import { randomFrom } from "#test/simulation/random.ts";
import {
  attemptMove,
  expectStates,
  expectStateThen,
  followedChain,
  openFollowedMarket,
  readAnswered,
  readOrderThen,
  submitOrder,
} from "#test/support/chain/followed-market.ts";
import type { Market } from "#test/support/chain/market.ts";
import { readOwner } from "#test/support/chain/played-chain.ts";
import type { TestDatabase } from "#test/support/database/postgres.ts";
import { simulateFills } from "#test/truth/simulate-fills.ts";

/** More for a whole run: `PAST_QUESTIONS=2000 npx vitest run --project integration past/bid-chain-law`. */
const questions = Number(process.env.PAST_QUESTIONS ?? 80);
let stage: Awaited<ReturnType<typeof openFollowedMarket>>;
const random = randomFrom(Number(process.env.PAST_SEED ?? 50));
let bidders: readonly Actor[];
let seller: Actor;
type Bid = { order: SignedOrder; maker: Actor; nft: Nft | null; tokenSet?: readonly bigint[] };
const bids: Bid[] = [];
const ids = Array.from({ length: 8 }, (_, index) => 1_001n + BigInt(index));
const punk = (tokenId: bigint): Nft => ({
  ...{ standard: "erc721", contract: contracts.punks, tokenId },
});
const edition: Nft = { standard: "erc1155", contract: contracts.editions, tokenId: 1n };
const wei = (most: number) => BigInt(random.int(1, most)) * 10n ** 15n;

async function offerFor(maker: Actor, priceWei: bigint) {
  const nft = punk(random.pick(ids));
  return { order: await maker.offers(nft, { priceWei }), nft };
}

/** Signed and known to us at once: before its start nobody can fill it. */
async function bid(database: TestDatabase): Promise<void> {
  const maker = random.pick(bidders);
  const priceWei = wei(20);
  const offer = random.pick<() => Promise<Omit<Bid, "maker"> & { quantity?: bigint }>>([
    () => offerFor(maker, priceWei),
    () => offerFor(maker, priceWei),
    async () => {
      const quantity = BigInt(random.int(1, 4));
      return { order: await maker.offers(edition, { priceWei, quantity }), nft: edition, quantity };
    },
    async () => {
      const quantity = BigInt(random.int(1, 2));
      const wanted = { standard: "erc721", contract: contracts.punks, priceWei, quantity } as const;
      return { order: await maker.offersForCollection(wanted), nft: null, quantity };
    },
    async () => {
      const tokenSet = random.shuffle([...ids]).slice(0, random.int(1, 3));
      const wanted = { standard: "erc721", contract: contracts.punks, priceWei } as const;
      const order = await maker.offersForCollection({ ...wanted, tokenIds: tokenSet });
      return { order, nft: null, tokenSet };
    },
  ]);
  const { quantity = 1n, ...one } = await offer();
  bids.push({ ...one, maker });
  await submit(database, { ...one, maker }, { priceWei, quantity });
}

async function submit(
  database: TestDatabase,
  { order, nft, tokenSet }: Bid,
  { priceWei, quantity }: { priceWei: bigint; quantity: bigint },
): Promise<void> {
  const { contract, standard = "erc721" } = nft ?? punk(0n);
  const root = tokenSet && criteriaTree(tokenSet).root;
  const terms = {
    ...({ side: "bid", contract, standard, quantity, fees: [] } as const),
    ...{ tokenId: nft?.tokenId ?? null, unitPriceWei: priceWei, sellerNetWei: priceWei },
    ...(root && { criteria: { root, traits: null } }),
  };
  const set = root && tokenSet ? [{ contract, root, tokenIds: tokenSet }] : [];
  const sets = set.map((one) => tokenSetSubmitted(followedChain, one, new Date(0)));
  await submitOrder(database, order, terms, sets);
}

async function holderOf({ client }: Market, tokenId: bigint): Promise<Actor | undefined> {
  const owner = await readOwner(client, contracts.punks, tokenId);
  return [...bidders, seller].find(({ address }) => address.toLowerCase() === owner);
}

/** By whoever has the token. */
async function accept(market: Market, { order, nft, tokenSet }: Bid): Promise<void> {
  if (nft?.standard === "erc1155") {
    const left = Number(orderQuantity(order.components));
    const units = BigInt(random.int(1, left));
    return void (await (random.chance(0.5)
      ? seller.accepts(order)
      : seller.acceptsForCollection(order, { tokenId: nft.tokenId, units })));
  }
  const tokenId = nft?.tokenId ?? random.pick(tokenSet ?? ids);
  const holder = await holderOf(market, tokenId);
  if (nft) await holder?.accepts(order);
  else
    await holder?.acceptsForCollection(order, { tokenId, ...(tokenSet && { tokenIds: tokenSet }) });
}

async function move(market: Market, database: TestDatabase): Promise<void> {
  const one = bids.length === 0 ? undefined : random.pick(bids);
  if (one === undefined || random.chance(0.3)) return await bid(database);
  const { order, maker, nft } = one;
  await attemptMove(
    random.pick<() => Promise<unknown>>([
      () => accept(market, one),
      () => accept(market, one),
      () => accept(market, one),
      () => maker.wraps(wei(40)),
      () => maker.unwraps(wei(20)),
      () => maker.sendsWrapped(random.pick(bidders), wei(20)),
      () => maker.allows(random.pick([wei(20), wei(60), maxUint256])),
      () => maker.cancels(order),
      () => (random.chance(0.2) ? maker.incrementsCounter() : maker.wraps(wei(40))),
      async () => nft?.standard === "erc721" && (await holderOf(market, nft.tokenId))?.burns(nft),
    ]),
  );
}

async function prepare({ actors: { alice, bob, carol, grace } }: Market): Promise<void> {
  [bidders, seller] = [[alice, bob, carol], grace];
  for (const tokenId of ids) await seller.mints(punk(tokenId));
  for (const tokenId of ids.slice(6)) await seller.burns(punk(tokenId));
  await seller.mints(edition, 40n);
  for (const actor of [...bidders, seller]) {
    await actor.approves(contracts.punks);
    await actor.approves(contracts.editions);
    await actor.wraps(parseEther("0.1"));
    await actor.allows(maxUint256);
  }
}

beforeAll(async () => {
  stage = await openFollowedMarket(random, { prepare, move });
});
afterAll(() => stage?.close());

function answeredThen({ order, nft }: Bid, block: bigint) {
  const contract = nft?.contract ?? contracts.punks;
  const subject = `maker=${order.components.offerer}&collection=${contract}`;
  const path = `/v1/bids?chainId=${followedChain}&${subject}&status=all&per_page=100&at=${block}`;
  return readAnswered(stage, { path, reason: "inactiveReason" }, order);
}

/** Whether the exchange would have filled what is left of it at the end of a block; null: its token did not exist. */
async function fillsThen({ order, nft, tokenSet }: Bid, left: bigint, block: bigint) {
  const { client, anvil } = stage.market;
  const owner =
    nft?.standard === "erc721" ? readOwner(client, nft.contract, nft.tokenId, block) : "";
  if ((await owner) === null) return null;
  const { timestamp } = await client.getBlock({ blockNumber: block });
  const stored = {
    ...{ side: "bids" as const, id: "", orderHash: orderHash(order.components), ...order },
    ...(tokenSet && { tokenSet }),
  };
  const tried = [{ order: stored, units: left }];
  const [result] = await simulateFills(anvil.rpcUrl, tried, Number(timestamp), block);
  return result?.fills ?? null;
}

/** Returns the state that was compared. */
async function compare(one: Bid, blockNumber: bigint): Promise<string> {
  const hash = orderHash(one.order.components);
  const [shown, then] = await Promise.all([
    answeredThen(one, blockNumber),
    readOrderThen(stage.market, one.order, blockNumber),
  ]);
  const about = [blockNumber, hash, shown?.status, shown?.reason];
  expectStateThen(about, shown, then);
  const { filled, quantity } = then;
  if (filled < quantity) {
    const fills = await fillsThen(one, quantity - filled, blockNumber);
    const isShown = shown?.status === "active";
    expect([...about, isShown]).toEqual([...about, fills ?? false]);
  }
  return shown?.reason ?? shown?.status ?? "unknown";
}

it(`${questions} bids at random blocks, with reorgs before and after, are in the state that the exchange tells and fills by`, async () => {
  expect(stage.retracted).toBeGreaterThan(3);
  const states = [
    ...["active", "filled", "cancelled", "token_burned"],
    ...["insufficient_balance", "insufficient_allowance"],
  ];
  await expectStates(states, questions, () => compare(random.pick(bids), random.pick(stage.asked)));
});
