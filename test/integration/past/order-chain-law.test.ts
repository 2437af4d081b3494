import { encodeFunctionData, parseEther, zeroHash } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Actor } from "#devnet/market/actors.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { advancedOrder, orderQuantity } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
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
import type { TestDatabase } from "#test/support/database/postgres.ts";

/** More for a whole run: `PAST_QUESTIONS=2000 npx vitest run --project integration past/order-chain-law`. */
const questions = Number(process.env.PAST_QUESTIONS ?? 80);
let stage: Awaited<ReturnType<typeof openFollowedMarket>>;
const random = randomFrom(Number(process.env.PAST_SEED ?? 49));
let makers: readonly Actor[];
let buyer: Actor;
const orders: { order: SignedOrder; maker: Actor; nft: Nft }[] = [];
const tokens: Nft[] = [1n, 2n, 3n, 4n].map((tokenId) => ({
  ...{ standard: "erc721" as const, contract: contracts.punks },
  tokenId: 1_000n + tokenId,
}));
const edition: Nft = { standard: "erc1155", contract: contracts.editions, tokenId: 1n };

/** Signed and known to us at once: before its start nobody can fill it. */
async function list(database: TestDatabase): Promise<void> {
  const maker = random.pick(makers);
  const isEdition = random.chance(0.4);
  const nft = isEdition ? edition : random.pick(tokens);
  const quantity = isEdition ? BigInt(random.int(1, 4)) : 1n;
  const priceWei = BigInt(random.int(1, 20)) * 10n ** 15n;
  const order = await maker.lists(nft, { priceWei, quantity });
  orders.push({ order, maker, nft });
  const terms = {
    ...({ side: "ask", contract: nft.contract, standard: nft.standard ?? "erc721" } as const),
    ...{ tokenId: nft.tokenId, quantity, unitPriceWei: priceWei, sellerNetWei: priceWei, fees: [] },
  };
  await submitOrder(database, order, terms);
}

async function move(_: Market, database: TestDatabase): Promise<void> {
  const one = orders.length === 0 ? undefined : random.pick(orders);
  if (one === undefined || random.chance(0.3)) return await list(database);
  const { order, maker, nft } = one;
  const other = random.pick(makers);
  const units = BigInt(random.int(1, Number(orderQuantity(order.components))));
  await attemptMove(
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

async function prepare({ actors: { alice, bob, carol, grace } }: Market): Promise<void> {
  [makers, buyer] = [[alice, bob, carol], grace];
  for (const [index, nft] of tokens.entries()) await makers[index % 3]?.mints(nft);
  for (const maker of makers) {
    await maker.mints(edition, 4n);
    await maker.approves(contracts.punks);
    await maker.approves(contracts.editions);
  }
}

beforeAll(async () => {
  stage = await openFollowedMarket(random, { prepare, move });
});
afterAll(() => stage?.close());

function answeredThen({ order, nft }: (typeof orders)[number], block: bigint) {
  const subject = `maker=${order.components.offerer}&collection=${nft.contract}&token_id=${nft.tokenId}`;
  const path = `/v1/listings?chainId=${followedChain}&${subject}&status=all&marketplace=native&per_page=100&at=${block}`;
  return readAnswered(stage, { path, reason: "invalidReason" }, order);
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
    await stage.market.client.call({
      ...{ account: buyer.address, to: seaportAddresses["1.6"], data, value, blockNumber },
      stateOverride: [{ address: buyer.address, balance: parseEther("1000") }],
    });
    return true;
  } catch (error) {
    if (error instanceof Error && /revert/.test(error.message)) return false;
    throw error;
  }
}

/** Returns the state that was compared. */
async function compare(one: (typeof orders)[number], blockNumber: bigint): Promise<string> {
  const [shown, fills, then] = await Promise.all([
    answeredThen(one, blockNumber),
    fillsThen(one.order, blockNumber),
    readOrderThen(stage.market, one.order, blockNumber),
  ]);
  const hash = orderHash(one.order.components);
  const about = [blockNumber, hash, shown?.status, shown?.reason];
  // A dearer one of the same maker and token can be filled all the same.
  const isOpen = shown?.status === "active" || shown?.reason === "superseded";
  expect([...about, isOpen]).toEqual([...about, fills]);
  expectStateThen(about, shown, then);
  return shown?.reason ?? shown?.status ?? "unknown";
}

it(`${questions} listings at random blocks, with reorgs before and after, are in the state that the exchange tells and fills by`, async () => {
  expect(stage.retracted).toBeGreaterThan(3);
  const states = ["active", "filled", "cancelled", "not_owner", "not_approved"];
  await expectStates(states, questions, () =>
    compare(random.pick(orders), random.pick(stage.asked)),
  );
});
