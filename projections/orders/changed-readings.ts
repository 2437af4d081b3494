import { type RawBuilder, sql } from "kysely";
import { logFacts } from "../engine/fact-window.ts";
import type { EffectiveFacts } from "../engine/projection.ts";
import { tokensAt } from "../engine/token-ids.ts";
import { appendObservations, type Observation } from "../log/append.ts";
import { blockIdRange, firstBlockId } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { factKind, kindList, kindLiteral } from "../log/fact-kinds.ts";
import {
  type ChainReading,
  type ChainReadings,
  readingFact,
  readingObserved,
} from "../log/readings.ts";
import { zeroAddress } from "../log/sql-values.ts";
import { schemaOf } from "../log/versions.ts";
import { knownAllowances, knownBalances } from "./maker-funds.ts";
import {
  exchangeContracts,
  fillsAndCancels,
  latestFacts,
  latestReadings,
  type RecomputeSet,
  unitsMovedSince,
} from "./select-facts.ts";

/** Appends the readings of one or more rounds that differ from the log; none appended: null. `head`: the end of the log. */
export async function appendChangedReadings(
  db: Database,
  rounds: readonly ChainReadings[],
  now: Date,
): Promise<{ readonly appended: readonly Observation[]; readonly head: bigint } | null> {
  const observations: Observation[] = [];
  for (const round of rounds) observations.push(...(await findChangedReadings(db, round, now)));
  if (observations.length === 0) return null;
  const { head } = await appendObservations(db, observations);
  return { appended: observations, head };
}

/**
 * Appends readings whether they differ from the log or not: the facts that they would be compared with are of blocks
 * that left the chain and may not be retracted yet.
 */
export async function appendReadings(
  db: Database,
  { chainId, basis, readings }: ChainReadings,
  now: Date,
): Promise<void> {
  if (readings.length === 0) return;
  const observed = readings.map((reading) => readingObserved({ chainId, basis }, reading, now));
  await appendObservations(db, observed);
}

/** Above every position. */
const NO_LIMIT = 2n ** 63n - 1n;

/**
 * The facts of those readings that differ from the state that the log gives for the end of their block, or from the
 * default where the log has no fact.
 */
export async function findChangedReadings(
  db: Database,
  { chainId, basis, readings }: ChainReadings,
  recordedAt: Date,
): Promise<Observation[]> {
  if (readings.length === 0) return [];
  const kinds = [...new Set(readings.map(({ kind }) => kind))];
  const comparison: ReadingsToCompare = {
    upTo: NO_LIMIT,
    facts: logFacts,
    retractedBlocks: sql`retracted_block`,
    beforeBlock: firstBlockId(chainId, basis.number + 1n),
    endOfChain: blockIdRange(chainId).to,
    of: (kind) => sql`(select * from reading where kind = ${kindLiteral(kind)}) o`,
  };
  const { rows } = await sql<{ ord: bigint }>`
    with retracted_block as materialized (select block_id from log.retracted_blocks(${NO_LIMIT})),
    reading as materialized (
      select row.ord, row.kind, k.contract_id, row.token_id, row.amount,
             decode(row.from_address, 'hex') as maker, decode(row.to_address, 'hex') as to_address,
             decode(row.order_hash, 'hex') as order_hash, row.payload, ${chainId}::integer as chain_id
      from jsonb_to_recordset(${JSON.stringify(readings.map(rowOf))}::jsonb) as row (
        ord bigint, kind smallint, contract text, token_id numeric, amount numeric, from_address text,
        to_address text, order_hash text, payload jsonb
      )
      left join log.contract k on k.chain_id = ${chainId} and k.address = decode(row.contract, 'hex')
    )
    ${sql.join(
      kinds.map((kind) => selectChangedReadings(kind, comparison)),
      sql` union all `,
    )}`.execute(db);
  const changed = new Set(rows.map(({ ord }) => Number(ord)));
  // Few have changed, and making a fact computes a hash.
  return readings
    .filter((_, index) => changed.has(index))
    .map((reading) => readingObserved({ chainId, basis }, reading, recordedAt));
}

function rowOf(reading: ChainReading, ord: number) {
  const fact = readingFact(reading);
  return {
    ord,
    kind: factKind[reading.kind],
    contract: fact.contract?.slice(2),
    token_id: fact.tokenId?.toString(),
    amount: fact.amount?.toString(),
    from_address: fact.fromAddress?.slice(2),
    to_address: fact.toAddress?.slice(2),
    order_hash: fact.orderHash?.slice(2),
    payload: fact.payload,
  };
}

