import type { Address } from "viem";
import type { TokenState } from "../../../../projections/domain/orders/judge-chain.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Question, Standard } from "../../chain/questions.ts";

/** A token, or with null every token of a contract, that somebody would trade. */
export type WishedToken = {
  contract: Address;
  tokenId: bigint | null;
  /** What its transfers tell; undefined: the contract is not known here. */
  known: Standard | null | undefined;
};

/** What its contract is, and who owns it. An id of unknown sort is asked about as if it were of an ERC-721. */
export function tokenQuestions({ contract, tokenId, known }: WishedToken): Question[] {
  const owner: Question[] =
    tokenId === null || known === "erc1155" ? [] : [{ kind: "owner_read", contract, tokenId }];
  return [{ kind: "standard", contract }, ...owner];
}

/** What transfers tell of a contract goes before what it says of itself. Null: neither tells. */
export function standardOf({ contract, known }: WishedToken, answers: ChainAnswers) {
  return known ?? answers.find({ kind: "standard", contract })?.standard ?? null;
}

/** `coversAll`: whether every contract of the chain is covered, known or not. */
export function tokenStateOf(
  token: WishedToken,
  answers: ChainAnswers,
  coversAll: boolean,
): TokenState {
  const { contract, tokenId, known } = token;
  const standard = standardOf(token, answers) ?? undefined;
  const owner =
    standard === "erc721" && tokenId !== null
      ? answers.find({ kind: "owner_read", contract, tokenId })?.owner
      : undefined;
  const collectionKnown = known !== undefined || (coversAll && standard !== undefined);
  return { collectionKnown, standard, owner };
}
