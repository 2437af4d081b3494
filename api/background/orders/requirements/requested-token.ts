import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { TokenState } from "#projections/domain/orders/validate-state.ts";
import { readBurnedTokens, type TokenSet } from "#projections/tokens/read-token.ts";
import type { ChainQuery, Standard } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { findOwnerless } from "#jobs/orders/evaluate-order.ts";
import type { Market } from "../market/market.ts";

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
export function transferQueries({
  contract,
  tokenId,
  known: standard,
  maker: owner,
}: RequestedToken & { tokenId: bigint; maker: Address }) {
  return standard ? [{ kind: "transfer_read", contract, tokenId, owner, standard } as const] : [];
}

/** The standard seen in transfers takes precedence over the declared one. Null: unknown. */
export function standardOf({ contract, known }: RequestedToken, results: ChainResults) {
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
  const standard = standardOf(token, results) ?? undefined;
  const owner =
    standard === "erc721" && tokenId !== null
      ? results.find({ kind: "owner_read", contract, tokenId })?.owner
      : undefined;
  const collectionKnown = known !== undefined || (indexesAllContracts && standard !== undefined);
  const isBurned = tokenId !== null && burnedTokens.has({ contract, tokenId });
  return { collectionKnown, standard, owner, isBurned };
}
