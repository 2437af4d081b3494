import { createClient, type Hex, http, numberToHex, pad } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import type { RpcLog } from "#ops/reader/block-proof.ts";
import { type ChainReader, openChainReader } from "#ops/reader/chain-reader.ts";
import { serveReader } from "#ops/reader/serve-ponder.ts";
import {
  growChain,
  type ProvableChain,
  usualBlocks,
} from "#test/reliability/chain/provable-chain.ts";
import { type Faults, noFaults } from "#test/reliability/node/faults.ts";
import { startFaultyNode } from "#test/reliability/node/faulty-node.ts";
import type { FaultyNode } from "#test/reliability/node/node-state.ts";

type World = { chain: ProvableChain; nodes: FaultyNode[]; reader: ChainReader };

let ending = new AbortController();
let open: FaultyNode[] = [];
afterEach(async () => {
  ending.abort();
  await Promise.all(open.map((node) => node.close()));
  open = [];
  ending = new AbortController();
});

async function openWorld(faults: readonly Partial<Faults>[], blocks = 900): Promise<World> {
  const chain = growChain(usualBlocks(blocks));
  const nodes = await Promise.all(faults.map((_, nth) => startFaultyNode(chain, nth + 1)));
  open = nodes;
  nodes.forEach((node, nth) => {
    node.faults = { ...noFaults(), ...faults[nth] };
  });
  const [{ wsUrl } = { wsUrl: null }] = nodes;
  const reader = openChainReader({
    ...{ chainId: 1, rpcUrls: nodes.map(({ url }) => url), wsUrl, logsBlockRange: null },
    signal: ending.signal,
  });
  await reader.heads.first;
  return { chain, nodes, reader };
}

/** What the chain holds of a range, by place. */
const placesOf = (chain: ProvableChain): string[] =>
  chain
    .blocks()
    .flatMap(({ hash, transactions }) =>
      transactions.flatMap(({ logs }) => logs).map((_, logIndex) => `${hash} ${logIndex}`),
    );

async function readPlaces({ chain, reader }: World): Promise<string[]> {
  const to = chain.head().number;
  const logs = await reader.logs({}, { from: chain.blocks()[0]?.number ?? 0, to });
  return logs.map(({ blockHash, logIndex }) => `${blockHash} ${Number(logIndex)}`);
}

const largeIndexes = (offset: number): Partial<Faults> => ({
  largeIndexes: { fromBlock: 1_000_200, offset },
});

/** Faults of which nothing may be seen in an answer. */
const faults: Record<string, Partial<Faults>> = {
  well: {},
  "every log twice, by range and by block": { doubled: { ranges: true, byHash: true } },
  "every other request for logs reaches a node that is 60 blocks behind": {
    lag: { blocks: 60, share: 0.5, of: "logs", beyondHead: "empty" },
  },
  "every other request reaches a node that is 400 blocks behind": {
    lag: { blocks: 400, share: 0.5, of: "all", beyondHead: "empty" },
  },
  "a range is answered with nothing, once": {
    hidden: { from: 1_000_100, to: 1_000_200, timesLeft: 1 },
  },
  "at most 7 logs an answer, in unknown words": {
    caps: { blocks: 100, results: 7, errors: [{ code: -32_005, message: "no way" }] },
  },
  "one log an answer: less than a block has": {
    caps: { blocks: 1, results: 1, errors: [{ code: -32_005, message: "too much" }] },
  },
  "three calls in a batch": { largestBatch: 3 },
  "no batches": { largestBatch: 0 },
  "answers near to JSON-RPC": {
    form: { errorNull: true, textIds: true, reversed: true, noVersion: true },
  },
  "a fifth of requests fails": { http: { fault: "502", share: 0.2, of: "all" } },
  "a third of blocks is null": { nullBlocks: 0.3 },
  "no receipts": { receipts: "unknown" },
  "receipts whose logs are said to stand elsewhere": { receipts: "misplaced" },
  "log indexes of which some pass 2^32": largeIndexes(0xffffffe2),
  "log indexes of which some pass 2^31": largeIndexes(0x7ffffffe),
  "log indexes beyond 2^31 and no receipts": { receipts: "unknown", ...largeIndexes(0x80000000) },
};

