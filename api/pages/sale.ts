import type { z } from "zod";
import { chainNames } from "#chains/index.ts";
import { listBids } from "../v1/orders/bids.ts";
import { listListings } from "../v1/orders/listings.ts";
import { type Sale, sale } from "../v1/sales.ts";
import { type Html, html } from "./kit/html.ts";
import {
  chainTools,
  copyButton,
  saleLink,
  toCollection,
  toToken,
  toTransaction,
  toWallet,
} from "./kit/links.ts";
import { picture } from "./kit/media.ts";
import { amount, exactTime, formatCount, formatShare, moment } from "./kit/number.ts";
import { bidsTable, listingsTable } from "./kit/orders-table.ts";
import { cutNote, details, figures, panel, table } from "./kit/panel.ts";
import { splitBar } from "./kit/plot.ts";
import { marketplaceName, shortId } from "./kit/text.ts";
import type { PageContent, Visit } from "./kit/visit.ts";

type SaleRow = z.output<typeof Sale>;

/** A sale: who paid what to whom, and the token's orders since. */
export async function salePage(visit: Visit): Promise<PageContent> {
  const { chainId, key, read, now } = visit;
  const chain = { chainId: String(chainId) };
  const { data: row } = await read(sale, { params: { saleId: key("saleId") }, query: chain });
  const { contract, tokenId } = row;
  const own = { ...chain, collection: contract, token_id: tokenId, per_page: "10" };
  const [listings, bids] = await Promise.all([
    read(listListings, { query: own }),
    read(listBids, { query: own }),
  ]);
  const options = { now, without: ["collection", "token"] as const };
  const body = html`${head(row, now)}
<div class="columns">${paymentPanel(row)}${termsPanel(row)}</div>
${panel({
  id: "book",
  title: "The token's orders now",
  about:
    "Its sale filled one order. Those of the former owner cannot be filled any more unless the token comes back.",
  body: html`${listingsTable(listings.data, { ...options, caption: "Active listings of the token" })}${cutNote({ which: "first", shown: listings.data.length, total: listings.meta?.total })}${bidsTable(bids.data, { ...options, caption: "Active offers on the token" })}${cutNote({ which: "first", shown: bids.data.length, total: bids.meta?.total })}`,
})}`;
  const title = `Sale of #${shortId(tokenId)} · ${row.collection.name ?? contract}`;
  return { title, body, preview: { canonical: saleLink(chainId, row.saleId) } };
}

function head(row: SaleRow, now: Date): Html {
  const { chainId, collection, priceWei, currency, usd, quantity, totalWei, seller, buyer } = row;
  const { contract, tokenId } = row;
  return html`<header class="subject">${picture({ chainId, contract, tokenId }, "", "head")}<div><p class="facts">${toCollection(chainId, collection)}<span>${chainNames[chainId]}</span></p>
<h1>Sale of ${toToken(chainId, row)}</h1></div></header>
${figures([
  {
    label: quantity > 1 ? `Price of each of ${formatCount(quantity)}` : "Price",
    value: amount({ wei: priceWei, symbol: currency.symbol, usd }),
    note: quantity > 1 && html`together ${amount({ wei: totalWei, symbol: currency.symbol })}`,
  },
  { label: "Seller", value: toWallet(chainId, seller) },
  { label: "Buyer", value: toWallet(chainId, buyer) },
  { label: "Marketplace", value: marketplaceName(row.marketplace) },
  { label: "When", value: moment(row.timestamp, now), note: html`${exactTime(row.timestamp)}` },
])}`;
}

const washRuleText = {
  same_owner: "seller and buyer are one wallet",
  back_and_forth: "the two wallets also sold the token the other way",
  repeated_purchase: "one of three purchases of the token by one wallet within a day",
} as const;

function termsPanel(row: SaleRow): Html {
  const {
    chainId,
    protocol,
    side,
    orderHash,
    bundle,
    txHash,
    logIndex,
    blockNumber,
    blockHash,
    currency,
  } = row;
  return panel({
    id: "terms",
    title: "On the chain",
    body: details([
      [
        "Transaction",
        html`${toTransaction(chainId, txHash)} ${chainTools(chainId, { transaction: txHash })}`,
      ],
      ["Block", html`<span title="${blockHash}">${formatCount(blockNumber)}</span>`],
      ["Event", `log index ${logIndex}`],
      [
        "Exchange",
        html`${protocol.name} ${protocol.version} <span class="hex" title="${protocol.address}">${protocol.address.slice(0, 10)}…</span>`,
      ],
      row.via !== null && ["Bought through", toWallet(chainId, row.via)],
      row.washTrade !== null && ["Looks like a wash trade", washRuleText[row.washTrade.rule]],
      ["Filled order", side === "ask" ? "the seller's listing" : "the buyer's offer"],
      orderHash !== null && [
        "Order hash",
        html`<span class="hex" title="${orderHash}">${orderHash.slice(0, 18)}…</span> ${copyButton(orderHash)}`,
      ],
      bundle !== null && [
        "Bundle",
        html`${bundle.size} NFTs for ${amount({ wei: bundle.totalWei, symbol: currency.symbol })} together; each counts an equal share`,
      ],
      ["Sale id", html`<span class="hex" title="${row.saleId}">${row.saleId.slice(0, 18)}…</span>`],
    ]),
  });
}

type PaidSale = Pick<
  z.output<typeof Sale>,
  "chainId" | "totalWei" | "fees" | "seller" | "buyer" | "currency" | "bundle"
>;

const kinds = { service: "Marketplace fee", royalty: "Royalty", other: "Other recipient" } as const;

/** How the price was divided, as a picture and as a table. */
export function paymentPanel(
  { chainId, totalWei, fees, seller, buyer, currency, bundle }: PaidSale,
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
