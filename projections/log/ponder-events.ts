import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { factKind } from "./fact-kind.ts";

/** Events of some blocks, with Ponder's event ids in (after, upTo]; no end when `upTo` is null. */
export type EventSelection = { after: string; upTo: string | null; blockHashes: readonly string[] };

/** Stages events of a Ponder schema as facts, without leaving the database. A batch becomes a fact per element. */
export async function stageEvents(
  session: Session,
  schema: string,
  { after, upTo, blockHashes }: EventSelection,
): Promise<void> {
  await stageRows(
    session,
    sql`
      select event.*, event.args::jsonb as a from ${sql.table(`${schema}.event`)} event
      where event.id > ${after} ${upTo === null ? sql`` : sql`and event.id <= ${upTo}`}
        and event.block_hash = any (${blockHashes}::text[])
      offset 0`,
  );
}

/** An event as a row of Ponder's table holds it, read from the chain by ourselves. */
export type DecodedEvent = {
  chainId: number;
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
};

/** Stages such events as the facts that Ponder's rows of them become. */
export async function stageDecoded(
  session: Session,
  events: readonly DecodedEvent[],
): Promise<void> {
  const rows = events.map((event, index) => ({ ...event, id: String(index).padStart(10, "0") }));
  await stageRows(
    session,
    sql`
      select row.id, row."chainId" as chain_id, row.name, row.address, row."blockNumber" as block_number,
             row."blockHash" as block_hash, row."blockTimestamp" as block_timestamp,
             row."transactionHash" as transaction_hash, row."transactionIndex" as transaction_index,
             row."logIndex" as log_index, row.args as a, row.sender, row.target,
             row."calldataTail" as calldata_tail
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
        id text, "chainId" integer, name text, address text, "blockNumber" bigint, "blockHash" text,
        "blockTimestamp" bigint, "transactionHash" text, "transactionIndex" integer, "logIndex" integer,
        args jsonb, sender text, target text, "calldataTail" text
      )`,
  );
}

async function stageRows(session: Session, events: RawBuilder<unknown>): Promise<void> {
  await sql`
    insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                        transaction_hash, log_index, sub_index, contract, token_id, amount, from_address,
                        to_address, order_hash, payload)
    select row_number() over (order by e.id, element.sub_index), ${kind}, e.chain_id, e.block_number,
           ${bytes(sql`e.block_hash`)}, to_timestamp(e.block_timestamp), e.transaction_index,
           ${bytes(sql`e.transaction_hash`)}, e.log_index, element.sub_index, ${bytes(sql`e.address`)},
           element.token_id, element.amount, ${bytes(from)}, ${bytes(to)}, ${bytes(sql`a ->> 'orderHash'`)},
           ${payload}
    from (${events}) e cross join lateral (${elements}) element`.execute(session);
}

/** Whether an event becomes a fact at all: a batch may be empty. */
export const isFact = sql<boolean>`(
  name <> 'TransferBatch' or (args -> 'ids' ->> 0 is not null and args -> 'values' ->> 0 is not null))`;

function bytes(hex: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`decode(substr(${hex}, 3), 'hex')`;
}

/** An ERC-721 and an ERC-20 `Transfer` differ in their third argument. */
const kind = sql`case e.name
  when 'Transfer' then case when a ? 'tokenId' then ${code("erc721_transfer")} else ${code("erc20_transfer")} end
  when 'ConsecutiveTransfer' then ${code("erc721_consecutive_transfer")}
  when 'TransferSingle' then ${code("erc1155_transfer")}
  when 'TransferBatch' then ${code("erc1155_transfer")}
  when 'ApprovalForAll' then ${code("approval_for_all")}
  when 'Approval' then ${code("erc20_approval")}
  when 'Deposit' then ${code("wrapped_deposit")}
  when 'Withdrawal' then ${code("wrapped_withdrawal")}
  when 'OrderFulfilled' then ${code("order_fulfilled")}
  when 'OrderCancelled' then ${code("order_cancelled")}
  when 'OrderValidated' then ${code("order_validated")}
  when 'OrdersMatched' then ${code("orders_matched")}
  when 'CounterIncremented' then ${code("counter_incremented")}
  when 'ChannelUpdated' then ${code("channel_updated")}
end`;

function code(name: keyof typeof factKind): RawBuilder<unknown> {
  return sql.raw(String(factKind[name]));
}

/** ERC-721, ERC-1155, WETH9 and Seaport name the two parties differently. */
const from = sql`coalesce(a ->> 'from', a ->> 'src', a ->> 'owner', a ->> 'offerer', a ->> 'fromAddress',
  a -> 'orderParameters' ->> 'offerer')`;
const to = sql`coalesce(a ->> 'to', a ->> 'dst', a ->> 'spender', a ->> 'recipient', a ->> 'toAddress',
  a ->> 'channel', a ->> 'operator')`;

/** One element for most events, one per entry of a batch; what a batch of unequal lists has too much of is nothing. */
const elements = sql`
  select (batch.place - 1)::int as sub_index, batch.id::numeric as token_id, batch.value::numeric as amount
  from unnest(
    array(select jsonb_array_elements_text(a -> 'ids')),
    array(select jsonb_array_elements_text(a -> 'values'))
  ) with ordinality as batch (id, value, place)
  where e.name = 'TransferBatch' and batch.id is not null and batch.value is not null
  union all
  select 0, coalesce(a ->> 'tokenId', a ->> 'fromTokenId', a ->> 'id')::numeric,
         case
           when e.name = 'ConsecutiveTransfer' then (a ->> 'toTokenId')::numeric - (a ->> 'fromTokenId')::numeric + 1
           when e.name in ('ApprovalForAll', 'ChannelUpdated') then
             coalesce(a ->> 'approved', a ->> 'open')::boolean::int::numeric
           else coalesce(a ->> 'value', a ->> 'wad', a ->> 'newCounter')::numeric
         end
  where e.name <> 'TransferBatch'`;

const payload = sql`case e.name
  when 'OrderFulfilled' then
    jsonb_build_object('zone', a -> 'zone', 'offer', a -> 'offer', 'consideration', a -> 'consideration',
                       'sender', e.sender, 'target', e.target, 'calldataTail', e.calldata_tail)
  when 'OrderCancelled' then jsonb_build_object('zone', a -> 'zone')
  when 'OrderValidated' then jsonb_build_object('orderParameters', a -> 'orderParameters')
  when 'OrdersMatched' then jsonb_build_object('orderHashes', a -> 'orderHashes')
end`;
