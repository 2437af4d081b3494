import type { Address } from "viem";
import type {
  ChainQuestion,
  ChainReading,
} from "../../../projections/chain-readings/chain-reading.ts";
import type { SignedOrder } from "../../../projections/domain/seaport/order-components.ts";

type Subject<Kind extends ChainQuestion["kind"]> = Extract<ChainQuestion, { kind: Kind }>;

export type Standard = "erc721" | "erc1155";

/** What a chain is asked: the recorded questions, two of them with what asking takes, and questions that are not recorded. */
export type Question =
  | Exclude<ChainQuestion, { kind: "transfer_read" | "signature_read" }>
  | (Subject<"transfer_read"> & { standard: Standard })
  /** `orderHash` and `maker` are the order's. */
  | (Subject<"signature_read"> & { order: SignedOrder })
  | { kind: "code"; address: Address }
  | { kind: "standard"; contract: Address }
  | { kind: "royalty"; contract: Address; tokenId: bigint; salePriceWei: bigint };

export type Answer =
  | ChainReading
  | { kind: "code"; address: Address; hasCode: boolean }
  | ({ kind: "standard"; contract: Address } & StandardFound)
  /** ERC-2981's; null: the contract names no royalty that can be paid out of the price. */
  | {
      kind: "royalty";
      contract: Address;
      tokenId: bigint;
      salePriceWei: bigint;
      royalty: { recipient: Address; royaltyWei: bigint } | null;
    };

/** Which standard a contract declares by ERC-165, or why none is known. */
export type StandardFound =
  | { standard: Standard }
  | { standard: null; reason: "no_erc165" | "neither" | "contradictory" };

export type QuestionKind = Question["kind"];
export type Questions = { [Kind in QuestionKind]: Extract<Question, { kind: Kind }> };
export type Answers = { [Kind in QuestionKind]: Extract<Answer, { kind: Kind }> };

/** Equal for questions that have the same answer, in whatever order they name their parts. */
export function questionKey(question: Question): string {
  const parts = Object.entries(question).map(([name, value]) =>
    // Of an order its hash is in the question: its signature is all that may differ.
    typeof value === "object" ? `${name}=${value.signature}` : `${name}=${value}`,
  );
  return parts.sort().join(" ");
}

const unrecorded = ["code", "standard", "royalty"] as const;

export function isReading(answer: Answer): answer is ChainReading {
  return !unrecorded.some((kind) => kind === answer.kind);
}
