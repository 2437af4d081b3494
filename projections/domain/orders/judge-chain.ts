import { type Address, type Hex, zeroAddress } from "viem";
import { commonConduit } from "../../../abis/deployments.ts";
import type { Rejection } from "../rejection.ts";
import type { OfferItem } from "../seaport/order-components.ts";
import type { IntakeCode } from "./intake-codes.ts";
import { type BidFunds, judgeFunds } from "./judge-funds.ts";
import type { JudgedOrder } from "./recognized-order.ts";
import { refuseField } from "./refuse-field.ts";

type Refusal = Rejection<IntakeCode> | null;

/** What the chain says about the token of an order. Addresses in lower case. */
export type TokenState = {
  /** Covered by this service, and a token contract. */
  collectionKnown: boolean;
  /** Undefined: the contract does not tell. */
  standard: "erc721" | "erc1155" | undefined;
  /** ERC-721; null: no such token. Undefined: not to be asked, as of ERC-1155 and of a whole collection. */
  owner: Address | null | undefined;
};

/** The exchange's `getOrderStatus`: a fraction. `size` is 0 before the first fill. */
export type ExchangeStatus = { cancelled: boolean; filled: bigint; size: bigint };

export type ListingState = TokenState & {
  /** ERC-1155: the maker's balance. Undefined for ERC-721. */
  units: bigint | undefined;
  /** Whether the common conduit may move the maker's tokens. */
  approved: boolean;
  /** Whether the conduit obeys the exchange. */
  channelOpen: boolean;
  status: ExchangeStatus;
  /** Whether the token moves when the conduit moves it. Undefined: could not be found out. */
  transferAllowed: boolean | undefined;
};

export type BidState = TokenState & BidFunds & { status: ExchangeStatus };

const burnAddresses: readonly Address[] = [
  zeroAddress,
  "0x000000000000000000000000000000000000dead",
];

export function judgeListingState(order: JudgedOrder, state: ListingState): Refusal {
  return (
    judgeToken(order, state) ??
    judgeHolding(order, state) ??
    judgeApproval(order, state) ??
    judgeChannel(state) ??
    judgeExchangeStatus(state.status) ??
    judgeTransfer(order, state)
  );
}

/** A bidder pays by an allowance to the exchange itself: the conduit plays no part. */
export function judgeBidState(order: JudgedOrder, state: BidState): Refusal {
  return (
    judgeToken(order, state) ??
    judgeFunds(order, state) ??
    judgeExchangeStatus(state.status) ??
    judgeSelfOffer(order, state)
  );
}

/** The least price at which the maker lists the same token already. */
export type OwnListing = { orderHash: Hex; unitPriceWei: bigint };

/** Of an ERC-721 token the cheaper listing would go on to sell it: it must be cancelled on chain first. */
export function judgeRaise(order: JudgedOrder, ownCheaper: OwnListing | null): Refusal {
  if (order.standard !== "erc721" || ownCheaper === null) return null;
  const { orderHash, unitPriceWei } = ownCheaper;
  if (order.unitPriceWei <= unitPriceWei) return null;
  return refuseField("raise_requires_cancel", {
    field: "parameters.consideration",
    expected: `at most ${unitPriceWei} wei`,
    actual: `${order.unitPriceWei}`,
    because: `the maker's listing ${orderHash} sells the token for ${unitPriceWei} wei: cancel it on chain to ask for ${order.unitPriceWei}`,
  });
}

/** Whether a token can be traded at all, whoever owns it. */
function judgeToken(order: JudgedOrder, state: TokenState): Refusal {
  const { contract, standard } = order;
  if (!state.collectionKnown) {
    return refuseField("unknown_collection", {
      field: fieldOf(order, "token"),
      expected: "a token contract that is served",
      actual: contract,
    });
  }
  if (state.standard !== undefined && state.standard !== standard) {
    return refuseField("token_standard_mismatch", {
      field: fieldOf(order, "itemType"),
      expected: state.standard,
      actual: standard,
      because: `${contract} is of the standard ${state.standard}, the item of ${standard}`,
    });
  }
  const asked = standard === "erc721" && order.tokenId !== null;
  return asked ? judgeExistence(order, state) : null;
}

