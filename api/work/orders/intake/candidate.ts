import type { Address } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { IntakeCode } from "../../../../projections/domain/orders/intake-codes.ts";
import type { MarketTerms } from "../../../../projections/domain/orders/market-terms.ts";
import type { OrderBody } from "../../../../projections/domain/orders/order-body.ts";
import {
  recognizeBid,
  recognizeListing,
} from "../../../../projections/domain/orders/recognize-order.ts";
import type { RecognizedOrder } from "../../../../projections/domain/orders/recognized-order.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import { itemType } from "../../../../projections/domain/seaport/order-components.ts";
import { orderHash } from "../../../../projections/domain/seaport/order-hash.ts";
import {
  isBulkSignature,
  judgeSignature,
  type SignatureVerdict,
} from "../../../../projections/domain/seaport/signature.ts";
import { parseOrder } from "./order-body-schema.ts";
import { recoverSigner } from "./recover-signer.ts";

/** Orders that somebody sent in one request. */
export type Submission = {
  side: "ask" | "bid";
  chainId: ChainId;
  /** As they came. */
  orders: readonly unknown[];
  /** Those of them that were parsed already. */
  parsed?: ReadonlyMap<unknown, OrderBody>;
  /** The body around them. */
  envelope: unknown;
  /** Whether orders may be signed together, over a tree of them. */
  takesBulkSignatures: boolean;
  now: Date;
};

/** An order that may be taken in as far as that can be told without asking anybody. */
export type Candidate = {
  chainId: ChainId;
  terms: MarketTerms;
  order: RecognizedOrder;
  verdict: SignatureVerdict;
  now: Date;
};

/** What an order is about, as far as it says so at all. */
export type Subject = { contract: Address; tokenId: bigint | null };

export type Refused = Rejection<IntakeCode>;
export type Examined = { subject: Subject | null; found: Candidate | Refused };

type Context = Omit<Submission, "orders"> & { terms: MarketTerms };

/** Judges what an order itself tells: its envelope, its shape and whose signature it bears. */
export async function examine(raw: unknown, context: Context): Promise<Examined> {
  const body = context.parsed?.get(raw) ?? parseOrder(raw, context);
  if (isRejection(body)) return { subject: null, found: body };
  return { subject: subjectOf(body), found: await findCandidate(body, context) };
}

async function findCandidate(body: OrderBody, context: Context): Promise<Candidate | Refused> {
  const { side, chainId, terms, now } = context;
  const { components, signature } = body;
  if (!context.takesBulkSignatures && isBulkSignature(signature)) {
    const signed = { components, signature, orderHash: orderHash(components) };
    const { signedBy } = await judgeSignature(signed, chainId, recoverSigner);
    // A contract may sign with as many bytes: only whom the tree's signature names has signed in bulk.
    if (signedBy === "maker") return bulkNotAllowed(side);
  }
  const order = side === "ask" ? recognizeListing(body, terms) : recognizeBid(body, terms);
  if (isRejection(order)) return order;
  const verdict = await judgeSignature(order, chainId, recoverSigner);
  return { chainId, terms, order, verdict, now };
}

function bulkNotAllowed(side: Submission["side"]): Refused {
  const path = side === "ask" ? "/v1/orders/asks/bulk" : "/v1/orders/bids/bulk";
  const message = `the order is signed together with others: send it to ${path}`;
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
