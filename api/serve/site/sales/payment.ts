import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import type { Sale } from "#api/serve/views/sale.ts";
import { splitBar } from "../charts/share-bar.ts";
import { amount } from "../parts/amount.ts";
import { toWallet } from "../parts/links-to.ts";
import { formatShare } from "../parts/number.ts";
import { panel } from "../parts/panel.ts";
import { table } from "../parts/table.ts";

type SaleRow = Pick<
  z.output<typeof Sale>,
  "chainId" | "totalWei" | "fees" | "seller" | "buyer" | "currency" | "bundle"
>;

const kinds = { service: "Marketplace fee", royalty: "Royalty", other: "Other recipient" } as const;

/** How the price was divided, as a picture and as a table. */
export function paymentPanel(
  { chainId, totalWei, fees, seller, buyer, currency, bundle }: SaleRow,
  id = "payment",
  title = "Who paid what to whom",
): Html {
  const total = BigInt(totalWei);
  const paid = fees.reduce((sum, { wei }) => sum + BigInt(wei), 0n);
  const rest = total - paid;
  const rows = [
    { kind: "seller", text: "Seller", to: seller, wei: rest < 0n ? 0n : rest },
    ...fees.map(({ kind, recipient, wei }) => ({
      kind,
      text: kinds[kind],
      to: recipient,
      wei: BigInt(wei),
    })),
  ];
  const whole = rows.reduce((sum, { wei }) => sum + wei, 0n);
  const shareOf = (wei: bigint) => (whole === 0n ? 0 : Number((wei * 10_000n) / whole) / 10_000);
  const parts = rows.map(({ kind, text, wei }) => ({ kind, text, share: shareOf(wei) }));
  const label = `Of what the buyer paid: ${parts.map(({ text, share }) => `${text} ${formatShare(share)}`).join(", ")}`;
  return panel({
    id,
    title,
    about: html`${toWallet(chainId, buyer)} paid ${amount({ wei: totalWei, symbol: currency.symbol })}${bundle !== null && ", an equal share of a bundle"}.`,
    body: html`${splitBar(parts, label)}
${table(
  rows,
  [
    { head: "Part", cell: ({ text }) => text, isHead: true },
    { head: "To", cell: ({ to }) => toWallet(chainId, to) },
    {
      head: "Amount",
      cell: ({ wei }) => amount({ wei: String(wei), symbol: currency.symbol }),
      isNumber: true,
    },
    { head: "Share", cell: ({ wei }) => formatShare(shareOf(wei)), isNumber: true },
  ],
  { caption: "Parts of the price" },
)}`,
  });
}
