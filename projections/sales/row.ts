import type { Address, Hex } from "viem";
import { type Sale, translateTransaction, type UnresolvedSaleEvent } from "../exchanges/translate-sales.ts";
import type { ChainContract } from "../log/contracts.ts";
import { factKind } from "../log/fact-kinds.ts";
import type { LocatedTransaction } from "./read-transactions.ts";

/** A sale as the statement that inserts it expects it. */
export type SaleRow = ReturnType<typeof rowOf>;

/** An event that announces a trade and makes no sale. */
export type UnresolvedRow = ReturnType<typeof unresolvedRowOf>;

export type TransactionRows = { readonly sales: SaleRow[]; readonly unresolved: UnresolvedRow[] };

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

function rowOf({ blockId, transactionIndex, transaction }: LocatedTransaction, sale: Sale) {
  return {
    unregistered: transaction.facts.some(({ kind }) => kind === factKind.exchange_event)
      ? { chainId: transaction.chainId, address: sale.contract }
      : null,
    block_id: blockId.toString(),
    transaction_index: transactionIndex,
    ordinal: sale.ordinal,
    sale_id: bytea(sale.saleId),
    contract: bytea(sale.contract),
    token_id: sale.tokenId,
    quantity: sale.quantity.toString(),
    price_wei: sale.priceWei.toString(),
    total_wei: sale.totalWei.toString(),
    currency: bytea(sale.currency),
    seller: bytea(sale.seller),
    buyer: bytea(sale.buyer),
    via: sale.via && bytea(sale.via),
    is_erc1155: sale.standard === "erc1155",
    side: sale.side,
    marketplace: sale.marketplace,
    protocol: sale.protocol,
    protocol_version: sale.protocolVersion,
    exchange: bytea(sale.exchange),
    order_hash: sale.orderHash && bytea(sale.orderHash),
    fees: JSON.stringify(sale.fees.map((fee) => ({ ...fee, wei: fee.wei.toString() }))),
    bundle_size: sale.bundle?.size ?? null,
    bundle_total_wei: sale.bundle?.totalWei.toString() ?? null,
    log_index: sale.logIndex,
  };
}

/** Contracts that may have no id: the log registers those that typed order facts name, not those in other events. */
export function unregisteredContracts(rows: readonly SaleRow[]): ChainContract[] {
  return rows.flatMap(({ unregistered }) => (unregistered === null ? [] : [unregistered]));
}

/** PostgreSQL's text form of bytes. */
export function bytea(hex: Hex): string {
  return `\\${hex.slice(1)}`;
}
