import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import {
  type RoyaltyShare,
  readConfiguredRoyalties,
  readContractRoyalties,
  readOperatorRoyalties,
  readPartnerRoyalties,
} from "#projections/collections/read-royalties.ts";
import { applicableRoyalty, type Royalty } from "#projections/domain/royalty.ts";
import type { Database } from "#projections/log/database.ts";
import { readReferenceTokens } from "#projections/tokens/read-token.ts";

/** A price that may be subject to a royalty. `tokenId` is null for a bid on every token of the contract. */
export type RoyaltyItem = { contract: Address; tokenId: bigint | null; unitPriceWei: bigint };

/** An item and the stored data that its royalty depends on. */
export type RoyaltyCase = {
  chainId: ChainId;
  contract: Address;
  /** The token of the ERC-2981 query: the item's, or the lowest existing id of the contract; 0 where none is known. */
  tokenId: bigint;
  unitPriceWei: bigint;
  operator: RoyaltyShare | null;
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
  const [operators, partners, configured, references] = await Promise.all([
    readOperatorRoyalties(db, chainId, contracts),
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
    operator: operators.get(contract) ?? null,
    partner: partners.get(contract) ?? null,
    configured: configured.get(contract) ?? null,
  }));
}

/** The ERC-2981 queries of the cases. */
export function royaltyQueries(cases: readonly RoyaltyCase[]): ChainQuery[] {
  return cases.map(royaltyQuery);
}

/**
 * The contracts whose answer about a token is not what their last reading says of all tokens: it may have changed, or
 * depend on the token.
 */
export async function findChangedRoyalties(
  db: Database,
  chainId: ChainId,
  cases: readonly RoyaltyCase[],
  results: ChainResults,
): Promise<Address[]> {
  const answered = cases.flatMap((one) => {
    const answer = results.find(royaltyQuery(one));
    return answer === undefined ? [] : [{ ...one, royalty: answer.royalty }];
  });
  const contracts = answered.map(({ contract }) => contract);
  const known = await readContractRoyalties(db, chainId, contracts);
  const changed = answered.filter(({ contract, unitPriceWei, royalty }) => {
    const before = known.get(contract);
    if (royalty === null || before === undefined)
      return (royalty?.royaltyWei ?? 0n) > 0n || before !== undefined;
    const expectedWei = unitPriceWei * BigInt(before.bps);
    const differsByWei = royalty.royaltyWei * 10_000n - expectedWei;
    // A share is kept in whole hundredths of a percent.
    const tolerated = unitPriceWei / 2n + 10_000n;
    const isSameShare = differsByWei <= tolerated && -differsByWei <= tolerated;
    return royalty.recipient !== before.recipient || !isSameShare;
  });
  return [...new Set(changed.map(({ contract }) => contract))];
}

/** The royalty due. Null: none; undefined: unknown, because it depends on a query that failed. */
export function royaltyFrom(one: RoyaltyCase, results: ChainResults): Royalty | null | undefined {
  const { chainId, unitPriceWei, operator, partner, configured } = one;
  const answer = results.find(royaltyQuery(one));
  const erc2981 = answer?.royalty ?? null;
  const sources = { operator, partner, erc2981, configured };
  const royalty = applicableRoyalty(chainId, unitPriceWei, sources);
  if (answer !== undefined || operator !== null || royalty?.source === "partner") return royalty;
  return undefined;
}

/** The royalties due as far as they were ever read; null: the contract was never asked. */
export async function readStoredRoyalties(
  db: Database,
  chainId: ChainId,
  cases: readonly RoyaltyCase[],
): Promise<({ due: Royalty | null } | null)[]> {
  const contracts = cases.map(({ contract }) => contract);
  const known = await readContractRoyalties(db, chainId, contracts);
  return cases.map(({ contract, unitPriceWei, operator, partner, configured }) => {
    const share = known.get(contract);
    const isKnown = share !== undefined || operator !== null || partner !== null;
    const royaltyWei = (unitPriceWei * BigInt(share?.bps ?? 0)) / 10_000n;
    const erc2981 = share === undefined ? null : { recipient: share.recipient, royaltyWei };
    const sources = { operator, partner, erc2981, configured };
    return isKnown ? { due: applicableRoyalty(chainId, unitPriceWei, sources) } : null;
  });
}

function royaltyQuery({ contract, tokenId, unitPriceWei }: RoyaltyCase) {
  return { kind: "royalty", contract, tokenId, salePriceWei: unitPriceWei } as const;
}
