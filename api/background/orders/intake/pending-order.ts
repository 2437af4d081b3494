import type { ChainId } from "#chains/index.ts";
import type { MarketTerms, OrderBody, ParsedOrder } from "#projections/domain/orders/order-terms.ts";
import { parseBid, parseListing } from "#projections/domain/orders/parse-order.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { itemType } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { isBulkSignature, type SignatureCheck, verifySignature } from "#projections/domain/seaport/signature.ts";
import { parseOrderBody } from "#api/background/order-input/parse-order-body.ts";
import type { IntakeRejection, Subject, Submission } from "../market/admission.ts";
import type { Market } from "../market/market.ts";
import { queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import { recoverSigner } from "../market/recover-signer.ts";


/** An order that is valid as far as it can be validated without database and chain. */
export type PendingOrder = {
  chainId: ChainId;
  terms: MarketTerms;
  order: ParsedOrder;
  signatureCheck: SignatureCheck;
  /** Whom it came from, as far as budgets go; null: nobody knows. */
  network: string | null;
  now: Date;
};

export type ParsedSubmission = { subject: Subject | null; result: PendingOrder | IntakeRejection };

type Context = Omit<Submission, "orders"> & { terms: MarketTerms };

/** Validates what needs neither database nor chain: envelope, shape and signature. */
export async function parseSubmission(raw: unknown, context: Context): Promise<ParsedSubmission> {
  const body = context.parsed?.get(raw) ?? parseOrderBody(raw, context);
  if (isRejection(body)) return { subject: null, result: body };
  return { subject: subjectOf(body), result: await parsePendingOrder(body, context) };
}

async function parsePendingOrder(
  body: OrderBody,
  context: Context,
): Promise<PendingOrder | IntakeRejection> {
  const { side, chainId, terms, network, now } = context;
  const order = side === "ask" ? parseListing(body, terms) : parseBid(body, terms);
  if (isRejection(order)) return order;
  const signatureCheck = await verifySignature(order, chainId, recoverSigner);
  return { chainId, terms, order, signatureCheck, network, now };
}

/**
 * Why an order that is submitted alone is rejected: its signature is for several. A contract's signature may have the
 * same length, also the one of an order with other faults: then the maker's code decides. Of an order that is validated on
 * chain no signature counts.
 */
export async function rejectBulkSignature(
  market: Market,
  side: Submission["side"],
  chainId: ChainId,
  { components, signature }: OrderBody,
): Promise<IntakeRejection | null> {
  if (!isBulkSignature(signature)) return null;
  const signed = { components, signature, orderHash: orderHash(components) };
  const { signedBy } = await verifySignature(signed, chainId, recoverSigner);
  if (signedBy === "maker") return bulkNotAllowed(side);
  const code = { kind: "code", address: components.offerer } as const;
  const status = { kind: "order_status_read", orderHash: signed.orderHash } as const;
  const results = await queryChainOrReject(market, chainId, [code, status]);
  // Without an answer the order is rejected later, for its shape or as the chain is unavailable.
  if (isRejection(results) || results.find(status)?.validated) return null;
  return results.find(code)?.hasCode === false ? bulkNotAllowed(side) : null;
}

function bulkNotAllowed(side: Submission["side"]): IntakeRejection {
  const path = side === "ask" ? "/v1/orders/asks/bulk" : "/v1/orders/bids/bulk";
  const message = `the order has a bulk signature: submit it to ${path}`;
  return reject("bulk_signature_not_allowed", `signature: ${message}`, [
    { field: "signature", message },
  ]);
}

function subjectOf({ components: { offer, consideration } }: OrderBody): Subject | null {
  const item = [...offer, ...consideration].find((one) => one.itemType >= itemType.erc721);
  if (item === undefined) return null;
  const isOfCriteria = item.itemType >= itemType.erc721WithCriteria;
  return { contract: item.token, tokenId: isOfCriteria ? null : item.identifierOrCriteria };
}
