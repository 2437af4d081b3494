import { pino } from "pino";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { multicall3 } from "#abis/deployments.ts";
import { createApp } from "#api/app.ts";
import { accounts } from "#devnet/accounts.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { place, sendAs } from "#devnet/deploy.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { describePending } from "#jobs/collections/describe-contracts.ts";
import { unansweredContracts } from "#jobs/runner/limits.ts";
import { allProjections } from "#projections/all.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { recordChain } from "#test/support/chain/chain-facts.ts";
import { answeringCode, emittingCode } from "#test/support/chain/made-code.ts";
import { addressOf } from "#test/support/database/given.ts";
import { differenceOfRebuild } from "#test/support/database/rebuild-difference.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import {
  isCoin,
  type ModelToken,
  modelOf,
  type RawLog,
  standardsMoved,
} from "#test/support/market-data/odd-contract-model.ts";
import { drawOddContract, type OddContract } from "#test/support/market-data/odd-contracts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";
import { runsOf } from "#test/support/thoroughness.ts";

const chainId = 1;
const seed = 20_261_129;
const site = "https://site.example.test";
const projections = allProjections({ feeRecipient: addressOf(99) });

let anvil: Anvil;
let client: DevnetClient;
let book: Awaited<ReturnType<typeof openProjectedLog>>;
let api: ApiClient;
let contracts: OddContract[] = [];
let rawLogs = new Map<Address, RawLog[]>();

beforeAll(async () => {
  [anvil, book] = await Promise.all([startAnvil({ chainId }), openProjectedLog(projections)]);
  client = connect(anvil);
  await place(client, multicall3, "Multicall3");
  const random = randomFrom(seed);
  contracts = Array.from({ length: runsOf(200, 60) }, (_, index) =>
    drawOddContract(random.fork(), addressOf(0x4_000 + index)),
  );
  for (const contract of contracts) await act(contract);
  rawLogs = await readRawLogs();
  await book.clear();
  await recordChain(book.db, { chainId, rpcUrl: anvil.rpcUrl });
  await book.happens();
  await describeAll();
  api = await serveAll();
});
afterAll(async () => {
  await api?.close();
  await book?.drop();
  await anvil?.stop();
});

/** Emits what it emits, then answers as it answers. */
async function act({ address, rounds, answers }: OddContract): Promise<void> {
  for (const logs of rounds) {
    await client.setCode({ address, bytecode: emittingCode(logs) });
    await sendAs(client, { from: accounts.alice.address, to: address, data: "0x" });
  }
  await client.setCode({ address, bytecode: answers === null ? "0x" : answeringCode(answers) });
}

/** Past the product: as the node has them. */
async function readRawLogs(): Promise<Map<Address, RawLog[]>> {
  const logs = await client.getLogs({ fromBlock: 0n, toBlock: "latest" });
  const byContract = new Map<Address, RawLog[]>();
  for (const { address, topics, data } of logs) {
    const key = address.toLowerCase() as Address;
    byContract.set(key, [...(byContract.get(key) ?? []), { topics, data }]);
  }
  return byContract;
}

async function describeAll(): Promise<void> {
  const chain = openChainClient({ chainId, rpcUrls: [anvil.rpcUrl] });
  const state = { head: 0n, unanswered: unansweredContracts() };
  await describePending(book.db, chain, state, new AbortController().signal);
  await book.happens();
}

function serveAll(): Promise<ApiClient> {
  const context = {
    db: book.db,
    siteUrl: site,
    chains: [1, 33139] as const,
    readStatus: () => Promise.reject(new Error("the status is not read here")),
    market: openTestMarket(book.db, { [chainId]: anvil.rpcUrl }),
    now: () => new Date(),
  };
  return serve(createApp({ context, baseUrl: site, logger: pino({ level: "silent" }) }));
}

type Proof = { contract: OddContract; logs: RawLog[]; tokens: ModelToken[]; isCollection: boolean };

