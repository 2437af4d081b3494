import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Address, Hex } from "viem";
import type { AdmissionOutcome, Admit, IntakeRejection } from "#api/orders/market.ts";
import { findChangedRoyalties } from "#api/orders/royalty.ts";
import type { ChainId } from "#chains/index.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import { fetchReadBasis, type ReadBasis } from "#jobs/chain/contract-calls.ts";
import {
  type BatchResult,
  type ChainResults,
  resultsFor,
  runBatch,
} from "#jobs/chain/query-chain.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { findOwnerless } from "#jobs/orders/evaluate-order.ts";
import { retryingEach, shareWhileBusy } from "#jobs/runner/share-while-busy.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import type { MarketTerms, TradeTerms } from "#projections/domain/orders/order-terms.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { findChangedReadings } from "#projections/orders/changed-readings.ts";
import { readBids } from "#projections/orders/read-bids.ts";
import { readListings } from "#projections/orders/read-listings.ts";
import { orderSubmitted, readAcceptedOrders } from "#projections/orders/read-signed-orders.ts";
import { tokenSetSubmitted } from "#projections/orders/token-sets.ts";
import { requestRoyaltyReread } from "#projections/partners/royalty-sync.ts";
import { readBurnedTokens, type TokenSet } from "#projections/tokens/read-token.ts";
import { type Charge, chargeBudgets } from "./makers.ts";
import { type ParsedSubmission, type PendingOrder, parseSubmission } from "./parse.ts";
import { admissionQueries, readStoredContext, type StoredContext } from "./queries.ts";
import { chargesOf, createBatchTotals } from "./quotas.ts";
import { quotaContextOf, rejectUnsigned, validateOrder, validateWithoutChain } from "./validate.ts";

/** Of callers with costly contracts; the one that was idle for longest is forgotten. */
const maxQueues = 10_000;

/** Most orders per batch, unless a single request contains more. */
const maxOrdersPerBatch = 200;

export function openAdmission(
  admissionContext: AdmissionContext,
  terms: (chainId: ChainId) => MarketTerms,
): Admit {
  const queues = new LRUCache<string, ReturnType<typeof openQueue>>({ max: maxQueues });
  const queueOf = (chainId: ChainId, pendingOrders: readonly PendingOrder[]) => {
    const { health } = admissionContext.chain(chainId);
    const isCheap = pendingOrders.every((pending) => payersOf(pending).every(health.isCheap));
    const name = isCheap ? `${chainId}` : `${chainId} ${pendingOrders[0]?.network}`;
    const queue = queues.get(name) ?? openQueue(admissionContext, chainId);
    queues.set(name, queue);
    return queue;
  };
  return async ({ orders, ...submission }) => {
    const { db } = admissionContext;
    const context = { ...submission, terms: terms(submission.chainId), db };
    const parsed: ParsedSubmission[] = [];
    for (const raw of orders) {
      // Signature recovery takes milliseconds: yield to the event loop between two.
      if (parsed.length > 0) await yieldToEventLoop();
      parsed.push(await parseSubmission(raw, context));
    }
    const pendingOrders = parsed.flatMap(({ result }) => (isRejection(result) ? [] : [result]));
    const outcomes =
      pendingOrders.length === 0
        ? []
        : await queueOf(submission.chainId, pendingOrders)(pendingOrders);
    const outcomeOf = new Map(pendingOrders.map((pending, index) => [pending, outcomes[index]]));
    return parsed.map(({ subject, result }) => {
      const outcome = isRejection(result) ? result : outcomeOf.get(result);
      if (outcome === undefined) throw new Error("admission returned no result for an order");
      return { subject, outcome };
    });
  };
}

/** The contracts whose code decides what the checks of an order cost. */
function payersOf({ order: { contract, maker }, signatureCheck }: PendingOrder): Address[] {
  return signatureCheck.signedBy === "maker" ? [contract] : [contract, maker];
}

/**
 * Callers of one chain whose contracts answered cheaply before share batches; each other caller, whose calls may be slow,
 * has its own.
 */
