import { html } from "#api/serve/html/html.ts";
import { listing } from "#api/serve/v1/listings/listing.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { toToken } from "../parts/links-to.ts";
import { marketplaceName } from "../parts/marketplace-name.ts";
import { formatCount } from "../parts/number.ts";
import { details, panel } from "../parts/panel.ts";
import { plainText, shortId } from "../parts/text.ts";
import { buySteps, cancelSteps } from "./fill-steps.ts";
import { orderHead, pricePanel, termsOf } from "./terms.ts";

/** A listing: its terms, whether it can be filled, and how. */
export async function listingPage(visit: Visit): Promise<PageContent> {
  const { chainId, key, read, now } = visit;
  const { data: row } = await read(listing, {
    params: { askId: key("askId") },
    query: { chainId: String(chainId) },
  });
  const { askId, marketplace, buyableViaApi } = row;
  const body = html`${orderHead(row, { what: "Listing", reason: row.invalidReason, subject: toToken(chainId, row), now })}
<div class="columns">${pricePanel(row, "The seller")}${panel({
    id: "terms",
    title: "Terms",
    body: details([
      ["Marketplace", marketplaceName(marketplace)],
      ["Buyable by this API", buyableViaApi ? "yes" : "no"],
      ["Units that the seller holds", formatCount(row.quantityFillable)],
      ...termsOf(row, now),
    ]),
  })}</div>
${buySteps({ chainId, askId, isBuyable: buyableViaApi, marketplace })}
${marketplace === "native" && cancelSteps("asks", chainId, askId)}`;
  const title = `Listing of #${shortId(row.tokenId)} · ${plainText(row.collection.name ?? row.contract)}`;
  return { title, body };
}