/** A seller must have a token: there, not to know its owner is as if there were none. */
function judgeExistence(order: JudgedOrder, { owner }: TokenState): Refusal {
  const field = fieldOf(order, "identifierOrCriteria");
  const actual = `${order.tokenId}`;
  const token = `token ${order.tokenId} of ${order.contract}`;
  if (owner === null || (owner === undefined && order.side === "ask")) {
    const because = `${token} does not exist: it has no owner`;
    return refuseField("token_not_found", { field, expected: "a token's id", actual, because });
  }
  if (owner === undefined || !burnAddresses.includes(owner)) return null;
  const because = `${token} is burned: it belongs to ${owner}`;
  return refuseField("token_burned", { field, expected: "a token in use", actual, because });
}

function judgeHolding(order: JudgedOrder, { owner, units = 0n }: ListingState): Refusal {
  const { maker, quantity, tokenId, contract } = order;
  const token = `token ${tokenId} of ${contract}`;
  const held = order.standard === "erc721" ? BigInt(owner === maker) : units;
  if (held === 0n) {
    return refuseField("not_owner", {
      field: "parameters.offerer",
      expected: typeof owner === "string" ? owner : `an owner of ${token}`,
      actual: maker,
      because: `${maker} does not own ${token}`,
    });
  }
  if (held >= quantity) return null;
  return refuseField("insufficient_quantity", {
    field: fieldOf(order, "startAmount"),
    expected: `at most ${held}`,
    actual: `${quantity}`,
    because: `${maker} owns ${held} units of ${token} and lists ${quantity}`,
  });
}

function judgeApproval({ maker, contract }: JudgedOrder, { approved }: ListingState): Refusal {
  if (approved) return null;
  const { address } = commonConduit;
  return refuseField("not_approved", {
    field: "parameters.conduitKey",
    expected: `setApprovalForAll(${address}, true) on ${contract}`,
    actual: "not approved",
    because: `${maker} has not approved the conduit ${address} on ${contract}: call setApprovalForAll(${address}, true)`,
  });
}

function judgeChannel({ channelOpen }: ListingState): Refusal {
  if (channelOpen) return null;
  const because = `the conduit ${commonConduit.address} has closed its channel to the exchange`;
  const at = { field: "parameters.conduitKey", expected: "an open channel", actual: "closed" };
  return refuseField("conduit_channel_closed", { ...at, because });
}

function judgeExchangeStatus({ cancelled, filled, size }: ExchangeStatus): Refusal {
  const field = "parameters";
  const expected = "an order that can still be filled";
  if (cancelled) {
    const because = "the exchange has the order as cancelled: sign another with another salt";
    return refuseField("order_cancelled", { field, expected, actual: "cancelled", because });
  }
  if (size === 0n || filled < size) return null;
  const because = "the exchange has the order as filled: sign another with another salt";
  return refuseField("order_filled", { field, expected, actual: "filled", because });
}

function judgeTransfer(order: JudgedOrder, { transferAllowed }: ListingState): Refusal {
  if (transferAllowed !== false) return null;
  return refuseField("transfer_restricted", {
    field: fieldOf(order, "token"),
    expected: "a token that the conduit can move",
    actual: order.contract,
    because: `${order.contract} does not let the conduit ${commonConduit.address} move token ${order.tokenId}`,
  });
}

function judgeSelfOffer(order: JudgedOrder, { owner }: BidState): Refusal {
  if (order.tokenId === null || order.standard !== "erc721" || owner !== order.maker) return null;
  return refuseField("self_offer", {
    field: "parameters.offerer",
    expected: "another than the token's owner",
    actual: order.maker,
    because: `${order.maker} owns token ${order.tokenId} of ${order.contract} already`,
  });
}

/** The NFT stands first: offered by a seller, asked for by a bidder. */
function fieldOf({ side }: JudgedOrder, name: keyof OfferItem): string {
  return `parameters.${side === "ask" ? "offer" : "consideration"}[0].${name}`;
}
