import type { Address, Hex } from "viem";
import { type Sale, translateSales } from "../exchanges/translate-sales.ts";
import type { ChainContract } from "../log/contracts.ts";
import { factKind } from "../log/fact-kind.ts";
import type { LocatedTransaction } from "./read-transactions.ts";

/** A sale as the statement that inserts it expects it. */
export type SaleRow = ReturnType<typeof rowOf>;

export function saleRows(
  transactions: readonly LocatedTransaction[],
  feeRecipient: Address,
): SaleRow[] {
  return transactions.flatMap((located) =>
    translateSales(located.transaction, feeRecipient).map((sale) => rowOf(located, sale)),
  );
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
