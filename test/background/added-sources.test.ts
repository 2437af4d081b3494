import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type Address, encodeAbiParameters, type Hex, pad, toEventSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { seedMarket } from "#devnet/market/seed.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { runRole as runIndexer } from "#ops/processes/roles/indexer.ts";
import { runRole as runProjector } from "#ops/processes/roles/projector.ts";
import type { RunningRole } from "#ops/processes/roles/role.ts";
import { allProjections } from "#projections/all.ts";
import { exchanges } from "#projections/exchanges/exchanges.ts";
import type { Exchange } from "#projections/exchanges/model/exchange.ts";
import { readSettledNumber } from "#projections/log/audit.ts";
import { hasProjectionsWithin, readIndexerStates } from "#projections/log/progress.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { bazaarEvents } from "../integration/sales/example-exchange/abi.ts";
import { bazaar, bazaarAddress } from "../integration/sales/example-exchange/exchange.ts";
import { differenceOf, readLayout } from "../simulation/contents.ts";
import { dumpFacts } from "../support/chain/chain-replay.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "../support/chain/rpc-proxy.ts";
import { pipelineConfig, pipelineSettings, until } from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { runOp } from "../support/processes/op.ts";

const chainId = 33139;
/** Ponder's for this chain. */
const finality = 30;
/** Newest blocks that the chain reader reads one by one. */
const provedTail = 512;
const table = exchanges as Exchange[];
const built = [...table];
/** Emits its calldata as a log with three topics. */
const emitter = "0x60603603806060600037604035602035600035836000a35000";
const sold = toEventSelector(bazaarEvents[0]);

type GetLogs = { address?: Address | Address[]; fromBlock: Hex; toBlock: Hex };
type Line = { msg: string; indexer?: string; ponderPid?: number };
type Installation = {
  database: TestDatabase;
  settings: Record<string, string>;
  lines: Line[];
  stop(): Promise<void>;
};

let directory: string;
let market: Market;
let proxy: RpcProxy;
let added: Installation;
/** Ranges of `eth_getLogs`, with the addresses that they name. */
let asked: { addresses: Address[]; from: number; to: number }[] = [];
/** Requests for the exchange's history wait while this is set. */
let closed: Promise<void> | null = null;
let onWaiting = () => {};

beforeAll(async () => {
  table.splice(1);
  directory = await mkdtemp(join(tmpdir(), "added-sources-"));
  await writeFile(join(directory, "curated.json"), "[]");
  market = await openMarket({ chainId });
  await seedMarket(market.client, { chainId, seed: 19 });
  await market.client.setCode({ address: bazaarAddress, bytecode: emitter });
  for (let tokenId = 1; tokenId <= 12; tokenId += 1) await sell(tokenId);
  // What is older is read by ranges, of which each names its addresses.
  await market.client.mine({ blocks: provedTail + finality });
  proxy = await startRpcProxy(market.anvil.rpcUrl);
  proxy.before = async (calls) => {
    for (const { method, params } of calls) {
      if (method !== "eth_getLogs") continue;
      const { address = [], fromBlock, toBlock } = params[0] as GetLogs;
      if (fromBlock === undefined) continue;
      const addresses = [address].flat().map((one) => one.toLowerCase() as Address);
      asked.push({ addresses, from: Number(fromBlock), to: Number(toBlock) });
      if (closed === null || !addresses.includes(bazaarAddress)) continue;
      onWaiting();
      await closed;
    }
  };
  added = await install(await createDatabase());
});

afterAll(async () => {
  table.splice(0, table.length, ...built);
  await added?.stop();
  await added?.database.drop();
  await proxy?.close();
  await market?.stop();
  await rm(directory, { recursive: true });
});

/** An event of the exchange, and no transfer. */
async function sell(tokenId: number): Promise<void> {
  const { client } = market;
  const [seller, buyer] = (await client.getAddresses()) as [Address, Address];
  const values = [contracts.punks, BigInt(tokenId), 1_000n + BigInt(tokenId), 25n] as const;
  const types = ["address", "uint256", "uint256", "uint256"].map((type) => ({ type }));
  const data = encodeAbiParameters(types, values).slice(2);
  const topics = [sold, pad(seller), pad(buyer)].map((topic) => topic.slice(2)).join("");
  await client.sendTransaction({ account: seller, to: bazaarAddress, data: `0x${topics}${data}` });
  await client.mine({ blocks: 1 });
}

