import { type RawBuilder, sql } from "kysely";
import { zeroAddress } from "viem";
import type { Session } from "../database.ts";
import { eventKindSql, kindList, kindLiteral } from "../fact-kinds.ts";
import {
  createdPools,
  createsPool,
  type PoolCoins,
  poolCoinRows,
  poolOrigin,
  punkTransferRow,
  takenBid,
} from "./pools-and-punks.ts";

/** Events of some blocks, with Ponder's event ids in (after, upTo]. */
export type EventSelection = {
  after: string;
  upTo: string;
  blockHashes: readonly string[];
  /** On Ponder's table `event`. */
  condition: RawBuilder<boolean>;
};

/** The transfers of its transaction that an event is stored with. */
export type EventTransfers = {
  readonly blockHash: string;
  readonly hash: string;
  readonly logIndex: number;
  readonly transfers: readonly unknown[];
};

/** What events are stored with that Ponder's rows do not hold. */
export type FoundBeside = {
  readonly transfers: readonly EventTransfers[];
  readonly coins: PoolCoins;
};

/** Stages events of a Ponder schema as facts, without leaving the database. A batch becomes a fact per element. */
export async function stageEvents(
  session: Session,
  schema: string,
  { after, upTo, blockHashes, condition }: EventSelection,
  { transfers, coins }: FoundBeside,
): Promise<void> {
  const selected = sql`
    event.id > ${after} and event.id <= ${upTo} and event.block_hash = any (${blockHashes}::text[]) and ${condition}`;
  const decoded = sql`
    select event.*, ${argumentsOf(sql`event.args`)} as a
    from ${sql.table(`${schema}.event`)} event where ${selected}`;
  await stageRows(session, { decoded, events: withTransfers(decoded, transfers), coins });
}

/**
 * SQL: the arguments (json) as jsonb, which holds no NUL: whoever may name a vault could put one into its event. An
 * escaped backslash before `u0000` is none.
 */
export function argumentsOf(args: RawBuilder<unknown>): RawBuilder<unknown> {
  const nul = sql.raw(String.raw`'(?<!\\)((?:\\\\)*)\\u0000'`);
  return sql`
    case when strpos(${args}::text, ${sql.raw(String.raw`'\u0000'`)}) = 0 then ${args}::jsonb
         else regexp_replace(${args}::text, ${nul}, ${sql.raw(String.raw`'\1'`)}, 'g')::jsonb end`;
}

/** SQL: events with `transfers`: null, or those found for the event's place in the chain. */
function withTransfers(
  decoded: RawBuilder<unknown>,
  found: readonly EventTransfers[],
): RawBuilder<unknown> {
  if (found.length === 0)
    return sql`select d.*, null::jsonb as transfers from (${decoded} offset 0) d`;
  const transactions: Record<string, readonly unknown[]> = {};
  const keys: Record<string, string> = {};
  for (const { blockHash, hash, logIndex, transfers } of found) {
    const key = `${blockHash} ${hash}`;
    transactions[key] = transfers;
    keys[`${blockHash} ${logIndex}`] = key;
  }
  // Materialized: else a plan that is made once reads the text for each event.
  return sql`
    with found as materialized (
      select ${JSON.stringify(keys)}::jsonb as keys, ${JSON.stringify(transactions)}::jsonb as transfers
    )
    select d.*, found.transfers -> (found.keys ->> (d.block_hash || ' ' || d.log_index)) as transfers
    from (${decoded} offset 0) d cross join found`;
}

/** An event as a row of Ponder's table holds it, fetched from the chain without Ponder. */
export type DecodedEvent = {
  chainId: number;
  /** Name of the source that it matched, as in Ponder's table. */
  source: string;
  name: string;
  address: string;
  blockNumber: number;
  blockHash: string;
  /** Unix seconds. */
  blockTimestamp: number;
  transactionHash: string;
  transactionIndex: number;
  logIndex: number;
  args: Record<string, unknown>;
  sender: string | null;
  target: string | null;
  calldataTail: string | null;
  /** Those of the transaction, on the first of its events that the source stores with transfers. */
  transfers: readonly unknown[] | null;
};

