import type { Actors, Scenario } from "../market/actors.ts";
import type { MarketContext } from "../market/signer.ts";
import { pickScenario } from "../market/trading.ts";
import type { ApiClient } from "./api-client.ts";
import { actorAt, type OrderBook } from "./signing.ts";
import * as submissions from "./trades.ts";
import * as trades from "./trades.ts";
import { type Bid, type Listing, readBids, readListings } from "./trades.ts";

/** Beyond so many, orders are traded and cancelled rather than submitted. */
const maxListings = 20;
const maxBids = 10;
/** So many remain for people to look at. */
const minListings = 6;
const minBids = 3;

const hourMs = 3_600_000;
const listingActions = [
  submissions.listsToken,
  submissions.listsToken,
  submissions.listsForMinutes,
  submissions.listsEdition,
  submissions.listsInBulk,
  trades.lowersPrice,
] as const;
const bidActions = [
  submissions.bidsForToken,
  submissions.bidsForCollection,
  submissions.bidsForSeveral,
  submissions.bidsForList,
  submissions.bidsForTrait,
] as const;

/**
 * A scenario on the order book of the service: submits the kinds of orders that it lacks, or else trades, submits or
 * cancels something; every third time it trades past the service, as strangers do. It keeps no state.
 */
export function tradeOnOrderBook(api: ApiClient): Scenario {
  return async (market, actors) => {
    if (market.random.below(3) === 0) return pickScenario(market.random)(market, actors);
    const book = { api, market, actors };
    const [listings, bids] = await readOrders(book);
    const lacking = [lackingListings(listings, actors), lackingBids(bids)];
    if (lacking.flat().length === 0) return pickAction(market, listings, bids)(book);
    await submitAll(book, lacking);
  };
}

async function readOrders(book: OrderBook): Promise<[Listing[], Bid[]]> {
  const listings = await readListings(book);
  return [listings.filter(({ marketplace }) => marketplace === "native"), await readBids(book)];
}

/** Listings need no transaction, so they do not wait for the bids' blocks. */
async function submitAll(book: OrderBook, lacking: readonly submissions.Action[][]) {
  const outcomes = await Promise.all(
    lacking.map(async (actions) => {
      const failures: unknown[] = [];
      for (const action of actions) await action(book).catch((error) => failures.push(error));
      return failures;
    }),
  );
  const [failure] = outcomes.flat();
  if (failure !== undefined) throw failure;
}

function lackingListings(listings: readonly Listing[], actors: Actors): submissions.Action[] {
  const endsSoon = ({ expiresAt }: Listing) => Date.parse(expiresAt) - Date.now() < hourMs;
  const kinds: [submissions.Action, boolean][] = [
    [submissions.listsToken, listings.some((one) => one.standard === "erc721" && !endsSoon(one))],
    [submissions.listsForMinutes, listings.some(endsSoon)],
    [submissions.listsEdition, listings.some(({ quantityRemaining }) => quantityRemaining > 1)],
    [submissions.listsInBulk, listings.length >= minListings],
    [
      submissions.walletLists,
      listings.some(({ maker }) => actorAt(actors, maker) === actors.wallet),
    ],
  ];
  return kinds.flatMap(([action, isThere]) => (isThere ? [] : [action]));
}

function lackingBids(bids: readonly Bid[]): submissions.Action[] {
  const kinds: [submissions.Action, boolean][] = [
    [submissions.bidsForToken, bids.some(({ tokenId }) => tokenId !== null)],
    [
      submissions.bidsForCollection,
      bids.some(({ kind, quantity }) => kind === "collection" && quantity === 1),
    ],
    [submissions.bidsForSeveral, bids.some(({ quantity }) => quantity > 1)],
    [submissions.bidsForList, bids.some(({ kind }) => kind === "token-list")],
    [submissions.bidsForTrait, bids.some(({ kind }) => kind === "trait")],
  ];
  return kinds.flatMap(([action, isThere]) => (isThere ? [] : [action]));
}

function pickAction(
  { random }: MarketContext,
  listings: readonly Listing[],
  bids: readonly Bid[],
): submissions.Action {
  const onBids = random.below(3) === 0;
  if (onBids) {
    const trade = random.pick([trades.acceptsBid, trades.acceptsCriteriaBid, trades.cancelsBid]);
    if (bids.length > maxBids) return trade;
    return bids.length <= minBids ? random.pick(bidActions) : random.pick([trade, ...bidActions]);
  }
  const trade = random.pick([trades.buysListing, trades.buysListing, trades.cancelsListing]);
  if (listings.length > maxListings) return trade;
  if (listings.length <= minListings) return random.pick(listingActions);
  return random.pick([trade, trade, trade, ...listingActions]);
}
