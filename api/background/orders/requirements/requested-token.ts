import type { Address } from "viem";
import type { TokenState } from "../../../../projections/domain/orders/validate-state.ts";
import type { ChainQuery, Standard } from "../../chain/chain-query.ts";
import type { ChainResults } from "../../chain/query-chain.ts";

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

/** The standard seen in transfers takes precedence over the declared one. Null: unknown. */
export function standardOf({ contract, known }: RequestedToken, results: ChainResults) {
  return known ?? results.find({ kind: "standard", contract })?.standard ?? null;
}

/** `indexesAllContracts`: whether every NFT contract of the chain is indexed. */
export function tokenStateOf(
  token: RequestedToken,
  results: ChainResults,
  indexesAllContracts: boolean,
): TokenState {
  const { contract, tokenId, known } = token;
  const standard = standardOf(token, results) ?? undefined;
  const owner =
    standard === "erc721" && tokenId !== null
      ? results.find({ kind: "owner_read", contract, tokenId })?.owner
      : undefined;
  const collectionKnown = known !== undefined || (indexesAllContracts && standard !== undefined);
  return { collectionKnown, standard, owner };
}
