import { on } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { type Abi, type Address, decodeEventLog, type Log } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { conduitAbi, seaportEvents } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi, erc1155Abi, wrappedNativeAbi } from "#abis/tokens.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { installContracts } from "#devnet/install.ts";
import { historySeconds, seedMarket } from "#devnet/market/seed.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { runRole } from "#ops/processes/roles/indexer.ts";
import { type RunningRole, roleDatabase } from "#ops/processes/roles/role.ts";
import { createDatabase } from "../support/database/postgres.ts";

type TestDatabase = Awaited<ReturnType<typeof createDatabase>>;
type LocalChain = { anvil: Anvil; client: DevnetClient };
type LogLine = { msg: string; chainId?: number; ponderPid?: number; reason?: string };
type Indexer = { running: RunningRole; lines: LogLine[]; stop(): Promise<void> };

const curated = [contracts.punks, contracts.editions, contracts.consecutive];
const played = [
  ...["Seaport:OrderFulfilled", "Seaport:OrderCancelled", "Seaport:CounterIncremented"],
  ...["Erc721:Transfer", "Erc721:ConsecutiveTransfer"],
  ...["Erc1155:TransferSingle", "Erc1155:TransferBatch"],
  ...["ConduitApproval:ApprovalForAll", "ExchangeApproval:Approval", "Conduit:ChannelUpdated"],
  ...["WrappedNative:Deposit", "WrappedNative:Transfer"],
];
const patience = { timeout: 120_000, interval: 250 };

let directory: string;
let ethereum: LocalChain;
let apeChain: LocalChain;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "indexer-test-"));
  await writeFile(join(directory, "curated.json"), "[]");
  [ethereum, apeChain] = await Promise.all([openSeeded(1), openSeeded(33139)]);
});

afterAll(async () => {
  await Promise.all([ethereum.anvil.stop(), apeChain.anvil.stop()]);
  await rm(directory, { recursive: true });
});

describe("the indexer", () => {
  let database: TestDatabase;
  let indexer: Indexer;

  beforeAll(async () => {
    database = await createDatabase();
    indexer = await startIndexer(database.url, {
      RPC_URL_1: ethereum.anvil.rpcUrl,
      RPC_URL_33139: apeChain.anvil.rpcUrl,
      WS_URL_33139: apeChain.anvil.wsUrl,
    });
    await indexer.running.ready;
    // Over a websocket Ponder looks at the chain's last blocks when the next one is announced.
    await apeChain.client.setIntervalMining({ interval: 1 });
  });

  afterAll(async () => {
    await indexer.stop();
    await database.drop();
  });

  it("stores every event of every collection on ApeChain, as the node's logs decode", async () => {
    const expected = await expectedEvents(apeChain.client, 33139, "*");
    const stored = new Set(expected.map(({ source, name }) => `${source}:${name}`));
    expect([...stored]).toEqual(expect.arrayContaining(played));
    await vi.waitFor(
      async () => expect(await storedEvents(database, 33139)).toEqual(expected),
      patience,
    );
  });

  it("stores the curated collections' transfers alone on Ethereum", async () => {
    const expected = await expectedEvents(ethereum.client, 1, curated);
    await vi.waitFor(
      async () => expect(await storedEvents(database, 1)).toEqual(expected),
      patience,
    );
    const transfers = expected.filter(({ source }) => source.startsWith("Erc"));
    expect(new Set(transfers.map(({ address }) => address))).toEqual(new Set(curated));
  });

  it("holds the same events after its Ponder was killed during trading, an earlier release's too", async () => {
    const pidBefore = ponderPid(indexer.lines, 1);
    process.kill(pidBefore, "SIGKILL");
    await ethereum.client.mine({ blocks: 1 });
    await deposit(ethereum.client);

    const expected = await expectedEvents(ethereum.client, 1, curated);
    await vi.waitFor(
      async () => expect(await storedEvents(database, 1)).toEqual(expected),
      patience,
    );
    expect(ponderPid(indexer.lines, 1)).not.toBe(pidBefore);
    // Ponder would wait for the lock of its dead predecessor to expire.
    expect(indexer.lines.filter(({ msg }) => msg.includes("Schema is locked"))).toEqual([]);
  });

  it("notifies of each block when it is stored", async () => {
    const schema = await ponderSchema(database, 1);
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    onTestFinished(() => listener.end());
    await listener.query(`listen ${pg.escapeIdentifier(`${schema}_live_query`)}`);
    const notifications = on(listener, "notification");

    for (let block = 0; block < 5; block += 1) {
      await deposit(ethereum.client);
      const expected = await expectedEvents(ethereum.client, 1, curated);
      const isStored = async () => (await storedEvents(database, 1)).length === expected.length;
      do await notifications.next();
      while (!(await isStored()));
      expect(await storedEvents(database, 1)).toEqual(expected);
    }
  });
});

