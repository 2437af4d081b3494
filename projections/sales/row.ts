import type { Address, Hex } from "viem";
import type { Located } from "./read-facts.ts";
import { type Sale, translateSales } from "./trades.ts";

/** A sale as the statement that inserts it reads it. */
export type SaleRow = ReturnType<typeof rowOf>;

export function saleRows(transactions: readonly Located[], feeRecipient: Address): SaleRow[] {
  return transactions.flatMap((located) =>
    translateSales(located.transaction, feeRecipient).map((sale) => rowOf(located, sale)),
  );
}

function rowOf({ blockId, transactionIndex }: Located, sale: Sale) {
  return {
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
    protocol_version: sale.protocolVersion,
    exchange: bytea(sale.exchange),
    order_hash: bytea(sale.orderHash),
    fees: JSON.stringify(sale.fees.map((fee) => ({ ...fee, wei: fee.wei.toString() }))),
    bundle_size: sale.bundle?.size ?? null,
    bundle_total_wei: sale.bundle?.totalWei.toString() ?? null,
    log_index: sale.logIndex,
  };
}

/** PostgreSQL's text form of bytes. */
export function bytea(hex: Hex): string {
  return `\\${hex.slice(1)}`;
}
