import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { verify } from "#projections/engine/verify.ts";
import type { ChainReading } from "#projections/log/readings.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { someElsewhere, someSighting } from "#test/simulation/partners.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import {
  addressOf,
  type Block,
  block,
  dumpTable,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import {
  approval,
  cancelled,
  channelUpdated,
  counterRaised,
  filled,
  type GivenOrder,
  givenListing,
  read,
  receivedAt,
  ticked,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { type Fact, openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection]);
const { db } = book;
afterAll(() => book.drop());
beforeEach(() => book.clear());

const makers = [addressOf(1), addressOf(2)];
const contracts = [addressOf(50), addressOf(51)];
/** Tokens of the first contract are ERC-721, of the second ERC-1155. */
const tokens = [1n, 2n];

/** A chain with forks, of few heights, so that facts arrive in all orders. */
function someBlock(random: Random): Block {
  return block(1, random.int(1, 9), random.chance(0.25) ? "other" : "main");
}

function someListing(random: Random, salt: bigint): GivenOrder {
  const isMany = random.chance(0.5);
  const startsLater = random.chance(0.2) ? BigInt(random.int(1, 50)) : 0n;
  const give = random.chance(0.5) ? givenListing : someElsewhere(random);
  return give({
    chainId: random.chance(0.1) ? 33139 : 1,
    maker: random.pick(makers),
    contract: contracts[isMany ? 1 : 0] ?? zeroAddress,
    standard: isMany ? "erc1155" : "erc721",
    tokenId: random.pick(tokens),
    quantity: isMany ? BigInt(random.int(1, 4)) : 1n,
    unitPriceWei: BigInt(random.int(1, 3)) * 1_000n,
    counter: random.chance(0.2) ? 1n : 0n,
    startTime: receivedAt + startsLater,
    endTime: receivedAt + BigInt(random.int(60, 140)),
    salt,
  });
}

function someReading(random: Random, order: GivenOrder): ChainReading {
  const [maker, owner] = [random.pick(makers), random.pick(makers)];
  const [contract, tokenId] = [random.pick(contracts), random.pick(tokens)];
  const holds = random.chance(0.5);
  const filledUnits = BigInt(random.int(0, Number(order.quantity)));
  return random.pick<ChainReading>([
    {
      kind: "order_status_read",
      orderHash: order.orderHash,
      cancelled: random.chance(0.05),
      filled: filledUnits,
      size: filledUnits === 0n ? 0n : order.quantity,
    },
    { kind: "counter_read", maker, counter: random.chance(0.2) ? 1n : 0n },
    { kind: "approval_read", contract, owner, approved: holds },
    { kind: "owner_read", contract, tokenId, owner: holds ? owner : null },
    { kind: "units_read", contract, tokenId, owner, units: BigInt(random.int(0, 5)) },
    { kind: "transfer_read", contract, tokenId, owner, allowed: holds },
    { kind: "signature_read", orderHash: order.orderHash, maker, valid: holds },
    {
      kind: "recipients_read",
      orderHash: order.orderHash,
      recipients: [maker, owner],
      refusing: holds ? null : owner,
    },
    { kind: "channel_read", open: random.chance(0.8) },
  ]);
}

/** The position of the next event: unique. */
function placing(random: Random) {
  let log = 0;
  return () => {
    log += 1;
    return { at: someBlock(random), log };
  };
}

function someEvent(random: Random, order: GivenOrder, place: ReturnType<typeof placing>): Fact {
  const [from, to] = [random.pick([...makers, zeroAddress]), random.pick(makers)];
  const [maker, tokenId] = [random.pick(makers), random.pick(tokens)];
  const [single = zeroAddress, many = zeroAddress] = contracts;
  const units = BigInt(random.int(1, 4));
  return random.pick<() => Fact>([
    () => transferred({ contract: single, from, to, tokenId }, place()),
    () => transferred({ contract: many, from, to, tokenId, units }, place()),
    () => transferred({ contract: many, from, to, tokenId, units }, place()),
    () => ({
      ...transferred({ contract: single, from, to, tokenId }, place()),
      kind: "erc721_consecutive_transfer",
      amount: units,
    }),
    () => approval(random.pick(contracts), maker, random.chance(0.8), place()),
    () => approval(random.pick(contracts), maker, true, place()),
    () => filled(order, BigInt(random.int(1, Number(order.quantity))), place()),
    () => (random.chance(0.3) ? cancelled(order, place()) : approval(single, maker, true, place())),
    () =>
      random.chance(0.15)
        ? counterRaised(maker, BigInt(random.int(1, 2)), place())
        : transferred({ contract: many, to: maker, tokenId, units }, place()),
    () => channelUpdated(random.chance(0.8), place()),
  ])();
}

