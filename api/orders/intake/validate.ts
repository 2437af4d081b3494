import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import { type BatchSettings, type ChainResults, queryChain } from "#jobs/chain/query-chain.ts";
import {
  isConduitApproved,
  recipientsQuery,
  transferQueries,
} from "#jobs/orders/evaluate-order.ts";
import { type IntakeCode, rpcUnavailable } from "#projections/domain/intake-codes.ts";
import type { TradeTerms } from "#projections/domain/orders/order-terms.ts";
import {
  type ExchangeStatus,
  isCollectionKnown,
  type OwnListing,
  type TokenState,
  validateBidState,
  validateExposure,
  validateListingState,
  validatePriceRaise,
  validateRecipients,
} from "#projections/domain/orders/validate-state.ts";
import { validateFees, validateTimes } from "#projections/domain/orders/validate-terms.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { Royalty } from "#projections/domain/royalty.ts";
import { validateCounter } from "#projections/domain/seaport/signature.ts";
import type { Database } from "#projections/log/database.ts";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import { nameOfTokenSet, rowsOfTokenSet } from "#projections/orders/token-sets.ts";
import type { IntakeRejection } from "../market.ts";
import { readStoredRoyalties, royaltyFrom } from "../royalty.ts";
import { rejectBlocked } from "./makers.ts";
import type { PendingOrder } from "./parse.ts";
import { ownCheaperListings, type StoredContext, type ValidationContext } from "./queries.ts";
import { type QuotaContext, validateQuotas } from "./quotas.ts";

/** The checks that need stored data or chain state, in the order of `intake-codes.ts`. */
export function validateOrder(
  pending: PendingOrder,
  context: ValidationContext,
): { terms: TradeTerms } | IntakeRejection {
  const { order, terms, now } = pending;
  const royaltyCase = context.stored.royaltyCases.get(order.orderHash);
  const royalty = royaltyCase && royaltyFrom(royaltyCase, context.results);
  if (royalty === undefined) return rpcUnavailable("the royalty");
  const fees = validateFees(order, terms, royalty);
  if (isRejection(fees)) return fees;
  return (
    validateTimes(order.components, terms.bounds, unixSeconds(now)) ??
    validateSigner(pending, context) ??
    validateState(pending, context) ??
    validateOwnOrders(pending, context) ??
    fees
  );
}

/**
 * The checks before that of the signature, and `otherwise`, without asking the chain. `royalty` as it was last read; null:
 * unknown, then what depends on it is not checked.
 */
function validateUnsigned(
  { order, terms, now }: PendingOrder,
  royalty: { due: Royalty | null } | null,
  otherwise: IntakeRejection,
): IntakeRejection {
  const fees = validateFees(order, terms, royalty?.due ?? null);
  const isKnown = (code: IntakeCode) => royalty !== null || feeCodes.has(code);
  if (isRejection(fees) && isKnown(fees.rejected)) return fees;
  return validateTimes(order.components, terms.bounds, unixSeconds(now)) ?? otherwise;
}

/** The checks that are possible while the chain is unavailable. */
export const validateWithoutChain = (pending: PendingOrder): IntakeRejection =>
  validateUnsigned(pending, null, rpcUnavailable(null));

/** Fee rejections that do not depend on the royalty. */
const feeCodes: ReadonlySet<IntakeCode> = new Set([
  "fee_missing",
  "fee_wrong_recipient",
  "fee_wrong_amount",
]);

/** The signature, then the counter that is signed with it. */
function validateSigner(
  pending: PendingOrder,
  { results }: ValidationContext,
): IntakeRejection | null {
  const { order, signatureCheck } = pending;
  const maker = order.components.offerer;
  const counter = results.find({ kind: "counter_read", maker })?.counter;
  if (counter === undefined) return rpcUnavailable("the maker's counter");
  const counterRejection = validateCounter(order, counter);
  if (signatureCheck.signedBy === "maker") return counterRejection;
  const status = results.find({ kind: "order_status_read", orderHash: order.orderHash });
  if (status === undefined) return rpcUnavailable("the order's status");
  if (status.validated) return counterRejection;
  const hasCode = results.find({ kind: "code", address: maker })?.hasCode;
  if (hasCode === undefined) return rpcUnavailable("whether the maker is a contract");
  if (!hasCode) return signatureCheck.rejection;
  const { orderHash, components, signature } = order;
  const signed = { orderHash, maker, order: { components, signature } };
  const valid = results.find({ kind: "signature_read", ...signed })?.valid;
  if (valid === false) return rejectContractSignature(maker);
  if (counterRejection !== null || valid) return counterRejection;
  // The exchange rejects an ended order before it verifies a contract signature: the status check answers.
  return status.cancelled || status.filled > 0n
    ? null
    : rpcUnavailable("whether the maker's contract accepts the signature");
}

