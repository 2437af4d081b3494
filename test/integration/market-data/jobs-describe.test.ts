import { sql } from "kysely";
import { pino } from "pino";
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  numberToHex,
  padHex,
  size,
  stringToHex,
} from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { multicall3 } from "#abis/deployments.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { place } from "#devnet/deploy.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import {
  contractDescriptions,
  type DescribeState,
  describePending,
} from "#jobs/collections/describe-contracts.ts";
import { unansweredContracts } from "#jobs/runner/limits.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import {
  addressOf,
  appendEvents,
  block,
  createProjection,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openProjectorConnection } from "#test/support/database/projector-connection.ts";

let database: TestDatabase;
let anvil: Anvil;
let client: DevnetClient;
let target: Target;

beforeAll(async () => {
  [database, anvil] = await Promise.all([createDatabase(), startAnvil({ chainId: 1 })]);
  client = connect(anvil);
  await client.mine({ blocks: 3 });
});
afterAll(async () => {
  await anvil.stop();
  await database.drop();
});
beforeEach(async () => {
  await dropTarget(database.db, schemaOf("collections"));
  await sql`truncate log.fact`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
  target = await createProjection(database.db, collectionsProjection);
});

const text = (value: string) => encodeAbiParameters([{ type: "string" }], [value]);
const yes = numberToHex(1, { size: 32 });
const no = numberToHex(0, { size: 32 });
const three = numberToHex(3, { size: 32 });
const first = padHex(addressOf(1), { size: 32 });
const asks = {
  decimals: padHex("0x313ce567", { dir: "right", size: 32 }),
  allowance: padHex("0xdd62ed3e", { dir: "right", size: 32 }),
  ownerOf: padHex("0x6352211e", { dir: "right", size: 32 }),
  name: padHex("0x06fdde03", { dir: "right", size: 32 }),
  symbol: padHex("0x95d89b41", { dir: "right", size: 32 }),
  erc721: padHex("0x01ffc9a780ac58cd", { dir: "right", size: 32 }),
  erc1155: padHex("0x01ffc9a7d9b67a26", { dir: "right", size: 32 }),
};

/** Code that answers calldata beginning with a word by fixed bytes, and reverts at anything else. */
function answering(answers: Partial<Record<keyof typeof asks, Hex>>): Hex {
  const entries = Object.entries(answers) as [keyof typeof asks, Hex][];
  const [testBytes, answerBytes] = [41, 16];
  let dataAt = entries.length * (testBytes + answerBytes) + 5;
  const two = (value: number) => numberToHex(value, { size: 2 });
  const tests: Hex[] = [];
  const bodies: Hex[] = [];
  const data: Hex[] = [];
  entries.forEach(([question, answer], index) => {
    const target = entries.length * testBytes + 5 + index * answerBytes;
    // calldataload(0) == word → jump to its answer
    tests.push(concatHex(["0x6000357f", asks[question], "0x1461", two(target), "0x57"]));
    const length = two(size(answer));
    // jumpdest; codecopy(0, dataAt, length); return(0, length)
    bodies.push(
      concatHex(["0x5b61", length, "0x61", two(dataAt), "0x600039", "0x61", length, "0x6000f3"]),
    );
    data.push(answer);
    dataAt += size(answer);
  });
  return concatHex([...tests, "0x60006000fd", ...bodies, ...data]);
}

const contracts = {
  honest721: answering({ name: text("Ape"), symbol: text("APE"), erc721: yes, erc1155: no }),
  honest1155: answering({ name: text("Bear 🐻"), symbol: text("B"), erc721: no, erc1155: yes }),
  oldBytes32: answering({ name: stringToHex("Old", { size: 32 }), erc721: yes, erc1155: no }),
  /** ERC-20 contracts that index the amount; the second claims all interfaces. */
  coin: answering({ name: text("Coin"), decimals: three }),
  lyingCoin: answering({ name: text("Coin"), allowance: no, erc721: yes }),
  /** ERC-404: a coin whose tokens have owners. One before ERC-165 has owners alone. */
  hybrid: answering({ name: text("Hybrid"), decimals: three, ownerOf: first }),
  oldNft: answering({ name: text("Cats"), ownerOf: first }),
  reverting: "0x60006000fd",
  looping: "0x5b600056",
  invalid: "0xfe",
  /** Ten megabytes of zeros, beyond the gas of a call. */
  bursting: "0x62a000006000f3",
  /** As many zeros as the gas of a call pays for: several such answers exceed what is read at once. */
  flooding: "0x621500006000f3",
  control: answering({
    name: text("a\u0000b\nc"),
    symbol: text(" \u0000 "),
    erc721: yes,
    erc1155: yes,
  }),
  badUtf8: answering({
    name: encodeAbiParameters([{ type: "bytes" }], ["0x41ff42"]),
    symbol: text("x".repeat(5_000)),
  }),
} satisfies Record<string, Hex>;

