import { type Address, encodeDeployData, encodeFunctionData, getContractAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import { readArtifact } from "#devnet/contracts/artifacts.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { addressOf } from "../support/database/given.ts";
import { type Pipeline, pipelineSettings, startPipeline } from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { runOp } from "../support/processes/op.ts";

const chainId = 33139;
const older = {
  unindexed: "UnindexedCollection",
  plain: "PlainCollection",
  claiming: "ClaimingCollection",
} as const;
type Older = keyof typeof older;

const [alice, bob] = [addressOf(1), addressOf(2)];
/** Named, and emits nothing. */
const silent = addressOf(3);

let database: TestDatabase;
let market: Market;
let pipeline: Pipeline;
let settings: Record<string, string>;
let account: Address;
const addresses = {} as Record<Older, Address>;

async function send(data: { to?: Address; data: `0x${string}` }): Promise<void> {
  await market.client.sendTransaction({ account, ...data });
  await market.client.mine({ blocks: 1 });
}

async function deploy(one: Older): Promise<void> {
  const { abi = [], bytecode } = readArtifact(older[one]);
  const nonce = BigInt(await market.client.getTransactionCount({ address: account }));
  await send({ data: encodeDeployData({ abi, bytecode, args: [] }) });
  addresses[one] = getContractAddress({ from: account, nonce }).toLowerCase() as Address;
}

const call = (one: Older, functionName: string, ...args: unknown[]) =>
  send({
    to: addresses[one],
    data: encodeFunctionData({ abi: readArtifact(older[one]).abi ?? [], functionName, args }),
  });

beforeAll(async () => {
  [database, market] = await Promise.all([createDatabase(), openMarket({ chainId })]);
  [account] = (await market.client.getAddresses()) as [Address];
  await market.client.setCode({ address: silent, bytecode: "0x00" });
  for (const one of Object.keys(older) as Older[]) {
    await deploy(one);
    await call(one, "mint", account, 7n);
    await call(one, "mint", alice, 8n);
  }
  const named = [...Object.values(addresses), wrappedNative[chainId], silent];
  const options = {
    databaseUrl: database.url,
    chains: [{ chainId, rpcUrl: market.anvil.rpcUrl }] as const,
    settings: { [`COLLECTIONS_${chainId}`]: named.join() },
  };
  settings = await pipelineSettings(options);
  pipeline = await startPipeline({ ...options, roles: ["indexer", "projector", "jobs", "api"] });
});

afterAll(async () => {
  await pipeline?.stop();
  await market?.stop();
  await database?.drop();
});

async function ownerOf(one: Older, tokenId: number): Promise<unknown> {
  const path = `/v1/collections/${addresses[one]}/tokens/${tokenId}?chainId=${chainId}`;
  const { body } = await pipeline.get(path);
  return (body.data as { owner?: unknown } | undefined)?.owner;
}

describe("tokens older than ERC-721, of named contracts", () => {
  it.each(Object.keys(older) as Older[])(
    "have their owners, and follow transfers: %s",
    async (one) => {
      await expect.poll(() => ownerOf(one, 8), { timeout: 120_000 }).toBe(alice);
      expect(await ownerOf(one, 7)).toBe(account.toLowerCase());
      await call(one, "transfer", bob, 7n);
      await expect.poll(() => ownerOf(one, 7)).toBe(bob);
    },
  );

  it("are no reason to take a coin's amounts for tokens", async () => {
    const coin = wrappedNative[chainId];
    const { status } = await pipeline.get(`/v1/collections/${coin}/tokens?chainId=${chainId}`);
    expect(status).toBe(404);
  });

  it("op doctor names the contracts of which no event can be decoded", async () => {
    const doctor = async () => (await runOp(settings, "doctor")).stdout;
    await expect.poll(doctor, { timeout: 60_000 }).toContain(silent);
    const said = await doctor();
    for (const one of Object.values(addresses)) expect(said).not.toContain(one);
  });
});
