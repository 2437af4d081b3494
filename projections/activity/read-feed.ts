import { sql } from "kysely";
import type { Address } from "viem";
import { blockIdRange, firstBlockId } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { blockNumberIn } from "../log/recording/ponder-events.ts";
import { schemaOf } from "../log/versions.ts";
import { readOrderEvents } from "../orders/read-order-events.ts";
import { deriveFeed } from "./derive-feed.ts";
import { describeOrderEvent } from "./describe-order-event.ts";
import {
  type FeedEvent,
  type FeedFact,
  formatEventId,
  isAfter,
  stateKinds,
} from "./feed-events.ts";
import {
  readAliases,
  readCancelled,
  readEarlierFacts,
  readFollowingFacts,
  readLaterFacts,
  readPartEnd,
  readParts,
  readWindow,
} from "./read-feed-facts.ts";

export type FeedSource = {
  readonly db: Database;
  readonly chainIds: readonly number[];
  /** By which this market's sales are known. */
  readonly feeRecipient: Address;
  /** `final`: events of final blocks that were not retracted, and no retractions. Default: all events. */
  readonly delivery?: "latest" | "final";
};

/** An event as it is read: `isFinal` is the only field that another read may tell otherwise. */
export type ReadEvent = FeedEvent & {
  /** Its block was final when it was read. */
  readonly isFinal: boolean;
};

export type FeedSlice = {
  readonly events: ReadEvent[];
  /** The events are complete up to this position, and contain none after it. */
  readonly reached: bigint;
};

/** Retractions and readoptions of blocks in one slice: each reads a whole block. */
const maxBlockStates = 8;

/**
 * Events with after < position ≤ upTo, of `most` positions at most: of facts, and of the order book, which are reported in ticks
 * of the projections and have the positions of their ends. Read later, in other slices or by another process, they are the
 * same. With `final` delivery `upTo` must be `readFeedPosition`'s at most, and there are none of the order book: the block
 * that an order's state depends on may have been retracted since, which is reported by another state.
 */
export async function readFeed(
  source: FeedSource,
  { after, upTo, most }: { after: bigint; upTo: bigint; most: number },
): Promise<FeedSlice> {
  const { db, chainIds, delivery } = source;
  const end = after + BigInt(most);
  const facts = await readWindow(db, { after, upTo: end < upTo ? end : upTo }, chainIds);
  const window = { after, upTo: endOf(facts, end < upTo ? end : upTo) };
  const [happened, told] = await Promise.all([
    readHappened(source, facts, window),
    delivery === "final" ? [] : readOrderEvents(db, window, chainIds),
  ]);
  if (told.length === 0) return { events: happened, reached: window.upTo };
  const ofBook = told.map((event) => ({ ...describeOrderEvent(event), isFinal: false }));
  const events = [...happened, ...ofBook].toSorted((one, other) => (isAfter(one, other) ? 1 : -1));
  return { events, reached: window.upTo };
}

/**
 * The events of a window's facts; `facts` may go beyond it. They are a function of the log up to the append of their
 * position.
 */
async function readHappened(
  { db, chainIds, feeRecipient, delivery }: FeedSource,
  facts: readonly FeedFact[],
  window: { after: bigint; upTo: bigint },
): Promise<ReadEvent[]> {
  const { after, upTo } = window;
  const shown = facts.filter(({ position }) => position <= upTo);
  if (shown.length === 0) return [];
  const earlier = await readEarlierFacts(db, shown, window);
  const readRest = delivery === "final" ? readLaterFacts : readFollowingFacts;
  const all = [...earlier, ...shown, ...(await readRest(db, shown, upTo))];
  const [orders, standsFor, finalBlocks, parts] = await Promise.all([
    readCancelled(db, all, upTo),
    readAliases(db),
    readFinalBlocks(db, chainIds),
    readParts(db, all),
  ]);
  const derived = deriveFeed(all, { feeRecipient, standsFor, orders, parts });
  const lasting = delivery === "final" ? withoutRetracted(derived) : derived;
  return lasting
    .filter(({ position }) => position > after && position <= upTo)
    .map((event) => ({ ...event, isFinal: isFinal(event, finalBlocks) }));
}