describe("an indexer whose RPC serves another chain", () => {
  let database: TestDatabase;
  let indexer: Indexer;

  beforeAll(async () => {
    database = await createDatabase();
    const urlWithKey = `${ethereum.anvil.rpcUrl}/?key=secret-key`;
    indexer = await startIndexer(database.url, {
      RPC_URL_1: ethereum.anvil.rpcUrl,
      RPC_URL_33139: urlWithKey,
    });
  });

  afterAll(async () => {
    await indexer.stop();
    await database.drop();
  });

  it("logs it, starts no Ponder for that chain, and indexes the other chain", async () => {
    const expected = await expectedEvents(ethereum.client, 1, curated);
    await vi.waitFor(
      async () => expect(await storedEvents(database, 1)).toEqual(expected),
      patience,
    );
    const host = new URL(ethereum.anvil.rpcUrl).host;
    expect(indexer.lines).toContainEqual(
      expect.objectContaining({
        ...{ msg: "RPC check failed", chainId: 33139 },
        reason: `RPC ${host} serves chain 1, not 33139`,
      }),
    );
    expect(await schemas(database)).toEqual([expect.stringMatching(/^ponder_1_[0-9a-f]{8}$/)]);
    expect(JSON.stringify(indexer.lines)).not.toContain("secret-key");
  });
});

describe("an indexer whose database was filled from another chain of the same id", () => {
  it("names the differing block and starts no Ponder", async () => {
    const database = await createDatabase();
    const rpcs = { RPC_URL_33139: apeChain.anvil.rpcUrl };
    const first = await startIndexer(database.url, rpcs);
    await first.running.ready;
    await first.stop();
    const stranger = await startAnvil({ chainId: 33139, timestamp: 1_700_000_000 });
    await connect(stranger).mine({ blocks: 300 });
    const second = await startIndexer(database.url, { RPC_URL_33139: stranger.rpcUrl });
    try {
      const named = expect.objectContaining({
        ...{ msg: "indexing stopped", chainId: 33139 },
        reason: expect.stringMatching(/^block \d+ is 0x/),
      });
      await vi.waitFor(() => expect(second.lines).toContainEqual(named), patience);
      expect(ponderPid(second.lines, 33139)).toBe(0);
    } finally {
      await second.stop();
      await stranger.stop();
      await database.drop();
    }
  });
});

async function openSeeded(chainId: ChainId): Promise<LocalChain> {
  const anvil = await startAnvil({
    chainId,
    timestamp: Math.floor(Date.now() / 1000) - historySeconds,
  });
  const client = connect(anvil);
  await installContracts(client);
  await seedMarket(client, { chainId, seed: 7 });
  return { anvil, client };
}

async function startIndexer(url: string, rpcs: Record<string, string>): Promise<Indexer> {
  const config = readConfig({
    ...rpcs,
    DATABASE_URL: url,
    START_BLOCK_1: "0",
    WRAPPED_NATIVE_EVENTS_1: "all",
    COLLECTIONS_1: curated.join(),
    CURATED_FILE: join(directory, "curated.json"),
    FEE_RECIPIENT: "0x00000000000000000000000000000000000fee01",
  });
  const lines: LogLine[] = [];
  const logger = pino({ level: "info" }, { write: (line) => lines.push(JSON.parse(line)) });
  const running = await runRole({
    config: {
      ...config,
      database: roleDatabase({ replicas: [], maxReplicaLagSeconds: 5, poolerUrl: null }, url),
      fees: { ...config.fees, recipient: config.fees.recipient ?? seaportAddresses["1.6"] },
    },
    logger,
    signal: new AbortController().signal,
  });
  return { running, lines, stop: running.stop };
}

/** An event in a block of its own. */
async function deposit(client: DevnetClient): Promise<void> {
  const [account] = (await client.getAddresses()) as [Address];
  await client.sendTransaction({ account, to: wrappedNative[1], value: 5n });
  await client.mine({ blocks: 1 });
}

function ponderPid(lines: LogLine[], chainId: ChainId): number {
  const started = lines.findLast(
    (line) => line.msg === "Ponder started" && line.chainId === chainId,
  );
  return started?.ponderPid ?? 0;
}

