import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { readIsHolder } from "#projections/tokens/read-holders.ts";
import { readTraitCounts, readTraitCountsOfToken } from "#projections/traits/read-trait-counts.ts";
import { collection } from "../v1/collections/collections.ts";
import { listListings } from "../v1/orders/listings.ts";
import { text, wallet } from "../v1/parameters.ts";
import { search } from "../v1/search.ts";
import { NftContract, presentContract, presentUnknownContract } from "./nft.ts";
import { alchemyTokenId, contractAddress } from "./parameters.ts";
import { type AlchemyContext, alchemyRoute, ask, callRefusals, contractIdsOf } from "./route.ts";

/** What is known of a contract; a refusal where it is not covered. */
export async function askContract(address: string, context: AlchemyContext) {
  const answer = await ask(collection, { params: { collection: address } }, context);
  return isRejection(answer) ? answer : { data: presentContract(answer.data, address) };
}

export const contractMetadata = alchemyRoute(
  {
    method: "get",
    path: "/getContractMetadata",
    operationId: "getContractMetadata",
    tag: "Alchemy",
    summary: "A contract and its collection",
    query: z.object({ contractAddress }),
    data: NftContract,
    refuses: callRefusals,
  },
  ({ query }, context) => askContract(query.contractAddress, context),
);

const mostContracts = 100;

export const contractMetadataBatch = alchemyRoute(
  {
    method: "post",
    path: "/getContractMetadataBatch",
    operationId: "getContractMetadataBatch",
    tag: "Alchemy",
    loadClass: "lists",
    summary: "Contracts and their collections, in the order of the request",
    body: z.object({ contractAddresses: z.array(contractAddress).min(1).max(mostContracts) }),
    data: z.object({ contracts: z.array(NftContract) }),
    refuses: { ...callRefusals, bad_request: 400 },
    reads: "snapshot",
    scope: "read",
  },
  async ({ body }, context) => {
    const contracts = [];
    for (const address of body.contractAddresses) {
      const answer = await askContract(address, context);
      contracts.push(isRejection(answer) ? presentUnknownContract(address) : answer.data);
    }
    return { data: { contracts } };
  },
);

export const contractSearch = alchemyRoute(
  {
    method: "get",
    path: "/searchContractMetadata",
    operationId: "searchContractMetadata",
    tag: "Alchemy",
    loadClass: "lists",
    summary: "Contracts whose collections a text finds",
    query: z.object({ query: text(200) }),
    data: z.object({ contracts: z.array(NftContract) }),
    refuses: callRefusals,
  },
  async ({ query }, context) => {
    const found = await ask(search, { query: { q: query.query, limit: "20" } }, context);
    if (isRejection(found)) return found;
    const contracts = [];
    for (const { address } of found.data.collections) {
      const answer = await askContract(address, context);
      if (!isRejection(answer)) contracts.push(answer.data);
    }
    return { data: { contracts } };
  },
);

const floor = z.object({
  floorPrice: z.number().nullable(),
  priceCurrency: z.string().nullable(),
  collectionUrl: z.string().nullable(),
  retrievedAt: z.string().nullable(),
  error: z.string().nullable(),
});

const noFloor = (error: string): z.output<typeof floor> => ({
  floorPrice: null,
  priceCurrency: null,
  collectionUrl: null,
  retrievedAt: null,
  error,
});

/** `all`: of every marketplace followed here, which the original does not have. */
export const floorPrice = alchemyRoute(
  {
    method: "get",
    path: "/getFloorPrice",
    operationId: "getFloorPrice",
    tag: "Alchemy",
    summary: "The cheapest active listing of a contract, by marketplace",
    query: z.object({ contractAddress }),
    data: z.object({ openSea: floor, looksRare: floor, all: floor }),
    refuses: callRefusals,
  },
  async ({ query }, context) => {
    const openSea = await askFloor(query.contractAddress, "opensea", context);
    if (isRejection(openSea)) return openSea;
    const all = await askFloor(query.contractAddress, "all", context);
    if (isRejection(all)) return all;
    return { data: { openSea, looksRare: noFloor("listings of LooksRare are not followed"), all } };
  },
);

