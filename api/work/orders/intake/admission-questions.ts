import type { Question } from "../../chain/questions.ts";
import { handoverQuestions } from "../checks/handover.ts";
import { royaltyQuestions } from "../royalty.ts";
import type { Cheaper, Known } from "./admission-reads.ts";
import type { Candidate } from "./candidate.ts";

/** Everything that the chain must say before an order is taken in. */
export function questionsAbout(candidate: Candidate, known: Known): Question[] {
  const { order } = candidate;
  const { components, orderHash, contract } = order;
  const royaltyCase = known.royaltyCases.get(orderHash);
  return [
    { kind: "counter_read", maker: components.offerer },
    { kind: "order_status_read", orderHash },
    { kind: "standard", contract },
    ...(royaltyCase === undefined ? [] : royaltyQuestions([royaltyCase])),
    ...signatureQuestions(candidate),
    ...(order.side === "ask" ? listingQuestions(candidate) : bidQuestions(candidate)),
    ...cheaperOf(candidate, known.cheaper).map(
      (one) => ({ kind: "order_status_read", orderHash: one.orderHash }) as const,
    ),
  ];
}

function signatureQuestions({ order, verdict }: Candidate): Question[] {
  if (verdict.signedBy === "maker") return [];
  const { orderHash, components, signature } = order;
  const maker = components.offerer;
  return [
    { kind: "code", address: maker },
    { kind: "signature_read", orderHash, maker, order: { components, signature } },
  ];
}

function listingQuestions({ order }: Candidate): Question[] {
  const { contract, tokenId, standard, components } = order;
  if (tokenId === null) return [];
  return Object.values(handoverQuestions({ contract, tokenId, standard }, components.offerer));
}

function bidQuestions({ order, terms }: Candidate): Question[] {
  const { contract, tokenId, standard, components } = order;
  const money = { currency: terms.currency, owner: components.offerer };
  return [
    { kind: "balance_read", ...money },
    { kind: "allowance_read", ...money },
    ...(tokenId !== null && standard === "erc721"
      ? [{ kind: "owner_read", contract, tokenId } as const]
      : []),
  ];
}

/** The maker's own listings of the token for less. */
export function cheaperOf({ order }: Candidate, cheaper: readonly Cheaper[]): Cheaper[] {
  const { side, components, contract, tokenId, unitPriceWei } = order;
  if (side !== "ask") return [];
  return cheaper.filter(
    (one) =>
      one.maker === components.offerer &&
      one.contract === contract &&
      one.tokenId === tokenId &&
      one.unitPriceWei < unitPriceWei,
  );
}
