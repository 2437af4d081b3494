import type { Address } from "viem";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { applicableRoyalty, type Royalty } from "../../../projections/domain/royalty.ts";
import {
  type RoyaltyShare,
  readConfiguredRoyalties,
  readPartnerRoyalties,
} from "../../../projections/reads/collections/read-royalties.ts";
import { readReferenceTokens } from "../../../projections/reads/ownership/read-reference-tokens.ts";
import type { ChainAnswers } from "../chain/ask-chain.ts";
import type { Question } from "../chain/questions.ts";

/** A price that a royalty may be taken of. `tokenId` is null for a bid on every token of the contract. */
export type RoyaltyItem = { contract: Address; tokenId: bigint | null; unitPriceWei: bigint };

/** An item with what its royalty depends on besides the chain. */
export type RoyaltyCase = {
  chainId: ChainId;
  contract: Address;
  /** The token asked about: the item's, or the contract's reference token, the lowest id alive; 0 where none is known. */
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

/** What the chain must be asked, together with whatever else is asked of it. */
export function royaltyQuestions(cases: readonly RoyaltyCase[]): Question[] {
  return cases.map(questionOf);
}

/** The royalty that is due. Null: none; undefined: the chain, which has a say in it, did not answer. */
export function royaltyFrom(one: RoyaltyCase, answers: ChainAnswers): Royalty | null | undefined {
  const { chainId, unitPriceWei, partner, configured } = one;
  const answer = answers.find(questionOf(one));
  const erc2981 = answer?.royalty ?? null;
  const royalty = applicableRoyalty(chainId, unitPriceWei, { partner, erc2981, configured });
  return answer === undefined && royalty?.source !== "partner" ? undefined : royalty;
}

function questionOf({ contract, tokenId, unitPriceWei }: RoyaltyCase) {
  return { kind: "royalty", contract, tokenId, salePriceWei: unitPriceWei } as const;
}
