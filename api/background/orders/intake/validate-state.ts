import { rpcUnavailable } from "#projections/domain/intake-codes.ts";
import { validateExposure, type ExchangeStatus, type OwnListing, type TokenState, validateBidState, validateListingState, validatePriceRaise, validateRecipients } from "#projections/domain/orders/validate-state.ts";
import { recipientsQuery, isConduitApproved, transferQueries } from "#jobs/orders/evaluate-order.ts";
import type { IntakeRejection } from "../market/admission.ts";
import { rejectBlocked } from "../quotas/blocked-makers.ts";
import { type QuotaContext, validateQuotas } from "../quotas/validate-quotas.ts";
import { ownCheaperListings } from "./admission-queries.ts";
import type { PendingOrder } from "./pending-order.ts";
import type { ValidationContext } from "./validation-context.ts";

/** Validates token, funds and order status as read from the chain. */
export function validateState(
  pending: PendingOrder,
  context: ValidationContext,
): IntakeRejection | null {
  const { orderHash, side } = pending.order;
  const status = context.results.find({ kind: "order_status_read", orderHash });
  if (status === undefined) return rpcUnavailable("the order's status");
  const state =
    (side === "ask"
      ? validateListing(pending, context, status)
      : validateBid(pending, context, status)) ??
    validateRecipients(context.results.find(recipientsQuery(pending.order))?.refusing);
  const isBlocked = context.stored.quotas.blocked.has(pending.order.maker);
  // A blocked maker comes before the last of the checks of the chain.
  if (isBlocked && (state === null || state.rejected === "self_offer")) {
    return rejectBlocked(pending.order.maker);
  }
  return state;
}

function validateListing(
  { order }: PendingOrder,
  context: ValidationContext,
  status: ExchangeStatus,
): IntakeRejection | null {
  const { results } = context;
  const { contract, tokenId, standard, components } = order;
  const owner = components.offerer;
  const channel = results.find({ kind: "channel_read" });
  if (channel === undefined || tokenId === null) return rpcUnavailable("the conduit's channels");
  const transfer = { contract, tokenId, owner, standard };
  return validateListingState(order, {
    ...tokenState(order, context),
    units:
      standard === "erc1155"
        ? results.find({ kind: "units_read", contract, tokenId, owner })?.units
        : undefined,
    approved: isConduitApproved(transferQueries(transfer, owner), results),
    channelOpen: channel.open,
    status,
    transferAllowed: results.find({ kind: "transfer_read", ...transfer })?.allowed,
  });
}

function validateBid(
  { order, terms }: PendingOrder,
  context: ValidationContext,
  status: ExchangeStatus,
): IntakeRejection | null {
  const { results, stored, batchTotals } = context;
  const owner = order.components.offerer;
  const money = { currency: terms.currency, owner };
  const balance = results.find({ kind: "balance_read", ...money });
  const allowance = results.find({ kind: "allowance_read", ...money });
  if (balance === undefined || allowance === undefined) {
    return rpcUnavailable("the bidder's balance and allowance");
  }
  return validateBidState(order, {
    ...tokenState(order, context),
    status,
    balanceWei: balance.wei,
    allowanceWei: allowance.wei,
    openBidsWei: (stored.openBidsWei.get(owner) ?? 0n) + batchTotals.bidWei(owner),
  });
}

/** The standard seen in a contract's transfers takes precedence over the one it declares. */
function tokenState(
  { contract, tokenId, standard }: PendingOrder["order"],
  { stored, results, burnedTokens, indexesAllContracts }: ValidationContext,
): TokenState {
  const declared = results.find({ kind: "standard", contract })?.standard ?? undefined;
  const found = stored.contracts.get(contract);
  return {
    collectionKnown: found !== undefined || (indexesAllContracts && declared !== undefined),
    standard: found ?? declared,
    owner:
      standard === "erc721" && tokenId !== null
        ? results.find({ kind: "owner_read", contract, tokenId })?.owner
        : undefined,
    isBurned: tokenId !== null && burnedTokens.has({ contract, tokenId }),
  };
}

/** Checks against the maker's other open orders. */
export function validateOwnOrders(
  pending: PendingOrder,
  context: ValidationContext,
): IntakeRejection | null {
  const { order } = pending;
  const raise =
    order.side === "ask" && order.standard === "erc721"
      ? validatePriceRaise(order, cheapestOwnListing(pending, context))
      : null;
  if (raise !== null) return raise;
  const full = validateQuotas(order, quotaContextOf(pending, context));
  return full ?? (order.side === "bid" ? validateBidExposure(pending, context) : null);
}

/** What the quotas of an order depend on. */
export function quotaContextOf(pending: PendingOrder, context: ValidationContext): QuotaContext {
  const { stored, quotas, batchTotals } = context;
  const { network, now } = pending;
  const funds = fundsOf(pending, context);
  return { quotas, stored: stored.quotas, batchTotals, funds, network, now };
}

function fundsOf(
  { order: { maker: owner }, terms: { currency } }: PendingOrder,
  { results, stored, batchTotals }: ValidationContext,
) {
  const openBidsWei = (stored.openBidsWei.get(owner) ?? 0n) + batchTotals.bidWei(owner);
  const balance = results.find({ kind: "balance_read", currency, owner });
  return { openBidsWei, balanceWei: balance?.wei ?? 0n };
}

function validateBidExposure(
  pending: PendingOrder,
  context: ValidationContext,
): IntakeRejection | null {
  const { unitPriceWei, quantity } = pending.order;
  const funds = fundsOf(pending, context);
  return validateExposure(unitPriceWei * quantity, funds, context.quotas.bidExposure);
}

/** An own listing may have ended on the chain before the projections know it. */
function cheapestOwnListing(pending: PendingOrder, context: ValidationContext): OwnListing | null {
  const { stored, results, batchTotals } = context;
  const maker = pending.order.components.offerer;
  const counter = results.find({ kind: "counter_read", maker })?.counter;
  const live = ownCheaperListings(pending, stored.cheaper).filter((one) => {
    const status = results.find({ kind: "order_status_read", orderHash: one.orderHash });
    return one.counter === counter && !status?.cancelled && !(status && status.filled > 0n);
  });
  const inBatch = batchTotals.cheapest(pending.order);
  return [...live, ...(inBatch === null ? [] : [inBatch])].reduce<OwnListing | null>(
    (least, one) => (least === null || one.unitPriceWei < least.unitPriceWei ? one : least),
    null,
  );
}
