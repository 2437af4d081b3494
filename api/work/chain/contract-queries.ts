import type { Address, Hex } from "viem";
import { inquiryAbi } from "./probe-abis.ts";
import type { CallOutcome, ChainCall } from "./call-batch.ts";
import { encodeCall } from "./encode-call.ts";
import type { StandardFound } from "./chain-query.ts";
import { type LookUp, oneCall, type Reader, wordOf } from "./query-kind.ts";
import { addressOf } from "./abi-words.ts";

export const codeReader = oneCall<"code">(
  ({ address }) => ({ codeOf: address }),
  (question, outcome) =>
    "refused" in outcome ? undefined : { ...question, hasCode: outcome.returned !== "0x" },
);

/** What the contract says it owes, where that can be paid: to somebody, and not more than the price. */
export const royaltyReader = oneCall<"royalty">(
  ({ contract, tokenId, salePriceWei }) => ({
    to: contract,
    data: encodeCall({
      abi: inquiryAbi,
      functionName: "royaltyInfo",
      args: [tokenId, salePriceWei],
    }),
  }),
  (question, outcome) => {
    const recipient = addressOf(wordOf(outcome, 0));
    const royaltyWei = wordOf(outcome, 1);
    const isPayable =
      recipient !== null && royaltyWei !== undefined && royaltyWei <= question.salePriceWei;
    return { ...question, royalty: isPayable ? { recipient, royaltyWei } : null };
  },
);

/** ERC-165's ids; the last one is of no interface, so a contract that has it says yes to anything. */
const interfaceIds = { erc721: "0x80ac58cd", erc1155: "0xd9b67a26", none: "0xffffffff" } as const;

export const standardReader: Reader<"standard"> = {
  calls: ({ contract }) => Object.values(interfaceIds).map((id) => supportCall(contract, id)),
  read({ kind, contract }, lookUp) {
    const found = standardOf(contract, lookUp);
    return found === undefined ? undefined : { kind, contract, ...found };
  },
};

function standardOf(contract: Address, lookUp: LookUp): StandardFound | undefined {
  const told = (id: Hex): CallOutcome => lookUp(supportCall(contract, id));
  const outcomes = [told(interfaceIds.erc721), told(interfaceIds.erc1155), told(interfaceIds.none)];
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
