import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { FactWindow, Parts, Projection, Step } from "../engine/projection.ts";
import { bitsType } from "../engine/token-ids.ts";
import { exchanges, saleFactKinds, saleKinds } from "../exchanges/exchanges.ts";
import { simpleSaleColumns } from "../exchanges/model/exchange.ts";
import {
  type ChainContract,
  contractsWithoutIds,
  UnregisteredContracts,
} from "../log/contracts.ts";
import type { Session } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { versions } from "../log/versions.ts";
import {
  addSales,
  addUnresolvedEvents,
  deleteSales,
  deleteUnresolvedEvents,
  fillCounters,
  fillUnresolvedTotals,
  insertSales,
  insertUnresolvedEvents,
} from "./store.ts";
import {
  haveDerived,
  type LocatedTransaction,
  readChangedTransactions,
  readTransactions,
  type TransactionRows,
  transactionRows,
  unregisteredContracts,
} from "./transactions.ts";
import {
  deleteWashTrades,
  type FlaggedToken,
  fillWashTrades,
  updateWashTrades,
} from "./wash-trades.ts";

/** Sales of NFTs, translated from the exchanges' events one transaction at a time. */
export function salesProjection({ feeRecipient }: { feeRecipient: Address }): Projection {
  return {
    name: "sales",
    version: versions.sales.version,
    handles: saleFactKinds,
    parameters: feeRecipient,
    sample: {
      key: ["block_id", "transaction_index"],
      where: sql`log_index is not null and kind in ${saleKinds}`,
      tables: ["sale", "unresolved_event"],
    },
    tables,
    apply: async (session, schema, window) => {
      const [changed, areDerived] = await Promise.all([
        readChangedTransactions(session, window),
        haveDerived(session, schema, window),
      ]);
      const { sales, unresolved } = transactionRows(changed, feeRecipient);
      const flagged = areDerived ? await deleteDerived(session, schema, window) : [];
      const added = await addSales(session, schema, sales);
      await updateWashTrades(session, schema, window, { added, flagged });
      await addUnresolvedEvents(session, schema, unresolved);
    },
    deriveAll: salesSteps(feeRecipient),
  };
}

