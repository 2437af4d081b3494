import { chainNames } from "#chains/index.ts";
import { transaction } from "../v1/transaction.ts";
import { activityTable } from "./kit/activity-table.ts";
import { html } from "./kit/html.ts";
import { chainTools, transactionLink } from "./kit/links.ts";
import { exactTime, formatCount, moment } from "./kit/number.ts";
import { figures, panel } from "./kit/panel.ts";
import { salesTable } from "./kit/sales-table.ts";
import { shortHex } from "./kit/text.ts";
import type { PageContent, Visit } from "./kit/visit.ts";
import { paymentPanel } from "./sale.ts";

/** Sales of one transaction that are shown in detail; all of them are in the table. */
const maxPictures = 3;

/** A transaction: who paid what to whom, and what it did to tokens and orders. */
export async function transactionPage(visit: Visit): Promise<PageContent> {
  const { chainId, key, read, now } = visit;
  const { data } = await read(transaction, {
    params: { hash: key("hash") },
    query: { chainId: String(chainId) },
  });
  const { txHash, sales, activity, blockNumber, blockHash, timestamp, truncated } = data;
  const body = html`<header class="token-head"><p class="facts"><span>Transaction</span><span>${chainNames[chainId]}</span></p>
<h1><span class="address">${txHash}</span> ${chainTools(chainId, { transaction: txHash })}</h1></header>
${figures([
  { label: "Block", value: html`<span title="${blockHash}">${formatCount(blockNumber)}</span>` },
  { label: "When", value: moment(timestamp, now), note: html`${exactTime(timestamp)}` },
  { label: "Sales", value: formatCount(sales.length) },
  { label: "Events", value: formatCount(activity.length), note: truncated && html`and more` },
])}
${sales.length > 0 && panel({ id: "sales", title: "Sales", body: salesTable(sales, { now, caption: "Sales of the transaction", without: ["transaction"] }) })}
${sales.slice(0, maxPictures).map((sale, index) => paymentPanel(sale, `payment-${index}`, `#${sale.tokenId.slice(0, 20)}: who paid what to whom`))}
${panel({
  id: "events",
  title: "What it did to tokens and orders",
  about:
    "In its own order. A sale fills an order, a transfer ends the former owner's listings, a cancel ends an order.",
  body: html`${activityTable(activity, { now, caption: "Events of the transaction", isWhole: true })}`,
})}`;
  const preview = { canonical: transactionLink(chainId, txHash) };
  return { title: `Transaction ${shortHex(txHash)}`, body, preview };
}
