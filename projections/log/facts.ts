import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import type { Database } from "./database.ts";
import { factKind, kindList, kindLiteral } from "./fact-kinds.ts";
import { projectionIn } from "./versions.ts";

/** Facts about something, in the order of their chain and then of the log. */
export type About =
  | { transactions: readonly { blockId: bigint; transactionIndex: number }[] }
  /** `endId`: of blocks with smaller ids alone. */
  | { token: { contractId: number; tokenId: bigint; endId?: bigint } }
  | { collection: readonly number[] }
  | { order: OrderSubject };

/** An order, and what its state rests on. `currencyId` is what its maker pays in; null for a listing. */
export type OrderSubject = {
  chainId: number;
  orderHash: Hex;
  maker: Hex;
  contractId: number;
  tokenId: bigint | null;
  currencyId: number | null;
  endTime: bigint;
};

/** SQL: the condition that selects them from `log.fact f`. */
function isAbout(about: About): RawBuilder<unknown> {
  if ("transactions" in about) {
    const { transactions } = about;
    return sql`f.log_index is not null and (f.block_id, f.transaction_index) in (
      select * from unnest(
        ${transactions.map(({ blockId }) => blockId)}::bigint[],
        ${transactions.map(({ transactionIndex }) => transactionIndex)}::int[]
      ))`;
  }
  if ("token" in about) {
    const { contractId, tokenId, endId } = about.token;
    const before = endId === undefined ? sql`` : sql`f.block_id < ${endId}::bigint and`;
    return sql`${before} f.position in (
      select position from log.fact
      where kind in ${kindList("erc721_transfer", "erc1155_transfer")} and contract_id = ${contractId} and token_id = ${tokenId}
      union all
      select position from log.fact where ${rangesOver(contractId, tokenId)})`;
  }
  if ("order" in about) return sql`f.position in (${factsOfOrder(about.order)})`;
  const said = sql`(${factKind.collection_registered}, ${factKind.contract_described})`;
  return sql`f.position in (
    select position from log.fact
    where log_index is null and kind in ${said} and contract_id = any (${about.collection}::int[])
    union all
    select first.position
    from unnest(${about.collection}::int[]) one (contract_id)
    cross join lateral unnest(array[10, 11, 12]) of_kind (kind)
    cross join lateral (
      select x.position from log.fact x
      where x.contract_id = one.contract_id and x.kind = of_kind.kind
        and x.block_id not in (select block_id from retracted)
      order by x.block_id, x.log_index, x.sub_index limit 1
    ) first)`;
}

/** Ranges of ids given out at once that a token is in. */
function rangesOver(contractId: number, tokenId: bigint | null): RawBuilder<unknown> {
  return sql`
    kind = ${kindLiteral("erc721_consecutive_transfer")} and contract_id = ${contractId} and token_id <= ${tokenId}
    and ${tokenId}::numeric < token_id + amount`;
}

const bytesOf = (address: Address) => Buffer.from(address.slice(2), "hex");

/** By its hash, its maker, its token or the account that pays; of all moments the first that ended it. */
function factsOfOrder(order: OrderSubject): RawBuilder<unknown> {
  const { chainId, orderHash, contractId, tokenId, currencyId } = order;
  const hash = Buffer.from(orderHash.slice(2), "hex");
  const maker = Buffer.from(order.maker.slice(2), "hex");
  const exchange = bytesOf(seaportAddresses["1.6"]);
  const conduit = bytesOf(commonConduit.address);
  const idOf = (address: Buffer) => sql`(
    select k.contract_id from log.contract k where k.chain_id = ${chainId} and k.address = ${address})`;
  const of = (where: RawBuilder<unknown>) => sql`select position from log.fact where ${where}`;
  const parts = [
    of(sql`order_hash = ${hash}`),
    of(
      sql`kind in ${kindList("counter_incremented", "counter_read")} and from_address = ${maker} and contract_id = ${idOf(exchange)}`,
    ),
    sql`(${of(sql`kind = ${kindLiteral("clock_ticked")} and amount >= ${order.endTime}`)} order by amount limit 1)`,
  ];
  if (currencyId === null) {
    const token = sql`contract_id = ${contractId} and token_id = ${tokenId}`;
    parts.push(
      of(
        sql`kind in ${kindList("approval_for_all", "approval_read")} and contract_id = ${contractId} and from_address = ${maker} and to_address = ${conduit}`,
      ),
      of(
        sql`kind in ${kindList("channel_updated", "channel_read")} and contract_id = ${idOf(conduit)} and to_address = ${exchange}`,
      ),
      of(
        sql`kind in ${kindList("erc721_transfer", "erc1155_transfer")} and ${token} and ${maker} in (from_address, to_address)`,
      ),
      of(rangesOver(contractId, tokenId)),
      of(
        sql`kind in ${kindList("owner_read", "token_approval_read", "units_read", "transfer_read")} and ${token}`,
      ),
    );
  } else {
    parts.push(
      of(
        sql`kind in ${kindList("erc20_transfer", "wrapped_withdrawal", "balance_read")} and contract_id = ${currencyId} and from_address = ${maker}`,
      ),
      of(
        sql`kind in ${kindList("erc20_approval", "allowance_read")} and contract_id = ${currencyId} and from_address = ${maker} and to_address = ${exchange}`,
      ),
      of(
        sql`kind in ${kindList("erc20_transfer", "wrapped_deposit")} and contract_id = ${currencyId} and to_address = ${maker}`,
      ),
    );
  }
  return sql.join(parts, sql` union `);
}

