import { commonConduit, seaport } from "#abis/deployments.ts";
import { erc20Abi, erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { addressOf } from "./abi-words.ts";
import { encodeCall } from "./encode-call.ts";
import { singleCallCodec, wordOf } from "./query-codec.ts";

/*
 * A contract that reverts or returns malformed data counts as: no owner, not approved, balance 0. Unknown is only a missing
 * result from the node, and a call that used up its gas: an honest contract may need more for some of its ids.
 */

export const ownerCodec = singleCallCodec<"owner_read">(
  ({ contract, tokenId }) => ({
    to: contract,
    data: encodeCall({ abi: erc721Abi, functionName: "ownerOf", args: [tokenId] }),
  }),
  (query, outcome) => ({ ...query, owner: addressOf(wordOf(outcome)) }),
);

export const unitsCodec = singleCallCodec<"units_read">(
  ({ contract, tokenId, owner }) => ({
    to: contract,
    data: encodeCall({
      abi: erc1155Abi,
      functionName: "balanceOf",
      args: [owner, tokenId],
    }),
  }),
  (query, outcome) => ({ ...query, units: wordOf(outcome) ?? 0n }),
);

/** Approval of the common conduit for all tokens of a contract. */
export const approvalCodec = singleCallCodec<"approval_read">(
  ({ contract, owner }) => ({
    to: contract,
    data: encodeCall({
      abi: erc721Abi,
      functionName: "isApprovedForAll",
      args: [owner, commonConduit.address],
    }),
  }),
  (query, outcome) => ({ ...query, approved: wordOf(outcome) === 1n }),
);

/** Approval of the common conduit for an ERC-721 token alone. */
export const tokenApprovalCodec = singleCallCodec<"token_approval_read">(
  ({ contract, tokenId }) => ({
    to: contract,
    data: encodeCall({ abi: erc721Abi, functionName: "getApproved", args: [tokenId] }),
  }),
  (query, outcome) => ({
    ...query,
    approved: addressOf(wordOf(outcome)) === commonConduit.address,
  }),
);

export const balanceCodec = singleCallCodec<"balance_read">(
  ({ currency, owner }) => ({
    to: currency,
    data: encodeCall({ abi: erc20Abi, functionName: "balanceOf", args: [owner] }),
  }),
  (query, outcome) => ({ ...query, wei: wordOf(outcome) ?? 0n }),
);

/** Allowance of the exchange itself, through which bids are paid. */
export const allowanceCodec = singleCallCodec<"allowance_read">(
  ({ currency, owner }) => ({
    to: currency,
    data: encodeCall({
      abi: erc20Abi,
      functionName: "allowance",
      args: [owner, seaport["1.6"]],
    }),
  }),
  (query, outcome) => ({ ...query, wei: wordOf(outcome) ?? 0n }),
);
