import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readArtifact } from "#devnet/contracts/artifacts.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { type Pipeline, startPipeline, until } from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";

const chainId = 33139;
const changing = readArtifact("ChangingCollection");
const editions = readArtifact("ChangingEditions");
const tokens = [0, 1, 2, 3, 4, 5];

let database: TestDatabase;
let market: Market;
let pipeline: Pipeline;
let collection: Address;
let edition: Address;

async function deploy({ abi = [], bytecode }: typeof changing): Promise<Address> {
  const { client } = market;
  const [account] = (await client.getAddresses()) as [Address];
  const nonce = BigInt(await client.getTransactionCount({ address: account }));
  const data = encodeDeployData({ abi, bytecode, args: [] });
  await client.sendTransaction({ account, data });
  await client.mine({ blocks: 1 });
  return getContractAddress({ from: account, nonce }).toLowerCase() as Address;
}

async function call(to: Address, abi: Abi | undefined, name: string, ...args: unknown[]) {
  const { client } = market;
  const [account] = (await client.getAddresses()) as [Address];
  const data = encodeFunctionData({ abi: abi ?? [], functionName: name, args });
  await client.sendTransaction({ account, to, data });
  await client.mine({ blocks: 1 });
}
const change = (name: string, ...args: unknown[]) => call(collection, changing.abi, name, ...args);

beforeAll(async () => {
  [database, market] = await Promise.all([createDatabase(), openMarket({ chainId })]);
  [collection, edition] = [await deploy(changing), await deploy(editions)];
  const [account] = await market.client.getAddresses();
  await change("mint", account, 0n, BigInt(tokens.length));
  await call(edition, editions.abi, "mint", account, 7n, 3n);
  pipeline = await startPipeline({
    databaseUrl: database.url,
    chains: [{ chainId, rpcUrl: market.anvil.rpcUrl }],
    roles: ["indexer", "projector", "jobs", "api"],
    settings: { [`COLLECTIONS_${chainId}`]: "*" },
  });
});
afterAll(async () => {
  await pipeline?.stop();
  await market?.stop();
  await database?.drop();
});

async function nameOf(contract: Address, tokenId: number): Promise<unknown> {
  const path = `/v1/collections/${contract}/tokens/${tokenId}?chainId=${chainId}`;
  const { body } = await pipeline.get(path);
  return (body.data as { name: unknown } | undefined)?.name;
}

async function showsNames(names: Record<number, string>, contract = collection): Promise<void> {
  const all = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.keys(names).map(async (id) => [id, await nameOf(contract, Number(id))]),
      ),
    );
  await expect.poll(all, { timeout: 60_000, interval: 100 }).toEqual(names);
}

type Told = { id: string; type: string; tokenId: string | null; retracts: { type: string } | null };

/** Events `metadata` of a contract, and what retracts them. */
async function metadataEvents(contract: Address): Promise<Told[]> {
  const events: Told[] = [];
  for (let after = "0-0"; ; ) {
    const { body } = await pipeline.get(
      `/v1/events?chainId=${chainId}&type=metadata&collection=${contract}&after=${after}&per_page=100`,
    );
    events.push(...(body.data as Told[]));
    const { next, has_more } = body.meta as { next: string; has_more: boolean };
    if (!has_more) return events;
    after = next;
  }
}

const refresh = (contract: Address, tokenId: number) =>
  fetch(
    `${pipeline.baseUrl}/v1/collections/${contract}/tokens/${tokenId}/refresh?chainId=${chainId}`,
    { method: "POST" },
  );

const allAre = (word: string) => Object.fromEntries(tokens.map((id) => [id, `${id} ${word}`]));

describe("metadata that a contract says to have changed", () => {
  it("is fetched again, of one token, of a list, of a range and of all ids at once", async () => {
    await showsNames(allAre("hidden"));
    expect(await metadataEvents(collection)).toEqual([]);

    await change("update", 1n, "one");
    await showsNames({ 0: "0 hidden", 1: "1 one" });
    await change("updateIndexed", 0n, "topic");
    await showsNames({ 0: "0 topic", 1: "1 one" });
    await change("set", 0n, "");
    await change("reveal", "shown", 0n, 2n ** 256n - 1n);
    await showsNames({ ...allAre("shown"), 1: "1 one" });
    await change("updateTrait", 2n, "trait");
    await change("updateTraits", [3n, 4n], "listed");
    await change("updateTraitRange", 5n, 5n, "ranged");
    await showsNames({ 2: "2 trait", 3: "3 listed", 4: "4 listed", 5: "5 ranged" });

    const events = await metadataEvents(collection);
    expect(events[0]).toMatchObject({ type: "metadata", tokenId: "1", retracts: null });
    expect(new Set(events.map(({ tokenId }) => tokenId))).toEqual(new Set(tokens.map(String)));
  });

  it("is the collection's own, and an edition's with the letters of its URI", async () => {
    const nameOfCollection = async () => {
      const { body } = await pipeline.get(
        `/v1/events?chainId=${chainId}&after=0-0&type=metadata&collection=${collection}&per_page=100`,
      );
      return (body.data as Told[]).some(({ tokenId }) => tokenId === null);
    };
    await change("rename", "renamed");
    await expect.poll(nameOfCollection, { timeout: 60_000 }).toBe(true);

    await showsNames({ 7: "Edition" }, edition);
    await call(edition, editions.abi, "setUri", 7n, 'data:application/json;utf8,{"name":"CaSe"}');
    await showsNames({ 7: "CaSe" }, edition);
  });

  it("is taken back with the block that it was in, and what was fetched then", async () => {
    const before = await nameOf(collection, 0);
    await change("update", 0n, "orphan");
    await showsNames({ 0: "0 orphan" });
    const told = await metadataEvents(collection);
    const depth = 2;
    await market.client.request({ method: "anvil_reorg" as never, params: [depth, []] as never });
    await market.client.mine({ blocks: 3 });
    await showsNames({ 0: `${before}` });
    await until("the retraction", async () => {
      const now = await metadataEvents(collection);
      return now.length > told.length && now.some(({ retracts }) => retracts?.type === "metadata");
    });
  });
});

describe("POST /v1/collections/{collection}/tokens/{tokenId}/refresh", () => {
  it("fetches a token's metadata again: 202, then 429 for ten minutes", async () => {
    await change("set", 1n, "silent");
    const answers = await Promise.all([1, 2, 3].map(() => refresh(collection, 1)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 429, 429]);
    for (const answer of answers) {
      const body = (await answer.json()) as Record<string, unknown>;
      if (answer.status === 202) {
        expect(body).toMatchObject({ success: true, data: { contract: collection, tokenId: "1" } });
      } else {
        expect(body).toMatchObject({ code: "refresh_too_soon" });
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(590);
      }
    }
    await showsNames({ 1: "1 silent" });
  });

  it("404 for a token or a collection that nobody knows", async () => {
    expect((await refresh(collection, 99)).status).toBe(404);
    expect((await refresh("0x00000000000000000000000000000000000000ff", 1)).status).toBe(404);
  });
});
