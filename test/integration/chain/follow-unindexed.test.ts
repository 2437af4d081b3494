import { sql } from "kysely";
import { pino } from "pino";
import { type Hash, numberToHex, parseEther } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { fetchCanonicalHashes, openChainClient } from "#jobs/chain/client.ts";
import { unindexedEvents } from "#jobs/orders/follow-unindexed.ts";
import { openHeadWatch } from "#jobs/orders/head-watch.ts";
import { unindexedSources } from "#jobs/orders/unindexed-sources.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { checkObservationBlocks } from "#projections/log/audit.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type FactKind, factKind } from "#projections/log/fact-kinds.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  type IntakeFixture,
  openIntakeFixture,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

const chainId = 1;
const fundsWei = parseEther("2");

let stand: IntakeFixture;
let stop = async () => {};
let nextId = 90_000n;

beforeAll(async () => {
  // Known by their transfers so far; from here on neither these nor the currency's are indexed.
  stand = await openIntakeFixture(chainId, { wrappedNativeEvents: "none" });
});
afterAll(() => stand?.close());
beforeEach(async () => {
  const { carol } = stand.market.actors;
  await carol.unwraps(await wrappedOf(carol.address));
  await carol.wraps(fundsWei);
  await carol.allows(parseEther("100"));
  await stand.record();
});
afterEach(async () => {
  await stop();
  stop = async () => {};
  stand.node.override = () => undefined;
  stand.node.before = async () => {};
});

/** The job, as the jobs role runs it. */
function follow(): void {
  const ending = new AbortController();
  const { signal } = ending;
  const client = openChainClient({ chainId, rpcUrls: [stand.node.url], timeoutMs: 2_000 });
  const logger = pino({ level: "silent" });
  const head = openHeadWatch({ client, wsUrl: stand.market.anvil.wsUrl, logger, signal });
  const given = { wrappedNativeEvents: "none", readIndexedCollections: async () => [] } as const;
  const jobs = unindexedSources(stand.db, client, given).map((source) =>
    unindexedEvents({ db: stand.db, client, source, head }),
  );
  const done = runJobs(jobs, { logger, signal });
  stop = async () => {
    ending.abort();
    await done;
  };
}

const wrappedOf = (owner: `0x${string}`) =>
  stand.market.client.readContract({
    address: wrappedNative[chainId],
    abi: [
      {
        type: "function",
        name: "balanceOf",
        stateMutability: "view",
        inputs: [{ type: "address" }],
        outputs: [{ type: "uint256" }],
      },
    ],
    functionName: "balanceOf",
    args: [owner],
  });

async function submit(side: "listings" | "bids", order: SignedOrder): Promise<string> {
  const kind = side === "listings" ? "asks" : "bids";
  const answer = await stand.post(`/v1/orders/${kind}`, { chainId, seaport: wireOrder(order) });
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 201 });
  return `/v1/${side}/mkt-${orderHash(order.components)}?chainId=${chainId}`;
}

async function stateOf(path: string): Promise<string> {
  const { body } = await stand.api.get(path);
  const { status, invalidReason, inactiveReason } = (body as { data: Record<string, string> }).data;
  return [status, invalidReason ?? inactiveReason].filter(Boolean).join(" ");
}

const untilIs = (path: string, state: string) =>
  until(`${path} to be ${state}`, async () => (await stateOf(path)) === state);

async function bids(): Promise<string> {
  nextId += 1n;
  const { alice, carol } = stand.market.actors;
  await alice.mints(punk(nextId));
  await stand.record();
  return submit("bids", await carol.offers(punk(nextId), { priceWei: parseEther("1") }));
}

const reorg = (depth: number, transactions: readonly unknown[] = []) =>
  stand.market.client.request({ method: "anvil_reorg", params: [depth, transactions] } as never);

/** As the recorder does for blocks that it has no event of. */
async function checkObservations(): Promise<void> {
  const client = openChainClient({ chainId, rpcUrls: [stand.market.anvil.rpcUrl] });
  const recording = {
    chainId,
    canonicalHashes: (numbers: readonly bigint[]) => fetchCanonicalHashes(client, numbers),
    now: () => new Date(),
    fence: async () => {},
  };
  await checkObservationBlocks(stand.db, recording as never, 64);
}

async function countOf(kind: FactKind): Promise<number> {
  const { rows } = await sql`select from log.fact where kind = ${factKind[kind]}`.execute(stand.db);
  return rows.length;
}

type Calls = Parameters<IntakeFixture["node"]["before"]>[0];

/** The calls that the node gets. */
function listen(): Calls[number][] {
  const heard: Calls[number][] = [];
  stand.node.before = async (calls) => void heard.push(...calls);
  return heard;
}

const named = (heard: readonly Calls[number][], method: string) =>
  heard.filter((call) => call.method === method);

