import { encodeFunctionData, parseEther, zeroHash } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Actor } from "#devnet/market/actors.ts";
import { allProjections } from "#projections/all.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { advancedOrder, orderQuantity } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { appendObservations } from "#projections/log/append.ts";
import { orderSubmitted } from "#projections/orders/read-signed-orders.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { followChain, readLoggedBlocks } from "#test/support/chain/followed-chain.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { playTransfers } from "#test/support/chain/played-chain.ts";
import { createProjections } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openNftDataApp } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { feeRecipient } from "#test/support/orders/order-facts.ts";

/** More for a whole run: `PAST_QUESTIONS=2000 npx vitest run --project integration past/order-chain-law`. */
const questions = Number(process.env.PAST_QUESTIONS ?? 80);
const chainId = 33139;
const rounds = 8;
const movesOfRound = 10;
const exchange = { address: seaportAddresses["1.6"], abi: seaportFunctions } as const;

let market: Market;
let database: TestDatabase;
let api: ApiClient;
const random = randomFrom(Number(process.env.PAST_SEED ?? 49));
let play: ReturnType<typeof playTransfers>;
let makers: readonly Actor[];
let buyer: Actor;
const orders: { order: SignedOrder; maker: Actor; nft: Nft }[] = [];
const tokens: Nft[] = [1n, 2n, 3n, 4n].map((tokenId) => ({
  ...{ standard: "erc721" as const, contract: contracts.punks },
  tokenId: 1_000n + tokenId,
}));
const edition: Nft = { standard: "erc1155", contract: contracts.editions, tokenId: 1n };

/** Signed and known to us at once: before its start nobody can fill it. */
async function list(): Promise<void> {
  const maker = random.pick(makers);
  const isEdition = random.chance(0.4);
  const nft = isEdition ? edition : random.pick(tokens);
  const quantity = isEdition ? BigInt(random.int(1, 4)) : 1n;
  const priceWei = BigInt(random.int(1, 20)) * 10n ** 15n;
  const order = await maker.lists(nft, { priceWei, quantity });
  orders.push({ order, maker, nft });
  const { components, signature } = order;
  const terms = {
    ...({ side: "ask", contract: nft.contract, standard: nft.standard ?? "erc721" } as const),
    ...{ tokenId: nft.tokenId, quantity, unitPriceWei: priceWei, sellerNetWei: priceWei, fees: [] },
  };
  await appendObservations(database.db, [
    orderSubmitted({
      ...{ chainId, orderHash: orderHash(components), components, signature, terms },
      receivedAt: new Date(0),
    }),
  ]);
}

/** A transaction that may be refused by the chain changes nothing. */
async function attempt(move: () => Promise<unknown>): Promise<void> {
  try {
    await move();
  } catch (error) {
    if (!(error instanceof Error && /revert/.test(error.message))) throw error;
  }
}

async function move(): Promise<void> {
  const one = orders.length === 0 ? undefined : random.pick(orders);
  if (one === undefined || random.chance(0.3)) return await list();
  const { order, maker, nft } = one;
  const other = random.pick(makers);
  const units = BigInt(random.int(1, Number(orderQuantity(order.components))));
  await attempt(
    random.pick<() => Promise<unknown>>([
      () => buyer.buys(order, { units }),
      () => buyer.buys(order, { units }),
      () => maker.transfers(nft, other, 1n),
      () => buyer.transfers(nft, other, 1n),
      () => maker.cancels(order),
      () => maker.revokes(nft.contract),
      () => maker.approves(nft.contract),
      () => maker.approves(nft.contract),
      () => (random.chance(0.2) ? maker.incrementsCounter() : maker.mints(edition, 2n)),
    ]),
  );
}

beforeAll(async () => {
  market = await openMarket({ chainId });
  database = await createDatabase({ template: "projected" });
  const targets = await createProjections(database.db, allProjections({ feeRecipient }));
  play = playTransfers(market, random);
  const { alice, bob, carol, grace } = market.actors;
  [makers, buyer] = [[alice, bob, carol], grace];
  for (const [index, nft] of tokens.entries()) await makers[index % 3]?.mints(nft);
  for (const maker of makers) {
    await maker.mints(edition, 4n);
    await maker.approves(contracts.punks);
    await maker.approves(contracts.editions);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (let done = 0; done < movesOfRound; done += 1) await move();
    await followChain(database.db, market, targets);
    if (random.chance(0.7)) await play.reorganize();
  }
  await play.play(1);
  await followChain(database.db, market, targets);
  api = await serve(openNftDataApp(database.db, {}));
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
  await market?.stop();
});