function openQueue(context: AdmissionContext, chainId: ChainId) {
  type Outcomes = readonly AdmissionOutcome[];
  const admit = async (callers: readonly (readonly PendingOrder[])[]): Promise<Outcomes[]> => {
    const pendingOrders = callers.flat();
    const now = pendingOrders[0]?.now ?? new Date(0);
    const isSingleCaller = callers.length === 1;
    const outcomes = await admitBatch(context, { chainId, pendingOrders, isSingleCaller, now });
    let start = 0;
    return callers.map(({ length }) => {
      start += length;
      return outcomes.slice(start - length, start);
    });
  };
  return shareWhileBusy<readonly PendingOrder[], Outcomes>(retryingEach(admit), {
    weigh: ({ length }) => length,
    mostWeight: maxOrdersPerBatch,
    returnMs,
  });
}

/** Callers often submit again right after a response: the next batch waits for them for a share of the last one's duration. */
const returnMs = (durationMs: number): number => Math.min(40, durationMs / 2);

/** What the admission of orders needs. */
export type AdmissionContext = {
  db: Database;
  chain(chainId: ChainId): ChainClient;
  /** Whether every NFT contract of the chain is indexed. */
  indexesAllContracts(chainId: ChainId): boolean;
  quotas: OrderQuotas;
  /** Waits, up to a deadline, until the projections have reached a position of the log. */
  waitUntilProjected(position: bigint): Promise<unknown>;
};

type AdmissionBatch = {
  chainId: ChainId;
  pendingOrders: readonly PendingOrder[];
  /** With several callers an RPC failure is thrown, so that the batch is retried caller by caller. */
  isSingleCaller: boolean;
  now: Date;
};

/**
 * Admits orders of one chain, which share the expensive steps: reads, chain queries, the transaction and the wait for
 * the projections.
 */
async function admitBatch(
  context: AdmissionContext,
  batch: AdmissionBatch,
): Promise<AdmissionOutcome[]> {
  const { db } = context;
  const { chainId, pendingOrders, now } = batch;
  const hashes = pendingOrders.map(({ order }) => order.orderHash);
  const basis = fetchReadBasis(context.chain(chainId));
  // A failure is handled where the promise is awaited, with the other queries.
  basis.catch(() => {});
  const [acceptedBefore, stored] = await Promise.all([
    readAcceptedOrders(db, chainId, hashes),
    readStoredContext(db, chainId, { pendingOrders, quotas: context.quotas }, now),
  ]);
  const newOrders = pendingOrders.filter(
    (pending) => !isDuplicate(pending, acceptedBefore.get(pending.order.orderHash)?.signature),
  );
  const { rejections, accepted, resultsOf, charges } = await validateAll(
    context,
    { ...batch, pendingOrders: newOrders },
    { stored, basis },
  );
  // The same order with another valid contract signature is not a new order; the signature is not stored.
  const toAppend = accepted.filter(({ pending }) => !acceptedBefore.has(pending.order.orderHash));
  if (toAppend.length > 0) {
    const results = resultsOf(toAppend.map(({ pending }) => pending));
    const [position] = await Promise.all([
      appendOrders(db, chainId, { accepted: toAppend, results, now }),
      chargeBudgets(db, chainId, charges, now),
    ]);
    await context.waitUntilProjected(position);
  }
  const states = await readStates(db, batch);
  return pendingOrders.map((pending) => {
    const { orderHash } = pending.order;
    const state = states.get(orderHash);
    const before = acceptedBefore.get(orderHash)?.signature;
    return (
      rejections.get(pending) ??
      rejectUnstoredSignature(pending, before, state) ?? {
        orderHash,
        status: state?.status ?? statusWithoutRow(pending, now),
      }
    );
  });
}

/** An order that is not projected in time was found fillable a moment ago; one that ended long ago is compacted. */
const statusWithoutRow = ({ order }: PendingOrder, now: Date): OrderStatus =>
  Number(order.components.endTime) * 1000 <= now.getTime() ? "expired" : "active";

