import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { ChainReads } from "#jobs/orders/evaluate-order.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import type { MarketTerms, OrderBody } from "#projections/domain/orders/order-terms.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainReadings } from "#projections/log/readings.ts";
import { appendChangedReadings } from "#projections/orders/changed-readings.ts";
import type { CriteriaRequest } from "./criteria.ts";

/** Features that an operator can pause. */
type PausableFeature = "listings" | "offers" | "buying";

/** What submitting, filling and checking orders needs. */
export type Market = ChainReads & {
  /** The primary database, for appends and for reads that must see them. */
  writer: Database;
  /** Prefix of `askId` and `bidId`. */
  prefix: string;
  terms(chainId: ChainId): MarketTerms;
  /** Chains that are served. */
  chains: readonly ChainClient[];
  /** Throws for a chain that is not served. */
  chain(chainId: ChainId): ChainClient;
  /** Whether every NFT contract of the chain is indexed, whether or not it has been seen. */
  indexesAllContracts(chainId: ChainId): boolean;
  isPaused(feature: PausableFeature): Promise<boolean>;
  /** Partner marketplaces, with timeouts for interactive requests. */
  partners: readonly Partner[];
  quotas: OrderQuotas;
  admit: Admit;
  /** Of this process. */
  readOutcomes(): readonly OutcomeCount[];
  /** Waits until the projections of orders have reached a position of the log; false after a deadline. */
  waitUntilProjected(position: bigint): Promise<boolean>;
  /** The highest position that this process has appended for a caller and waited for. */
  writtenPosition(): bigint;
  close(): Promise<void>;
};

/**
 * Whether nothing can be bought here now, whatever could be filled. Where the primary fails, what buying takes cannot be
 * had either.
 */
export const isBuyingPaused = ({ isPaused }: Pick<Market, "isPaused">): Promise<boolean> =>
  isPaused("buying").catch(() => true);

/** Orders submitted in one request. */
export type Submission = {
  side: "ask" | "bid";
  chainId: ChainId;
  /** Unparsed. */
  orders: readonly unknown[];
  /** Those of them that are parsed already. */
  parsed?: ReadonlyMap<unknown, OrderBody>;
  /** What bids on several tokens were sent with. */
  criteria?: ReadonlyMap<unknown, CriteriaRequest>;
  /** The request body that contains the orders. */
  envelope: unknown;
  /** The network address or account that the request came from; null: nobody knows. */
  network: string | null;
  now: Date;
};

/** The token or collection of an order, as far as the order names one. */
export type SubmittedSubject = { contract: Address; tokenId: bigint | null };

export type IntakeRejection = Rejection<IntakeCode>;

/** An order in the order book and its status, or why it was rejected. */
export type AdmissionOutcome = { orderHash: Hex; status: OrderStatus } | IntakeRejection;

/** The result of submitting one order. */
export type Admission = { subject: SubmittedSubject | null; outcome: AdmissionOutcome };

/** Submits orders to the order book. Results are in the order of the submission. */
export type Admit = (submission: Submission) => Promise<Admission[]>;

/** Submitted orders since the process started, by what became of them: `accepted`, or the code of the rejection. */
type OutcomeCount = {
  readonly chainId: ChainId;
  readonly side: "ask" | "bid";
  readonly outcome: string;
  readonly orders: number;
};

/** Counts the outcomes of all submissions. */
export function countOutcomes(admit: Admit): { admit: Admit; readOutcomes(): OutcomeCount[] } {
  const counts = new Map<string, OutcomeCount>();
  return {
    async admit(submission) {
      const admissions = await admit(submission);
      const { chainId, side } = submission;
      for (const { outcome: result } of admissions) {
        const outcome = isRejection(result) ? result.rejected : "accepted";
        const key = `${chainId} ${side} ${outcome}`;
        const orders = (counts.get(key)?.orders ?? 0) + 1;
        counts.set(key, { chainId, side, outcome, orders });
      }
      return admissions;
    },
    readOutcomes: () => [...counts.values()],
  };
}

/** Appends the readings that differ from the log, and waits until they are projected. */
export async function recordReadings(
  market: Market,
  readings: ChainReadings,
  now: Date,
): Promise<void> {
  const appended = await appendChangedReadings(market.writer, [readings], now);
  if (appended !== null) await market.waitUntilProjected(appended.head);
}
