import type { Address } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import { applicableRoyalty, type Royalty } from "../../../../projections/domain/royalty.ts";
import {
  type RoyaltyShare,
  readConfiguredRoyalties,
  readPartnerRoyalties,
} from "../../../../projections/reads/collections/read-royalties.ts";
import { readReferenceTokens } from "../../../../projections/reads/ownership/read-reference-tokens.ts";
import type { ChainQuery } from "../../chain/chain-query.ts";
import type { ChainResults } from "../../chain/query-chain.ts";

/** A price that may be subject to a royalty. `tokenId` is null for a bid on every token of the contract. */
export type RoyaltyItem = { contract: Address; tokenId: bigint | null; unitPriceWei: bigint };

/** An item and the stored data that its royalty depends on. */
export type RoyaltyCase = {
  chainId: ChainId;
  contract: Address;
  /** The token of the ERC-2981 query: the item's, or the lowest existing id of the contract; 0 where none is known. */
  tokenId: bigint;
  unitPriceWei: bigint;
  partner: RoyaltyShare | null;
  configured: RoyaltyShare | null;
};

/** The cases of items, in their order. */
export async function readRoyaltyCases(
  db: Database,
  chainId: ChainId,
  items: readonly RoyaltyItem[],
): Promise<RoyaltyCase[]> {
  const collectionWide = items.filter(({ tokenId }) => tokenId === null);
  const contracts = items.map(({ contract }) => contract);
  const [partners, configured, references] = await Promise.all([
    readPartnerRoyalties(db, chainId, contracts),
    readConfiguredRoyalties(db, chainId, contracts),
    readReferenceTokens(
      db,
      chainId,
      collectionWide.map(({ contract }) => contract),
    ),
  ]);
  return items.map(({ contract, tokenId, unitPriceWei }) => ({
    chainId,
    contract,
    tokenId: tokenId ?? references.get(contract) ?? 0n,
    unitPriceWei,
    partner: partners.get(contract) ?? null,
    configured: configured.get(contract) ?? null,
  }));
}

/** The ERC-2981 queries of the cases. */
export function royaltyQueries(cases: readonly RoyaltyCase[]): ChainQuery[] {
  return cases.map(royaltyQuery);
}

/** The royalty due. Null: none; undefined: unknown, because it depends on a query that failed. */
export function royaltyFrom(one: RoyaltyCase, results: ChainResults): Royalty | null | undefined {
  const { chainId, unitPriceWei, partner, configured } = one;
  const answer = results.find(royaltyQuery(one));
  const erc2981 = answer?.royalty ?? null;
  const royalty = applicableRoyalty(chainId, unitPriceWei, { partner, erc2981, configured });
  return answer === undefined && royalty?.source !== "partner" ? undefined : royalty;
}

function royaltyQuery({ contract, tokenId, unitPriceWei }: RoyaltyCase) {
  return { kind: "royalty", contract, tokenId, salePriceWei: unitPriceWei } as const;
}