function proofOf(contract: OddContract): Proof {
  const logs = rawLogs.get(contract.address) ?? [];
  const tokens = modelOf(logs);
  const { moved1155, moved721 } = standardsMoved(logs);
  const isCollection = moved1155 || (moved721 && !isCoin(contract, logs));
  return { contract, logs, tokens, isCollection };
}

const Stats = z.looseObject({ supplyExact: z.string(), holders: z.number() });
const Profile = z.looseObject({
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  standard: z.string().nullable(),
  stats: Stats,
});
const Token = z.looseObject({
  tokenId: z.string(),
  standard: z.string(),
  owner: z.string().nullable(),
  holders: z.number(),
  supplyExact: z.string(),
  isBurned: z.boolean(),
});
const Holder = z.looseObject({ address: z.string(), tokens: z.number(), units: z.string() });
const Paged = z.looseObject({ total: z.number(), next_cursor: z.string().nullable() });

async function read<Data extends z.ZodType>(path: string, data: Data) {
  const { status, body } = await api.get(path);
  expect([path, status], JSON.stringify(body)).toEqual([path, 200]);
  return z.object({ data, meta: z.unknown().optional() }).parse(body);
}

const unitsOf = ({ held }: ModelToken) => [...held.values()].reduce((sum, one) => sum + one, 0n);
const sizeOf = ({ first, last }: ModelToken) => last - first + 1n;
const sum = (values: readonly bigint[]) => values.reduce((total, one) => total + one, 0n);

function expectedToken(token: ModelToken, tokenId: bigint) {
  const [owner = null] = token.standard === "erc721" ? token.held.keys() : [];
  const { standard, isBurned, held } = token;
  const supplyExact = String(unitsOf(token));
  return { tokenId: String(tokenId), standard, owner, holders: held.size, supplyExact, isBurned };
}

/** Token ids and units of each holder. */
function expectedHolders(tokens: readonly ModelToken[]): Map<string, [ids: bigint, units: bigint]> {
  const holders = new Map<string, [bigint, bigint]>();
  for (const token of tokens)
    for (const [address, units] of token.held) {
      const [ids, sumOfUnits] = holders.get(address) ?? [0n, 0n];
      holders.set(address, [ids + sizeOf(token), sumOfUnits + units * sizeOf(token)]);
    }
  return holders;
}

async function expectTokens({ contract: { address }, tokens }: Proof): Promise<void> {
  for (const token of tokens)
    for (const id of new Set([token.first, token.last])) {
      const path = `/v1/collections/${address}/tokens/${id}?chainId=${chainId}`;
      expect((await read(path, Token)).data, path).toMatchObject(expectedToken(token, id));
    }
  const path = `/v1/collections/${address}/tokens?chainId=${chainId}&per_page=100`;
  const listed = await read(path, z.array(Token));
  const total = sum(tokens.map(sizeOf));
  expect(Paged.parse(listed.meta).total, path).toBe(Number(total));
  expect(listed.data.length, path).toBe(Number(total < 100n ? total : 100n));
  for (const row of listed.data) {
    const id = BigInt(row.tokenId);
    const token = tokens.find(({ first, last }) => first <= id && id <= last);
    expect(row, path).toMatchObject(token === undefined ? {} : expectedToken(token, id));
    expect(token, `${path} shows ${id}, which no event names`).toBeDefined();
  }
}

async function expectHolders({ contract: { address }, tokens }: Proof): Promise<void> {
  const path = `/v1/collections/${address}/holders?chainId=${chainId}`;
  const listed = await read(path, z.array(Holder));
  const holders = new Map(
    listed.data.map((one) => [one.address, [String(one.tokens), one.units]] as const),
  );
  const expected = [...expectedHolders(tokens)].map(
    ([of, [ids, units]]) => [of, [String(Number(ids)), String(units)]] as const,
  );
  expect(holders, path).toEqual(new Map(expected));
}