async function install(database: TestDatabase): Promise<Installation> {
  const options = {
    databaseUrl: database.url,
    chains: [{ chainId, rpcUrl: proxy.url }],
    settings: {
      COLLECTIONS_33139: contracts.punks,
      CURATED_FILE: join(directory, "curated.json"),
      LOG_LEVEL: "info",
    },
  };
  const lines: Line[] = [];
  const installation = {
    database,
    settings: await pipelineSettings(options),
    lines,
    stop: async () => {},
  };
  await start(installation, options);
  return installation;
}

async function start(
  installation: Installation,
  options = {
    databaseUrl: installation.database.url,
    chains: [{ chainId, rpcUrl: proxy.url }],
    settings: installation.settings,
  },
): Promise<void> {
  const config = await pipelineConfig(options);
  const logger = pino(
    { level: "info" },
    { write: (line) => installation.lines.push(JSON.parse(line)) },
  );
  const context = { config, logger, signal: new AbortController().signal };
  const running: RunningRole[] = [await runProjector(context), await runIndexer(context)];
  installation.stop = async () => {
    for (const role of running.splice(0)) await role.stop();
  };
}

const states = ({ database }: Installation) => readIndexerStates(database.db, chainId, null);

async function stateOf(installation: Installation, indexer: string) {
  return (await states(installation)).find((one) => one.indexer === indexer);
}

const follows = (installation: Installation, indexer: string) =>
  until(`${indexer} to follow new blocks`, async () => {
    const state = await stateOf(installation, indexer);
    return state?.state === "following" && state.indexed !== null;
  });

/** Waits until their indexers have the newest block: one may still be mined when interval mining is turned off. */
async function haveNewestBlock(...installations: Installation[]): Promise<void> {
  const behind = async () => {
    const newest = Number(await market.client.getBlockNumber());
    const all = (await Promise.all(installations.map(states))).flat();
    return all.filter(({ indexed }) => indexed !== newest);
  };
  await expect.poll(behind).toEqual([]);
}

/** Waits until the log holds the exchange's events of these tokens, and no others of it. */
async function recordsSales(installation: Installation, tokens: number[]): Promise<void> {
  const found = async () => {
    const facts = await dumpFacts(installation.database.db);
    return facts.flatMap((fact) => {
      const [, tokenId] = /"event": "Sold".*|^$/.exec(fact)
        ? (/"tokenId": "(\d+)"/.exec(fact) ?? [])
        : [];
      return tokenId === undefined ? [] : [Number(tokenId)];
    });
  };
  const isFound = async () => `${await found()}` === `${tokens}`;
  await until(`sales of tokens ${tokens}`, isFound).catch(async () =>
    expect(await found()).toEqual(tokens),
  );
}

const pidOf = ({ lines }: Installation, indexer: string) =>
  lines.findLast((line) => line.msg === "Ponder started" && line.indexer === indexer)?.ponderPid ??
  0;

/** How two installations differ, in facts or in rows of any projection. */
async function differences(one: Installation, other: Installation): Promise<string[]> {
  const [left, right] = [one.database.db, other.database.db];
  expect(await dumpFacts(left)).toEqual(await dumpFacts(right));
  const config = readConfig(one.settings);
  const feeRecipient = config.fees.recipient ?? bazaarAddress;
  const found: string[] = [];
  for (const { name } of allProjections({ feeRecipient })) {
    const place = async ({ database: { db } }: Installation) => ({
      ...{ db, schema: schemaOf(name), layout: await readLayout(db, schemaOf(name)) },
    });
    const difference = await differenceOf(await place(one), await place(other));
    if (difference !== null) found.push(`${name}:\n${difference}`);
  }
  return found;
}

const projected = ({ database }: Installation) =>
  until("the projections", () => hasProjectionsWithin(database.db, 0));