const names = Object.keys(contracts) as (keyof typeof contracts)[];
const addresses = new Map(names.map((name, index) => [name, addressOf(0x100 + index)]));
const address = (name: keyof typeof contracts): Address => addresses.get(name) ?? zeroAddress;

async function install(): Promise<void> {
  for (const name of names) {
    await client.setCode({ address: address(name), bytecode: contracts[name] });
  }
  await client.mine({ blocks: 1 });
}

async function move(moved: readonly Address[]): Promise<void> {
  await appendEvents(
    database.db,
    moved.map((contract, logIndex) => ({
      kind: "erc721_transfer" as const,
      block: block(1, 1),
      logIndex,
      contract,
      tokenId: 1n,
      from: zeroAddress,
      to: addressOf(1),
    })),
  );
  await project(database.db, [target]);
}

const chain = () => openChainClient({ chainId: 1, rpcUrls: [anvil.rpcUrl] });
const progress = (): DescribeState => ({ head: 0n, unanswered: unansweredContracts() });
const never = new AbortController().signal;

type Described = { name: string | null; symbol: string | null; standard: number | null };

async function readDescriptions(): Promise<Record<Address, Described>> {
  const { rows } = await sql<Described & { address: Address }>`
    select k.address, d.name, d.symbol, d.standard
    from collections.description d join log.contract k on k.contract_id = d.contract_id`.execute(
    database.db,
  );
  return Object.fromEntries(rows.map(({ address, ...rest }) => [address, rest]));
}

/** Rows of contracts that were read, by sequence or by index. */
async function contractsRead(connection: Database): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(connection);
  const { rows } = await sql<{ read: bigint }>`
    select sum(seq_tup_read + idx_tup_fetch)::bigint as read from pg_stat_user_tables
    where relname = 'contract' and schemaname in ('log', ${schemaOf("collections")})`.execute(
    connection,
  );
  return Number(rows[0]?.read);
}

/** Contracts that are collections. */
async function readCollected(): Promise<Address[]> {
  const { rows } = await sql<{ address: Address }>`
    select k.address from collections.contract m join log.contract k using (contract_id)`.execute(
    database.db,
  );
  return rows.map((row) => row.address);
}

async function expectHonestWords(): Promise<void> {
  await project(database.db, [target]);
  expect(await readDescriptions()).toEqual({
    [address("honest721")]: { name: "Ape", symbol: "APE", standard: 721 },
    [address("honest1155")]: { name: "Bear 🐻", symbol: "B", standard: 1155 },
    [address("oldBytes32")]: { name: "Old", symbol: null, standard: 721 },
    [address("coin")]: { name: "Coin", symbol: null, standard: 20 },
    [address("lyingCoin")]: { name: "Coin", symbol: null, standard: 20 },
    [address("hybrid")]: { name: "Hybrid", symbol: null, standard: 721 },
    [address("oldNft")]: { name: "Cats", symbol: null, standard: 721 },
    [address("reverting")]: { name: null, symbol: null, standard: 20 },
    [address("looping")]: { name: null, symbol: null, standard: 20 },
    [address("invalid")]: { name: null, symbol: null, standard: 20 },
    [address("bursting")]: { name: null, symbol: null, standard: 20 },
    [address("flooding")]: { name: null, symbol: null, standard: 20 },
    [address("control")]: { name: "a b c", symbol: null, standard: null },
    [address("badUtf8")]: { name: "A\ufffdB", symbol: "x".repeat(256), standard: 20 },
  });
}