describe("a bidder's money, of which no event is indexed", () => {
  it("is followed as it is withdrawn, deposited, sent and received", async () => {
    const { bob, carol, dave } = stand.market.actors;
    const bid = await bids();
    follow();
    await untilIs(bid, "active");
    await carol.unwraps(fundsWei);
    await untilIs(bid, "inactive insufficient_balance");
    await carol.wraps(fundsWei);
    await untilIs(bid, "active");
    await carol.sendsWrapped(dave, fundsWei);
    await untilIs(bid, "inactive insufficient_balance");
    await bob.wraps(fundsWei);
    await bob.sendsWrapped(carol, fundsWei);
    await untilIs(bid, "active");
  });

  it("is right at the start, however it moved before", async () => {
    const bid = await bids();
    await stand.market.actors.carol.unwraps(fundsWei);
    expect(await stateOf(bid)).toBe("active");
    follow();
    await untilIs(bid, "inactive insufficient_balance");
  });

  it("costs at most two requests for logs a block, and none for state that nothing touched", async () => {
    const { dave } = stand.market.actors;
    const bid = await bids();
    follow();
    await stand.market.actors.carol.unwraps(fundsWei);
    await untilIs(bid, "inactive insufficient_balance");
    const from = await stand.market.client.getBlockNumber();
    const heard = listen();
    const facts = await readLogHead(stand.db);
    for (let block = 0; block < 5; block += 1) await dave.wraps(1n);
    const to = await stand.market.client.getBlockNumber();
    const isFollowed = ({ params }: Calls[number]) =>
      (params[0] as { toBlock?: string }).toBlock === numberToHex(to);
    await until("the last block", async () => named(heard, "eth_getLogs").some(isFollowed));
    await stop();

    // Both sources share the blocks: two filters of the currency, one of collections.
    expect(named(heard, "eth_getLogs").length).toBeLessThanOrEqual(3 * Number(to - from));
    expect(named(heard, "eth_call")).toEqual([]);
    expect(await readLogHead(stand.db)).toBe(facts);
  });

  it("is caught up with in one request when the node was out of reach for many blocks", async () => {
    const { client, actors } = stand.market;
    const bid = await bids();
    const readings = await countOf("balance_read");
    follow();
    await actors.carol.unwraps(1n);
    await until("its first reading", async () => (await countOf("balance_read")) > readings);
    const isDown = { error: { code: -32000, message: "overloaded" } };
    stand.node.override = ({ method }) => (method === "eth_chainId" ? isDown : undefined);
    await actors.carol.unwraps(fundsWei - 1n);
    await client.mine({ blocks: 25 });
    stand.node.override = () => undefined;
    const heard = listen();
    await untilIs(bid, "inactive insufficient_balance");

    const ranges = named(heard, "eth_getLogs").map(({ params }) => {
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
      return Number(toBlock) - Number(fromBlock);
    });
    expect(Math.max(...ranges)).toBeGreaterThan(10);
  });

  it("is followed in smaller ranges when the node refuses large ones", async () => {
    const { client, actors } = stand.market;
    const bid = await bids();
    follow();
    await untilIs(bid, "active");
    stand.node.override = ({ method, params }) => {
      if (method !== "eth_getLogs") return undefined;
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
      const isLarge = Number(toBlock) - Number(fromBlock) >= 3;
      return isLarge ? { error: { code: -32005, message: "query returned too much" } } : undefined;
    };
    await client.setAutomine(false);
    await client.mine({ blocks: 40 });
    await client.setAutomine(true);
    await actors.carol.unwraps(fundsWei);
    await untilIs(bid, "inactive insufficient_balance");
  });

  it("is read again where the node answers a part only", async () => {
    const bid = await bids();
    follow();
    await untilIs(bid, "active");
    let refused = 0;
    stand.node.override = ({ method }) => {
      if (method !== "eth_call" || refused > 1) return undefined;
      refused += 1;
      return { error: { code: -32000, message: "overloaded" } };
    };
    await stand.market.actors.carol.unwraps(fundsWei);
    await untilIs(bid, "inactive insufficient_balance");
    expect(refused).toBeGreaterThan(0);
  });
});

describe("a reorg", () => {
  it("undoes what the bidder did in the blocks that it removes", async () => {
    const bid = await bids();
    follow();
    await stand.market.actors.carol.unwraps(fundsWei);
    await untilIs(bid, "inactive insufficient_balance");
    await reorg(1);
    await untilIs(bid, "active");
    await checkObservations();
    await untilIs(bid, "active");
  });

  it("leaves what the bidder did where the same transaction is in the new blocks", async () => {
    const bid = await bids();
    follow();
    await stand.market.client.mine({ blocks: 2 });
    const { transactionHash } = await stand.market.actors.carol.unwraps(fundsWei);
    await untilIs(bid, "inactive insufficient_balance");
    await repeatsInNewBlocks(bid, transactionHash);
  });

  it("leaves what was read at the start where the same transaction is in the new blocks", async () => {
    const bid = await bids();
    await stand.market.client.mine({ blocks: 2 });
    const { transactionHash } = await stand.market.actors.carol.unwraps(fundsWei);
    follow();
    await untilIs(bid, "inactive insufficient_balance");
    await repeatsInNewBlocks(bid, transactionHash);
  });
});

/** Replaces the last two blocks by others with the transaction; the bid stays as it is. */
async function repeatsInNewBlocks(bid: string, transactionHash: Hash): Promise<void> {
  const { client } = stand.market;
  const readings = await countOf("balance_read");
  const raw = await client.request({
    method: "eth_getRawTransactionByHash",
    params: [transactionHash],
  } as never);
  await reorg(2, [[raw, 0]]);
  await until(
    "a reading of the new branch",
    async () => (await countOf("balance_read")) > readings,
    60_000,
  );
  await checkObservations();
  await stand.record();
  expect(await stateOf(bid)).toBe("inactive insufficient_balance");
}

describe("tokens of a collection whose transfers are not indexed", () => {
  it("are followed to another owner and back while they are listed", async () => {
    const { alice, bob } = stand.market.actors;
    nextId += 1n;
    await alice.mints(punk(nextId));
    await alice.approves(contracts.punks);
    await stand.record();
    const token = punk(nextId);
    const listing = await submit("listings", await alice.lists(token, { priceWei: 10n ** 17n }));
    follow();
    await alice.transfers(token, bob);
    await untilIs(listing, "inactive not_owner");
    await bob.transfers(token, alice);
    await untilIs(listing, "active");
  });
});
