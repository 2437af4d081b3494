import { prepareSearch } from "../v1/search.ts";
import { collectionCard, collectionPage } from "./collection/page.ts";
import type { SitePage } from "./kit/mount-site.ts";
import { activityPage, marketPage } from "./market.ts";
import { bidCard, bidPage, listingCard, listingPage } from "./order.ts";
import { salePage } from "./sale.ts";
import { searchPage } from "./search.ts";
import { statusPage } from "./status.ts";
import { prepareSuggestions, suggestions } from "./suggestions.ts";
import { tokenCard, tokenPage } from "./token.ts";
import { transactionPage } from "./transaction.ts";
import { walletPage } from "./wallet.ts";

const ofMoment = ["at", "block"] as const;
/** Of its views. */
const ofCollection = [
  ...ofMoment,
  ...(["currency", "cursor", "days", "listed", "marketplace", "max_price", "min_price"] as const),
  ...(["sort", "traits", "type", "view"] as const),
];

/** Every page, by its path. */
export const pages: readonly SitePage[] = [
  [
    "/",
    marketPage,
    { parameters: ["cursor", "exclude_wash", "period", "sort"], allChains: "list" },
  ],
  ["/collections/{collection}", collectionPage, { parameters: ofCollection, card: collectionCard }],
  [
    "/collections/{collection}/tokens/{tokenId}",
    tokenPage,
    { parameters: ofMoment, card: tokenCard },
  ],
  ["/sales/{saleId}", salePage],
  ["/transactions/{hash}", transactionPage],
  ["/listings/{askId}", listingPage, { card: listingCard }],
  ["/bids/{bidId}", bidPage, { card: bidCard }],
  [
    "/wallets/{wallet}",
    walletPage,
    { parameters: [...ofMoment, "cursor", "view"], allChains: "asked" },
  ],
  ["/activity", activityPage, { parameters: ["cursor", "type"], allChains: "list" }],
  ["/status", statusPage],
  ["/search", searchPage, { parameters: ["q"], prepare: prepareSearch }],
  [
    "/search/suggestions",
    suggestions,
    { parameters: ["q"], prepare: prepareSuggestions, isFragment: true },
  ],
];
