import type { Address, Hex } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { burnAddresses } from "../burn-address.ts";
import { type IntakeCode, rejectField, rpcUnavailable } from "../intake-codes.ts";
import type { Rejection } from "../rejection.ts";
import type { OfferItem } from "../seaport/order-components.ts";
import type { OrderIntent } from "./order-terms.ts";

type Refusal = Rejection<IntakeCode> | null;

/** State of an order's token on chain. Addresses in lower case. */
export type TokenState = {
  /** Whether it is a token contract that this service indexes. Undefined: unknown, the contract was asked and gave no answer. */
  collectionKnown: boolean | undefined;
  /** Undefined: the contract does not report one. */
  standard: "erc721" | "erc1155" | undefined;
  /** ERC-721; null: no such token. Undefined: not read, as for ERC-1155 and for a whole collection. */
  owner: Address | null | undefined;
  /** Whether the token's last transfer burned it; a contract has no owner for a token sent to the zero address. */
  isBurned: boolean;
};

/** What an installation knows of a contract. */
type ContractKnowledge = {
  /** Whether its transfers are recorded. */
  isRecorded: boolean;
  /** Whether every NFT contract of the chain is indexed, also before its first transfer. */
  indexesAllContracts: boolean;
  /** What it says of itself; undefined: nothing that can be read. */
  declared: { standard: TokenState["standard"] | null } | undefined;
};

/** See `TokenState`. */
export function isCollectionKnown(of: ContractKnowledge): boolean | undefined {
  if (of.isRecorded || !of.indexesAllContracts) return of.isRecorded;
  return of.declared && of.declared.standard !== null;
}

/** The exchange's `getOrderStatus`: a fraction. `size` is 0 before the first fill. */
export type ExchangeStatus = { cancelled: boolean; filled: bigint; size: bigint };

export type ListingState = TokenState & {
  /** ERC-1155: the maker's balance. Undefined: not read, as for ERC-721. */
  units: bigint | undefined;
  /** Whether the common conduit may move the maker's tokens, or this one. Undefined: not read. */
  approved: boolean | undefined;
  /** Whether the conduit's channel to the exchange is open. */
  channelOpen: boolean;
  status: ExchangeStatus;
  /** Whether a transfer by the conduit succeeds. Undefined: unknown. */
  transferAllowed: boolean | undefined;
};

export type BidState = TokenState & BidFunds & { status: ExchangeStatus };

export function validateListingState(order: OrderIntent, state: ListingState): Refusal {
  return (
    validateToken(order, state) ??
    validateHolding(order, state) ??
    validateApproval(order, state) ??
    validateChannel(state) ??
    validateExchangeStatus(state.status) ??
    validateTransfer(order, state)
  );
}

/** What of it no maker can change: whether the token can be traded at all, and moved as the exchange does. */
export function validateTradable(
  order: OrderIntent,
  state: TokenState & { transferAllowed: boolean | undefined },
): Refusal {
  return validateToken(order, state) ?? validateTransfer(order, state);
}

/** A bidder pays by an allowance to the exchange itself, not to the conduit. */
export function validateBidState(order: OrderIntent, state: BidState): Refusal {
  return (
    validateToken(order, state) ??
    validateFunds(order, state) ??
    validateExchangeStatus(state.status) ??
    validateSelfOffer(order, state)
  );
}

/** `refusing`: a contract that rejects what the order sends it; null: none, undefined: unknown. */
export function validateRecipients(refusing: Address | null | undefined): Refusal {
  if (!refusing) return null;
  return rejectField("transfer_restricted", {
    field: "parameters.consideration",
    expected: "recipients that accept what the order sends them",
    actual: refusing,
    message: `the contract ${refusing} rejects the payment or the tokens that the order sends it`,
  });
}

/** The maker's cheapest open listing of the same token. */
export type OwnListing = { orderHash: Hex; unitPriceWei: bigint };