/** Deletes what is derived from the window's transactions. Returns the tokens of flags among it. */
async function deleteDerived(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<FlaggedToken[]> {
  await deleteSales(session, schema, window);
  await deleteUnresolvedEvents(session, schema, window);
  return await deleteWashTrades(session, schema, window);
}

/** Transfers in memory at a time, about, as facts count too: a chunk may exceed it by one transaction. */
const CHUNK_TRANSFERS = 20_000;
/** Transfers that a fact counts as. */
const FACT_TRANSFERS = 20;
/** Chunks that are committed together; after a kill they are translated again. */
const CHUNKS = 20;

/** Simple sales by SQL, then the facts of all other transactions, translated chunk by chunk, then the counters. */
function salesSteps(feeRecipient: Address): readonly Step[] {
  return [
    {
      name: "simple sales",
      derive: (session, schema, window) => insertSimpleSales(session, schema, window, feeRecipient),
    },
    { name: "chunks", derive: chunkFacts },
    {
      name: "sales",
      derive: (session, schema, window, part) =>
        translateChunks(session, schema, window, feeRecipient, part * CHUNKS),
    },
    { name: "counters", derive: finish },
  ];
}

async function insertSimpleSales(
  session: Session,
  schema: string,
  window: FactWindow,
  feeRecipient: Address,
): Promise<void> {
  const columns = sql.join(simpleSaleColumns.map((column) => sql.ref(column)));
  for (const { selectSimpleSales } of exchanges) {
    if (selectSimpleSales === undefined) continue;
    await sql`
      insert into ${sql.id(schema, "sale")} (${columns})
      ${selectSimpleSales(window, { feeRecipient, saleKinds })}`.execute(session);
  }
}

/** Positions of the facts to translate, and their chunks. Dropped when all are translated. */
const factChunks = (schema: string): RawBuilder<unknown> => sql.id(schema, "fact_chunk");

/**
 * Facts of the transactions without a simple sale. A transaction is in one chunk. Where several of its facts are stored
 * with its transfers, all but one repeat them.
 */
async function chunkFacts(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    create table ${factChunks(schema)} as
    select position, is_repeat,
           (min(ends - size) over (partition by block_id, transaction_index) / ${CHUNK_TRANSFERS}::int)::int as chunk
    from (
      select position, block_id, transaction_index, is_repeat, size,
             sum(size) over (order by block_id, transaction_index rows unbounded preceding) as ends
      from (
        select position, block_id, transaction_index, is_repeat,
               ${FACT_TRANSFERS}::int + case when is_repeat then 0 else transfers end as size
        from (${untranslatedFacts(schema, window)}) f
      ) sized
    ) numbered`.execute(session);
  await sql`create index on ${factChunks(schema)} (chunk)`.execute(session);
  await sql`analyze ${factChunks(schema)}`.execute(session);
}

const untranslatedFacts = (schema: string, window: FactWindow) => sql`
  select position, block_id, transaction_index, transfers, transfers > 0 and row_number() over (
           partition by block_id, transaction_index, transfers > 0 order by log_index) > 1 as is_repeat
  from (
    select position, block_id, transaction_index, log_index, ${countTransfers} as transfers
    from ${window.changes} f where kind in ${saleKinds}
      and not exists (
        select from ${sql.id(schema, "sale")} sold
        where sold.block_id = f.block_id and sold.transaction_index = f.transaction_index
      )
  ) counted`;

/** Those that a fact is stored with, unless its transaction is not known by them (`isOfUnknownPool`). */
const countTransfers = sql`
  case when f.kind = ${kindLiteral("exchange_event")} then (
    select case when jsonb_typeof(transfers) = 'array' and f.payload -> 'factory' is distinct from 'null'::jsonb
                then jsonb_array_length(transfers) else 0 end
    from (select f.payload -> 'transfers' as transfers offset 0) stored
  ) else 0 end`;

/** While one chunk is translated the database reads the next one and stores the one before. */
async function translateChunks(
  session: Session,
  schema: string,
  window: FactWindow,
  feeRecipient: Address,
  first: number,
): Promise<Parts> {
  const { rows } = await sql<{ chunks: number }>`
    select coalesce(max(chunk) + 1, 0)::int as chunks from ${factChunks(schema)}`.execute(session);
  const chunks = rows[0]?.chunks ?? 0;
  const end = Math.min(chunks, first + CHUNKS);
  const missing: ChainContract[] = [];
  let stored = Promise.resolve();
  let read = readChunk(session, schema, window, first);
  for (let chunk = first; chunk < end; chunk += 1) {
    const [transactions] = await Promise.all([read, stored]);
    if (chunk + 1 < end) read = readChunk(session, schema, window, chunk + 1);
    stored = storeRows(session, schema, transactionRows(transactions, feeRecipient), missing);
  }
  await Promise.all([read, stored]);
  if (missing.length > 0) throw new UnregisteredContracts(missing);
  return { done: Math.ceil(end / CHUNKS), of: Math.ceil(chunks / CHUNKS) };
}

/** Once a contract has no id the part is done again: the others of the part are then collected, to register all at once. */
async function storeRows(
  session: Session,
  schema: string,
  { sales, unresolved }: TransactionRows,
  missing: ChainContract[],
): Promise<void> {
  missing.push(...(await contractsWithoutIds(session, unregisteredContracts(sales))));
  if (missing.length > 0) return;
  await insertSales(session, schema, sales);
  await insertUnresolvedEvents(session, schema, unresolved);
}

async function readChunk(
  session: Session,
  schema: string,
  window: FactWindow,
  chunk: number,
): Promise<LocatedTransaction[]> {
  return await readTransactions(
    session,
    sql`
      select f.block_id, f.transaction_index, f.log_index, f.kind, f.contract_id, f.from_address, f.to_address,
             f.order_hash, case when p.is_repeat then f.payload - 'transfers' else f.payload end as payload
      from ${factChunks(schema)} p join ${window.facts} f using (position) where p.chunk = ${chunk}`,
  );
}

async function finish(session: Session, schema: string): Promise<void> {
  await fillWashTrades(session, schema);
  await fillCounters(session, schema);
  await fillUnresolvedTotals(session, schema);
  await sql`drop table ${factChunks(schema)}`.execute(session);
}

/**
 * Statements that make the projection's empty tables.
 * Sums of wei have no width: amounts of a worthless currency may add up to more than a uint256 holds.
 */
function tables(schema: string): readonly string[] {
  return [
    `create table ${schema}.sale (
       block_id          bigint           not null,
       transaction_index integer          not null,
       ordinal           integer          not null,
       sale_id           bytea            not null,
       chain_id          integer          not null,
       contract_id       integer          not null,
       token_id          numeric(78,0)    not null,
       quantity          numeric(78,0)    not null,
       price_wei         numeric          not null,
       total_wei         numeric          not null,
       currency          bytea            not null,
       seller            bytea            not null,
       buyer             bytea            not null,
       side              text             not null,
       marketplace       text             not null,
       protocol          text             not null,
       protocol_version  text             not null,
       exchange          bytea            not null,
       order_hash        bytea,
       fees              jsonb            not null,
       bundle_size       integer,
       bundle_total_wei  numeric,
       log_index         integer          not null,
       transaction_hash  bytea            not null,
       block_number      bigint           not null,
       block_hash        bytea            not null,
       timestamp         timestamptz      not null,
       via               bytea,
       is_erc1155        boolean          not null,
       primary key (block_id, transaction_index, ordinal)
     )`,
    `create index sale_contract on ${schema}.sale
       (contract_id, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_token on ${schema}.sale
       (contract_id, token_id, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_buyer on ${schema}.sale (buyer, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_seller on ${schema}.sale (seller, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_marketplace on ${schema}.sale
       (marketplace, protocol, block_id desc nulls last, transaction_index desc, ordinal desc)`,
    `create index sale_currency on ${schema}.sale
       (currency, block_id desc nulls last, transaction_index desc, ordinal desc)`,
    `create index sale_time on ${schema}.sale (chain_id, timestamp, block_id)`,
    `create index sale_token_id on ${schema}.sale
       (token_id, block_id desc, transaction_index desc, ordinal desc)`,
    `create index sale_id on ${schema}.sale (sale_id)`,
    `comment on column ${schema}.sale.price_wei is 'Per unit, rounded down.'`,
    `comment on column ${schema}.sale.currency is 'Twenty zero bytes: the native currency.'`,

    `comment on column ${schema}.sale.via is 'The router or aggregator that took the trade for the buyer.'`,

    `create table ${schema}.unresolved_event (
       block_id          bigint  not null,
       transaction_index integer not null,
       place             integer not null,
       log_index         integer not null,
       protocol          text    not null,
       reason            text    not null,
       primary key (block_id, transaction_index, place)
     )`,
    `comment on table ${schema}.unresolved_event is 'Events that announce a trade and make no sale'`,

    `create table ${schema}.unresolved_event_total (
       chain_id integer not null,
       protocol text    not null,
       reason   text    not null,
       events   bigint  not null,
       primary key (chain_id, protocol, reason)
     )`,
    `comment on table ${schema}.unresolved_event_total is 'Rows of unresolved_event'`,

    `create table ${schema}.wash_trade (
       block_id          bigint        not null,
       transaction_index integer       not null,
       ordinal           integer       not null,
       contract_id       integer       not null,
       token_id          numeric(78,0) not null,
       rule              text          not null,
       primary key (block_id, transaction_index, ordinal)
     )`,
    `create index wash_trade_token on ${schema}.wash_trade (contract_id, token_id)`,
    `comment on table ${schema}.wash_trade is 'Sales that look like wash trades, and the rule that says so. Apart from the sales: other sales of the token decide'`,

    `create table ${schema}.total (
       chain_id    integer not null,
       contract_id integer not null,
       sales       bigint  not null,
       primary key (chain_id, contract_id)
     )`,
    `comment on table ${schema}.total is 'Rows of sale; contract_id 0 is the whole chain.'`,

    `create table ${schema}.day (
       chain_id    integer     not null,
       contract_id integer     not null,
       day         timestamptz not null,
       marketplace text        not null,
       protocol    text        not null,
       currency    bytea       not null,
       sales       bigint      not null,
       primary key (chain_id, contract_id, day, marketplace, protocol, currency)
     )`,
    `comment on table ${schema}.day is 'Rows of sale by day (UTC); contract_id 0 is the whole chain.'`,
    `create table ${schema}.token_total (
       chain_id integer       not null,
       token_id numeric(78,0) not null,
       sales    bigint        not null,
       primary key (chain_id, token_id)
     )`,
    `comment on table ${schema}.token_total is 'Rows of sale by token id, whatever the contract.'`,

    `create table ${schema}.sale_count_bits (
       contract_id integer       not null,
       chunk       numeric(78,0) not null,
       digit       smallint      not null,
       bits        ${bitsType}   not null,
       primary key (contract_id, chunk, digit)
     )`,
    `comment on table ${schema}.sale_count_bits is 'Bit-sliced sale counts: of each token in a chunk of ids, one binary digit of its number of sales'`,

    `create table ${schema}.volume (
       contract_id integer       not null,
       currency    bytea         not null,
       hour        timestamptz   not null,
       sales       bigint        not null,
       wei         numeric       not null,
       primary key (contract_id, currency, hour)
     )`,
  ];
}
