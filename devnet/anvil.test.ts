import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { accounts } from "./accounts.ts";
import { type Anvil, startAnvil, syncWithClock } from "./anvil.ts";
import { connect } from "./client.ts";
import { collectionAbi } from "./contracts/abis.ts";
import { contracts } from "./contracts/addresses.ts";
import { installContracts } from "./install.ts";

/** Where a node writes the states of blocks that it does not keep in memory. */
const nodeFolder = join(homedir(), ".foundry", "anvil", "tmp");
const nodeFolders = (): Promise<string[]> => readdir(nodeFolder).catch(() => []);

let folder: string;
let stateFile: string;
let anvil: Anvil;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "devnet-"));
  stateFile = join(folder, "chains", "33139");
  anvil = await startAnvil({ chainId: 33139, stateFile, slotsInAnEpoch: 2 });
});

afterEach(async () => {
  await anvil.stop();
  await rm(folder, { recursive: true });
});

async function mintPunk(): Promise<void> {
  const client = connect(anvil);
  const hash = await client.writeContract({
    address: contracts.punks,
    abi: collectionAbi,
    account: accounts.alice,
    functionName: "mint",
    args: [accounts.bob.address, await client.getBlockNumber()],
  });
  await client.waitForTransactionReceipt({ hash });
}

/** What an indexer sees of the whole chain. */
async function readChain() {
  const client = connect(anvil);
  const logs = await client.getLogs({ fromBlock: 0n });
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  return {
    genesis: (await client.getBlock({ blockNumber: 0n })).hash,
    head: (await client.getBlock()).hash,
    finalized: (await client.getBlock({ blockTag: "finalized" })).number,
    logs,
    receipts: await Promise.all(hashes.map((hash) => client.getTransactionReceipt({ hash }))),
  };
}

describe("a local chain with a state file", () => {
  it("is the same chain after a stop, and goes on from there", { timeout: 120_000 }, async () => {
    await installContracts(connect(anvil));
    await mintPunk();
    const before = await readChain();
    await anvil.stop();
    anvil = await startAnvil({ chainId: 33139, stateFile, slotsInAnEpoch: 2 });
    expect(await readChain()).toEqual(before);
    await mintPunk();
    expect((await readChain()).logs).toHaveLength(before.logs.length + 1);
  });

  it("keeps the states of its last 200 blocks, in memory alone", async () => {
    const client = connect(anvil);
    const folders = await nodeFolders();
    await client.mine({ blocks: 900 });
    const balanceAt = (blockNumber: bigint) =>
      client.getBalance({ address: accounts.alice.address, blockNumber });
    const head = await client.getBlockNumber();
    expect(await balanceAt(head - 190n)).toBeGreaterThan(0n);
    await expect(balanceAt(head - 300n)).rejects.toThrow(/BlockOutOfRange/);
    const added = (await nodeFolders()).filter((one) => !folders.includes(one));
    const files = await Promise.all(added.map((one) => readdir(join(nodeFolder, one))));
    expect(files.flat()).toEqual([]);
  });

  it("is the same chain after the node was killed", { timeout: 120_000 }, async () => {
    await installContracts(connect(anvil));
    await mintPunk();
    const before = await readChain();
    const minedAt = Date.now();
    await vi.waitUntil(async () => (await lastKept()) > minedAt, {
      timeout: 120_000,
      interval: 50,
    });
    process.kill(anvil.pid, "SIGKILL");
    await anvil.exited;
    anvil = await startAnvil({ chainId: 33139, stateFile, slotsInAnEpoch: 2 });
    expect(await readChain()).toEqual(before);
  });
});

const lastKept = () =>
  stat(stateFile).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

describe("a local chain", () => {
  it("ends when the process that started it is killed", { timeout: 120_000 }, async () => {
    const module = new URL("./anvil.ts", import.meta.url).href;
    const script = `const { startAnvil } = await import(${JSON.stringify(module)});
      process.stdout.write((await startAnvil({ chainId: 1 })).rpcUrl);`;
    const parent = spawn(process.execPath, ["--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [rpcUrl] = (await once(parent.stdout.setEncoding("utf8"), "data")) as [string];
    expect(await answers(rpcUrl)).toBe(true);
    parent.kill("SIGKILL");
    await vi.waitUntil(async () => !(await answers(rpcUrl)), { timeout: 120_000, interval: 20 });
  });
});

const answers = (rpcUrl: string) =>
  connect({ chainId: 1, rpcUrl })
    .getChainId()
    .then(
      () => true,
      () => false,
    );

describe("starting a local chain", () => {
  it("says why when its port is taken", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await expect(startAnvil({ chainId: 1, port })).rejects.toThrow(
      /anvil ended at start.*in use/is,
    );
    server.close();
  });

  it("takes a genesis in the past", async () => {
    const past = await startAnvil({ chainId: 1, timestamp: 1_700_000_000 });
    const genesis = await connect(past).getBlock({ blockNumber: 0n });
    await past.stop();
    expect(genesis.timestamp).toBe(1_700_000_000n);
  });

  it("behind the clock is brought up to it, so that orders that begin now are filled", async () => {
    const slow = await startAnvil({ chainId: 1, timestamp: seconds() - 1 });
    const client = connect(slow);
    await syncWithClock(client);
    const before = seconds();
    await client.mine({ blocks: 1 });
    const { timestamp } = await client.getBlock();
    await slow.stop();
    expect(Number(timestamp)).toBeGreaterThanOrEqual(before);
  });
});

const seconds = () => Math.floor(Date.now() / 1000);
