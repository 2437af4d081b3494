import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import { isSaleFact, saleFactKinds } from "../exchanges/exchanges.ts";
import type { Database } from "../log/database.ts";
import { factKind, kindList } from "../log/fact-kinds.ts";
import {
  cancelKinds,
  chainKinds,
  type FeedFact,
  feedSaleKinds,
  fetchKinds,
  type KnownOrder,
  stateKinds,
} from "./feed-events.ts";

/** Facts with after < position ≤ upTo that the feed shows, of the given chains, by position. */
export async function readWindow(
  db: Database,
  { after, upTo }: { after: bigint; upTo: bigint },
  chainIds: readonly number[],
): Promise<FeedFact[]> {
  const kinds = [...stateKinds, ...chainKinds, factKind.order_submitted];
  const inWindow = sql`position > ${after} and position <= ${upTo}`;
  const facts = sql`
    select * from log.fact where ${inWindow} and kind = any (${kinds}::smallint[])
    union all
    select * from log.fact where ${inWindow} and ${isShownFetch}`;
  return await readFacts(
    db,
    facts,
    sql`where coalesce(b.chain_id, c.chain_id) = any (${chainIds}::int[])`,
  );
}

/**
 * Earlier facts that a window's events depend on: of blocks that were retracted or readopted at any time up to the
 * window's end all of them, of other blocks the sale facts.
 */
