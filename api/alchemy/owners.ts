import type { Hex } from "viem";
import { z } from "zod";
import { listingViewOf } from "#api/v1/orders/sides.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { readNewestBlock } from "#projections/sales/read-sales-of-blocks.ts";
import {
  countHolders,
  type HeldContract,
  readHeldContracts,
  readHolders,
} from "#projections/tokens/read-holders.ts";
import { listedTokenParts } from "#projections/tokens/read-token-details.ts";
import {
  readWalletTokenDetails,
  readWalletTokens,
  type WalletFilter,
  type WalletTokenDetails,
} from "#projections/tokens/read-wallet-tokens.ts";
import { cursorInteger, cursorPageOf, cutPage } from "../http/page.ts";
import { holderKey, holdersScope, keyOfHolder } from "../v1/collections/holders.ts";
import { wallet } from "../v1/parameters.ts";
import { heldKey, keyOfHeld, presentHeld, walletScope } from "../v1/wallet-tokens.ts";
import { askContract } from "./contracts.ts";
import {
  AlchemyNft,
  BareNft,
  NftContract,
  NftImage,
  noImage,
  presentNft,
  presentUnknownContract,
} from "./nft.ts";
import { contractAddress, ignored, listOf, pageKey, rowLimit, yes } from "./parameters.ts";
import { type AlchemyContext, alchemyRoute, callRefusals, contractIdsOf } from "./route.ts";
import { presentValidAt, ValidAt } from "./sales.ts";

/** Owners of a page, and with their balances, of which each may have many. */
const pageOwners = 1_000;
const pageOwnersWithBalances = 100;
/** Most ids of one owner in an answer. */
const mostBalances = 10_000;

const owner = z.object({
  ownerAddress: z.string(),
  tokenBalances: z.array(z.object({ tokenId: z.string(), balance: z.string() })),
});

export const ownersOfContract = alchemyRoute(
  {
    method: "get",
    path: "/getOwnersForContract",
    operationId: "getOwnersForContract",
    tag: "Alchemy",
    loadClass: "lists",
    summary: `Who holds tokens of a contract, most first; with balances the first ${mostBalances} ids of each`,
    query: z.object({
      contractAddress,
      withTokenBalances: yes,
      includeCount: yes,
      pageKey,
    }),
    data: z.object({
      owners: z.array(z.union([z.string(), owner])),
      totalCount: z.int().optional(),
      pageKey: z.string().nullable(),
    }),
    refuses: callRefusals,
  },
  async ({ query }, context) => {
    const { db, chainId } = context;
    const { contractAddress: contract, withTokenBalances = false, pageKey: cursor } = query;
    const contractIds = await contractIdsOf(contract, context);
    if (isRejection(contractIds)) return contractIds;
    const per_page = withTokenBalances ? pageOwnersWithBalances : pageOwners;
    const scope = holdersScope(chainId, contractIds);
    const page = cursorPageOf({ per_page, cursor }, scope, holderKey);
    if (isRejection(page)) return page;
    const rows = await readHolders(db, contractIds, page.read);
    const { shown, meta } = cutPage(page, rows, keyOfHolder);
    const owners = [];
    for (const one of shown) {
      owners.push(
        withTokenBalances ? await ownerWithBalances(one.owner, contractIds, context) : one.owner,
      );
    }
    const counted =
      query.includeCount === true
        ? { totalCount: Number(await countHolders(db, contractIds)) }
        : {};
    return { data: { owners, ...counted, pageKey: meta.next_cursor } };
  },
);

async function ownerWithBalances(
  holder: Hex,
  contractIds: readonly number[],
  { db, chainId }: AlchemyContext,
): Promise<z.output<typeof owner>> {
  const filter = { chainId, wallet: holder, contractIds };
  const held = await readWalletTokens(db, filter, { limit: mostBalances, after: null });
  return {
    ownerAddress: holder,
    tokenBalances: held.map(({ tokenId, units }) => ({
      tokenId: String(tokenId),
      balance: String(units),
    })),
  };
}

const balance = z.object({ balance: z.string() });

/** Contracts that a list may be limited to. */
const mostContracts = 45;
/** Contracts of a wallet of which tokens are counted. */
const countedContracts = 1_000;

