import { z } from "zod";
import { wallet } from "../routing/parameters.ts";

export const fulfiller = wallet.meta({ description: "The seller, who must send the transaction." });

export const acceptAmount = z
  .int()
  .min(1)
  .transform(BigInt)
  .nullish()
  .meta({
    description: "Units of an ERC-1155 token. A bid on one token is always accepted whole.",
    override: { type: "integer", minimum: 1 },
  });

/** Rejection codes of accepting a bid. */
export const acceptRefusals = {
  bad_structure: 422,
  unsupported_chain: 422,
  order_filled: 422,
  order_cancelled: 422,
  order_expired: 422,
  not_started: 422,
  contract_signature_invalid: 422,
  insufficient_balance: 422,
  insufficient_allowance: 422,
  token_required: 422,
  token_mismatch: 422,
  bad_amount: 422,
  self_offer: 422,
  not_owner: 422,
  insufficient_quantity: 422,
  conduit_channel_closed: 422,
  transfer_restricted: 422,
  rpc_unavailable: 422,
} as const;