describe("the logs of a range through the reader", () => {
  it.each(Object.entries(faults))("are all and each once: %s", async (_, fault) => {
    const world = await openWorld([fault]);
    expect(await readPlaces(world)).toEqual(placesOf(world.chain));
  });

  it("are read once of the newest blocks, whatever the number of filters", async () => {
    const world = await openWorld([{}]);
    const { counts } = world.nodes[0] as FaultyNode;
    await readPlaces(world);
    const before = counts.requests;
    for (let time = 0; time < 3; time += 1)
      expect(await readPlaces(world)).toEqual(placesOf(world.chain));
    expect(counts.requests - before).toBeLessThan(50);
  });

  it("are read once of a range, whatever the number of filters of an indexer", async () => {
    const world = await openWorld([{}], 1_500);
    const { counts } = world.nodes[0] as FaultyNode;
    const selectors = Array.from({ length: 40 }, (_, nth) => pad(numberToHex(nth + 1)));
    const [log] = await world.reader.logs({}, { from: 1_000_000, to: 1_000_100 });
    const topics = [log?.topics[0] as Hex];
    const filters = [...selectors, ...topics].map((one) => ({ topics: [one] }));
    const served = await serveReader(world.reader, ending.signal);
    const client = createClient({ transport: http(served.addressFor(filters).rpcUrl) });
    const range = { fromBlock: numberToHex(1_000_000), toBlock: numberToHex(1_000_499) };
    const before = counts.requests;
    const answers = await Promise.all(
      filters.map(
        (filter): Promise<RpcLog[]> =>
          client.request({ method: "eth_getLogs", params: [{ ...filter, ...range }] } as never),
      ),
    );
    expect(counts.requests - before).toBeLessThan(20);
    const all = await world.reader.logs({ topics }, { from: 1_000_000, to: 1_000_499 });
    expect(all.length).toBeGreaterThan(10);
    expect(answers.at(-1)).toEqual(all);
    expect(answers.slice(0, -1).flat()).toEqual([]);
  });

  it("come from the node that has old history, where another has none", async () => {
    const pruned = { below: 1_000_500, answer: "empty" } as const;
    const world = await openWorld([{ pruned }, {}]);
    expect(await readPlaces(world)).toEqual(placesOf(world.chain));
  });

  it("are not answered while the only node has no old history, and are all when it has", async () => {
    const pruned = { below: 1_000_500, answer: "empty" } as const;
    const world = await openWorld([{ pruned }]);
    const reading = readPlaces(world);
    const { nodes, reader } = world;
    await expect.poll(() => reader.pool.nodes[0]?.lacksUpTo).toBeGreaterThan(0);
    const [node] = nodes;
    if (node) node.faults = noFaults();
    expect(await reading).toEqual(placesOf(world.chain));
  });
});

it("a node without receipts has no fault, and is not asked for them again", async () => {
  const { chain, nodes, reader } = await openWorld([{ receipts: "unknown" }], 50);
  const [one, other] = chain.blocks().slice(-40, -38);
  const logsOf = async (hash: `0x${string}` = "0x") =>
    reader.blocks.logsOf(await reader.blocks.byHash({ hash }, false));
  await logsOf(one?.hash);
  // Receipts that cannot be believed would be a fault of the node.
  const [node] = nodes;
  if (node) node.faults = { ...noFaults(), receipts: "misplaced" };
  const logs = other?.transactions.flatMap((transaction) => transaction.logs);
  expect(await logsOf(other?.hash)).toHaveLength(logs?.length ?? -1);
  expect(reader.pool.nodes).toMatchObject([{ failures: 0, fault: null }]);
});

describe("the newest block through the reader", () => {
  const caughtUp = ({ chain, reader }: World) =>
    expect.poll(() => reader.heads.head()?.hash, { timeout: 20_000 }).toBe(chain.head().hash);

  it.each([
    [
      "a node that is 3 blocks behind half of the time",
      { lag: { blocks: 3, share: 0.5, of: "all", beyondHead: "empty" } },
    ],
    ["a websocket that is quiet", { socket: "quiet" }],
    ["a websocket that is refused", { socket: "refused" }],
    ["altered logs half of the time", { altered: 0.5 }],
  ] as const)("is found, and never goes back: %s", async (_, fault) => {
    const world = await openWorld([fault as Partial<Faults>], 50);
    const numbers: number[] = [];
    world.reader.heads.listen(({ number }) => numbers.push(Number(number)));
    for (let block = 0; block < 5; block += 1) {
      world.chain.add(usualBlocks(1));
      await caughtUp(world);
    }
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  it.each([
    ["of the same length", 3, 3],
    ["that is shorter", 6, 3],
    ["that is longer", 2, 9],
  ])("follows a branch %s", async (_, depth, blocks) => {
    const world = await openWorld([{}], 50);
    await caughtUp(world);
    world.chain.replace(depth, usualBlocks(blocks));
    await caughtUp(world);
    expect(world.reader.heads.hashAt(world.chain.head().number)).toBe(world.chain.head().hash);
  });

  it("answers no height with a block of another branch, where many blocks came at once", async () => {
    const world = await openWorld([{}], 50);
    world.chain.add(usualBlocks(20));
    await caughtUp(world);
    world.chain.replace(40, usualBlocks(41));
    await caughtUp(world);
    for (const { number, hash } of world.chain.blocks()) {
      expect([undefined, hash]).toContain(world.reader.heads.hashAt(number));
    }
  });

  it("waits, and says why, while its logs are not all there", async () => {
    const world = await openWorld([{}], 50);
    const [node] = world.nodes;
    const before = world.chain.head().hash;
    if (node) node.faults = { ...noFaults(), hasNoLogs: true, receipts: "unknown" };
    world.chain.add(usualBlocks(1));
    await expect.poll(() => world.reader.waiting()?.reason, { timeout: 20_000 }).toMatch(/bloom/);
    expect(world.reader.heads.head()?.hash).toBe(before);
    if (node) node.faults = noFaults();
    await caughtUp(world);
    await expect.poll(() => world.reader.waiting()).toBeNull();
  });

  it("has its logs, however many blocks in a row a node answers without theirs", async () => {
    const world = await openWorld([{}], 50);
    const { chain, nodes, reader } = world;
    await readPlaces(world);
    const [node] = nodes;
    if (node) node.faults = { ...noFaults(), hasNoLogs: true, receipts: "unknown" };
    chain.add(usualBlocks(20));
    const added = chain.blocks().slice(-20);
    for (const { hash } of added) {
      const block = await reader.blocks.byHash({ hash }, false);
      await expect(reader.blocks.logsOf(block, 0)).rejects.toThrow(/bloom/);
    }
    if (node) node.faults = noFaults();
    await caughtUp(world);
    expect(await readPlaces(world)).toEqual(placesOf(chain));
  });
});