export const nftsOfOwner = alchemyRoute(
  {
    method: "get",
    path: "/getNFTsForOwner",
    operationId: "getNFTsForOwner",
    tag: "Alchemy",
    loadClass: "lists",
    summary: "Tokens that a wallet holds, by contract and id",
    query: z.object({
      owner: wallet,
      contractAddresses: listOf(contractAddress, mostContracts),
      withMetadata: yes,
      pageSize: rowLimit(100),
      pageKey,
      excludeFilters: ignored,
      includeFilters: ignored,
      orderBy: ignored,
      tokenUriTimeoutInMs: ignored,
      spamConfidenceLevel: ignored,
    }),
    data: z.object({
      ownedNfts: z.array(
        z.union([AlchemyNft.extend(balance.shape), BareNft.extend(balance.shape)]),
      ),
      totalCount: z.int().nullable(),
      validAt: ValidAt,
      pageKey: z.string().nullable(),
    }),
    refuses: callRefusals,
  },
  async ({ query }, context) => {
    const { db, chainId } = context;
    const { owner: wallet, withMetadata = true, pageSize: per_page, pageKey: cursor } = query;
    const contractIds = await idsOf(query.contractAddresses, context);
    const filter = { chainId, wallet, contractIds };
    const page = cursorPageOf({ per_page, cursor }, walletScope(filter), heldKey);
    if (isRejection(page)) return page;
    const parts = withMetadata ? listedTokenParts : noParts;
    const [rows = []] = await readWalletTokenDetails(db, [filter], page.read, context.now(), parts);
    const { shown, meta } = cutPage(page, rows, keyOfHeld);
    const present = await heldPresenter(withMetadata, context);
    return {
      data: {
        ownedNfts: shown.map(present),
        totalCount: await countHeld(filter, db),
        validAt: presentValidAt(await readNewestBlock(db, chainId)),
        pageKey: meta.next_cursor,
      },
    };
  },
);

const noParts = new Set<never>();

/** Of the contracts that are known; null: of any. */
async function idsOf(addresses: readonly Hex[] | undefined, context: AlchemyContext) {
  if (addresses === undefined) return null;
  const ids: number[] = [];
  for (const address of addresses) {
    const known = await contractIdsOf(address, context);
    if (!isRejection(known)) ids.push(...known);
  }
  return ids;
}

async function heldPresenter(withMetadata: boolean, context: AlchemyContext) {
  const { siteUrl, market, chainId, media } = context;
  const view = { ...(await listingViewOf({ siteUrl, market })), chainId, media };
  return (row: WalletTokenDetails) => {
    const { units, ...token } = presentHeld(row, view);
    return withMetadata
      ? { ...presentNft(token), balance: units }
      : { contractAddress: token.contract, tokenId: token.tokenId, balance: units };
  };
}

/** Token ids that a wallet holds; null: of too many contracts to be counted. */
async function countHeld({ contractIds, ...filter }: WalletFilter, db: Database) {
  const all = await readHeldContracts(db, filter, { limit: countedContracts + 1, after: 0 });
  if (all.length > countedContracts) return null;
  const own = all.filter(({ contractId }) => contractIds?.includes(contractId) ?? true);
  return own.reduce((sum, { tokens }) => sum + Number(tokens), 0);
}

const HeldContractView = NftContract.extend({
  totalBalance: z.string(),
  numDistinctTokensOwned: z.string(),
  displayNft: z.object({ tokenId: z.string(), name: z.null() }),
  image: NftImage,
  isSpam: z.null(),
});

const contractKey = z.tuple([cursorInteger(9)]).transform(([contractId]) => Number(contractId));

export const contractsOfOwner = alchemyRoute(
  {
    method: "get",
    path: "/getContractsForOwner",
    operationId: "getContractsForOwner",
    tag: "Alchemy",
    loadClass: "lists",
    summary: "Contracts of which a wallet holds tokens",
    query: z.object({
      owner: wallet,
      pageSize: rowLimit(100),
      pageKey,
      withMetadata: ignored,
      excludeFilters: ignored,
      includeFilters: ignored,
      orderBy: ignored,
    }),
    data: z.object({
      contracts: z.array(HeldContractView),
      totalCount: z.int().nullable(),
      pageKey: z.string().nullable(),
    }),
    refuses: callRefusals,
  },
  async ({ query }, context) => {
    const { db, chainId } = context;
    const { owner: wallet, pageSize: per_page, pageKey: cursor } = query;
    const scope = { list: "alchemy contracts", chainId, wallet };
    const page = cursorPageOf({ per_page, cursor }, scope, contractKey);
    if (isRejection(page)) return page;
    const { limit, after } = page.read;
    const held = await readHeldContracts(db, { chainId, wallet }, { limit, after: after ?? 0 });
    const { shown, meta } = cutPage(page, held, ({ contractId }) => [contractId]);
    const contracts = [];
    for (const one of shown) contracts.push(await viewHeldContract(one, context));
    const isWhole = after === null && meta.next_cursor === null;
    const totalCount = isWhole ? shown.length : null;
    return { data: { contracts, totalCount, pageKey: meta.next_cursor } };
  },
);

async function viewHeldContract(
  { contract, tokens, units, firstId }: HeldContract,
  context: AlchemyContext,
): Promise<z.output<typeof HeldContractView>> {
  const known = await askContract(contract, context);
  const shown = isRejection(known) ? presentUnknownContract(contract) : known.data;
  const imageUrl = shown.openSeaMetadata.imageUrl;
  return {
    ...shown,
    totalBalance: String(units),
    numDistinctTokensOwned: String(tokens),
    displayNft: { tokenId: String(firstId), name: null },
    image: { ...noImage, cachedUrl: imageUrl, originalUrl: imageUrl },
    isSpam: null,
  };
}