/** A valid signature for an order that was accepted with one that its maker's contract no longer accepts. */
function rejectUnstoredSignature(
  pending: PendingOrder,
  storedSignature: Hex | undefined,
  state: OrderState | undefined,
): IntakeRejection | null {
  if (state?.reason !== "contract_signature_invalid") return null;
  if (storedSignature === undefined || isDuplicate(pending, storedSignature)) return null;
  const message =
    "the order was accepted with another signature, which the maker's contract no longer accepts: sign a new order with a new salt";
  return reject("contract_signature_invalid", `signature: ${message}`, [
    { field: "signature", message },
  ]);
}

/** A failure after this time means that the node does not respond, rather than that it rejects a query. */
const unresponsiveMs = 2_500;

async function validateAll(
  context: AdmissionContext,
  { chainId, pendingOrders, ...batch }: AdmissionBatch,
  { stored, basis }: { stored: StoredContext; basis: Promise<ReadBasis> },
): Promise<ValidationResult> {
  if (pendingOrders.length === 0) return rejectAll([]);
  const startedAt = performance.now();
  // What a caller names may be costly: that rests for the caller, and not for those who ask about the same contract.
  const asker = pendingOrders[0]?.network ?? "a caller without an address";
  const settings = batch.isSingleCaller ? { asker } : { areShared: true };
  try {
    const client = context.chain(chainId);
    const signers = { client, db: context.db, stored, basis, settings };
    const forged = await rejectUnsigned(signers, chainId, pendingOrders);
    const signed = pendingOrders.filter((one) => !forged.has(one));
    if (signed.length === 0) return { ...rejectAll([]), rejections: forged };
    const queries = new Map(signed.map((one) => [one, admissionQueries(one, stored)]));
    const asked = [...queries.values()].flat();
    const round = await runBatch(client, asked, { basis, ...settings });
    const results = resultsFor(round, asked);
    const ownerless = findOwnerless(
      signed.map(({ order }) => order),
      results,
    );
    const burnedTokens = await readBurnedTokens(context.db, chainId, ownerless);
    const cases = [...stored.royaltyCases.values()];
    const changed = await findChangedRoyalties(context.db, chainId, cases, results);
    if (changed.length > 0) await requestRoyaltyReread(context.db, chainId, changed, batch.now);
    const indexesAllContracts = context.indexesAllContracts(chainId);
    const { quotas } = context;
    const chainState = { stored, queries, round, results, burnedTokens, indexesAllContracts };
    const validated = validateInOrder(signed, { ...chainState, quotas });
    return { ...validated, rejections: new Map([...validated.rejections, ...forged]) };
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    // A quick failure may be caused by the queries of one caller; an unresponsive node fails for all of them.
    const isQuickFailure = performance.now() - startedAt < unresponsiveMs;
    if (!batch.isSingleCaller && isQuickFailure) throw error;
    return rejectAll(pendingOrders);
  }
}

function rejectAll(pendingOrders: readonly PendingOrder[]): ValidationResult {
  return {
    rejections: new Map(pendingOrders.map((pending) => [pending, validateWithoutChain(pending)])),
    accepted: [],
    charges: [],
    resultsOf() {
      throw new Error("the chain was not queried");
    },
  };
}

type OrderState = { status: OrderStatus; reason: string | null };

async function readStates(
  db: Database,
  { chainId, pendingOrders, now }: AdmissionBatch,
): Promise<Map<Hex, OrderState>> {
  const hashesOf = (side: "ask" | "bid") =>
    pendingOrders.flatMap(({ order }) => (order.side === side ? [order.orderHash] : []));
  const [asks, bids] = [hashesOf("ask"), hashesOf("bid")];
  const rows = await Promise.all([
    asks.length === 0 ? [] : readListings(db, chainId, asks, now),
    bids.length === 0 ? [] : readBids(db, chainId, bids, now),
  ]);
  return new Map(
    rows.flat().map(({ orderHash, status, reason }) => [orderHash, { status, reason }]),
  );
}