/** Readings of a block, to compare with the effective facts in one statement. */
type ReadingsToCompare = EffectiveFacts & {
  /** Those of a kind as rows `o`: `ord`, `chain_id`, `contract_id`, `token_id`, `maker`, `to_address`, `order_hash`, `amount`, `payload`. */
  of: (kind: ChainReading["kind"]) => RawBuilder<unknown>;
  /** The chain's first block id after the block of the readings. */
  beforeBlock: bigint;
  /** Above the chain's block ids. */
  endOfChain: bigint;
};

/**
 * The reading `o` alone, to look up its facts in a lateral join. A join with the facts of all readings is quadratic: the
 * planner does not know how many they are, expects one, and nests the loops.
 */
const oneReading = sql`(select o.*) one`;

/** Selects `ord` of the readings of a kind that differ from the log. */
function selectChangedReadings(
  kind: ChainReading["kind"],
  readings: ReadingsToCompare,
): RawBuilder<unknown> {
  const recompute: RecomputeSet = {
    orders: oneReading,
    upTo: readings.upTo,
    facts: readings.facts,
    retractedBlocks: readings.retractedBlocks,
    beforeBlock: readings.beforeBlock,
  };
  switch (kind) {
    case "order_status_read":
      return changedStatuses(readings, recompute);
    case "owner_read":
      return changedOwners(readings, recompute);
    case "token_approval_read":
      return changedTokenApprovals(readings, recompute);
    case "units_read":
      return changedUnits(readings, recompute);
    case "balance_read":
      return changedAmounts(readings, kind, knownBalances(recompute));
    case "allowance_read":
      return changedAmounts(readings, kind, knownAllowances(recompute));
    default:
      return changedLatest(readings, kind, recompute);
  }
}

const byMaker = { contract_id: "contract_id", from_address: "maker" };

/** Kinds whose state is the latest fact of a subject, and the default without a fact. */
const byLatestFact = {
  counter_read: {
    latest: (recompute: RecomputeSet) =>
      latestFacts(recompute, { kinds: ["counter_incremented", "counter_read"], subject: byMaker }),
    fallback: 0,
  },
  approval_read: {
    latest: (recompute: RecomputeSet) =>
      latestFacts(recompute, {
        kinds: ["approval_for_all", "approval_read"],
        subject: { ...byMaker, to_address: "to_address" },
      }),
    fallback: 0,
  },
  transfer_read: {
    latest: (recompute: RecomputeSet) =>
      latestReadings(recompute, {
        kinds: ["transfer_read"],
        subject: { ...byMaker, token_id: "token_id" },
      }),
    fallback: 1,
  },
  signature_read: ofOrder("signature_read"),
  recipients_read: ofOrder("recipients_read"),
  channel_read: {
    latest: (recompute: RecomputeSet) =>
      latestFacts(recompute, {
        kinds: ["channel_updated", "channel_read"],
        subject: { contract_id: "contract_id", to_address: "to_address" },
      }),
    fallback: 1,
  },
} as const;

/** A reading of an order that holds without a fact. */
function ofOrder(kind: "signature_read" | "recipients_read") {
  const subject = { contract_id: "contract_id", order_hash: "order_hash" };
  const latest = (recompute: RecomputeSet) => latestReadings(recompute, { kinds: [kind], subject });
  return { latest, fallback: 1 } as const;
}

function changedLatest(
  readings: ReadingsToCompare,
  kind: keyof typeof byLatestFact,
  recompute: RecomputeSet,
): RawBuilder<unknown> {
  const { latest, fallback } = byLatestFact[kind];
  return sql`
    select o.ord from ${readings.of(kind)}
    left join lateral (${latest(recompute)}) t on true
    where o.amount <> coalesce(t.amount, ${sql.lit(fallback)})`;
}

