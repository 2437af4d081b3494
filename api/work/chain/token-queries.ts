import { commonConduit, seaport } from "../../../abis/deployments.ts";
import { erc20Abi, erc721Abi, erc1155Abi } from "../../../abis/tokens.ts";
import { encodeCall } from "./encode-call.ts";
import { oneCall, wordOf } from "./query-kind.ts";
import { addressOf } from "./abi-words.ts";

/*
 * A contract that refuses or answers nonsense has answered: it holds nobody for an owner or approved, and nothing for
 * anybody's. Only a node's silence is unknown.
 */

export const ownerReader = oneCall<"owner_read">(
  ({ contract, tokenId }) => ({
    to: contract,
    data: encodeCall({ abi: erc721Abi, functionName: "ownerOf", args: [tokenId] }),
  }),
  (question, outcome) => ({ ...question, owner: addressOf(wordOf(outcome)) }),
);

export const unitsReader = oneCall<"units_read">(
  ({ contract, tokenId, owner }) => ({
    to: contract,
    data: encodeCall({
      abi: erc1155Abi,
      functionName: "balanceOf",
      args: [owner, tokenId],
    }),
  }),
  (question, outcome) => ({ ...question, units: wordOf(outcome) ?? 0n }),
);

/** Of the common conduit, for all tokens of a contract. */
export const approvalReader = oneCall<"approval_read">(
  ({ contract, owner }) => ({
    to: contract,
    data: encodeCall({
      abi: erc721Abi,
      functionName: "isApprovedForAll",
      args: [owner, commonConduit.address],
    }),
  }),
  (question, outcome) => ({ ...question, approved: wordOf(outcome) === 1n }),
);

export const balanceReader = oneCall<"balance_read">(
  ({ currency, owner }) => ({
    to: currency,
    data: encodeCall({ abi: erc20Abi, functionName: "balanceOf", args: [owner] }),
  }),
  (question, outcome) => ({ ...question, wei: wordOf(outcome) ?? 0n }),
);

/** Of the exchange itself, which bids are paid through. */
export const allowanceReader = oneCall<"allowance_read">(
  ({ currency, owner }) => ({
    to: currency,
    data: encodeCall({
      abi: erc20Abi,
      functionName: "allowance",
      args: [owner, seaport["1.6"]],
    }),
  }),
  (question, outcome) => ({ ...question, wei: wordOf(outcome) ?? 0n }),
);
