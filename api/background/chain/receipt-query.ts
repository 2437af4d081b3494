import { commonConduit } from "#abis/deployments.ts";
import type { CallOutcome, ChainCall } from "./calls/chain-call.ts";
import type { QueryByKind } from "./chain-query.ts";
import { codeCodec } from "./contract-queries.ts";
import { encodeCall } from "./encode-call.ts";
import { erc1155ReceiverAbi } from "./probe-abis.ts";
import { type OutcomeLookup, type QueryCodec, wordOf } from "./query-codec.ts";

type Receipt = QueryByKind["receipt"];

/** `onERC1155Received`'s selector, which a recipient returns that takes the units: in the first four bytes. */
const accepted = 0xf23a6e61n;

/**
 * Whether a recipient takes units of an ERC-1155 token that the conduit transfers: an account without code takes all, a
 * contract what its `onERC1155Received` confirms. Called from the token's contract, as in a transfer, so that neither
 * the seller's approval nor its holding matters.
 */
export const receiptCodec: QueryCodec<"receipt"> = {
  encode: (query, basis) => codeCodec.encode(codeOf(query), basis),
  encodeFollowUp: (query, lookUp, basis) =>
    codeCodec.decode(codeOf(query), lookUp, basis)?.hasCode ? [receivedCall(query)] : [],
  decode(query, lookUp, basis) {
    const code = codeCodec.decode(codeOf(query), lookUp, basis);
    if (code === undefined) return undefined;
    const taken = !code.hasCode || isTaken(query, lookUp);
    return taken === undefined ? undefined : { ...query, taken };
  },
};

const codeOf = ({ recipient }: Receipt) => ({ kind: "code", address: recipient }) as const;

function isTaken(query: Receipt, lookUp: OutcomeLookup): boolean | undefined {
  const outcome: CallOutcome = lookUp(receivedCall(query));
  return outcome && isAccepted(outcome);
}

/** Whether an outcome of `receivedCall` is that of a recipient that takes the units. */
export const isAccepted = (outcome: CallOutcome): boolean =>
  (wordOf(outcome) ?? 0n) >> 224n === accepted;

export function receivedCall(receipt: Omit<Receipt, "kind">): ChainCall {
  const { contract, tokenId, owner, recipient, units } = receipt;
  const data = encodeCall({
    abi: erc1155ReceiverAbi,
    functionName: "onERC1155Received",
    args: [commonConduit.address, owner, tokenId, units, "0x"],
  });
  return { to: recipient, from: contract, data };
}