/** Stages such events as the facts that Ponder's rows of them become. */
export async function stageDecoded(
  session: Session,
  events: readonly DecodedEvent[],
  coins: PoolCoins = {},
): Promise<void> {
  const rows = events.map((event, index) => ({ ...event, id: String(index).padStart(10, "0") }));
  const decoded = sql`
      select row.id, row."chainId" as chain_id, row.source, row.name, row.address, row."blockNumber" as block_number,
             row."blockHash" as block_hash, row."blockTimestamp" as block_timestamp,
             row."transactionHash" as transaction_hash, row."transactionIndex" as transaction_index,
             row."logIndex" as log_index, row.args as a, row.sender, row.target,
             row."calldataTail" as calldata_tail, row.transfers
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
        id text, "chainId" integer, source text, name text, address text, "blockNumber" bigint, "blockHash" text,
        "blockTimestamp" bigint, "transactionHash" text, "transactionIndex" integer, "logIndex" integer,
        args jsonb, sender text, target text, "calldataTail" text, transfers jsonb
      )`;
  await stageRows(session, { decoded, events: decoded, coins });
}

type StagedRows = {
  readonly decoded: RawBuilder<unknown>;
  /** The same with `transfers`. */
  readonly events: RawBuilder<unknown>;
  readonly coins: PoolCoins;
};

async function stageRows(session: Session, { decoded, events, coins }: StagedRows): Promise<void> {
  const creations = sql`select address, a from (${decoded}) d where ${createsPool(sql`d.source`)}`;
  await sql`
    insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                        transaction_hash, log_index, sub_index, contract, token_id, amount, from_address,
                        to_address, order_hash, payload)
    select row_number() over (order by e.id, element.sub_index), coalesce(element.kind, e.kind), e.chain_id, e.block_number,
           ${bytes(sql`e.block_hash`)}, to_timestamp(e.block_timestamp), e.transaction_index,
           ${bytes(sql`e.transaction_hash`)}, e.log_index, element.sub_index, ${bytes(sql`e.address`)},
           element.token_id, element.amount, ${bytes(sql`coalesce(element.from_address, ${typed(from)})`)},
           ${bytes(sql`coalesce(element.to_address, ${typed(to)})`)},
           ${bytes(typed(sql`a ->> 'orderHash'`))}, case when element.kind is null then ${payload(decoded)} end
    from (
      select event.*, ${eventKindSql(sql`event.source`, sql`event.name`)} as kind from (${events}) event offset 0
    ) e
    left join (${createdPools(creations)}) created on created.pool = e.address
    left join (${poolCoinRows(coins)}) paid on paid.pool = e.address
    cross join lateral (${elements}) element`.execute(session);
}

const isBatch = sql`(source = 'Erc1155' and name = 'TransferBatch')`;

/** ERC-7496: the tokens of a changed trait, one by one. */
const isList = sql`(source = 'MetadataUpdates' and name in ('TraitUpdatedList', 'TraitUpdatedListUniformValue'))`;

/** Whether an event becomes a fact at all: a batch or a list may be empty. */
export const isFact = sql<boolean>`(
  (not ${isBatch} or (args -> 'ids' ->> 0 is not null and args -> 'values' ->> 0 is not null))
  and (not ${isList} or args -> 'tokenIds' ->> 0 is not null))`;

function bytes(hex: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`decode(substr(${hex}, 3), 'hex')`;
}

