import { type Address, encodeFunctionData } from "viem";
import { z } from "zod";
import { commonConduit, seaport } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi } from "#abis/tokens.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import type { BidRow } from "#projections/orders/read-bids.ts";
import type { ListingRow } from "#projections/orders/read-listings.ts";
import type { OpenApproval } from "#projections/orders/read-exposure.ts";
import { address, uint256Text } from "../wire.ts";
import { bytes } from "./advanced-order.ts";
import { Bid, presentBid } from "./bid.ts";
import type { OrderViewContext } from "./book-order.ts";
import { Listing, presentListing } from "./listing.ts";

const returns = z.enum(["token", "token_approval", "balance", "allowance"]);

/** Something signed or approved that others can use without the wallet doing anything more. */
export const Exposure = z
  .object({
    kind: z.enum(["listing", "bid", "approval"]),
    fillableWith: returns.nullable().meta({
      description:
        "Of an order: what it lacks first. When the maker has it again, and whatever else it lacks, anybody can fill it.",
    }),
    listing: Listing.nullable(),
    bid: Bid.nullable(),
    approval: z
      .object({
        of: z.enum(["tokens", "money"]).meta({
          description: "`tokens`: all of the contract's. `money`: up to an amount of the currency.",
        }),
        contract: address,
        operator: address.meta({
          description: "Who may move them: the marketplaces' common conduit, or the exchange.",
        }),
        amountWei: uint256Text.nullable().meta({
          description: "Of money, as last approved or read; what was spent since may be included.",
        }),
      })
      .nullable(),
    end: z
      .object({
        action: z.enum(["cancel", "revoke"]),
        to: address,
        data: bytes,
        value: uint256Text,
      })
      .meta({ description: "The transaction that ends it, sent by the wallet." }),
  })
  .meta({ id: "Exposure" });
type ExposureView = z.output<typeof Exposure>;

const nothing = { listing: null, bid: null, approval: null };

export function presentExposedListing(
  row: ListingRow,
  components: OrderComponents,
  context: OrderViewContext,
): ExposureView {
  return {
    ...nothing,
    kind: "listing",
    fillableWith: row.reason === "not_owner" ? "token" : "token_approval",
    listing: presentListing(row, context),
    end: cancel(components),
  };
}

export function presentExposedBid(
  row: BidRow,
  components: OrderComponents,
  context: OrderViewContext,
): ExposureView {
  return {
    ...nothing,
    kind: "bid",
    fillableWith: row.reason === "insufficient_balance" ? "balance" : "allowance",
    bid: presentBid(row, context),
    end: cancel(components),
  };
}

export function presentOpenApproval({ of, contract, amountWei }: OpenApproval): ExposureView {
  const operator = of === "tokens" ? commonConduit.address : seaport["1.6"];
  return {
    ...nothing,
    kind: "approval",
    fillableWith: null,
    approval: {
      of,
      contract,
      operator,
      amountWei: amountWei === null ? null : String(amountWei),
    },
    end: { action: "revoke", to: contract, data: revocation(of, operator), value: "0" },
  };
}

function cancel(components: OrderComponents): ExposureView["end"] {
  const data = encodeFunctionData({
    abi: seaportFunctions,
    functionName: "cancel",
    args: [[components]],
  });
  return { action: "cancel", to: seaport["1.6"], data, value: "0" };
}

function revocation(of: OpenApproval["of"], operator: Address) {
  return of === "tokens"
    ? encodeFunctionData({
        abi: erc721Abi,
        functionName: "setApprovalForAll",
        args: [operator, false],
      })
    : encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [operator, 0n] });
}