async function askFloor(contract: string, marketplace: string, context: AlchemyContext) {
  const query = { collection: contract, marketplace, sort: "price_asc", per_page: "1" };
  const answer = await ask(listListings, { query }, context);
  if (isRejection(answer)) return answer;
  const [cheapest] = answer.data;
  if (cheapest === undefined) return noFloor("no active listing");
  return {
    floorPrice: cheapest.price,
    priceCurrency: cheapest.currency.symbol,
    collectionUrl: cheapest.urls.collection,
    retrievedAt: context.now().toISOString(),
    error: null,
  };
}

/** Values of traits in a summary; a collection with more has numbers as traits. */
const mostValues = 10_000;

export const attributeSummary = alchemyRoute(
  {
    method: "get",
    path: "/summarizeNFTAttributes",
    operationId: "summarizeNFTAttributes",
    tag: "Alchemy",
    loadClass: "lists",
    summary: `How many tokens have each value of each trait; the ${mostValues} most frequent values`,
    query: z.object({ contractAddress }),
    data: z.object({
      summary: z.record(z.string(), z.record(z.string(), z.int())),
      totalSupply: z.string(),
      contractAddress: z.string(),
    }),
    refuses: callRefusals,
  },
  async ({ query: { contractAddress } }, context) => {
    const contract = await askContract(contractAddress, context);
    if (isRejection(contract)) return contract;
    const ids = await contractIdsOf(contractAddress, context);
    if (isRejection(ids)) return ids;
    const summary = new Map<string, Map<string, number>>();
    for (const { type, value, tokens } of await readTraitCounts(context.db, ids, mostValues)) {
      const values = summary.get(type) ?? new Map();
      summary.set(type, values.set(value, Number(tokens)));
    }
    const plain = [...summary].map(([type, values]) => [type, Object.fromEntries(values)]);
    return {
      data: {
        summary: Object.fromEntries(plain),
        totalSupply: contract.data.totalSupply ?? "0",
        contractAddress,
      },
    };
  },
);

/** Shares have five digits. */
const shares = 100_000;

export const rarity = alchemyRoute(
  {
    method: "get",
    path: "/computeRarity",
    operationId: "computeRarity",
    tag: "Alchemy",
    summary: "The share of a contract's tokens that have each trait of a token",
    query: z.object({ contractAddress, tokenId: alchemyTokenId }),
    data: z.object({
      rarities: z.array(
        z.object({ traitType: z.string(), value: z.string(), prevalence: z.number() }),
      ),
    }),
    refuses: callRefusals,
  },
  async ({ query }, context) => {
    const contract = await askContract(query.contractAddress, context);
    if (isRejection(contract)) return contract;
    const ids = await contractIdsOf(query.contractAddress, context);
    if (isRejection(ids)) return ids;
    const supply = Number(contract.data.totalSupply ?? 0);
    const counts = await readTraitCountsOfToken(context.db, ids, query.tokenId);
    const rarities = counts.map(({ type, value, tokens }) => ({
      traitType: type,
      value,
      prevalence: supply === 0 ? 0 : Math.round((Number(tokens) / supply) * shares) / shares,
    }));
    return { data: { rarities } };
  },
);

export const isHolder = alchemyRoute(
  {
    method: "get",
    path: "/isHolderOfContract",
    operationId: "isHolderOfContract",
    tag: "Alchemy",
    summary: "Whether a wallet holds a token of a contract",
    query: z.object({ wallet, contractAddress }),
    data: z.object({ isHolderOfContract: z.boolean() }),
    refuses: callRefusals,
  },
  async ({ query }, context) => {
    const ids = await contractIdsOf(query.contractAddress, context);
    if (isRejection(ids)) return ids;
    return { data: { isHolderOfContract: await readIsHolder(context.db, ids, query.wallet) } };
  },
);
