import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { ServedMarket } from "./served-market.ts";
import { chainId } from "./served-market-data.ts";

/** Pages by what they show. */
export function sitePagesOf({ ids }: Pick<ServedMarket, "ids">): Record<string, string> {
  const chain = `chainId=${chainId}`;
  const collection = (view: string) => `/collections/punks?${chain}&view=${view}`;
  const past = `at=${ids.blockNumber}`;
  return {
    market: `/?${chain}`,
    "market-without-wash": `/?${chain}&exclude_wash=true&period=7d`,
    items: collection("items"),
    "items-filtered": `${collection("items")}&marketplace=native&max_price=5&traits[Fur]=Brown`,
    prices: collection("prices"),
    traits: collection("traits"),
    holders: collection("holders"),
    "collection-activity": collection("activity"),
    token: `/collections/${contracts.punks}/tokens/1?${chain}`,
    edition: `/collections/${contracts.editions}/tokens/1?${chain}`,
    sale: `/sales/${ids.saleId}?${chain}`,
    listing: `/listings/${ids.ask}?${chain}`,
    "partner-listing": `/listings/${ids.partnerAsk}?${chain}`,
    bid: `/bids/${ids.bid}?${chain}`,
    "collection-bid": `/bids/${ids.collectionBid}?${chain}`,
    wallet: `/wallets/${accounts.alice.address}?${chain}`,
    "wallet-listings": `/wallets/${accounts.alice.address}?${chain}&view=listings`,
    "wallet-offers": `/wallets/${accounts.carol.address}?${chain}&view=offers`,
    "wallet-activity": `/wallets/${accounts.bob.address}?${chain}&view=activity`,
    "wallet-exposure": `/wallets/${accounts.alice.address}?${chain}&view=exposure`,
    "items-past": `${collection("items")}&${past}`,
    "prices-past": `${collection("prices")}&${past}`,
    "traits-past": `${collection("traits")}&${past}`,
    "holders-past": `${collection("holders")}&${past}`,
    "token-past": `/collections/${contracts.punks}/tokens/1?${chain}&${past}`,
    "edition-past": `/collections/${contracts.editions}/tokens/1?${chain}&${past}`,
    "wallet-past": `/wallets/${accounts.alice.address}?${chain}&${past}`,
    "wallet-offers-past": `/wallets/${accounts.carol.address}?${chain}&view=offers&${past}`,
    activity: `/activity?${chain}`,
    transaction: `/transactions/${ids.txHash}?${chain}`,
    status: `/status?${chain}`,
    search: `/search?${chain}&q=pun`,
    "search-hash": `/search?${chain}&q=${ids.txHash}`,
  };
}
