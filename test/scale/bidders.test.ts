import { sql } from "kysely";
import { pino } from "pino";
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseEther,
} from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNativeAbi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { unindexedEvents } from "#jobs/orders/follow-unindexed.ts";
import { openHeadWatch } from "#jobs/orders/head-watch.ts";
import { unindexedSources } from "#jobs/orders/unindexed-sources.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { appendStaged, openStage } from "#projections/log/append.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { until } from "../support/database/pipeline.ts";
import { type IntakeFixture, openIntakeFixture } from "../support/orders/intake-fixture.ts";

/** A bidder has one open bid and exactly the money for it, on a chain whose currency's events are not indexed. */
const bidders = 50_000;
const bidWei = parseEther("1");
/** Blocks with one withdrawal by a bidder, among as many moves by others as a block of Ethereum has. */
const blocks = 20;
const movesByOthers = 200;

const chainId = 1;
const currency = wrappedNative[chainId];
const withdraw = encodeFunctionData({
  abi: wrappedNativeAbi,
  functionName: "withdraw",
  args: [bidWei],
});
const deposit = encodeFunctionData({ abi: wrappedNativeAbi, functionName: "deposit" });
const ending = new AbortController();
let stand: IntakeFixture;
let makers: Address[];
let followed: Promise<unknown>;
const methods: string[] = [];

beforeAll(async () => {
  stand = await openIntakeFixture(chainId, { wrappedNativeEvents: "none" });
  makers = await appendBids();
  await fund(makers);
  await until("the bids", async () => (await count("inactive")) === bidders, 600_000);
  await sql`vacuum analyze`.execute(stand.db);
}, 900_000);
afterAll(async () => {
  ending.abort();
  await followed;
  await stand?.close();
});

async function appendBids(): Promise<Address[]> {
  const bytes = (series: string) => sql.raw(`sha256(convert_to('${series}' || n, 'UTF8'))`);
  await stand.db.transaction().execute(async (session) => {
    await openStage(session);
    await sql`
      insert into staged (ord, kind, chain_id, contract, amount, from_address, order_hash, identity, recorded_at, payload)
      select n, ${sql.lit(factKind.order_submitted)}, ${chainId}, decode(${contracts.punks.slice(2)}, 'hex'), 1,
             substr(${bytes("bidder")}, 1, 20), ${bytes("order")}, ${bytes("identity")}, now(),
             jsonb_build_object(
               'protocol', 'seaport-1.6', 'signature', '0x' || repeat('5a', 65),
               'components', jsonb_build_object(
                 'startTime', '1700000000', 'endTime', '4000000000', 'counter', '0',
                 'offer', jsonb_build_array(jsonb_build_object('token', ${currency}::text))),
               'terms', jsonb_build_object(
                 'side', 'bid', 'standard', 'erc721', 'quantity', '1', 'unitPriceWei', ${bidWei.toString()}::text,
                 'sellerNetWei', '990000', 'fees', jsonb_build_array()))
      from generate_series(1, ${bidders}::int) n`.execute(session);
    await appendStaged(session);
  });
  const { rows } = await sql<{ maker: Address }>`
    select from_address as maker from log.fact where kind = ${factKind.order_submitted} order by position`.execute(
    stand.db,
  );
  return rows.map(({ maker }) => maker);
}

/** Writes balances and allowances into the contract's storage, and its own balance to pay them out. */
async function fund(accounts: readonly Address[]): Promise<void> {
  const { rpcUrl } = stand.market.anvil;
  const slot = (account: Address, base: Hex) =>
    keccak256(encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [account, base]));
  const word = (value: bigint) => numberToHex(value, { size: 32 });
  const calls = accounts.flatMap((account) => [
    [currency, slot(account, word(0n)), word(bidWei)],
    [currency, slot(seaportAddresses["1.6"], slot(account, word(1n))), word(2n ** 256n - 1n)],
  ]);
  for (let start = 0; start < calls.length; start += 2_000) {
    const body = calls
      .slice(start, start + 2_000)
      .map((params, id) => ({ jsonrpc: "2.0", id, method: "anvil_setStorageAt", params }));
    await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }).then((response) => response.text());
  }
  await stand.market.client.setBalance({
    address: currency,
    value: bidWei * BigInt(bidders) * 2n,
  });
  await stand.market.client.mine({ blocks: 1 });
}