/** A cheaper listing of an ERC-721 token could still be filled: it must be cancelled on chain first. */
export function validatePriceRaise(order: OrderIntent, ownCheaper: OwnListing | null): Refusal {
  if (order.standard !== "erc721" || ownCheaper === null) return null;
  const { orderHash, unitPriceWei } = ownCheaper;
  if (order.unitPriceWei <= unitPriceWei) return null;
  return rejectField("raise_requires_cancel", {
    field: "parameters.consideration",
    expected: `at most ${unitPriceWei} wei`,
    actual: `${order.unitPriceWei}`,
    message: `the maker's listing ${orderHash} sells the token for ${unitPriceWei} wei: cancel it on chain before listing for ${order.unitPriceWei}`,
  });
}

/** Whether a token can be traded at all, regardless of its owner. */
function validateToken(order: OrderIntent, state: TokenState): Refusal {
  const { contract, standard } = order;
  if (state.collectionKnown === undefined) return rpcUnavailable("the contract's standard");
  if (!state.collectionKnown) {
    return rejectField("unknown_collection", {
      field: fieldOf(order, "token"),
      expected: "a token contract that is served",
      actual: contract,
    });
  }
  if (state.standard !== undefined && state.standard !== standard) {
    return rejectField("token_standard_mismatch", {
      field: fieldOf(order, "itemType"),
      expected: state.standard,
      actual: standard,
      message: `${contract} is an ${state.standard} contract, the item is ${standard}`,
    });
  }
  const needsOwner = standard === "erc721" && order.tokenId !== null;
  return needsOwner ? validateExistence(order, state) : null;
}

/** An owner, units or an approval that the node did not return are unknown, never "no": a contract that reverts has none. */
function validateExistence(order: OrderIntent, { owner, isBurned }: TokenState): Refusal {
  const at = { field: fieldOf(order, "identifierOrCriteria"), actual: `${order.tokenId}` };
  const token = `token ${order.tokenId} of ${order.contract}`;
  const burned = (why: string) => {
    const message = `${token} is burned: ${why}`;
    return rejectField("token_burned", { ...at, expected: "a token in use", message });
  };
  if (owner === undefined && order.side === "bid") return null;
  if (owner === undefined || owner === null) {
    if (isBurned) return burned("its last transfer was to the zero address");
    if (owner === undefined) return rpcUnavailable(`the owner of ${token}`);
    const message = `${token} does not exist: it has no owner`;
    return rejectField("token_not_found", { ...at, expected: "a token's id", message });
  }
  return burnAddresses.has(owner) ? burned(`it belongs to ${owner}`) : null;
}

function validateHolding(order: OrderIntent, { owner, units }: ListingState): Refusal {
  const { maker, quantity, tokenId, contract } = order;
  const token = `token ${tokenId} of ${contract}`;
  if (order.standard === "erc1155" && units === undefined)
    return rpcUnavailable(`the maker's units of ${token}`);
  const held = order.standard === "erc721" ? BigInt(owner === maker) : (units ?? 0n);
  if (held === 0n) {
    return rejectField("not_owner", {
      field: "parameters.offerer",
      expected: typeof owner === "string" ? owner : `an owner of ${token}`,
      actual: maker,
      message: `${maker} does not own ${token}`,
    });
  }
  if (held >= quantity) return null;
  return rejectField("insufficient_quantity", {
    field: fieldOf(order, "startAmount"),
    expected: `at most ${held}`,
    actual: `${quantity}`,
    message: `${maker} owns ${held} units of ${token} and lists ${quantity}`,
  });
}

function validateApproval(order: OrderIntent, { approved }: ListingState): Refusal {
  if (approved === undefined) return rpcUnavailable("the conduit's approval");
  if (approved) return null;
  const { maker, contract, standard, tokenId } = order;
  const { address } = commonConduit;
  const ofToken = standard === "erc721" ? `, or approve(${address}, ${tokenId})` : "";
  return rejectField("not_approved", {
    field: "parameters.conduitKey",
    expected: `setApprovalForAll(${address}, true) on ${contract}`,
    actual: "not approved",
    message: `${maker} has not approved the conduit ${address} on ${contract}: call setApprovalForAll(${address}, true)${ofToken}`,
  });
}