/** Both makers hold tokens and have approved the conduit, so that listings start as active. */
async function stockMakers(place: ReturnType<typeof placing>): Promise<void> {
  const [single = zeroAddress, many = zeroAddress] = contracts;
  for (const [index, to] of makers.entries()) {
    const tokenId = tokens[index] ?? 0n;
    await book.appendFacts([
      approval(single, to, true, place()),
      approval(many, to, true, place()),
      transferred({ contract: single, to, tokenId }, place()),
      ...tokens.map((id) => transferred({ contract: many, to, tokenId: id, units: 4n }, place())),
    ]);
  }
}

/**
 * Facts of every kind that listings rest on, in an order that no chain would tell them in. `look` is called after
 * every ten.
 */
async function writeHistory(
  seed: number,
  length: number,
  look: () => Promise<void> = async () => {},
): Promise<void> {
  const random = randomFrom(seed);
  const place = placing(random);
  const orders = Array.from({ length: 24 }, (_, index) => someListing(random, BigInt(index)));
  const waiting = random.shuffle(orders);
  const submit = async () => {
    const next = waiting.pop();
    if (next !== undefined) await book.appendFacts([next.submitted]);
  };
  const happen = () => book.appendFacts([someEvent(random, random.pick(orders), place)]);
  const show = () => book.appendFacts(someSighting(random, random.pick(orders)));
  const observe = () =>
    book.appendFacts([read(someReading(random, random.pick(orders)), someBlock(random))]);
  const reorganize = async () => {
    const state = random.chance(0.4) ? "block_retracted" : "block_readopted";
    await setBlocks(db, state, [someBlock(random)]);
  };
  await stockMakers(place);
  for (let step = 1; step <= length; step += 1) {
    // Late in a history all orders that ended without a fill may be compacted.
    const isLate = step > length * 0.9;
    const clock = receivedAt + BigInt(isLate ? 32 * 86_400 : random.int(0, step));
    const tick = () => book.appendFacts([ticked(clock)]);
    const turns = [
      submit,
      submit,
      submit,
      happen,
      happen,
      happen,
      show,
      show,
      observe,
      observe,
      reorganize,
    ];
    await random.pick<() => Promise<void>>([...turns, random.chance(0.5) ? tick : observe])();
    if (step % 10 === 0) await look();
  }
}

async function tables(schema = "listings"): Promise<string[][]> {
  return [await dumpTable(db, `${schema}.listing`), await dumpTable(db, `${schema}.count`)];
}

/** The tables derived in bulk. */
async function derivedInBulk(): Promise<string[][]> {
  const schema = "listings_shadow";
  await deriveInBulk(db, { projection: listingsProjection, schema });
  const derived = await tables(schema);
  await dropTarget(db, schema);
  return derived;
}

describe("listings of equal logs", () => {
  it.each(seedsOf([1, 2, 3, 4]))(
    "are equal at every position, in any windows (history %i)",
    async (seed) => {
      let most = 0;
      const live = await book.emptyTargets();
      await writeHistory(seed, 150, async () => {
        await project(db, live, 1);
        const now = await tables();
        most = Math.max(most, now[0]?.length ?? 0);
        expect(now).toEqual(await derivedInBulk());
      });
      const one = await tables();
      await project(db, await book.emptyTargets(), 7);
      const seven = await tables();
      await project(db, await book.emptyTargets(), 100_000);

      expect(most).toBeGreaterThan(10);
      expect(seven).toEqual(one);
      expect(await tables()).toEqual(one);
    },
  );

  it("pass a verification by samples", async () => {
    await writeHistory(7, 150);
    await project(db, await book.emptyTargets());
    const { compared, different } = await verify(db, listingsProjection, {
      maxExamples: 5,
      sample: 4,
      onProgress: () => {},
    });

    expect(compared).toBeGreaterThan(0n);
    expect(different).toBe(0n);
  });
});
