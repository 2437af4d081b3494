import { html } from "#api/serve/html/html.ts";
import { bid } from "#api/serve/v1/bids/bid.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { amount } from "../parts/amount.ts";
import { toCollection, toToken } from "../parts/links-to.ts";
import { details, panel } from "../parts/panel.ts";
import { plainText } from "../parts/text.ts";
import { acceptSteps, cancelSteps } from "./fill-steps.ts";
import { orderHead, pricePanel, termsOf } from "./terms.ts";

/** An offer: its terms, whether it can be accepted, and how. */
export async function bidPage(visit: Visit): Promise<PageContent> {
  const { chainId, key, read, now } = visit;
  const { data: row } = await read(bid, {
    params: { bidId: key("bidId") },
    query: { chainId: String(chainId) },
  });
  const { bidId, tokenId, contract, collection } = row;
  const subject =
    tokenId === null
      ? html`any token of ${toCollection(chainId, collection)}`
      : toToken(chainId, { contract, tokenId });
  const body = html`${orderHead(row, { what: "Offer", reason: row.inactiveReason, subject, now })}
<div class="columns">${pricePanel(row, "The seller who accepts it")}${panel({
    id: "terms",
    title: "Terms",
    body: details([
      ["For", row.kind === "collection" ? "any token of the contract" : "one token"],
      [
        "Seller receives for a unit",
        amount({ wei: row.sellerNetWei, symbol: row.currency.symbol }),
      ],
      ...termsOf(row, now),
    ]),
  })}</div>
${acceptSteps({ chainId, bidId, isActive: row.status === "active", needsToken: tokenId === null })}
${cancelSteps("bids", chainId, bidId)}`;
  return { title: `Offer on ${plainText(collection.name ?? contract)}`, body };
}