function validateChannel({ channelOpen }: ListingState): Refusal {
  if (channelOpen) return null;
  const message = `the conduit ${commonConduit.address} has closed its channel to the exchange`;
  const at = { field: "parameters.conduitKey", expected: "an open channel", actual: "closed" };
  return rejectField("conduit_channel_closed", { ...at, message });
}

function validateExchangeStatus({ cancelled, filled, size }: ExchangeStatus): Refusal {
  const field = "parameters";
  const expected = "an order that can still be filled";
  if (cancelled) {
    const message = "the order is cancelled on the exchange: sign a new order with a new salt";
    return rejectField("order_cancelled", { field, expected, actual: "cancelled", message });
  }
  if (size === 0n || filled < size) return null;
  const message = "the order is filled on the exchange: sign a new order with a new salt";
  return rejectField("order_filled", { field, expected, actual: "filled", message });
}

function validateTransfer(
  order: OrderIntent,
  { transferAllowed }: Pick<ListingState, "transferAllowed">,
): Refusal {
  if (transferAllowed !== false) return null;
  return rejectField("transfer_restricted", {
    field: fieldOf(order, "token"),
    expected: "a token that the conduit can move",
    actual: order.contract,
    message: `${order.contract} does not let the conduit ${commonConduit.address} move token ${order.tokenId}`,
  });
}

function validateSelfOffer(order: OrderIntent, { owner }: BidState): Refusal {
  if (order.tokenId === null || order.standard !== "erc721" || owner !== order.maker) return null;
  return rejectField("self_offer", {
    field: "parameters.offerer",
    expected: "an address other than the token's owner",
    actual: order.maker,
    message: `${order.maker} owns token ${order.tokenId} of ${order.contract} already`,
  });
}

/** The NFT is the first item: of a listing's offer, of a bid's consideration. */
function fieldOf({ side }: OrderIntent, name: keyof OfferItem): string {
  return `parameters.${side === "ask" ? "offer" : "consideration"}[0].${name}`;
}

type BidFunds = {
  /** The maker's, of the bid's currency. */
  balanceWei: bigint;
  /** From the maker to the exchange itself. */
  allowanceWei: bigint;
  /** What the maker's other open bids may spend of the same allowance. */
  openBidsWei: bigint;
};

/** The balance must cover this bid alone, the allowance every other open one too. */
function validateFunds(order: OrderIntent, state: BidFunds): Rejection<IntakeCode> | null {
  const { balanceWei, allowanceWei, openBidsWei } = state;
  const bidWei = order.unitPriceWei * order.quantity;
  const field = "parameters.offer[0].startAmount";
  if (balanceWei < bidWei) {
    return rejectField("insufficient_balance", {
      field,
      expected: `at most the balance, ${balanceWei}`,
      actual: `${bidWei}`,
      message: `the bid offers ${bidWei} wei and ${order.maker} has ${balanceWei} of the currency`,
    });
  }
  const requiredWei = openBidsWei + bidWei;
  if (allowanceWei >= requiredWei) return null;
  return rejectField("insufficient_allowance", {
    field,
    expected: `an allowance of at least ${requiredWei}`,
    actual: `${allowanceWei}`,
    message: `${order.maker} must allow the exchange ${seaportAddresses["1.6"]} to spend ${requiredWei} wei, ${openBidsWei} of it for open bids, and allows ${allowanceWei}`,
  });
}

/** Each bid is covered by itself; all open bids of a maker together are bounded by a multiple of the balance. */
export function validateExposure(
  bidWei: bigint,
  { openBidsWei, balanceWei }: { openBidsWei: bigint; balanceWei: bigint },
  maxTimes: number,
): Rejection<IntakeCode> | null {
  const totalWei = openBidsWei + bidWei;
  const maxWei = balanceWei * BigInt(maxTimes);
  if (totalWei <= maxWei) return null;
  return rejectField("offer_exposure_exceeded", {
    field: "parameters.offer[0].startAmount",
    expected: `open offers of at most ${maxWei} wei, ${maxTimes} times the balance`,
    actual: `${totalWei}`,
    message: `all open offers of the maker would be ${totalWei} wei; the maximum is ${maxTimes} times the balance of ${balanceWei} wei`,
  });
}
