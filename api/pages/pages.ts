import { prepareSearch } from "../v1/search.ts";
import { collectionPage } from "./collection/page.ts";
import type { SitePage } from "./kit/mount-site.ts";
import { activityPage, marketPage } from "./market.ts";
import { bidPage, listingPage } from "./order.ts";
import { salePage } from "./sale.ts";
import { searchPage } from "./search.ts";
import { tokenPage } from "./token.ts";
import { transactionPage } from "./transaction.ts";
import { walletPage } from "./wallet.ts";

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
