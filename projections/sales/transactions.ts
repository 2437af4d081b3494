import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { FactWindow } from "../engine/projection.ts";
import { changedSaleTransactions, changedTransactions, saleKinds } from "../exchanges/exchanges.ts";
import {
  type ExchangeFact,
  type ExchangeTransaction,
  exchangeTransaction,
} from "../exchanges/model/exchange.ts";
import {
  type TranslatedSale,
  translateTransaction,
  type UnresolvedSaleEvent,
} from "../exchanges/translate-sales.ts";
import type { ChainContract } from "../log/contracts.ts";
import type { Session } from "../log/database.ts";
import { factKind } from "../log/fact-kinds.ts";

/** A transaction's sale facts, and where in the chain it is. */
export type LocatedTransaction = {
  readonly blockId: bigint;
  readonly transactionIndex: number;
  readonly transaction: ExchangeTransaction;
};

type FactRow = {
  block_id: bigint;
  transaction_index: number;
  log_index: number;
  kind: number;
  contract: Address;
  from_address: Address | null;
  to_address: Address | null;
  order_hash: Hex | null;
  payload: unknown;
  chain_id: number;
  hash: Hex;
};

/** The transactions whose sale facts changed in a window, with those of them that are effective at its end. */
export async function readChangedTransactions(
  session: Session,
  window: FactWindow,
): Promise<LocatedTransaction[]> {
  return await readTransactions(
    session,
    sql`
    select f.* from (${changedTransactions(window.changes, sql`kind in ${saleKinds}`)}) changed
    cross join lateral (
      select * from ${window.facts}
      where block_id = changed.block_id and log_index is not null and kind in ${saleKinds}
        and transaction_index = any (changed.transaction_indexes) and position <= ${window.upTo}
      offset 0
    ) f
    where not exists (select from ${window.retractedBlocks} r where r.block_id = f.block_id)`,
  );
}

/** Whether sales or unresolved events are derived from transactions whose sale facts changed; never so where all are new. */
export async function haveDerived(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<boolean> {
  // By a limit each is looked up by its transaction, whatever the planner expects of a window.
  const derivedIn = (table: string) => sql`
    exists (select from changed cross join lateral (
      select from ${sql.id(schema, table)} one
      where one.block_id = changed.block_id and one.transaction_index = changed.transaction_index limit 1
    ) one)`;
  const { rows } = await sql<{ derived: boolean }>`
    with changed as materialized (
      ${changedSaleTransactions(window.changes)}
    )
    select ${derivedIn("sale")} or ${derivedIn("unresolved_event")} as derived`.execute(session);
  return rows[0]?.derived === true;
}

/** The transactions of facts, which must be all effective sale facts of each transaction. */
export async function readTransactions(
  session: Session,
  facts: RawBuilder<unknown>,
): Promise<LocatedTransaction[]> {
  const { rows } = await sql<FactRow>`
    select f.block_id, f.transaction_index, f.log_index, f.kind, contract.address as contract,
           f.from_address, f.to_address, f.order_hash, f.payload, block.chain_id, transaction.hash
    from (${facts}) f
    join log.block on block.block_id = f.block_id
    join log.transaction on transaction.block_id = f.block_id
      and transaction.transaction_index = f.transaction_index
    join log.contract on contract.contract_id = f.contract_id
    order by f.block_id, f.transaction_index, f.log_index`.execute(session);

  const transactions: (Omit<LocatedTransaction, "transaction"> & {
    chainId: number;
    hash: Hex;
    facts: ExchangeFact[];
  })[] = [];
  for (const row of rows) {
    const { block_id: blockId, transaction_index: transactionIndex, chain_id: chainId, hash } = row;
    const last = transactions.at(-1);
    if (last?.blockId === blockId && last.transactionIndex === transactionIndex) {
      last.facts.push(exchangeFact(row));
    } else {
      transactions.push({ blockId, transactionIndex, chainId, hash, facts: [exchangeFact(row)] });
    }
  }
  return transactions.map(({ blockId, transactionIndex, chainId, hash, facts }) => {
    const transaction = exchangeTransaction(chainId, hash, facts);
    return { blockId, transactionIndex, transaction };
  });
}

function exchangeFact(row: FactRow): ExchangeFact {
  return {
    kind: row.kind,
    contract: row.contract,
    payload: row.payload,
    logIndex: row.log_index,
    from: row.from_address,
    to: row.to_address,
    orderHash: row.order_hash,
  };
}

/** A sale as the statement that inserts it expects it. */
export type StoredSale = ReturnType<typeof rowOf>;

/** An event that announces a trade and makes no sale. */
export type UnresolvedRow = ReturnType<typeof unresolvedRowOf>;

export type TransactionRows = {
  readonly sales: StoredSale[];
  readonly unresolved: UnresolvedRow[];
};

export function transactionRows(
  transactions: readonly LocatedTransaction[],
  feeRecipient: Address,
): TransactionRows {
  const rows: TransactionRows = { sales: [], unresolved: [] };
  for (const located of transactions) {
    const { sales, unresolved } = translateTransaction(located.transaction, feeRecipient);
    rows.sales.push(...sales.map((sale) => rowOf(located, sale)));
    rows.unresolved.push(
      ...unresolved.map((event, place) => unresolvedRowOf(located, event, place)),
    );
  }
  return rows;
}

function unresolvedRowOf(
  { blockId, transactionIndex }: LocatedTransaction,
  { protocol, unresolved, logIndex }: UnresolvedSaleEvent,
  place: number,
) {
  return {
    block_id: blockId.toString(),
    transaction_index: transactionIndex,
    place,
    log_index: logIndex,
    protocol,
    reason: unresolved,
  };
}

function rowOf(
  { blockId, transactionIndex, transaction }: LocatedTransaction,
  sale: TranslatedSale,
) {
  return {
    unregistered: transaction.facts.some(({ kind }) => kind === factKind.exchange_event)
      ? { chainId: transaction.chainId, address: sale.contract }
      : null,
    block_id: blockId.toString(),
    transaction_index: transactionIndex,
    ordinal: sale.ordinal,
    sale_id: byteaText(sale.saleId),
    contract: byteaText(sale.contract),
    token_id: sale.tokenId,
    quantity: sale.quantity.toString(),
    price_wei: sale.priceWei.toString(),
    total_wei: sale.totalWei.toString(),
    currency: byteaText(sale.currency),
    seller: byteaText(sale.seller),
    buyer: byteaText(sale.buyer),
    via: sale.via && byteaText(sale.via),
    is_erc1155: sale.standard === "erc1155",
    side: sale.side,
    marketplace: sale.marketplace,
    protocol: sale.protocol,
    protocol_version: sale.protocolVersion,
    exchange: byteaText(sale.exchange),
    order_hash: sale.orderHash && byteaText(sale.orderHash),
    fees: JSON.stringify(sale.fees.map((fee) => ({ ...fee, wei: fee.wei.toString() }))),
    bundle_size: sale.bundle?.size ?? null,
    bundle_total_wei: sale.bundle?.totalWei.toString() ?? null,
    log_index: sale.logIndex,
  };
}

/** Contracts that may have no id: the log registers those that typed order facts name, not those in other events. */
export function unregisteredContracts(rows: readonly StoredSale[]): ChainContract[] {
  return rows.flatMap(({ unregistered }) => (unregistered === null ? [] : [unregistered]));
}

/** PostgreSQL's text form of bytes. */
export function byteaText(hex: Hex): string {
  return `\\${hex.slice(1)}`;
}