/** A fact with its place. `counts`: whether it is effective at the requested position. */
export type PlacedFact = {
  position: bigint;
  kind: number;
  chainId: number | null;
  block: { number: bigint; hash: Hex; timestamp: Date } | null;
  transactionHash: Hex | null;
  logIndex: number | null;
  subIndex: number | null;
  contract: Hex | null;
  tokenId: bigint | null;
  amount: bigint | null;
  from: Hex | null;
  to: Hex | null;
  orderHash: Hex | null;
  recordedAt: Date | null;
  payload: unknown;
  counts: boolean;
  droppedAt: bigint | null;
};

/** The first `most` of them, and how many there are. */
export async function readFactsBehind(
  db: Database,
  about: About,
  { position, most }: { position: bigint; most: number },
): Promise<{ total: bigint; facts: PlacedFact[] }> {
  const { rows } = await sql<FlatFact & { total: bigint }>`
    with retracted as materialized (select block_id from log.retracted_blocks(${position})),
    chosen as materialized (select f.* from log.fact f where ${isAbout(about)})
    select ${placed}, d.block_id is null and f.position <= ${position} as counts,
           case when d.block_id is not null then (
             select max(s.position) from log.fact s
             where s.block_id = f.block_id and s.kind = ${kindLiteral("block_retracted")} and s.position <= ${position}
           ) end as "droppedAt",
           count(*) over () as total
    from chosen f ${joins} left join retracted d on d.block_id = f.block_id
    order by f.block_id nulls last, f.log_index, f.sub_index, f.position
    limit ${most}`.execute(db);
  return { total: rows[0]?.total ?? 0n, facts: rows.map(placeFact) };
}

export type FactFilter = {
  after: bigint;
  kinds: readonly number[] | null;
  chainIds: readonly number[] | null;
};

/** The next facts of the log that a filter lets through, at most `most`, by position. */
export async function readFactsAfter(
  db: Database,
  { after, kinds, chainIds }: FactFilter,
  upTo: bigint,
  most: number,
): Promise<PlacedFact[]> {
  const { rows } = await sql<FlatFact>`
    select ${placed}, true as counts, null::bigint as "droppedAt"
    from log.fact f ${joins}
    where f.position > ${after} and f.position <= ${upTo}
      ${kinds === null ? sql`` : sql`and f.kind = any (${kinds}::smallint[])`}
      ${chainIds === null ? sql`` : sql`and coalesce(b.chain_id, c.chain_id) = any (${chainIds}::int[])`}
    order by f.position limit ${most}`.execute(db);
  return rows.map(placeFact);
}

/** Positions that a search for facts before a position covers at most. */
const mostSearched = 100_000n;

