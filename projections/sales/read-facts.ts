import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import { seaport } from "../../abis/deployments.ts";
import type { Session } from "../database.ts";
import { factKind } from "../log/fact-kind.ts";
import type {
  FulfilledOrder,
  OrderTransaction,
  ReceivedItem,
  SeaportVersion,
  SpentItem,
} from "./order-facts.ts";

/** A transaction's place, and its order facts. */
export type Located = {
  readonly blockId: bigint;
  readonly transactionIndex: number;
  readonly transaction: OrderTransaction;
};

type FactRow = {
  block_id: bigint;
  transaction_index: number;
  log_index: number;
  kind: number;
  exchange: Address;
  from_address: Address;
  to_address: Address;
  order_hash: Hex;
  payload: FulfilledPayload & MatchedPayload;
  chain_id: number;
  hash: Hex;
};

type FulfilledPayload = {
  zone: Address;
  offer: SpentItem[];
  consideration: ReceivedItem[];
  sender: Address;
  calldataTail: Hex | null;
};
type MatchedPayload = { orderHashes: Hex[] };

export const orderKinds = sql.raw(`${factKind.order_fulfilled}, ${factKind.orders_matched}`);

export const versions: ReadonlyMap<Address, SeaportVersion> = new Map(
  (["1.1", "1.4", "1.5", "1.6"] as const).map((version) => [seaport[version], version]),
);

/** The transactions whose order facts changed, with those of their order facts that count at `upTo`. */
export async function readOrderTransactions(session: Session, upTo: bigint): Promise<Located[]> {
  return await readTransactions(
    session,
    sql`
    select f.* from (
      select block_id, array_agg(distinct transaction_index) as transaction_indexes
      from change where kind in (${orderKinds}) group by block_id
    ) dirty
    cross join lateral (
      select * from log.fact
      where block_id = dirty.block_id and log_index is not null and kind in (${orderKinds})
        and transaction_index = any (dirty.transaction_indexes) and position <= ${upTo}
      offset 0
    ) f
    where not exists (select from dropped where dropped.block_id = f.block_id)`,
  );
}

/** The transactions of order facts: all that count of each. */
export async function readTransactions(
  session: Session,
  facts: RawBuilder<unknown>,
): Promise<Located[]> {
  const { rows } = await sql<FactRow>`
    select f.block_id, f.transaction_index, f.log_index, f.kind, contract.address as exchange,
           f.from_address, f.to_address, f.order_hash, f.payload, block.chain_id, transaction.hash
    from (${facts}) f
    join log.block on block.block_id = f.block_id
    join log.transaction on transaction.block_id = f.block_id
      and transaction.transaction_index = f.transaction_index
    join log.contract on contract.contract_id = f.contract_id
    order by f.block_id, f.transaction_index, f.log_index`.execute(session);

  const transactions: Located[] = [];
  for (let start = 0; start < rows.length; ) {
    const end = endOfTransaction(rows, start);
    const located = transactionOf(rows.slice(start, end));
    if (located) transactions.push(located);
    start = end;
  }
  return transactions;
}

function endOfTransaction(rows: readonly FactRow[], start: number): number {
  const first = rows[start];
  let end = start + 1;
  while (
    rows[end]?.block_id === first?.block_id &&
    rows[end]?.transaction_index === first?.transaction_index
  ) {
    end += 1;
  }
  return end;
}

/** A match without its fulfilments is told by a later window in full. */
function transactionOf(rows: readonly FactRow[]): Located | null {
  const fulfilled = rows.filter(({ kind }) => kind === factKind.order_fulfilled);
  const [first] = fulfilled;
  if (first === undefined) return null;
  const matched = rows.filter(({ kind }) => kind === factKind.orders_matched);
  return {
    blockId: first.block_id,
    transactionIndex: first.transaction_index,
    transaction: {
      chainId: first.chain_id,
      hash: first.hash,
      sender: first.payload.sender,
      calldataTail: first.payload.calldataTail,
      orders: fulfilled.map(orderOf),
      matches: matched.map(({ log_index, exchange, payload }) => {
        return { logIndex: log_index, exchange, orderHashes: payload.orderHashes };
      }),
    },
  };
}

function orderOf(row: FactRow): FulfilledOrder {
  const version = versions.get(row.exchange);
  if (version === undefined) throw new Error(`no exchange known at ${row.exchange}`);
  return {
    logIndex: row.log_index,
    orderHash: row.order_hash,
    exchange: row.exchange,
    version,
    offerer: row.from_address,
    recipient: row.to_address,
    zone: row.payload.zone,
    offer: row.payload.offer,
    consideration: row.payload.consideration,
  };
}