type StoredEvent = {
  source: string;
  name: string;
  address: string;
  block: string;
  transaction: string;
  logIndex: number;
  args: unknown;
  fulfilment: (string | null)[];
};

async function schemas({ db }: TestDatabase): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select nspname as name from pg_namespace where nspname ~ '^ponder_\\d' order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

async function ponderSchema({ db }: TestDatabase, chainId: ChainId): Promise<string> {
  const { rows } = await sql<{ schema: string }>`
    select ponder_schema as schema from ops.indexer where chain_id = ${chainId}`.execute(db);
  return rows[0]?.schema ?? "none yet";
}

async function storedEvents(database: TestDatabase, chainId: ChainId): Promise<StoredEvent[]> {
  const schema = await ponderSchema(database, chainId);
  const { rows } = await sql<StoredEvent>`
    select source, name, address, block_number || ' ' || block_hash || ' ' || block_timestamp as block,
           transaction_index || ' ' || transaction_hash as transaction, log_index as "logIndex", args,
           array[sender, target, calldata_tail] as fulfilment
    from ${sql.table(`${schema}.event`)} where chain_id = ${chainId}
    order by id`.execute(database.db);
  return rows;
}

type Source = {
  source: string;
  abi: Abi;
  only?: string[];
  emits: (address: string, args: Record<string, unknown>) => boolean;
};

function sourcesOf(chainId: ChainId, collections: "*" | Address[]): Source[] {
  const isCollection = (address: string) =>
    collections === "*" || (collections as string[]).includes(address);
  const isOneOf =
    (...addresses: string[]) =>
    (address: string) =>
      addresses.includes(address);
  const equals = (value: unknown, address: string) => String(value).toLowerCase() === address;
  return [
    { source: "Seaport", abi: seaportEvents, emits: isOneOf(seaportAddresses["1.6"]) },
    {
      source: "Erc721",
      abi: erc721Abi,
      only: ["Transfer", "ConsecutiveTransfer"],
      emits: isCollection,
    },
    { source: "Erc1155", abi: erc1155Abi, emits: isCollection },
    {
      source: "ConduitApproval",
      abi: erc721Abi,
      only: ["ApprovalForAll"],
      emits: (_, { operator }) => equals(operator, commonConduit.address),
    },
    {
      source: "ExchangeApproval",
      abi: erc20Abi,
      emits: (address, { spender }) =>
        address === wrappedNative[chainId] && equals(spender, seaportAddresses["1.6"]),
    },
    { source: "WrappedNative", abi: wrappedNativeAbi, emits: isOneOf(wrappedNative[chainId]) },
    { source: "Conduit", abi: conduitAbi, emits: isOneOf(commonConduit.address) },
  ];
}

/** Decodes every log of the chain with every source, the slow way. */
async function expectedEvents(
  client: DevnetClient,
  chainId: ChainId,
  collections: "*" | Address[],
): Promise<StoredEvent[]> {
  const logs = await client.getLogs({ fromBlock: 0n });
  const sources = sourcesOf(chainId, collections);
  const decoded = logs.map((log) => sources.flatMap((source) => decode(log, source)));
  return Promise.all(decoded.flat().map((event) => complete(client, event)));
}

type Decoded = { log: Log<bigint, number, false>; source: string; name: string; args: unknown };

function decode(log: Log<bigint, number, false>, { source, abi, only, emits }: Source): Decoded[] {
  try {
    const { eventName, args = {} } = decodeEventLog({ abi, ...log });
    const name = eventName ?? "";
    if (only !== undefined && !only.includes(name)) return [];
    if (!emits(log.address.toLowerCase(), args as Record<string, unknown>)) return [];
    return [{ log, source, name, args }];
  } catch {
    return [];
  }
}

async function complete(client: DevnetClient, { log, source, name, args }: Decoded) {
  const [block, { from, to, input }] = await Promise.all([
    client.getBlock({ blockHash: log.blockHash }),
    client.getTransaction({ hash: log.transactionHash }),
  ]);
  const fulfilment = [from, to, `0x${input.slice(-8)}`];
  return {
    source,
    name,
    address: log.address.toLowerCase(),
    block: `${log.blockNumber} ${log.blockHash} ${block.timestamp}`,
    transaction: `${log.transactionIndex} ${log.transactionHash}`,
    logIndex: log.logIndex,
    args: JSON.parse(JSON.stringify(args, asStored)),
    fulfilment:
      name === "OrderFulfilled"
        ? fulfilment.map((each) => each?.toLowerCase() ?? null)
        : [null, null, null],
  };
}

function asStored(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}`;
  return typeof value === "string" ? value.toLowerCase() : value;
}