/** The newest facts before a position that a filter lets through. `next`: before which the search goes on; null: never. */
export async function readFactsBefore(
  db: Database,
  { kinds, chainIds }: Omit<FactFilter, "after">,
  before: bigint,
  most: number,
): Promise<{ facts: PlacedFact[]; next: bigint | null }> {
  const searched = before - 1n - mostSearched;
  const after = searched > 0n ? searched : 0n;
  const { rows } = await sql<FlatFact>`
    select ${placed}, true as counts, null::bigint as "droppedAt"
    from log.fact f ${joins}
    where f.position > ${after} and f.position < ${before}
      ${kinds === null ? sql`` : sql`and f.kind = any (${kinds}::smallint[])`}
      ${chainIds === null ? sql`` : sql`and coalesce(b.chain_id, c.chain_id) = any (${chainIds}::int[])`}
    order by f.position desc limit ${most}`.execute(db);
  const last = rows.length === most ? rows.at(-1)?.position : undefined;
  return { facts: rows.map(placeFact), next: last ?? (after > 0n ? after + 1n : null) };
}

type FlatFact = Omit<PlacedFact, "block"> & {
  blockNumber: bigint | null;
  blockHash: Hex | null;
  timestamp: Date | null;
};

const placed = sql`
  f.position, f.kind, coalesce(b.chain_id, c.chain_id) as "chainId", b.number as "blockNumber", b.hash as "blockHash",
  b.timestamp, t.hash as "transactionHash", f.log_index as "logIndex", f.sub_index as "subIndex",
  c.address as contract, f.token_id as "tokenId", f.amount, f.from_address as "from", f.to_address as "to",
  f.order_hash as "orderHash", f.recorded_at as "recordedAt", f.payload`;

const joins = sql`
  left join log.block b on b.block_id = f.block_id
  left join log.transaction t on t.block_id = f.block_id and t.transaction_index = f.transaction_index
  left join log.contract c on c.contract_id = f.contract_id`;

function placeFact({ blockNumber, blockHash, timestamp, ...fact }: FlatFact): PlacedFact {
  const isPlaced = blockNumber !== null && blockHash !== null && timestamp !== null;
  return { ...fact, block: isPlaced ? { number: blockNumber, hash: blockHash, timestamp } : null };
}

/** What happened to a fact after it was appended. */
export type FactLife = {
  /** Retractions and readoptions of its block. */
  blockStates: { position: bigint; kind: number; recordedAt: Date | null }[];
  /** Quarantines and releases of it. */
  quarantine: {
    position: bigint;
    kind: number;
    projection: string;
    error: string | null;
    recordedAt: Date;
  }[];
  /** Projections whose tables were derived without it. */
  excludedBy: string[];
};

export async function readFactLife(db: Database, position: bigint): Promise<FactLife> {
  const [blockStates, quarantine, excluded] = await Promise.all([
    sql<FactLife["blockStates"][number]>`
      select s.position, s.kind, s.recorded_at as "recordedAt"
      from log.fact f join log.fact s on s.block_id = f.block_id
      where f.position = ${position} and s.kind in ${kindList("block_retracted", "block_readopted")}
      order by s.position`.execute(db),
    sql<FactLife["quarantine"][number]>`
      select position, kind, payload ->> 'projection' as projection, payload ->> 'error' as error,
             recorded_at as "recordedAt"
      from log.fact
      where kind in ${kindList("fact_quarantined", "fact_released")} and amount = ${position}
      order by position`.execute(db),
    sql<{ projection: string }>`
      select projection from engine.checkpoint where ${position} = any (excluded_positions)
      order by projection`.execute(db),
  ]);
  return {
    blockStates: blockStates.rows,
    quarantine: quarantine.rows,
    excludedBy: excluded.rows.map(({ projection }) => projectionIn(projection)),
  };
}

/** Positions whose facts are counted at most: the newest ones. */
const mostCounted = 100_000n;

type FactCounts = {
  /** Positions that were counted: after, exclusive, up to, inclusive. */
  after: bigint;
  upTo: bigint;
  counts: { kind: number; facts: number }[];
};

/** Facts by kind between two positions of the log, of the newest 100,000 at most. */
export async function countFacts(
  db: Database,
  { after: from, upTo }: { after: bigint; upTo: bigint },
): Promise<FactCounts> {
  const after = upTo - from > mostCounted ? upTo - mostCounted : from;
  const { rows } = await sql<{ kind: number; facts: number }>`
    select kind, count(*)::int as facts from log.fact
    where position > ${after} and position <= ${upTo} group by kind order by 2 desc, 1`.execute(db);
  return { after, upTo, counts: rows };
}
