import { prepareSearch } from "../v1/search/search.ts";
import { collectionPage } from "./collection/page.ts";
import { activityPage } from "./market/activity.ts";
import { marketPage } from "./market/page.ts";
import { bidPage } from "./orders/bid.ts";
import { listingPage } from "./orders/listing.ts";
import type { SitePage } from "./page/mount-site.ts";
import { salePage } from "./sales/page.ts";
import { searchPage } from "./search/page.ts";
import { tokenPage } from "./token/page.ts";
import { transactionPage } from "./transaction/page.ts";
import { walletPage } from "./wallet/page.ts";

/** Every page, by its path. */
export const pages: readonly SitePage[] = [
  ["/", marketPage],
  ["/collections/{collection}", collectionPage],
  ["/collections/{collection}/tokens/{tokenId}", tokenPage],
  ["/sales/{saleId}", salePage],
  ["/transactions/{hash}", transactionPage],
  ["/listings/{askId}", listingPage],
  ["/bids/{bidId}", bidPage],
  ["/wallets/{wallet}", walletPage],
  ["/activity", activityPage],
  ["/search", searchPage, { prepare: prepareSearch }],
];
