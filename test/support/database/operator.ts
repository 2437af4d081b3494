import { sql } from "kysely";
import { type Hex, keccak256, stringToHex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { allProjections } from "#projections/all.ts";
import { bindViews, bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import { type Target, targetOf } from "#projections/engine/checkpoint.ts";
import { prepareProjections } from "#projections/engine/rebuild.ts";
import { tick } from "#projections/engine/tick.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import { appendBlockStates } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { givenBid, givenListing } from "../orders/order-facts.ts";
import { runOp, startOp } from "../processes/op.ts";
import {
  addressOf,
  adoptTables,
  appendEvents,
  block,
  type ChainEvent,
  project,
  zeroAddress,
} from "./given.ts";

const feeRecipient = addressOf(99);

/** The environment of an operator; no node answers. */
export const environmentOf = (databaseUrl: string) => ({
  PATH: "/usr/bin:/bin",
  DATABASE_URL: databaseUrl,
  DATA_DIR: "/nonexistent",
  FEE_RECIPIENT: feeRecipient,
  RPC_URL_1: "http://rpc.invalid:8545",
  RPC_URL_33139: "http://127.0.0.1:1",
});

/** Starts an operator command on a database, as an operator does. */
export const startOperator = (databaseUrl: string, args: readonly string[]) =>
  startOp(environmentOf(databaseUrl), args);

export type Outcome = { code: number; out: string; words: string };

/** Runs one to its end. */
export async function operate(databaseUrl: string, ...args: string[]): Promise<Outcome> {
  const { code, stdout, stderr } = await runOp(environmentOf(databaseUrl), ...args);
  return { code, out: stdout, words: stderr };
}

export const apes = addressOf(50);
const [alice, bob] = [addressOf(1), addressOf(2)];

/** A block in which Alice mints a token of its number and sells it to Bob. */
function trade(number: number, branch = "main"): ChainEvent[] {
  const at = { block: block(1, number, branch), contract: apes, tokenId: BigInt(number) };
  const token = { token: apes, identifier: `${number}` };
  const price = { token: zeroAddress, itemType: 0, identifier: "0", amount: `${1_000 + number}` };
  return [
    { ...at, kind: "erc721_transfer", logIndex: 0, from: zeroAddress, to: alice },
    { ...at, kind: "erc721_transfer", logIndex: 1, transactionIndex: 2, from: alice, to: bob },
    {
      kind: "order_fulfilled",
      block: at.block,
      logIndex: 2,
      contract: seaportAddresses["1.6"],
      from: alice,
      to: bob,
      orderHash: orderHashOf(number),
      payload: {
        zone: zeroAddress,
        offer: [{ ...token, itemType: 2, amount: "1" }],
        consideration: [{ ...price, recipient: alice }],
        sender: bob,
        target: seaportAddresses["1.6"],
        calldataTail: null,
      },
    },
  ];
}

/** A fill in a block of its own whose amount is no number: no projection of sales or orders can apply it. */
export async function appendUnreadableOrder(db: Database, number: number): Promise<void> {
  const item = { token: apes, identifier: `${number}`, itemType: 2 };
  const price = {
    token: zeroAddress,
    identifier: "0",
    itemType: 0,
    amount: "1000",
    recipient: alice,
  };
  await appendEvents(db, [
    {
      kind: "order_fulfilled",
      block: block(1, number),
      logIndex: 0,
      contract: seaportAddresses["1.6"],
      from: alice,
      to: bob,
      orderHash: orderHashOf(number),
      payload: {
        zone: zeroAddress,
        offer: [{ ...item, amount: "one" }],
        consideration: [price],
        sender: bob,
        target: seaportAddresses["1.6"],
        calldataTail: null,
      },
    },
  ]);
}

export const orderHashOf = (number: number): Hex => keccak256(stringToHex(`order ${number}`));

/** Bob's listings of the tokens that Alice sold him, and her offers for them. */
export async function appendOrders(db: Database, from: number, to: number): Promise<void> {
  const submitted: Observation[] = [];
  for (let number = from; number <= to; number += 1) {
    const terms = { contract: apes, tokenId: BigInt(number) };
    submitted.push(
      givenListing({ ...terms, maker: bob }).submitted,
      givenBid({ ...terms, maker: alice }).submitted,
    );
  }
  await appendObservations(db, submitted);
}

export async function appendTrades(db: Database, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await appendEvents(
    db,
    numbers.flatMap((number) => trade(number)),
  );
}

/** A cancelled order in each block. */
export async function appendCancels(db: Database, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await appendEvents(
    db,
    numbers.map((number) => ({
      kind: "order_cancelled",
      block: block(1, number),
      logIndex: 50,
      transactionIndex: 5,
      contract: seaportAddresses["1.6"],
      from: addressOf(50),
      orderHash: keccak256(stringToHex(`cancelled ${number}`)),
      payload: { zone: zeroAddress },
    })),
  );
}

/** Blocks of chain 1 leave it, now. */
export async function retractBlocks(db: Database, ...numbers: number[]): Promise<void> {
  const hashes = numbers.map((number) => block(1, number).hash.slice(2));
  const { rows } = await sql<{ id: bigint }>`
    select block_id as id from log.block where encode(hash, 'hex') = any (${hashes}::text[])`.execute(
    db,
  );
  const ids = rows.map(({ id }) => id);
  await db
    .transaction()
    .execute((session) => appendBlockStates(session, "block_retracted", ids, new Date()));
}

/** All projections, as the commands have them. */
export const projections = allProjections({ feeRecipient });

/** Makes the tables of all projections and brings them to the log's end. */
export async function prepare(db: Database): Promise<Target[]> {
  await adoptTables(db, projections);
  await prepareProjections(db, projections, () => {}, bindViews);
  await db.transaction().execute(bindViewsIfStale);
  const targets = projections.map(targetOf);
  // Copied tables are empty; those that were made above are at the log's head.
  await project(db, targets);
  return targets;
}

/** Runs a projector and appends block after block from `number`, until stopped. */
export function goOn(db: Database, targets: readonly Target[], number: number) {
  let stopped = false;
  const work = (async () => {
    for (let next = number; !stopped; next += 1) {
      await appendTrades(db, next, next);
      await tick(db, targets);
    }
  })();
  return async () => {
    stopped = true;
    await work;
  };
}
