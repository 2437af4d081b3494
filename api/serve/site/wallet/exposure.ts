import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import { walletExposure } from "#api/serve/v1/wallets/exposure.ts";
import type { Exposure } from "#api/serve/views/orders/exposure.ts";
import type { Visit } from "../page/visit.ts";
import { amount } from "../parts/amount.ts";
import { toCollection, toToken } from "../parts/links-to.ts";
import { nextPage, panel } from "../parts/panel.ts";
import { table } from "../parts/table.ts";
import { shortHex } from "../parts/text.ts";
import { walletView } from "./links.ts";

type Row = z.output<typeof Exposure>;

/** Calldata of a cancel is long: few rows keep the page small. */
const perPage = "20";

const lacks: Record<NonNullable<Row["fillableWith"]>, string> = {
  token: "the token",
  token_approval: "the approval of the conduit",
  balance: "the money",
  allowance: "the allowance of the exchange",
};

/** What others could use of the wallet, and how to end it. */
export async function exposureView(visit: Visit, wallet: string): Promise<Html> {
  const { chainId, read, parameter } = visit;
  const { data, meta } = await read(walletExposure, {
    params: { wallet },
    query: {
      chainId: String(chainId),
      cursor: parameter("cursor") || undefined,
      per_page: perPage,
    },
  });
  const next = meta?.next_cursor ?? null;
  const columns = [
    { head: "What", isHead: true, cell: what },
    { head: "Of", cell: subject },
    { head: "Why it matters", cell: why },
    { head: "How to end it", cell: howToEnd },
  ];
  return panel({
    id: "exposure",
    title: "Exposure",
    about:
      "Orders that nobody can fill now but anybody could once the wallet has what they lack, and approvals that are open. Each ends with a transaction from the wallet.",
    body: html`${table(data, columns, {
      caption: "What others could use of the wallet",
      empty: "No inactive order that could come back, and no open approval.",
    })}${nextPage(next && walletView(visit, wallet, { view: "exposure", cursor: next }))}`,
  });
}

function what({ listing, bid, approval }: Row): Html | string {
  const order = listing ?? bid;
  if (order === null) return approval?.of === "money" ? "Allowance" : "Approval";
  const href = listing?.urls.listing ?? bid?.urls.bid ?? "";
  const { priceWei, currency, usd } = order;
  const price = amount({ wei: priceWei, symbol: currency.symbol, usd });
  return html`${listing === null ? "Offer" : "Listing"} at <a href="${href}">${price}</a>`;
}

function subject({ listing, bid, approval }: Row): Html | string {
  const order = listing ?? bid;
  if (order === null)
    return html`<span title="${approval?.contract}">${shortHex(approval?.contract ?? "")}</span>`;
  const { chainId, contract, tokenId, collection } = order;
  return tokenId === null
    ? toCollection(chainId, collection)
    : toToken(chainId, { contract, tokenId });
}

function why({ fillableWith, approval }: Row): string {
  if (fillableWith !== null) return `Lacks ${lacks[fillableWith]}`;
  return approval?.of === "money"
    ? "The exchange may take money for signed offers"
    : "The conduit may move all tokens of the contract for signed listings";
}

function howToEnd({ end }: Row): Html {
  return html`<details><summary>${end.action === "cancel" ? "Cancel it" : "Revoke it"}</summary>
<p>Send to <code>${end.to}</code>:</p><p><code>${end.data}</code></p></details>`;
}