/** A column of the kinds that have typed columns; the arguments of an `exchange_event` are in its payload alone. */
function typed(value: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when e.kind <> ${kindLiteral("exchange_event")} then ${value} end`;
}

/** ERC-721, ERC-1155, WETH9, Seaport and CryptoPunks name the two parties differently. */
const from = sql`coalesce(a ->> 'from', a ->> 'src', a ->> 'owner', a ->> 'offerer', a ->> 'fromAddress',
  a -> 'orderParameters' ->> 'offerer', case when e.name = 'Assign' then ${sql.lit(zeroAddress)} end)`;
const to = sql`coalesce(a ->> 'to', a ->> 'dst', a ->> 'spender', a ->> 'recipient', a ->> 'toAddress',
  a ->> 'channel', a ->> 'operator', a ->> 'pool')`;

/**
 * One element for most events, one per entry of a batch. Entries beyond the shorter list of a batch are dropped. An
 * element with a kind is a fact beside that of the event.
 */
const elements = sql`
  select (batch.place - 1)::int as sub_index, batch.id::numeric as token_id, batch.value::numeric as amount,
         null::smallint as kind, null::text as from_address, null::text as to_address
  from unnest(
    array(select jsonb_array_elements_text(a -> 'ids') where ${isBatch}),
    array(select jsonb_array_elements_text(a -> 'values') where ${isBatch})
  ) with ordinality as batch (id, value, place)
  where batch.id is not null and batch.value is not null
  union all
  select (listed.place - 1)::int, listed.id::numeric, 1, null, null, null
  from unnest(array(select jsonb_array_elements_text(a -> 'tokenIds') where ${isList})) with ordinality as listed (id, place)
  union all
  select 0, ${typed(sql`coalesce(a ->> 'tokenId', a ->> 'fromTokenId', a ->> 'id', a ->> 'punkIndex')::numeric`)},
         ${typed(sql`case
           when e.kind = ${kindLiteral("erc721_consecutive_transfer")} then
             (a ->> 'toTokenId')::numeric - (a ->> 'fromTokenId')::numeric + 1
           when e.kind in ${kindList("approval_for_all", "channel_updated")} then
             coalesce(a ->> 'approved', a ->> 'open')::boolean::int::numeric
           when e.kind = ${kindLiteral("metadata_changed")} then
             case when a ? 'fromTokenId' then (a ->> 'toTokenId')::numeric - (a ->> 'fromTokenId')::numeric + 1
                  when coalesce(a ->> 'tokenId', a ->> 'id') is not null then 1 end
           else coalesce(a ->> 'value', a ->> 'wad', a ->> 'newCounter')::numeric
         end`)}, null, null, null
  where not ${isBatch} and not ${isList}
  union all
  select moved.sub_index, moved.token_id, null, moved.kind, moved.from_address, moved.to_address
  from (${punkTransferRow}) moved (sub_index, kind, token_id, from_address, to_address)`;

const payload = (events: RawBuilder<unknown>) => sql`case e.kind
  when ${kindLiteral("order_fulfilled")} then
    jsonb_build_object('zone', a -> 'zone', 'offer', a -> 'offer', 'consideration', a -> 'consideration',
                       'sender', e.sender, 'target', e.target, 'calldataTail', e.calldata_tail)
  when ${kindLiteral("order_cancelled")} then jsonb_build_object('zone', a -> 'zone')
  when ${kindLiteral("order_validated")} then jsonb_build_object('orderParameters', a -> 'orderParameters')
  when ${kindLiteral("orders_matched")} then jsonb_build_object('orderHashes', a -> 'orderHashes')
  when ${kindLiteral("metadata_changed")} then
    jsonb_strip_nulls(jsonb_build_object('event', e.name, 'traitKey', a -> 'traitKey', 'traitValue', a -> 'traitValue'))
  when ${kindLiteral("exchange_event")} then
    jsonb_build_object('source', e.source, 'event', e.name, 'args', a,
                       'sender', e.sender, 'target', e.target, 'calldataTail', e.calldata_tail)
      || case when e.transfers is null then '{}' else jsonb_build_object('transfers', e.transfers) end
      || coalesce(${takenBid(events)}, ${poolOrigin}, '{}')
end`;

/**
 * Ponder's checkpoints and event ids are 75 digits that sort as text: timestamp (10), chain id (16), block number (16),
 * then the place in the block.
 */
const TIMESTAMP_END = 10;
const NUMBER_START = 26;
const NUMBER_DIGITS = 16;
const TRANSACTION_END = NUMBER_START + NUMBER_DIGITS + 16;

/** Text after every id: a range with both ends is expected to be small by a plan that was made for any ids. */
export const afterAllIds = "z";

export const blockNumberOfId = (id: string): bigint =>
  BigInt(id.slice(NUMBER_START, NUMBER_START + NUMBER_DIGITS));

/** Unix seconds. */
export const timestampOf = (id: string): number => Number(id.slice(0, TIMESTAMP_END));

/** SQL: the block number in a column of ids. */
export const blockNumberIn = (id: string): RawBuilder<bigint> =>
  sql<bigint>`substr(${sql.ref(id)}, ${sql.lit(NUMBER_START + 1)}, ${sql.lit(NUMBER_DIGITS)})::bigint`;

/** SQL: what the ids of a transaction's events begin with, of a column of ids. */
export const transactionPrefixOf = (id: string): RawBuilder<string> =>
  sql<string>`left(${sql.ref(id)}, ${sql.lit(TRANSACTION_END)})`;