function withoutRetracted(events: readonly FeedEvent[]): FeedEvent[] {
  const retracted = new Set(events.flatMap(({ retracts }) => retracts && formatEventId(retracts)));
  return events.filter((event) => event.retracts === null && !retracted.has(formatEventId(event)));
}

/** A submitted order is in no block, and nothing takes it back. */
function isFinal({ content }: FeedEvent, finalBlocks: ReadonlyMap<number, bigint>): boolean {
  const { blockNumber, chainId } = content;
  return blockNumber === null || blockNumber <= (finalBlocks.get(chainId) ?? -1n);
}

function endOf(facts: readonly FeedFact[], upTo: bigint): bigint {
  const states = facts.filter(({ kind }) => stateKinds.some((one) => one === kind));
  const next = states[maxBlockStates];
  return next === undefined ? upTo : next.position - 1n;
}

/** Projections in which callers look up what an event names. */
const lookupProjections = [...["ownership", "sales", "activity", "listings", "bids"], "metadata"];

/**
 * The position up to which events are handed out: where those projections are, and with `final` delivery what is final.
 * A transaction's facts that were appended together are handed out together, as events depend on all of them.
 */
export async function readFeedPosition({
  db,
  chainIds,
  delivery,
}: Omit<FeedSource, "feeRecipient">): Promise<bigint> {
  const position = await readPartEnd(db, await readProjectedPosition(db));
  return delivery === "final" ? await readFinalPosition(db, chainIds, position) : position;
}

/** The position that all of them have reached, and up to which the order book is reported; 0 before they exist. */
async function readProjectedPosition(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select case when count(*) = ${lookupProjections.length}
                then least(min(position), (select b.position from engine.book b)) end as position
    from engine.checkpoint where projection = any (${lookupProjections.map(schemaOf)}::text[])`.execute(
    db,
  );
  return rows[0]?.position ?? 0n;
}

const blockStateKinds = kindList("block_retracted", "block_readopted");
const fetches = kindList("token_metadata_fetched", "contract_metadata_fetched");

/**
 * The highest block of each chain that is final, by the chain's own word where an indexer asked for it, and recorded to its
 * end. Chains without one are left out.
 */
export async function readFinalBlocks(
  db: Database,
  chainIds: readonly number[],
): Promise<ReadonlyMap<number, bigint>> {
  const { rows } = await sql<{ chainId: number; number: bigint | null }>`
    select r.chain_id as "chainId", least(max(${blockNumberIn("r.settled_id")}), max(f.number)) as number
    from ops.recorder r left join ops.chain_finality f using (chain_id)
    where r.chain_id = any (${chainIds}::int[]) group by r.chain_id`.execute(db);
  return new Map(
    rows.flatMap(({ chainId, number }) => (number === null ? [] : [[chainId, number]])),
  );
}

/** The position, `upTo` at most, up to which every event is of a final block. */
async function readFinalPosition(
  db: Database,
  chainIds: readonly number[],
  upTo: bigint,
): Promise<bigint> {
  const final = await readFinalBlocks(db, chainIds);
  let position = upTo;
  for (const chainId of chainIds) {
    const number = final.get(chainId);
    if (number === undefined) return 0n;
    const { to } = blockIdRange(chainId);
    const from = firstBlockId(chainId, number + 1n);
    const { rows } = await sql<{ first: bigint | null }>`
      select min(position) as first from (
        select position from log.fact
        where block_id >= ${from} and block_id < ${to} and log_index is not null
        union all
        select position from log.fact
        where block_id >= ${from} and block_id < ${to} and log_index is null and kind not in ${blockStateKinds}
          and kind in ${fetches}
      ) f`.execute(db);
    const first = rows[0]?.first ?? null;
    if (first !== null && first <= position) position = first - 1n;
  }
  return position;
}