async function expectProfile({ contract, logs, tokens }: Proof): Promise<void> {
  const path = `/v1/collections/${contract.address}?chainId=${chainId}`;
  const { data } = await read(path, Profile);
  expect([path, data.name, data.symbol]).toEqual([path, contract.name, contract.symbol]);
  const { moved721, moved1155 } = standardsMoved(logs);
  if (moved721 !== moved1155) expect(data.standard, path).toBe(moved721 ? "erc721" : "erc1155");
  expect(data.stats.holders, path).toBe(expectedHolders(tokens).size);
}

describe("of contracts that keep to no standard", () => {
  it("the tokens, their owners and units are what the logs prove, and no more", async () => {
    for (const proof of contracts.map(proofOf)) if (proof.isCollection) await expectTokens(proof);
  });

  it("the holders are what the logs prove", async () => {
    for (const proof of contracts.map(proofOf)) if (proof.isCollection) await expectHolders(proof);
  });

  it("names are shown only where the contract says them", async () => {
    for (const proof of contracts.map(proofOf)) if (proof.isCollection) await expectProfile(proof);
  });

  it("coins, and those of which nothing can be decoded, are no collections", async () => {
    const proofs = contracts.map(proofOf);
    for (const { contract, isCollection } of proofs) {
      const path = `/v1/collections/${contract.address}?chainId=${chainId}`;
      expect([path, (await api.get(path)).status]).toEqual([path, isCollection ? 200 : 404]);
    }
    const collections = proofs.filter(({ isCollection }) => isCollection);
    expect(collections.length).toBeGreaterThan(contracts.length / 3);
    expect(collections.length).toBeLessThan(contracts.length);
  });

  it("every endpoint and page answers, whatever is asked of them", async () => {
    for (const {
      contract: { address },
      tokens,
    } of contracts.map(proofOf)) {
      const ids = [...new Set([...tokens.map(({ first }) => first), 3n])].slice(0, 2);
      for (const path of endpointsOf(address, ids)) {
        const { status, body } = await api.get(path);
        expect([200, 404, 422], `${path} ${JSON.stringify(body)}`).toContain(status);
      }
      for (const path of pagesOf(address, ids)) {
        const { status } = await fetch(api.url + path, { headers: { accept: "text/html" } });
        expect([200, 404], path).toContain(status);
      }
    }
  });

  it.each(projections.map((one) => [one.name, one] as const))(
    "a rebuild of %s gives the same rows",
    async (_name, projection) => {
      expect(await differenceOfRebuild(book.db, projection)).toMatchObject({ different: 0n });
    },
  );
});

const chain = `chainId=${chainId}`;

function endpointsOf(address: Address, ids: readonly bigint[]): string[] {
  const collection = `/v1/collections/${address}`;
  const maker = accounts.bob.address;
  const params = `/v1/orders/params?${chain}&maker=${maker}&contract=${address}&unitPriceWei=1000000000000000000`;
  return [
    ...[
      "",
      "/tokens",
      "/traits",
      "/holders",
      "/holders/distribution",
      "/depth",
      "/floor-history",
    ].map((part) => `${collection}${part}?${chain}`),
    ...["listings", "bids", "sales", "activity"].map(
      (list) => `/v1/${list}?${chain}&per_page=20&collection=${address}`,
    ),
    `${collection}/tokens?${chain}&owner=${addressOf(301)}`,
    `${collection}/tokens?${chain}&sort=rarity`,
    `/v1/search?${chain}&q=${address}`,
    `/v1/wallets/${addressOf(301)}/tokens?${chain}`,
    ...ids.flatMap((id) => [
      `${collection}/tokens/${id}?${chain}`,
      `${collection}/tokens/${id}/activity?${chain}`,
      `/v1/bids/best?${chain}&collection=${address}&tokenId=${id}`,
    ]),
    `${params}&tokenId=${ids[0]}`,
  ];
}

function pagesOf(address: Address, ids: readonly bigint[]): string[] {
  const views = ["items", "prices", "traits", "holders", "activity"];
  return [
    ...views.map((view) => `/collections/${address}?${chain}&view=${view}`),
    ...ids.map((id) => `/collections/${address}/tokens/${id}?${chain}`),
    `/wallets/${addressOf(301)}?${chain}`,
  ];
}