async function count(status: string): Promise<number> {
  const { rows } = await sql<{ rows: bigint }>`
    select coalesce(sum(rows), 0)::bigint as rows from bids.count where status = ${status}`.execute(
    stand.db,
  );
  return Number(rows[0]?.rows ?? 0);
}

function follow(): void {
  const { signal } = ending;
  const logger = pino({ level: "warn" });
  const client = openChainClient({ chainId, rpcUrls: [stand.node.url] });
  stand.node.before = async (calls) => void methods.push(...calls.map(({ method }) => method));
  const head = openHeadWatch({ client, wsUrl: null, logger, signal });
  const given = { wrappedNativeEvents: "none", readIndexedCollections: null } as const;
  const [source] = unindexedSources(stand.db, client, given);
  if (source === undefined) throw new Error("the currency is followed");
  followed = runJobs(unindexedEvents({ db: stand.db, client, source, head }), { logger, signal });
}

/** Mines a block in which a bidder withdraws all, among moves of others. Returns the time at which it was mined. */
async function mineWithdrawal(bidder: Address): Promise<number> {
  const { client } = stand.market;
  await client.setAutomine(false);
  await client.setBalance({ address: bidder, value: parseEther("1") });
  await client.impersonateAccount({ address: bidder });
  const send = (from: Address, data: Hex, value: bigint) =>
    client.request({
      method: "eth_sendTransaction",
      params: [{ from, to: currency, data, value: numberToHex(value), gas: "0x20000" }],
    } as never);
  await send(bidder, withdraw, 0n);
  for (let move = 0; move < movesByOthers; move += 1)
    await send(accounts.erin.address, deposit, 1n);
  const minedAt = performance.now();
  await client.mine({ blocks: 1 });
  await client.setAutomine(true);
  return minedAt;
}

it(`follows the money of ${bidders} bidders with one request for logs a block`, async () => {
  const startedAt = performance.now();
  follow();
  await until("all bids to be funded", async () => (await count("active")) === bidders, 600_000);
  const startMs = performance.now() - startedAt;
  // The first pages and the block of this one are read; from here on blocks alone cost requests.
  await stand.market.client.mine({ blocks: 1 });
  const number = () => stand.market.client.getBlockNumber();
  await until("the head", async () => methods.at(-1) === "eth_getCode");
  const [from, logsBefore] = [await number(), named("eth_getLogs")];
  const stateBefore = named("eth_call");
  const durationsMs: number[] = [];
  for (let block = 0; block < blocks; block += 1) {
    const index = (block * 7_919) % bidders;
    const { rows } = await sql<{ hash: Hex }>`
      select order_hash as hash from bids.bid where maker = decode(${makers[index]?.slice(2)}, 'hex')`.execute(
      stand.db,
    );
    const path = `/v1/bids/mkt-${rows[0]?.hash}?chainId=${chainId}`;
    const minedAt = await mineWithdrawal(makers[index] as Address);
    await until(`bid ${index} to be inactive`, async () => {
      const { body } = await stand.api.get(path);
      return (body as { data: { status: string } }).data.status === "inactive";
    });
    durationsMs.push(performance.now() - minedAt);
  }
  durationsMs.sort((a, b) => a - b);
  const mined = Number((await number()) - from);
  process.stdout.write(
    `${bidders} bidders, read in ${Math.round(startMs)} ms; a withdrawal shows after p50 ${Math.round(durationsMs[blocks / 2] ?? 0)} ms, at most ${Math.round(durationsMs.at(-1) ?? 0)} ms\n`,
  );

  expect(mined).toBe(blocks);
  expect(named("eth_getLogs") - logsBefore).toBeLessThanOrEqual(mined + 1);
  expect(named("eth_call") - stateBefore).toBeLessThanOrEqual(mined);
  expect(await count("active")).toBe(bidders - blocks);
}, 1_200_000);

const named = (method: string) => methods.filter((one) => one === method).length;