export async function readEarlierFacts(
  db: Database,
  window: readonly FeedFact[],
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<FeedFact[]> {
  const blocks = [...new Set(window.map(({ blockId }) => blockId))].filter((id) => id !== null);
  if (blocks.length === 0) return [];
  const changed = await readBlocksWithStates(db, blocks, upTo);
  const sold = blocksOf(window, feedSaleKinds).filter((id) => !changed.includes(id));
  const parts: RawBuilder<unknown>[] = [];
  if (changed.length > 0) {
    parts.push(eventsOf(changed, chainKinds, after));
    parts.push(sql`
      select * from log.fact
      where block_id = any (${changed}::bigint[]) and log_index is null and kind not in ${stateKindList}
        and ${isShownFetch} and position <= ${after}`);
    parts.push(sql`
      select * from log.fact
      where block_id = any (${changed}::bigint[]) and kind in ${stateKindList} and position <= ${after}`);
  }
  if (sold.length > 0) parts.push(eventsOf(sold, feedSaleKinds, after));
  return parts.length === 0 ? [] : await readFacts(db, sql.join(parts, sql` union all `));
}

/** The facts after a window that make the same sales as its last one: those of one transaction. */
export async function readFollowingFacts(
  db: Database,
  window: readonly FeedFact[],
  after: bigint,
): Promise<FeedFact[]> {
  const last = window.findLast(({ kind }) => isSaleFact(kind));
  if (last === undefined) return [];
  return await readFacts(
    db,
    sql`
      select * from log.fact
      where block_id = ${last.blockId} and transaction_index = ${last.transactionIndex} and log_index is not null
        and kind = any (${feedSaleKinds}::smallint[]) and position > ${after}`,
  );
}

/** Facts after a position that retract events of a window: states of their blocks, and sales of the same blocks. */
export async function readLaterFacts(
  db: Database,
  window: readonly FeedFact[],
  after: bigint,
): Promise<FeedFact[]> {
  const blocks = [...new Set(window.map(({ blockId }) => blockId))].filter((id) => id !== null);
  if (blocks.length === 0) return [];
  return await readFacts(
    db,
    sql`
      select * from log.fact
      where block_id = any (${blocks}::bigint[]) and kind in ${stateKindList} and position > ${after}
      union all
      select * from log.fact
      where block_id = any (${blocksOf(window, feedSaleKinds)}::bigint[]) and log_index is not null
        and kind = any (${feedSaleKinds}::smallint[]) and position > ${after}`,
  );
}

function blocksOf(facts: readonly FeedFact[], kinds: readonly number[]): bigint[] {
  const ids = facts.filter(({ kind }) => kinds.includes(kind)).map(({ blockId }) => blockId);
  return [...new Set(ids)].filter((id) => id !== null);
}

/** Of the blocks those that were ever retracted up to a position. */
async function readBlocksWithStates(
  db: Database,
  blocks: readonly bigint[],
  upTo: bigint,
): Promise<bigint[]> {
  const { rows } = await sql<{ block_id: bigint }>`
    select distinct block_id from log.fact
    where block_id = any (${blocks}::bigint[]) and kind in ${stateKindList} and position <= ${upTo}`.execute(
    db,
  );
  return rows.map((row) => row.block_id);
}

function eventsOf(blocks: readonly bigint[], kinds: readonly number[], upTo: bigint) {
  return sql`
    select * from log.fact
    where block_id = any (${blocks}::bigint[]) and log_index is not null
      and kind = any (${kinds}::smallint[]) and position <= ${upTo}`;
}

/** A fetch that found metadata where another one had been shown, or a failure. */
const isShownFetch = sql`(
  kind = any (${[...fetchKinds]}::smallint[]) and amount is not null and payload ->> 'status' = 'ok')`;
const stateKindList = kindList("block_retracted", "block_readopted");
/** Facts by which the log knows an order. */
const orderKinds = kindList("order_submitted", "partner_listing_seen");
const payloadKinds = kindList(...saleFactKinds, "order_submitted");

async function readFacts(
  db: Database,
  facts: RawBuilder<unknown>,
  where: RawBuilder<unknown> = sql``,
): Promise<FeedFact[]> {
  const { rows } = await sql<FeedFact>`
    select f.position, f.kind, coalesce(b.chain_id, c.chain_id) as "chainId", f.block_id as "blockId",
           b.number as "blockNumber", b.hash as "blockHash", t.hash as "txHash",
           f.transaction_index as "transactionIndex", f.log_index as "logIndex", f.sub_index as "subIndex",
           c.address as contract, f.token_id as "tokenId", f.amount, f.from_address as "from", f.to_address as "to",
           f.order_hash as "orderHash", coalesce(b.timestamp, f.recorded_at) as timestamp,
           case when f.kind in ${payloadKinds} then f.payload end as payload
    from (${facts}) f
    left join log.block b on b.block_id = f.block_id
    left join log.transaction t on t.block_id = f.block_id and t.transaction_index = f.transaction_index
    left join log.contract c on c.contract_id = f.contract_id
    ${where}
    order by f.position`.execute(db);
  return rows;
}

/** Orders known at a position that cancels among the facts name, the first facts first. */
export async function readCancelled(
  db: Database,
  facts: readonly FeedFact[],
  upTo: bigint,
): Promise<KnownOrder[]> {
  const hashes = facts
    .filter(({ kind }) => cancelKinds.some((one) => one === kind))
    .flatMap(({ orderHash }) =>
      orderHash === null ? [] : [Buffer.from(orderHash.slice(2), "hex")],
    );
  if (hashes.length === 0) return [];
  const { rows } = await sql<KnownOrder>`
    select f.position, c.chain_id as "chainId", f.order_hash as "orderHash", c.address as contract,
           f.token_id as "tokenId"
    from log.fact f join log.contract c on c.contract_id = f.contract_id
    where f.order_hash = any (${hashes}::bytea[]) and f.kind in ${orderKinds} and f.position <= ${upTo}
    order by f.position`.execute(db);
  return rows;
}

type Alias = { chainId: number; address: Hex; standsFor: Address };

/** Maps an adapter to the NFT contract that it stands for, any other contract to itself. */
export async function readAliases(
  db: Database,
): Promise<(chainId: number, contract: Address) => Address> {
  const { rows } = await sql<Alias>`
    select chain_id as "chainId", address, stands_for as "standsFor" from log.contract_alias`.execute(
    db,
  );
  const known = new Map(rows.map((row) => [`${row.chainId} ${row.address}`, row.standsFor]));
  return (chainId, contract) => known.get(`${chainId} ${contract}`) ?? contract;
}

/**
 * The parts of transactions by the positions of their sale facts. A part is what one append has of a transaction: its
 * facts in a row. It is named by its first position.
 */
export type TransactionParts = ReadonlyMap<bigint, bigint>;

/** Parts of the sale facts among some facts. */
export async function readParts(
  db: Database,
  facts: readonly FeedFact[],
): Promise<TransactionParts> {
  const sold = facts.filter(({ kind }) => isSaleFact(kind));
  if (sold.length === 0) return new Map();
  const blocks = [...new Set(sold.map(({ blockId }) => blockId))];
  const { rows } = await sql<{ position: bigint; part: bigint }>`
    select position, part from (${partsOf(sql`f.block_id = any (${blocks}::bigint[])`)}) placed
    where kind = any (${feedSaleKinds}::smallint[])`.execute(db);
  return new Map(rows.map(({ position, part }) => [position, part]));
}

/** The position itself where it ends a part or is of no transaction, else the last one before its part. */
export async function readPartEnd(db: Database, position: bigint): Promise<bigint> {
  const { rows } = await sql<{ part: bigint }>`
    select placed.part
    from log.fact last join log.fact next
      on next.position = ${position + 1n} and next.block_id = last.block_id
      and next.transaction_index = last.transaction_index
    cross join lateral (
      ${partsOf(sql`f.block_id = last.block_id and f.transaction_index = last.transaction_index`)}
    ) placed
    where last.position = ${position} and placed.position = ${position + 1n} and placed.part <= ${position}`.execute(
    db,
  );
  const [row] = rows;
  return row === undefined ? position : row.part - 1n;
}

/** SQL: position, kind and part of all facts of some transactions, `f`. */
function partsOf(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  const inTransaction = sql`partition by block_id, transaction_index order by position`;
  return sql`
    select position, kind, max(position) filter (where begins) over (${inTransaction}) as part
    from (
      select position, kind, block_id, transaction_index, (
        lag(position) over (${inTransaction}) is distinct from position - 1
        or exists (select from log.transaction_part p where p.position = f.position)
      ) as begins
      from log.fact f where f.log_index is not null and ${condition}
    ) marked`;
}
