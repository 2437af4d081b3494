import { expect } from "vitest";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { allProjections } from "#projections/all.ts";
import { orderQuantity } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import { orderSubmitted } from "#projections/orders/read-signed-orders.ts";
import type { Random } from "#test/simulation/random.ts";
import { createProjections } from "../database/given.ts";
import { createDatabase, type TestDatabase } from "../database/postgres.ts";
import { openNftDataApp } from "../http/nft-data-fixture.ts";
import { serve } from "../http/openapi.ts";
import { feeRecipient } from "../orders/order-facts.ts";
import { followChain, readLoggedBlocks } from "./followed-chain.ts";
import { type Market, openMarket } from "./market.ts";
import { playTransfers } from "./played-chain.ts";

export const followedChain = 33139;
const rounds = 8;
const movesOfRound = 10;

type Played = {
  readonly prepare: (market: Market) => Promise<void>;
  /** One move; orders are appended to the database. */
  readonly move: (market: Market, database: TestDatabase) => Promise<void>;
};

/** A local chain on which makers moved, with reorgs, a database that followed it, and its API. */
export async function openFollowedMarket(random: Random, played: Played) {
  const market = await openMarket({ chainId: followedChain });
  const database = await createDatabase({ template: "projected" });
  const end = async () => {
    await database.drop();
    await market.stop();
  };
  try {
    await playRounds(market, database, random, played);
    const api = await serve(openNftDataApp(database.db, {}));
    const blocks = await readLoggedBlocks(database.db, followedChain);
    const kept = blocks.filter(({ isRetracted }) => !isRetracted).map(({ number }) => number);
    return {
      ...{ market, api },
      retracted: blocks.length - kept.length,
      /** Blocks to ask about. */
      asked: kept.slice(kept.length / 5),
      async close(): Promise<void> {
        await api.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function playRounds(
  market: Market,
  database: TestDatabase,
  random: Random,
  { prepare, move }: Played,
): Promise<void> {
  const targets = await createProjections(database.db, allProjections({ feeRecipient }));
  const play = playTransfers(market, random);
  await prepare(market);
  for (let round = 0; round < rounds; round += 1) {
    for (let done = 0; done < movesOfRound; done += 1) await move(market, database);
    await followChain(database.db, market, targets);
    if (random.chance(0.7)) await play.reorganize();
  }
  await play.play(1);
  await followChain(database.db, market, targets);
}

/** Appends an order as signed and known to us at once, after what it rests on. */
export async function submitOrder(
  { db }: TestDatabase,
  { components, signature }: SignedOrder,
  terms: Parameters<typeof orderSubmitted>[0]["terms"],
  before: readonly Observation[] = [],
): Promise<void> {
  await appendObservations(db, [
    ...before,
    orderSubmitted({
      ...{ chainId: followedChain, orderHash: orderHash(components), components, signature, terms },
      receivedAt: new Date(0),
    }),
  ]);
}

const OrderRow = z.object({ orderHash: z.string(), status: z.string(), quantityFilled: z.int() });

/** A list of orders, and its field that says why one is not active. */
type OrderList = { readonly path: string; readonly reason: "invalidReason" | "inactiveReason" };

type Stage = Awaited<ReturnType<typeof openFollowedMarket>>;

/** What a list of orders tells of one. Undefined: it is not there. */
export async function readAnswered(
  { api }: Stage,
  { path, reason }: OrderList,
  { components }: SignedOrder,
) {
  const { status, body } = await api.get(path);
  expect([path, status, status === 200 ? "" : body]).toEqual([path, 200, ""]);
  const Row = OrderRow.loose().transform((row) => ({
    ...row,
    reason: z.string().nullable().parse(row[reason]),
  }));
  const rows = z.object({ data: z.array(Row) }).parse(body).data;
  return rows.find((one) => one.orderHash === orderHash(components));
}

type AnsweredOrder = Awaited<ReturnType<typeof readAnswered>>;
type OrderThen = Awaited<ReturnType<typeof readOrderThen>>;

/** Whether the answer has as much of it filled, or cancelled, as the exchange tells. */
export function expectStateThen(
  about: readonly unknown[],
  answered: AnsweredOrder,
  { filled, quantity, isCancelled }: OrderThen,
): void {
  const isFilled = filled === quantity;
  expect([...about, BigInt(answered?.quantityFilled ?? -1)]).toEqual([...about, filled]);
  expect([...about, answered?.status === "filled"]).toEqual([...about, isFilled]);
  expect([...about, answered?.status === "cancelled"]).toEqual([
    ...about,
    isCancelled && !isFilled,
  ]);
}

/**
 * Asks so many questions, and more while a state was not among the answers, ten times as many at most: what the chain does
 * differs from run to run. `compare` returns the state.
 */
export async function expectStates(
  wanted: readonly string[],
  questions: number,
  compare: () => Promise<string>,
): Promise<void> {
  const states = new Set<string>();
  const isDone = () => wanted.every((one) => states.has(one));
  for (let count = 0; count < questions || (!isDone() && count < 10 * questions); count += 1)
    states.add(await compare());
  expect([...states]).toEqual(expect.arrayContaining([...wanted]));
}

/** A transaction that may be refused by the chain changes nothing. */
export async function attemptMove(move: () => Promise<unknown>): Promise<void> {
  try {
    await move();
  } catch (error) {
    if (!(error instanceof Error && /revert/.test(error.message))) throw error;
  }
}

/** What the exchange answered of an order at the end of a block. Units. */
export async function readOrderThen(
  { client }: Pick<Market, "client">,
  { components }: SignedOrder,
  blockNumber: bigint,
): Promise<{ filled: bigint; quantity: bigint; isCancelled: boolean }> {
  const exchange = { address: seaportAddresses["1.6"], abi: seaportFunctions } as const;
  const [[, isCancelled, numerator, denominator], counter] = await Promise.all([
    client.readContract({
      ...{ ...exchange, functionName: "getOrderStatus", args: [orderHash(components)] },
      blockNumber,
    }),
    client.readContract({
      ...{ ...exchange, functionName: "getCounter", args: [components.offerer] },
      blockNumber,
    }),
  ]);
  const quantity = orderQuantity(components);
  const filled = denominator === 0n ? 0n : (quantity * numerator) / denominator;
  return { filled, quantity, isCancelled: isCancelled || counter !== components.counter };
}
