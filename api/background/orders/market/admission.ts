import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type { OrderBody } from "#projections/domain/orders/order-terms.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import type { Rejection } from "#projections/domain/rejection.ts";

/** Orders submitted in one request. */
export type Submission = {
  side: "ask" | "bid";
  chainId: ChainId;
  /** Unparsed. */
  orders: readonly unknown[];
  /** Those of them that are parsed already. */
  parsed?: ReadonlyMap<unknown, OrderBody>;
  /** The request body that contains the orders. */
  envelope: unknown;
  /** The network address or account that the request came from; null: nobody knows. */
  network: string | null;
  now: Date;
};

/** The token or collection of an order, as far as the order names one. */
export type Subject = { contract: Address; tokenId: bigint | null };

export type IntakeRejection = Rejection<IntakeCode>;

/** An order in the order book and its status, or why it was rejected. */
export type Outcome = { orderHash: Hex; status: OrderStatus } | IntakeRejection;

/** The result of submitting one order. */
export type Admission = { subject: Subject | null; outcome: Outcome };

/** Submits orders to the order book. Results are in the order of the submission. */
export type Admit = (submission: Submission) => Promise<Admission[]>;
