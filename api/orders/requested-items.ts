import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { ChainQuery, Standard } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { chainUnavailable, findOwnerless } from "#jobs/orders/evaluate-order.ts";
import { readKnownContracts } from "#projections/collections/find-collection.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type {
  Criteria,
  MarketTerms,
  ParsedOrder,
  TradeTerms,
} from "#projections/domain/orders/order-terms.ts";
import { isCollectionKnown, type TokenState } from "#projections/domain/orders/validate-state.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import { readBurnedTokens, type TokenSet } from "#projections/tokens/read-token.ts";
import type { Market } from "./market.ts";
import { type PricedItem, priceItem, validateDraft } from "./price-item.ts";
import { type RoyaltyCase, readRoyaltyCases, royaltyFrom } from "./royalty.ts";

export type RequirementsRequest = { market: Market; chainId: ChainId; maker: Address; now: Date };

type Item = {
  contract: Address;
  tokenId: bigint | null;
  criteria?: Criteria;
  quantity: bigint;
  unitPriceWei: bigint;
};

/** An item to list or to bid on, with what is stored about its contract. */
export type RequestedItem<Requested extends Item> = Requested &
  RequestedToken & { maker: Address; royaltyCase: RoyaltyCase };

/** The items in their order. */
export async function readRequestedItems<Requested extends Item>(
  { market: { writer }, chainId, maker }: RequirementsRequest,
  items: readonly Requested[],
): Promise<RequestedItem<Requested>[]> {
  const contracts = items.map(({ contract }) => contract);
  const [known, cases] = await Promise.all([
    readKnownContracts(writer, chainId, contracts),
    readRoyaltyCases(writer, chainId, items),
  ]);
  return items.flatMap((item, index) => {
    const royaltyCase = cases[index];
    return royaltyCase ? [{ ...item, maker, known: known.get(item.contract), royaltyCase }] : [];
  });
}

export type PricedRequest = PricedItem & { standard: TradeTerms["standard"] | null };

/** Prices an item, and validates the order that its maker would sign. */
export function priceRequestedItem(
  side: TradeTerms["side"],
  item: RequestedItem<Item>,
  { results, terms, counter }: { results: ChainResults; terms: MarketTerms; counter: bigint },
): { priced: PricedRequest; order: ParsedOrder | Rejection<IntakeCode> } {
  const standard = requestedStandard(item, results);
  const intent = { ...item, side, standard };
  const priced = priceItem(intent, terms, royaltyFrom(item.royaltyCase, results), counter);
  return { priced: { standard, ...priced }, order: validateDraft(intent, priced, terms) };
}

/** A token to trade, or every token of a contract. */
export type RequestedToken = {
  contract: Address;
  tokenId: bigint | null;
  /** The standard seen in its transfers; undefined: the contract is not indexed. */
  known: Standard | null | undefined;
};

/** Standard of the contract and owner of the token. A token of unknown standard is queried as an ERC-721. */
export function tokenQueries({ contract, tokenId, known }: RequestedToken): ChainQuery[] {
  const owner: ChainQuery[] =
    tokenId === null || known === "erc1155" ? [] : [{ kind: "owner_read", contract, tokenId }];
  return [{ kind: "standard", contract }, ...owner];
}

/** A transfer depends on the standard: it is not queried while that is unknown. */
export function requestedTransferQueries({
  contract,
  tokenId,
  known: standard,
  maker: owner,
}: RequestedToken & { tokenId: bigint; maker: Address }) {
  return standard ? [{ kind: "transfer_read", contract, tokenId, owner, standard } as const] : [];
}

/** The standard seen in transfers takes precedence over the declared one. Null: unknown. */
export function requestedStandard({ contract, known }: RequestedToken, results: ChainResults) {
  return known ?? results.find({ kind: "standard", contract })?.standard ?? null;
}

/** What the state of a token is read from. */
export type TokenSources = {
  results: ChainResults;
  /** Tokens without an owner on the chain that the log saw burned. */
  burnedTokens: TokenSet;
  /** Whether every NFT contract of the chain is indexed. */
  indexesAllContracts: boolean;
};

export async function readTokenSources(
  { writer, indexesAllContracts }: Market,
  chainId: ChainId,
  { items, results }: { items: readonly RequestedToken[]; results: ChainResults },
): Promise<TokenSources> {
  const burnedTokens = await readBurnedTokens(writer, chainId, findOwnerless(items, results));
  return { results, burnedTokens, indexesAllContracts: indexesAllContracts(chainId) };
}

export function tokenStateOf(
  token: RequestedToken,
  { results, burnedTokens, indexesAllContracts }: TokenSources,
): TokenState {
  const { contract, tokenId, known } = token;
  const standard = requestedStandard(token, results) ?? undefined;
  const owner =
    standard === "erc721" && tokenId !== null
      ? results.find({ kind: "owner_read", contract, tokenId })?.owner
      : undefined;
  const collectionKnown = isCollectionKnown({
    isRecorded: known !== undefined,
    indexesAllContracts,
    declared: results.find({ kind: "standard", contract }),
  });
  const isBurned = tokenId !== null && burnedTokens.has({ contract, tokenId });
  return { collectionKnown, standard, owner, isBurned };
}

export type MakerFunds = {
  counter: bigint;
  /** Of the chain's wrapped native currency. */
  balanceWei: bigint;
  /** To the exchange itself. */
  allowanceWei: bigint;
  /** Total of the maker's open bids. */
  openOffersWei: bigint;
};

/** Counter, balance and allowance of a bidder. */
export function makerFundsQueries(owner: Address, { currency }: MarketTerms) {
  return [
    { kind: "counter_read", maker: owner },
    { kind: "balance_read", currency, owner },
    { kind: "allowance_read", currency, owner },
  ] as const;
}

export function makerFundsFrom(
  results: ChainResults,
  owner: Address,
  { currency }: MarketTerms,
  openOffersWei: bigint,
): MakerFunds | Rejection<"rpc_unavailable"> {
  const counter = results.find({ kind: "counter_read", maker: owner })?.counter;
  const balanceWei = results.find({ kind: "balance_read", currency, owner })?.wei;
  const allowanceWei = results.find({ kind: "allowance_read", currency, owner })?.wei;
  if (counter === undefined || balanceWei === undefined || allowanceWei === undefined) {
    return chainUnavailable();
  }
  return { counter, balanceWei, allowanceWei, openOffersWei };
}