const Listed = z.object({
  data: z.array(
    z.object({
      orderHash: z.string(),
      status: z.string(),
      invalidReason: z.string().nullable(),
      quantityFilled: z.int(),
    }),
  ),
});

async function statusThen({ order, nft }: (typeof orders)[number], block: bigint) {
  const subject = `maker=${order.components.offerer}&collection=${nft.contract}&token_id=${nft.tokenId}`;
  const path = `/v1/listings?chainId=${chainId}&${subject}&status=all&marketplace=native&per_page=100&at=${block}`;
  const { status, body } = await api.get(path);
  expect([path, status, status === 200 ? "" : body]).toEqual([path, 200, ""]);
  const hash = orderHash(order.components);
  return Listed.parse(body).data.find((one) => one.orderHash === hash);
}

/** Whether the exchange would have filled a unit at the end of a block. */
async function fillsThen({ components, signature }: SignedOrder, blockNumber: bigint) {
  const data = encodeFunctionData({
    abi: seaportFunctions,
    functionName: "fulfillAdvancedOrder",
    args: [advancedOrder({ components, signature }, 1n), [], zeroHash, buyer.address],
  });
  const value = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  try {
    await market.client.call({
      ...{ account: buyer.address, to: exchange.address, data, value, blockNumber },
      stateOverride: [{ address: buyer.address, balance: parseEther("1000") }],
    });
    return true;
  } catch (error) {
    if (error instanceof Error && /revert/.test(error.message)) return false;
    throw error;
  }
}

/** How often each state was compared. */
const states = new Map<string, number>();

async function compare(one: (typeof orders)[number], blockNumber: bigint): Promise<void> {
  const { order } = one;
  const hash = orderHash(order.components);
  const { client } = market;
  const [shown, fills, [, isCancelled, numerator, denominator], counter] = await Promise.all([
    statusThen(one, blockNumber),
    fillsThen(order, blockNumber),
    client.readContract({ ...exchange, functionName: "getOrderStatus", args: [hash], blockNumber }),
    client.readContract({
      ...{ ...exchange, functionName: "getCounter", args: [order.components.offerer] },
      blockNumber,
    }),
  ]);
  const about = [blockNumber, hash, shown?.status, shown?.invalidReason];
  const filled =
    denominator === 0n ? 0n : (orderQuantity(order.components) * numerator) / denominator;
  // A dearer one of the same maker and token can be filled all the same.
  const isOpen = shown?.status === "active" || shown?.invalidReason === "superseded";
  expect([...about, isOpen]).toEqual([...about, fills]);
  expect([...about, BigInt(shown?.quantityFilled ?? -1)]).toEqual([...about, filled]);
  const isFilled = filled === orderQuantity(order.components);
  const isEnded = isCancelled || counter !== order.components.counter;
  expect([...about, shown?.status === "filled"]).toEqual([...about, isFilled]);
  expect([...about, shown?.status === "cancelled"]).toEqual([...about, isEnded && !isFilled]);
  const name = shown?.invalidReason ?? shown?.status ?? "unknown";
  states.set(name, (states.get(name) ?? 0) + 1);
}

it(`${questions} listings at random blocks, with reorgs before and after, are in the state that the exchange tells and fills by`, async () => {
  const blocks = await readLoggedBlocks(database.db, chainId);
  expect(blocks.filter(({ isRetracted }) => isRetracted).length).toBeGreaterThan(3);
  const kept = blocks.filter(({ isRetracted }) => !isRetracted).map(({ number }) => number);
  const asked = kept.slice(kept.length / 5);
  for (let count = 0; count < questions; count += 1)
    await compare(random.pick(orders), random.pick(asked));
  expect([...states.keys()]).toEqual(
    expect.arrayContaining(["active", "filled", "cancelled", "not_owner", "not_approved"]),
  );
});