type ValidationResult = {
  rejections: ReadonlyMap<PendingOrder, IntakeRejection>;
  accepted: readonly AdmittedOrder[];
  charges: readonly Charge[];
  resultsOf(pendingOrders: readonly PendingOrder[]): ChainResults;
};

/** Whether the order was accepted before and this signature is valid too. */
function isDuplicate({ order, signatureCheck }: PendingOrder, signature: Hex | undefined): boolean {
  if (signature === undefined) return false;
  return signatureCheck.signedBy === "maker" || signature === order.signature;
}

type ChainRound = {
  stored: StoredContext;
  queries: ReadonlyMap<PendingOrder, readonly ChainQuery[]>;
  round: BatchResult;
  results: ChainResults;
  burnedTokens: TokenSet;
  indexesAllContracts: boolean;
  quotas: OrderQuotas;
};

/** One after the other: an accepted order affects the validation of the next ones. */
function validateInOrder(
  pendingOrders: readonly PendingOrder[],
  context: ChainRound,
): ValidationResult {
  const { queries, round, ...validated } = context;
  const resultsOf = (some: readonly PendingOrder[]) =>
    resultsFor(
      round,
      some.flatMap((one) => queries.get(one) ?? []),
    );
  const batchTotals = createBatchTotals();
  const rejections = new Map<PendingOrder, IntakeRejection>();
  const accepted = new Map<Hex, AdmittedOrder>();
  for (const pending of pendingOrders) {
    const { order } = pending;
    const before = accepted.get(order.orderHash)?.pending;
    if (isDuplicate(pending, before?.order.signature)) continue;
    const result = validateOrder(pending, { ...validated, batchTotals });
    if (isRejection(result)) {
      rejections.set(pending, result);
    } else if (before === undefined) {
      accepted.set(order.orderHash, { pending, terms: result.terms });
      batchTotals.add(
        order,
        chargesOf(order, quotaContextOf(pending, { ...validated, batchTotals })),
      );
    }
  }
  const charges = batchTotals.charges();
  return { rejections, accepted: [...accepted.values()], charges, resultsOf };
}

type AdmittedOrder = { pending: PendingOrder; terms: TradeTerms };

/**
 * Appends accepted orders of a chain, together with the chain readings that differ from the log, in one transaction.
 * Returns the position of the log's last fact.
 */
async function appendOrders(
  db: Database,
  chainId: ChainId,
  {
    accepted,
    results,
    now,
  }: { accepted: readonly AdmittedOrder[]; results: ChainResults; now: Date },
): Promise<bigint> {
  const orders = accepted.map(({ pending: { order, signatureCheck, now: receivedAt }, terms }) => {
    const { orderHash, components } = order;
    const signature = signatureToStore(order, signatureCheck, results);
    const isContractSigned = signatureCheck.signedBy !== "maker";
    const signed = { orderHash, components, signature, isContractSigned };
    return orderSubmitted({ chainId, ...signed, terms, receivedAt });
  });
  const { basis, readings } = results;
  const observed = await findChangedReadings(db, { chainId, basis, readings }, now);
  const sets = accepted.flatMap((one) => tokenSetOf(one));
  const { head } = await appendObservations(db, [...sets, ...orders, ...observed]);
  return head;
}

function tokenSetOf({ pending }: AdmittedOrder): Observation[] {
  const { chainId, tokenIds, now } = pending;
  const { contract, criteria } = pending.order;
  if (criteria === undefined || tokenIds === null) return [];
  return [tokenSetSubmitted(chainId, { contract, root: criteria.root, tokenIds }, now)];
}

/** None of an account without code that validated the order on chain: whatever else it sent is not its signature. */
function signatureToStore(
  { signature, maker: address }: PendingOrder["order"],
  { signedBy }: PendingOrder["signatureCheck"],
  results: ChainResults,
): Hex {
  if (signedBy === "maker") return signature;
  return results.find({ kind: "code", address })?.hasCode ? signature : "0x";
}
