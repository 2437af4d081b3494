import type { z } from "zod";
import type { Sale } from "#api/v1/sales.ts";
import { type Html, html } from "./html.ts";
import { toCollection, toTransaction, toWallet } from "./links.ts";
import { picturedToken } from "./media.ts";
import { amount, formatCount, moment } from "./number.ts";
import { type TableColumn, table } from "./panel.ts";
import { marketplaceName } from "./text.ts";

type SaleRow = z.output<typeof Sale>;

type Options = {
  readonly now: Date;
  readonly caption: string;
  readonly without?: readonly ("collection" | "token" | "transaction")[];
};

export function salesTable(
  rows: readonly SaleRow[],
  { now, caption, without = [] }: Options,
): Html {
  const columns: (TableColumn<SaleRow> | false)[] = [
    {
      head: "Price",
      isHead: true,
      isPlain: true,
      line: without.includes("token") ? "start" : "end",
      cell: ({ urls, priceWei, currency, usd }) =>
        html`<a href="${urls.sale}">${amount({ wei: priceWei, symbol: currency.symbol, usd })}</a>`,
    },
    !without.includes("collection") && {
      head: "Collection",
      isPlain: true,
      cell: ({ chainId, collection }) => toCollection(chainId, collection),
    },
    !without.includes("token") && {
      head: "Token",
      cell: (row) => picturedToken(row),
      line: "start",
    },
    { head: "Units", cell: ({ quantity }) => formatCount(quantity), isNumber: true },
    { head: "Seller", cell: ({ chainId, seller }) => toWallet(chainId, seller) },
    { head: "Buyer", cell: ({ chainId, buyer }) => toWallet(chainId, buyer) },
    { head: "Marketplace", cell: ({ marketplace }) => marketplaceName(marketplace), isMinor: true },
    !without.includes("transaction") && {
      head: "Transaction",
      cell: ({ chainId, txHash }) => toTransaction(chainId, txHash),
      isMinor: true,
    },
    {
      head: "When",
      cell: ({ timestamp }) => moment(timestamp, now),
      isNumber: true,
      isPlain: true,
      line: without.includes("token") ? "end" : "below",
    },
  ];
  return table(
    rows,
    columns.filter((one) => one !== false),
    { caption, empty: "No sales.", keyOf: ({ saleId }) => saleId },
  );
}
