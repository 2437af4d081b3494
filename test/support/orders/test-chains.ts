import { type Address, parseEther } from "viem";
import { erc20Abi } from "#abis/tokens.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { type Market, openMarket } from "../chain/market.ts";
import { openTrader, type Trader } from "../chain/trader.ts";
import { type Pipeline, startPipeline, until, untilReady } from "../database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../database/postgres.ts";

export type Person = "alice" | "bob" | "carol" | "dave" | "erin" | "frank" | "grace";

/** A chain and its traders, on chain and through the API. */
export type TestChain = ReturnType<typeof openTestChain>;

/** Local chains with the whole service over them, in this process. */
export type TestChains = {
  baseUrl: string;
  chain(chainId: ChainId): TestChain;
  close(): Promise<void>;
};

type Chains = readonly { chainId: ChainId; rpcUrl: string }[];

export async function openTestChains(
  chainIds: readonly ChainId[],
  settingsFor: (chains: Chains) => Promise<Record<string, string>> = async () => ({}),
): Promise<TestChains> {
  const markets: Market[] = [];
  let database: TestDatabase | undefined;
  let pipeline: Pipeline | undefined;
  const close = async () => {
    await pipeline?.stop();
    for (const market of markets) await market.stop();
    await database?.drop();
  };
  try {
    database = await createDatabase();
    for (const chainId of chainIds) markets.push(await openMarket({ chainId, stocked: true }));
    for (const { client } of markets) await client.setIntervalMining({ interval: 1 });
    pipeline = await startPipeline({
      databaseUrl: database.url,
      chains: markets.map(({ anvil }) => anvil),
      roles: ["indexer", "projector", "jobs", "api"],
      settings: await settingsFor(markets.map(({ anvil }) => anvil)),
    });
    await untilReady(pipeline);
    // From here on each transaction is mined at once.
    for (const { client } of markets) {
      await client.setIntervalMining({ interval: 0 });
      await client.setAutomine(true);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const { baseUrl } = pipeline;
  const { url: databaseUrl } = database;
  const chain = (chainId: ChainId) => {
    const market = markets.find(({ anvil }) => anvil.chainId === chainId);
    if (market === undefined) throw new Error(`chain ${chainId} is not open`);
    return openTestChain(market, chainId, { baseUrl, databaseUrl });
  };
  return { baseUrl, chain, close };
}

type Service = { readonly baseUrl: string; readonly databaseUrl: string };

function openTestChain({ client, actors, anvil }: Market, chainId: ChainId, service: Service) {
  const { baseUrl } = service;
  const trader = (name: Person): Trader =>
    openTrader({ baseUrl, chainId, client, account: accounts[name] });
  const { rpcUrl } = anvil;
  const currency = wrappedNative[chainId];
  return { chainId, client, actors, trader, ...service, rpcUrl, currency };
}

let lastId = 10_000n;

/** Reserves unused token ids; returns the first. */
export function takeIds(count: bigint): bigint {
  lastId += count;
  return lastId - count + 1n;
}

export async function mintPunk({ actors }: TestChain, owner: Person): Promise<Nft> {
  const nft: Nft = { standard: "erc721", contract: contracts.punks, tokenId: takeIds(1n) };
  await actors[owner].mints(nft);
  await actors[owner].approves(nft.contract);
  return nft;
}

/** Many of one owner, who has approved the conduit before. */
export async function mintPunks(
  { actors }: TestChain,
  owner: Person,
  count: bigint,
): Promise<Nft[]> {
  const first = takeIds(count);
  const most = 25n;
  for (let made = 0n; made < count; made += most) {
    const left = count - made;
    await actors[owner].mintsRange(contracts.punks, first + made, left < most ? left : most);
  }
  return Array.from({ length: Number(count) }, (_, index) => ({
    standard: "erc721",
    contract: contracts.punks,
    tokenId: first + BigInt(index),
  }));
}

export async function mintEdition(
  { actors }: TestChain,
  owner: Person,
  units: bigint,
): Promise<Nft> {
  const nft: Nft = { standard: "erc1155", contract: contracts.editions, tokenId: takeIds(1n) };
  await actors[owner].mints(nft, units);
  await actors[owner].approves(nft.contract);
  return nft;
}

export const orderRequest = (nft: Nft, ether: string, quantity = 1n) => ({
  contract: nft.contract,
  tokenId: nft.tokenId,
  unitPriceWei: parseEther(ether),
  quantity,
});

/** The status over HTTP, with its reason, as soon as it is this one. */
export function untilStatus(
  trader: Pick<Trader, "statusOf">,
  side: "listings" | "bids",
  id: string,
  status: string,
) {
  return until(`${id} to be ${status}`, async () => {
    return (await trader.statusOf(side, id)) === status;
  });
}

type Status = {
  logPosition: number;
  chains: { chainId: ChainId; recorded: { number: number } | null }[];
  projections: { position: number }[];
};

/** Awaits that every projection has what the chain holds now: an order's status may change with each event. */
export async function untilDerived({ baseUrl, chainId, client }: TestChain): Promise<void> {
  const head = Number(await client.getBlockNumber());
  await until(`block ${head} to be derived`, async () => {
    const response = await fetch(`${baseUrl}/v1/status`);
    const { logPosition, chains, projections } = ((await response.json()) as { data: Status }).data;
    const recorded = chains.find((chain) => chain.chainId === chainId)?.recorded?.number ?? 0;
    return recorded >= head && projections.every(({ position }) => position >= logPosition);
  });
}

export const weiOf = ({ client, currency }: TestChain, owner: Address) =>
  client.readContract({
    address: currency,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner],
  });