/** `known` has the `amount` that the log gives for a reading `o`. */
function changedAmounts(
  readings: ReadingsToCompare,
  kind: ChainReading["kind"],
  known: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select o.ord from ${readings.of(kind)} cross join lateral (${known}) t where o.amount <> t.amount`;
}

/** Without the order in the log, filled units cannot be compared. */
function changedStatuses(
  readings: ReadingsToCompare,
  recompute: RecomputeSet,
): RawBuilder<unknown> {
  const known = (side: "ask" | "bid") =>
    fillsAndCancels({ ...recompute, orders: sql`(select o.* where o.side = ${side}) one` }, side);
  return sql`
    select ord from (
      with exchange as materialized (${exchangeContracts}), known as materialized (
        select o.ord, o.order_hash, v.exchange_id, o.payload, f.amount as quantity, f.payload -> 'terms' ->> 'side' as side
        from ${readings.of("order_status_read")}
        left join exchange v using (chain_id)
        left join lateral (
          select f.amount, f.payload from ${recompute.facts} f join log.contract k using (contract_id)
          where f.order_hash = o.order_hash and f.kind in ${kindList("order_submitted", "partner_listing_seen")}
            and k.chain_id = o.chain_id
          limit 1
        ) f on true
      )
      select o.ord
      from known o
      left join lateral (${known("ask")} union all ${known("bid")}) t on true
      where (o.payload ->> 'cancelled')::boolean <> coalesce(t.is_cancelled, false)
        or coalesce(t.filled, 0) <> case
             when o.quantity is null then (o.payload ->> 'filled')::numeric
             else coalesce(div(o.quantity * (o.payload ->> 'filled')::numeric,
                    nullif((o.payload ->> 'size')::numeric, 0)), 0) end
    ) status`;
}

/** A token transferred after the block of the readings is not compared. */
function changedOwners(readings: ReadingsToCompare, recompute: RecomputeSet): RawBuilder<unknown> {
  const read = latestReadings(recompute, {
    kinds: ["owner_read"],
    subject: { contract_id: "contract_id", token_id: "token_id" },
  });
  return sql`
    select o.ord
    from ${readings.of("owner_read")}
    left join lateral (select * from ${tokensAt(sql`o.contract_id`, sql`o.token_id`)} known where known.standard = 721) t on true
    left join lateral (${read}) r on true
    where coalesce(t.block_id, 0) < ${readings.beforeBlock}
      and o.to_address is distinct from
        case when r.block_id is null or t.block_id >> 12 > r.block_id >> 12 then nullif(t.owner, ${zeroAddress})
             else r.fact_to_address end`;
}

/** An approval of a token ends with its next transfer. One that was transferred after the block is not compared. */
function changedTokenApprovals(
  readings: ReadingsToCompare,
  recompute: RecomputeSet,
): RawBuilder<unknown> {
  const read = latestReadings(recompute, {
    kinds: ["token_approval_read"],
    subject: { contract_id: "contract_id", token_id: "token_id" },
  });
  return sql`
    select o.ord
    from ${readings.of("token_approval_read")}
    left join lateral (select * from ${tokensAt(sql`o.contract_id`, sql`o.token_id`)} known where known.standard = 721) t on true
    left join lateral (${read}) r on true
    where coalesce(t.block_id, 0) < ${readings.beforeBlock}
      and o.amount <> case when r.amount = 1 and r.block_id >> 12 >= coalesce(t.block_id, 0) >> 12 then 1 else 0 end`;
}

/** Compared with the last reading and the transfers since; without one, with the current balance less later transfers. */
function changedUnits(readings: ReadingsToCompare, recompute: RecomputeSet): RawBuilder<unknown> {
  const read = latestReadings(recompute, {
    kinds: ["units_read"],
    subject: { ...byMaker, token_id: "token_id" },
  });
  return sql`
    select ord from (
      with since as materialized (
        select f.contract_id, f.token_id, f.from_address, f.to_address, f.amount
        from ${recompute.facts} f
        where f.block_id >= ${readings.beforeBlock} and f.block_id < ${readings.endOfChain} and f.log_index is not null
          and f.kind in ${kindList("erc1155_transfer")}
          and f.position <= (select position from engine.checkpoint where projection = ${sql.lit(schemaOf("ownership"))})
          and not exists (select from ${recompute.retractedBlocks} d where d.block_id = f.block_id)
      ), known as materialized (
        select o.contract_id, o.token_id, o.maker, r.amount, r.block_id
        from ${readings.of("units_read")} cross join lateral (${read}) r
      ), moved as materialized (${unitsMovedSince(recompute, sql`known`)})
      select o.ord
      from ${readings.of("units_read")}
      left join ownership.balance b
        on b.contract_id = o.contract_id and b.token_id = o.token_id and b.owner = o.maker
      left join known r on r.contract_id = o.contract_id and r.token_id = o.token_id and r.maker = o.maker
      left join moved m on m.contract_id = o.contract_id and m.token_id = o.token_id and m.maker = o.maker
      where o.amount <> case
        when r.block_id is not null then r.amount + coalesce(m.units, 0)
        else coalesce(b.units, 0) - (
          select coalesce(sum(case when s.to_address = o.maker then s.amount else 0 end
                              - case when s.from_address = o.maker then s.amount else 0 end), 0)
          from since s where s.contract_id = o.contract_id and s.token_id = o.token_id
        ) end
    ) units`;
}