describe("describing contracts", () => {
  it("finds coins whose events look like those of tokens: they are no collections", async () => {
    await install();
    const coins = [address("coin"), address("lyingCoin"), address("reverting")];
    const collected = [address("hybrid"), address("oldNft"), address("honest721")];
    await move([...coins, ...collected]);
    await describePending(database.db, chain(), progress(), never);
    await project(database.db, [target]);
    expect((await readCollected()).toSorted()).toEqual(collected.toSorted());
  });

  it("tolerates hostile ones, called one by one", async () => {
    await install();
    await move([...addresses.values()]);
    expect(await describePending(database.db, chain(), progress(), never)).toBe(names.length);
    await expectHonestWords();
  });

  it("tolerates hostile ones among others, called by Multicall3", async () => {
    await install();
    await place(client, multicall3, "Multicall3");
    await client.mine({ blocks: 1 });
    await move([...addresses.values()]);
    expect(await describePending(database.db, chain(), progress(), never)).toBe(names.length);
    await expectHonestWords();
    await client.setCode({ address: multicall3, bytecode: "0x" });
  });

  it("records the block it read at, and reads again when that block is retracted", async () => {
    await install();
    await move([address("honest721")]);
    await describePending(database.db, chain(), progress(), never);
    await project(database.db, [target]);
    const head = await client.getBlock();
    const { rows } = await sql<{ hash: Hex; number: bigint; timestamp: Date }>`
      select b.hash, b.number, b.timestamp from collections.description d
      join log.block b on b.block_id = d.block_id`.execute(database.db);
    expect(rows).toEqual([
      { hash: head.hash, number: head.number, timestamp: new Date(Number(head.timestamp) * 1000) },
    ]);
    expect(await describePending(database.db, chain(), progress(), never)).toBe(0);

    const { hash, number } = head;
    await setBlocks(database.db, "block_retracted", [{ ...block(1, Number(number)), hash }]);
    await client.mine({ blocks: 1 });
    await project(database.db, [target]);
    expect(await describePending(database.db, chain(), progress(), never)).toBe(1);
  });

  it("skips a contract without code until it has some", async () => {
    const later = addressOf(0x200);
    await move([later]);
    const asked = progress();
    expect(await describePending(database.db, chain(), asked, never)).toBe(0);
    expect(asked.unanswered.coolingDown()).toEqual([later]);

    await client.setCode({ address: later, bytecode: contracts.honest721 });
    expect(await describePending(database.db, chain(), progress(), never)).toBe(1);
  });

  it("finds what is pending once for many calls: thousands of new contracts are not looked up by each", async () => {
    const many = Array.from({ length: 400 }, (_, index) => addressOf(0x1000 + index));
    await move(many);
    await sql`analyze collections.contract, log.contract`.execute(database.db);
    const jobs = openProjectorConnection(database.url);
    const before = await contractsRead(jobs);
    await describePending(jobs, chain(), progress(), never);
    expect((await contractsRead(jobs)) - before).toBeLessThan(10 * many.length);
    await jobs.destroy();
  });

  it("waits for an RPC that is down, and describes each contract once", async () => {
    await install();
    const { port } = new URL(anvil.rpcUrl);
    await anvil.stop();
    await move([address("honest721")]);
    const ending = new AbortController();
    let warn = () => {};
    const warned = new Promise<void>((resolve) => {
      warn = resolve;
    });
    const logger = pino({ level: "warn" }, { write: () => warn() });
    const wake = createSignal();
    const work = runJobs(
      contractDescriptions({ db: database.db, client: chain(), changeSignal: wake, logger }),
      { logger, signal: ending.signal },
    );
    await warned;

    anvil = await startAnvil({ chainId: 1, port: Number(port) });
    client = connect(anvil);
    await install();
    await expect.poll(() => readLogHead(database.db), { timeout: 120_000 }).toBe(2n);
    // The collections have not read the description yet: it must not be made again.
    for (let rings = 0; rings < 5; rings++) wake.notify();
    await project(database.db, [target]);
    ending.abort();
    await work;
    expect(await readLogHead(database.db)).toBe(2n);
    expect(Object.keys(await readDescriptions())).toEqual([address("honest721")]);
  });
});
