import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import type { ActivityItem } from "#api/serve/views/activity-item.ts";
import { bidLink, listingLink, saleLink } from "../parts/links.ts";
import { toTransaction } from "../parts/links-to.ts";
import { exactTime } from "../parts/moment.ts";
import { formatCount } from "../parts/number.ts";
import { details, panel } from "../parts/panel.ts";
import { plainText, shortHex } from "../parts/text.ts";
import type { TokenRow } from "./row.ts";

type Item = z.output<typeof ActivityItem>;

/** Which events, orders and documents the figures of a token come from. */
export function provenance(row: TokenRow, activity: readonly Item[]): Html {
  const { chainId, listing, bestOffer, lastSale, rarity, metadata, tokenUri } = row;
  const moved = activity.find(
    ({ type }) => type === "transfer" || type === "mint" || type === "burn",
  );
  return panel({
    id: "provenance",
    title: "Where the figures come from",
    body: details([
      [
        row.owner === null ? "Holders and supply" : "Owner",
        moved === undefined ? "its transfers" : eventOf(moved, "the last transfer"),
      ],
      listing !== null && [
        "Price",
        html`the seller's signed order <a class="hex" href="${listingLink(chainId, listing.askId)}" title="${listing.askId}">${shortHex(listing.askId)}</a>, checked against the chain`,
      ],
      bestOffer !== null && [
        "Best offer",
        html`the bidder's signed order <a class="hex" href="${bidLink(chainId, bestOffer.bidId)}" title="${bestOffer.bidId}">${shortHex(bestOffer.bidId)}</a>, covered by the bidder's balance`,
      ],
      lastSale !== null && [
        "Last sale",
        html`<a href="${saleLink(chainId, lastSale.saleId)}">the fill</a> in ${toTransaction(chainId, lastSale.txHash)}`,
      ],
      [
        "Name, media, attributes",
        metadata.status === "ok"
          ? html`<span title="${plainText(tokenUri ?? "", 500)}">the document at the token's URI</span>, fetched ${metadata.updatedAt === null ? "at an unknown time" : exactTime(metadata.updatedAt)}`
          : `nothing yet: fetching is ${metadata.status}${metadata.issue === null ? "" : `, ${metadata.issue}`}`,
      ],
      rarity !== null && [
        "Rarity",
        `OpenRarity over the attributes of ${formatCount(rarity.of)} tokens`,
      ],
    ]),
  });
}

function eventOf({ chainId, txHash, blockNumber, logIndex }: Item, what: string): Html {
  return html`${what}: event ${logIndex} of ${toTransaction(chainId, txHash)} in block ${blockNumber === null ? "" : formatCount(blockNumber)}`;
}
