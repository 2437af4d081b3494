import pino from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { finalBlocks } from "#ops/ponder/follow-finality.ts";
import { openChainReader } from "#ops/reader/chain-reader.ts";
import { readFinalBlocks } from "#projections/activity/read-feed.ts";
import { readChainFinality } from "#projections/log/chain-state.ts";
import {
  growChain,
  type ProvableChain,
  usualBlocks,
} from "#test/reliability/chain/provable-chain.ts";
import { noFaults } from "#test/reliability/node/faults.ts";
import { startFaultyNode } from "#test/reliability/node/faulty-node.ts";
import type { FaultyNode } from "#test/reliability/node/node-state.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { settle } from "#test/support/database/settled-blocks.ts";

const chainId = 1;
const finalityBlocks = 64;

let chain: ProvableChain;
let node: FaultyNode;
let database: TestDatabase;
let ending: AbortController;
let following: Promise<void>;
const faults = new Map<string, string>();

beforeAll(async () => {
  chain = growChain(usualBlocks(300));
  node = await startFaultyNode(chain, 1);
});

beforeEach(async () => {
  database = await createDatabase();
  ending = new AbortController();
  faults.clear();
});

afterEach(async () => {
  ending.abort();
  await following;
  node.faults = noFaults();
  await database.drop();
});

afterAll(() => node?.close());

function follow(): void {
  const { signal } = ending;
  const settings = { chainId, rpcUrls: [node.url], wsUrl: null, logsBlockRange: null, signal };
  const job = finalBlocks({
    db: database.db,
    chain: { chainId, finalityBlocks },
    reader: openChainReader(settings),
    faults,
  });
  following = runJobs(job, { logger: pino({ level: "silent" }), signal });
}

const finality = () => readChainFinality(database.db, chainId);

describe("events are final", () => {
  it("as far as the chain says, whatever the indexer holds for final", async () => {
    node.faults = { ...noFaults(), finalizedDepth: 100 };
    const head = chain.head().number;
    await settle(database.db, chainId, head - 65);
    expect((await readFinalBlocks(database.db, [chainId])).get(chainId)).toBe(BigInt(head - 65));
    follow();
    await expect.poll(finality).toMatchObject({ number: head - 100, saidBy: "tag" });
    expect((await readFinalBlocks(database.db, [chainId])).get(chainId)).toBe(BigInt(head - 100));
    await settle(database.db, chainId, head - 200);
    expect((await readFinalBlocks(database.db, [chainId])).get(chainId)).toBe(BigInt(head - 200));
  });

  it("no sooner after the nodes serve the tag no more, which is said", async () => {
    node.faults = { ...noFaults(), finalizedDepth: 150 };
    follow();
    await expect.poll(finality).toMatchObject({ saidBy: "tag", deepest: 150 });
    node.faults = { ...noFaults(), finalizedDepth: null };
    chain.add(usualBlocks(20));
    await expect
      .poll(finality)
      .toMatchObject({ number: chain.head().number - 150, saidBy: "depth", deepest: 150 });
    expect(faults.get("finalized block")).toContain("no node");
  });
});