function rejectContractSignature(maker: Address): IntakeRejection {
  const message = `the contract ${maker} does not accept the signature (EIP-1271)`;
  return reject("contract_signature_invalid", `signature: ${message}`, [
    { field: "signature", message },
  ]);
}

/** Validates token, funds and order status as read from the chain. */
function validateState(pending: PendingOrder, context: ValidationContext): IntakeRejection | null {
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
  const declared = results.find({ kind: "standard", contract });
  const found = stored.contracts.get(contract);
  return {
    collectionKnown: isCollectionKnown({
      isRecorded: found !== undefined,
      indexesAllContracts,
      declared,
    }),
    standard: found ?? declared?.standard ?? undefined,
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
  const newRows = newRowsOf(pending, context);
  return { quotas, stored: stored.quotas, batchTotals, funds, network, newRows, now };
}

function newRowsOf({ order, tokenIds }: PendingOrder, { stored, batchTotals }: ValidationContext) {
  const { contract, criteria } = order;
  if (criteria === undefined || tokenIds === null) return 0;
  const name = nameOfTokenSet({ contract, root: criteria.root });
  const isStored = stored.quotas.tokenSets.has(name) || batchTotals.hasTokenSet(name);
  return isStored ? 0 : rowsOfTokenSet(tokenIds);
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

type Signers = {
  client: ChainClient;
  db: Database;
  stored: StoredContext;
  basis: NonNullable<BatchSettings["basis"]>;
  settings: BatchSettings;
};

/**
 * Rejects orders that nobody signed, before any contract is asked about what they name: only whether their makers are
 * accounts without code is asked, and the exchange whether they validated the order there; then contracts whether they
 * accept the signature.
 */
export async function rejectUnsigned(
  signers: Signers,
  chainId: ChainId,
  pendingOrders: readonly PendingOrder[],
): Promise<Map<PendingOrder, IntakeRejection>> {
  const unverified = pendingOrders.filter((one) => one.signatureCheck.signedBy !== "maker");
  if (unverified.length === 0) return new Map();
  const { client, basis, settings } = signers;
  const first = unverified.flatMap((one) => [codeQuery(one), statusQuery(one)]);
  const codes = await queryChain(client, first, { basis, ...settings });
  const wallets = unverified.filter((one) => codes.find(codeQuery(one))?.hasCode);
  const asked = { ...settings, basis };
  const verdicts =
    wallets.length === 0 ? null : await queryChain(client, wallets.map(signatureQuery), asked);
  const faults = unverified.flatMap((one) => {
    const fault = signatureFault(one, codes, verdicts);
    return fault === null ? [] : [{ pending: one, fault }];
  });
  const cases = faults.flatMap(({ pending }) => caseOf(pending, signers.stored) ?? []);
  const royalties = await readStoredRoyalties(signers.db, chainId, cases);
  const known = new Map(cases.map((one, place) => [one, royalties[place] ?? null]));
  return new Map(
    faults.map(({ pending, fault }) => {
      const royaltyCase = caseOf(pending, signers.stored);
      const royalty = royaltyCase === undefined ? null : (known.get(royaltyCase) ?? null);
      return [pending, validateUnsigned(pending, royalty, fault)];
    }),
  );
}

const caseOf = ({ order }: PendingOrder, { royaltyCases }: StoredContext) =>
  royaltyCases.get(order.orderHash);

const codeQuery = ({ order }: PendingOrder) =>
  ({ kind: "code", address: order.components.offerer }) as const;

const statusQuery = ({ order: { orderHash } }: PendingOrder) =>
  ({ kind: "order_status_read", orderHash }) as const;

function signatureQuery({ order: { orderHash, components, signature } }: PendingOrder) {
  const maker = components.offerer;
  const order = { components, signature };
  return { kind: "signature_read", orderHash, maker, order } as const;
}

/** Null: no signature is needed, the maker's code accepts it or has not answered: the order's state decides. */
function signatureFault(
  pending: PendingOrder,
  codes: ChainResults,
  verdicts: ChainResults | null,
): IntakeRejection | null {
  const { signatureCheck } = pending;
  if (signatureCheck.signedBy === "maker") return null;
  if (codes.find(statusQuery(pending))?.validated) return null;
  const hasCode = codes.find(codeQuery(pending))?.hasCode;
  if (hasCode === undefined) return rpcUnavailable("whether the maker is a contract");
  if (!hasCode) return signatureCheck.rejection;
  const isRefused = verdicts?.find(signatureQuery(pending))?.valid === false;
  return isRefused ? rejectContractSignature(pending.order.components.offerer) : null;
}