describe("a source that is added to an installation", () => {
  let settled: number;

  it("is indexed by a later release alone, while everything else goes on", async () => {
    const head = Number(await market.client.getBlockNumber());
    settled = await until("the first start's history", async () => {
      const number = await readSettledNumber(added.database.db, chainId);
      return number >= head - finality && number;
    });
    expect(await states(added)).toMatchObject([{ indexer: "core", exchanges: ["seaport"] }]);
    await recordsSales(added, []);
    await added.stop();

    table.push(bazaar);
    asked = [];
    let open = () => {};
    closed = new Promise((resolve) => {
      open = resolve;
    });
    const waiting = new Promise<void>((resolve) => {
      onWaiting = resolve;
    });
    await start(added);
    await waiting;
    expect(await stateOf(added, "bazaar")).toMatchObject({ state: "catching_up" });

    // What is new on the chain is recorded meanwhile, and a reorg of it followed.
    const { client } = market;
    const [account] = (await client.getAddresses()) as [Address];
    const nonce = await client.getTransactionCount({ address: account });
    const mined = async () => Number(await client.getBlockNumber());
    const indexed = async (block: number) =>
      until(`block ${block}`, async () => ((await stateOf(added, "core"))?.indexed ?? 0) >= block);
    await client.mine({ blocks: 3 });
    await indexed(await mined());
    await client.request({ method: "anvil_reorg" as never, params: [2, []] as never });
    await client.mine({ blocks: 2 });
    await indexed(await mined());
    expect(await client.getTransactionCount({ address: account })).toBe(nonce);

    // Its process is killed in the middle, and starts again.
    const pid = pidOf(added, "bazaar");
    const corePid = pidOf(added, "core");
    process.kill(pid, "SIGKILL");
    open();
    closed = null;
    await market.client.setIntervalMining({ interval: 1 });
    await follows(added, "bazaar");
    expect(pidOf(added, "bazaar")).not.toBe(pid);
    expect(pidOf(added, "core")).toBe(corePid);
    await recordsSales(added, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it("made no other range be read again", () => {
    // A block's logs without a filter prove that a node has old ones.
    const ranges = asked.filter(({ addresses, from, to }) => addresses.length > 0 || to > from);
    const others = ranges.filter(({ addresses }) => !addresses.includes(bazaarAddress));
    expect(others.filter(({ from }) => from <= settled)).toEqual([]);
    expect(ranges.some(({ from }) => from <= settled)).toBe(true);
  });

  it("follows new blocks and their reorgs, of which no other has an event", async () => {
    const before = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    // The sale stays the newest block, however long it takes to be recorded.
    await market.client.setIntervalMining({ interval: 0 });
    await sell(90);
    await recordsSales(added, [...before, 90]);
    await market.client.request({ method: "anvil_reorg" as never, params: [4, []] as never });
    await market.client.setIntervalMining({ interval: 1 });
    await recordsSales(added, before);
    await sell(13);
    await recordsSales(added, [...before, 13]);
  });

  it("is added and removed by an operator, each without another's being indexed again", async () => {
    const { settings } = added;
    const corePid = pidOf(added, "core");
    const address = contracts.editions;
    const add = await runOp(settings, "sources", "add", address, "--chain", `${chainId}`);
    expect(add).toMatchObject({ code: 0, stderr: "" });
    await follows(added, address);
    const editions = (await dumpFacts(added.database.db)).filter((fact) =>
      fact.includes(` ${address.slice(2)} `),
    );
    expect(editions.length).toBeGreaterThan(0);

    const remove = await runOp(settings, "sources", "remove", "bazaar", "--chain", `${chainId}`);
    expect(remove).toMatchObject({ code: 0, stderr: "" });
    const { code, stdout } = await runOp(settings, "sources", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).chains[0].sources).toMatchObject([
      { source: "seaport", indexer: "core", state: "following", removedBy: null },
      { source: contracts.punks, indexer: "core", state: "following" },
      { source: "bazaar", indexer: "bazaar", state: "removed", removedBy: "operator" },
      { source: address, indexer: address, state: "following", addedBy: "operator" },
    ]);
    const pid = pidOf(added, "bazaar");
    await until("its process to end", async () => !isAlive(pid));
    await sell(14);
    const height = Number(await market.client.getBlockNumber());
    await until("the block", async () => ((await stateOf(added, "core"))?.indexed ?? 0) >= height);
    await recordsSales(added, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);

    expect(
      await runOp(settings, "sources", "add", "bazaar", "--chain", `${chainId}`),
    ).toMatchObject({ code: 0 });
    await recordsSales(added, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect(pidOf(added, "core")).toBe(corePid);
  });

  it("leaves the facts and rows of an installation that had it from the start", async () => {
    await market.client.setIntervalMining({ interval: 0 });
    const head = Number(await market.client.getBlockNumber());
    const other = await install(await createDatabase());
    try {
      await runOp(other.settings, "sources", "add", contracts.editions, "--chain", `${chainId}`);
      await market.client.setIntervalMining({ interval: 1 });
      await follows(other, contracts.editions);
      expect(await states(other)).toMatchObject([
        { indexer: "core", exchanges: ["bazaar", "seaport"].toSorted() },
        { indexer: contracts.editions },
      ]);
      await market.client.setIntervalMining({ interval: 0 });
      expect(Number(await market.client.getBlockNumber())).toBeGreaterThan(head);
      await haveNewestBlock(added, other);
      const counts = async () =>
        Promise.all([added, other].map(async (one) => (await dumpFacts(one.database.db)).length));
      await until("the same facts", async () => new Set(await counts()).size === 1);
      await Promise.all([projected(added), projected(other)]);
      expect(await differences(added, other)).toEqual([]);
    } finally {
      await other.stop();
      await other.database.drop();
    }
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
