import type { Address, Hex } from "viem";
import { addressOf } from "./abi-words.ts";
import type { CallOutcome, ChainCall } from "./calls/chain-call.ts";
import type { DetectedStandard } from "./chain-query.ts";
import { encodeCall } from "./encode-call.ts";
import { inquiryAbi } from "./probe-abis.ts";
import { type OutcomeLookup, type QueryCodec, singleCallCodec, wordOf } from "./query-codec.ts";

export const codeCodec = singleCallCodec<"code">(
  ({ address }) => ({ codeOf: address }),
  (query, outcome) =>
    "reverted" in outcome ? undefined : { ...query, hasCode: outcome.returned !== "0x" },
);

/** The ERC-2981 royalty, if it can be paid: to a recipient, and at most the price. */
export const royaltyCodec = singleCallCodec<"royalty">(
  ({ contract, tokenId, salePriceWei }) => ({
    to: contract,
    data: encodeCall({
      abi: inquiryAbi,
      functionName: "royaltyInfo",
      args: [tokenId, salePriceWei],
    }),
  }),
  (query, outcome) => {
    const recipient = addressOf(wordOf(outcome, 0));
    const royaltyWei = wordOf(outcome, 1);
    const isPayable =
      recipient !== null && royaltyWei !== undefined && royaltyWei <= query.salePriceWei;
    return { ...query, royalty: isPayable ? { recipient, royaltyWei } : null };
  },
);

/** ERC-165 ids; the last is invalid by definition, so a contract that claims it is not trustworthy. */
const interfaceIds = { erc721: "0x80ac58cd", erc1155: "0xd9b67a26", none: "0xffffffff" } as const;

export const standardCodec: QueryCodec<"standard"> = {
  encode: ({ contract }) => Object.values(interfaceIds).map((id) => supportCall(contract, id)),
  decode({ kind, contract }, lookUp) {
    const found = standardOf(contract, lookUp);
    return found === undefined ? undefined : { kind, contract, ...found };
  },
};

function standardOf(contract: Address, lookUp: OutcomeLookup): DetectedStandard | undefined {
  const outcomeOf = (id: Hex): CallOutcome => lookUp(supportCall(contract, id));
  const outcomes = [
    outcomeOf(interfaceIds.erc721),
    outcomeOf(interfaceIds.erc1155),
    outcomeOf(interfaceIds.none),
  ];
  if (outcomes.includes(undefined)) return undefined;
  const [erc721, erc1155, none] = outcomes.map((outcome) => wordOf(outcome));
  if (none === 1n || (erc721 === 1n && erc1155 === 1n)) {
    return { standard: null, reason: "contradictory" };
  }
  if (erc721 === 1n) return { standard: "erc721" };
  if (erc1155 === 1n) return { standard: "erc1155" };
  return { standard: null, reason: erc721 === 0n && erc1155 === 0n ? "neither" : "no_erc165" };
}

const supportCall = (contract: Address, id: Hex): ChainCall => ({
  to: contract,
  data: encodeCall({ abi: inquiryAbi, functionName: "supportsInterface", args: [id] }),
});
