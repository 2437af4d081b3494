import type { Hex } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import type { OrderStatus } from "../../../../projections/domain/orders/order-status.ts";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { readBids } from "../../../../projections/reads/bids/read.ts";
import { readListings } from "../../../../projections/reads/listings/read.ts";
import { readSignedOrder } from "../../../../projections/reads/orders/read-signed-order.ts";
import { answersTo, type ChainAnswers, holdRound, type Round } from "../../chain/ask-chain.ts";
import type { ChainClient } from "../../chain/clients.ts";
import { fetchReadBasis, type ReadBasis } from "../../chain/contract-calls.ts";
import type { Question } from "../../chain/questions.ts";
import { RpcFailure } from "../../chain/rpc-batch.ts";
import { questionsAbout } from "./admission-questions.ts";
import { type Known, readKnown } from "./admission-reads.ts";
import { type Accepted, appendOrders } from "./append-orders.ts";
import type { Candidate, Refused } from "./candidate.ts";
import { judgeCandidate, judgeUnasked } from "./judge-candidate.ts";
import { openLedger } from "./ledger.ts";

/** What orders are taken into. */
export type Book = {
  db: Database;
  chain(chainId: ChainId): ChainClient;
  /** Whether every NFT contract of the chain is covered. */
  coversAll(chainId: ChainId): boolean;
  /** Waits until the projections stand at a position of the log, for a while at most. */
  untilProjected(position: bigint): Promise<unknown>;
};

/** An order that stands in the book, and how it stands there. */
type Admitted = { orderHash: Hex; status: OrderStatus };
export type Outcome = Admitted | Refused;

export type Batch = {
  chainId: ChainId;
  candidates: readonly Candidate[];
  /** Whether all of it is one caller's; else what the chain fails at is thrown, if it may be one of them. */
  isOneCallers: boolean;
  now: Date;
};

/**
 * Takes in orders of one chain, sharing between them what costs time: reads, the chain's answers, the transaction and
 * the wait for the projections.
 */
export async function admitBatch(book: Book, batch: Batch): Promise<Outcome[]> {
  const { db } = book;
  const { chainId, candidates, now } = batch;
  const hashes = candidates.map(({ order }) => order.orderHash);
  const basis = fetchReadBasis(book.chain(chainId));
  // Whether the node answers is told where it is asked the rest.
  basis.catch(() => {});
  const [stored, known] = await Promise.all([
    readSignedOrder(db, chainId, hashes),
    readKnown(db, chainId, candidates, now),
  ]);
  const left = candidates.filter(
    (candidate) => !isSameAgain(candidate, stored.get(candidate.order.orderHash)?.signature),
  );
  const { refusals, accepted, answersAbout } = await judgeAll(
    book,
    { ...batch, candidates: left },
    { known, basis },
  );
  // What a maker's contract takes another signature for is no new order.
  const fresh = accepted.filter(({ candidate }) => !stored.has(candidate.order.orderHash));
  if (fresh.length > 0) {
    const answers = answersAbout(fresh.map(({ candidate }) => candidate));
    const position = await appendOrders(db, chainId, { accepted: fresh, answers, now });
    await book.untilProjected(position);
  }
  const statuses = await readStatuses(db, batch);
  return candidates.map((candidate) => {
    const { orderHash } = candidate.order;
    // What is not projected in time has just been found fillable.
    const admitted: Admitted = { orderHash, status: statuses.get(orderHash) ?? "active" };
    return refusals.get(candidate) ?? admitted;
  });
}

/** Whether an order is one that was taken in already, and signed by its maker as that one was. */
function isSameAgain({ order, verdict }: Candidate, signature: Hex | undefined): boolean {
  if (signature === undefined) return false;
  return verdict.signedBy === "maker" || signature === order.signature;
}

/** Longer than a node takes to refuse what it is asked several times over. */
const silentMs = 2_500;

type Judged = {
  refusals: ReadonlyMap<Candidate, Refused>;
  accepted: readonly Accepted[];
  answersAbout(candidates: readonly Candidate[]): ChainAnswers;
};

async function judgeAll(
  book: Book,
  { chainId, candidates, ...batch }: Batch,
  { known, basis }: { known: Known; basis: Promise<ReadBasis> },
): Promise<Judged> {
  if (candidates.length === 0) return refuseAll([]);
  const asked = new Map(candidates.map((one) => [one, questionsAbout(one, known)]));
  const startedAt = performance.now();
  try {
    const round = await holdRound(book.chain(chainId), [...asked.values()].flat(), basis);
    return judgeInOrder(candidates, { known, asked, round, coversAll: book.coversAll(chainId) });
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    // Which a node refuses at once, one caller's question may be the cause of; a node that is silent is so for all.
    const isAnyones = !batch.isOneCallers && performance.now() - startedAt < silentMs;
    if (isAnyones) throw error;
    return refuseAll(candidates);
  }
}

function refuseAll(candidates: readonly Candidate[]): Judged {
  return {
    refusals: new Map(candidates.map((candidate) => [candidate, judgeUnasked(candidate)])),
    accepted: [],
    answersAbout() {
      throw new Error("the chain was not asked");
    },
  };
}

type Asked = {
  known: Known;
  asked: ReadonlyMap<Candidate, readonly Question[]>;
  round: Round;
  coversAll: boolean;
};

/** One after the other: an order that is accepted bears on those behind it. */
function judgeInOrder(candidates: readonly Candidate[], evidence: Asked): Judged {
  const { asked, round, known, coversAll } = evidence;
  const answersAbout = (some: readonly Candidate[]) =>
    answersTo(
      round,
      some.flatMap((one) => asked.get(one) ?? []),
    );
  const answers = answersAbout(candidates);
  const ledger = openLedger();
  const refusals = new Map<Candidate, Refused>();
  const accepted = new Map<Hex, Accepted>();
  for (const candidate of candidates) {
    const { order } = candidate;
    const before = accepted.get(order.orderHash)?.candidate;
    if (isSameAgain(candidate, before?.order.signature)) continue;
    const verdict = judgeCandidate(candidate, { known, answers, ledger, coversAll });
    if (isRejection(verdict)) {
      refusals.set(candidate, verdict);
    } else if (before === undefined) {
      accepted.set(order.orderHash, { candidate, terms: verdict.terms });
      ledger.add(order);
    }
  }
  return { refusals, accepted: [...accepted.values()], answersAbout };
}

async function readStatuses(
  db: Database,
  { chainId, candidates, now }: Batch,
): Promise<Map<Hex, OrderStatus>> {
  const hashesOf = (side: "ask" | "bid") =>
    candidates.flatMap(({ order }) => (order.side === side ? [order.orderHash] : []));
  const [asks, bids] = [hashesOf("ask"), hashesOf("bid")];
  const rows = await Promise.all([
    asks.length === 0 ? [] : readListings(db, chainId, asks, now),
    bids.length === 0 ? [] : readBids(db, chainId, bids, now),
  ]);
  return new Map(rows.flat().map(({ orderHash, status }) => [orderHash, status]));
}
