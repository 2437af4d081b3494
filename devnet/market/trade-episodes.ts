import { zeroAddress } from "viem";
import { marketplaces } from "../../projections/domain/marketplaces.ts";
import type { Nft } from "../../projections/domain/seaport/listing-components.ts";
import { contracts } from "../contracts/addresses.ts";
import type { Actor } from "./actors.ts";
import type { Episode } from "./episodes.ts";
import { knownTags, type Tag } from "./marketplace-tag.ts";
import type { Venue } from "./party.ts";
import { drawEdition, drawOther, drawPriceWei, drawPunk, punkRun } from "./stock.ts";

/** Half of the fills say which marketplace they come through. */
const drawTag = ({ random }: Venue): Tag | undefined =>
  random.pick([undefined, random.pick([undefined, ...knownTags])]);

const through = (venue: Venue) => {
  const tag = drawTag(venue);
  return tag === undefined ? {} : { through: tag };
};

export const sellsToken: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors);
  const order = await owner.lists(nft, { priceWei: drawPriceWei(venue, "erc721") });
  await drawOther(venue, actors, owner).buys(order, through(venue));
};

/** A listing made elsewhere: its fee goes to another marketplace, or there is none. */
export const sellsElsewhere: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors);
  const recipients = marketplaces.flatMap(({ feeRecipients }) => feeRecipients);
  const recipient = venue.random.pick([zeroAddress, ...recipients]);
  const fee = { recipient, bps: recipient === zeroAddress ? 0 : 250 };
  const order = await owner.lists(nft, { priceWei: drawPriceWei(venue, "erc721"), fee });
  await drawOther(venue, actors, owner).buys(order, through(venue));
};

/** An edition of six: two units, then half of six, then what is left. */
export const sellsEditionInParts: Episode = async (venue, actors) => {
  const { nft, owner } = await drawEdition(venue, actors, 6n);
  const order = await owner.lists(nft, { priceWei: drawPriceWei(venue, "erc1155"), quantity: 6n });
  const first = drawOther(venue, actors, owner);
  await first.buys(order, { units: 2n, ...through(venue) });
  await drawOther(venue, actors, owner, first).buys(order, { units: 3n, ...through(venue) });
  await first.buys(order, through(venue));
};

/** Two units of eight, and the listing stays open. */
export const sellsPartOfEdition: Episode = async (venue, actors) => {
  const { nft, owner } = await drawEdition(venue, actors, 8n);
  const order = await owner.lists(nft, { priceWei: drawPriceWei(venue, "erc1155"), quantity: 8n });
  await drawOther(venue, actors, owner).buys(order, { units: 2n, ...through(venue) });
};

export const sellsBundle: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors, punkRun);
  const second = { ...nft, tokenId: BigInt(venue.random.below(1_000_000)) + 1_000_000n };
  await owner.mints(second);
  const order = await owner.listsBundle([nft, second], drawPriceWei(venue, "erc721") * 2n);
  await drawOther(venue, actors, owner).buys(order, through(venue));
};

/** Three listings under one signature, one of them bought. */
export const sellsOneOfBulk: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors);
  const { nft: edition } = await drawEdition(venue, actors, 1n);
  const orders = await owner.listsInBulk([
    { nft: edition, priceWei: drawPriceWei(venue, "erc1155") },
    { nft, priceWei: drawPriceWei(venue, "erc721") },
    { nft: { ...edition, tokenId: 1n }, priceWei: drawPriceWei(venue, "erc1155") },
  ]);
  const [, order] = orders;
  if (order !== undefined) await drawOther(venue, actors, owner).buys(order, through(venue));
};

/** The maker is a contract; its owner signs (EIP-1271). */
export const walletSells: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors, punkRun);
  await owner.transfers(nft, actors.wallet);
  const order = await actors.wallet.lists(nft, { priceWei: drawPriceWei(venue, "erc721") });
  await drawOther(venue, actors).buys(order, through(venue));
};

export const sellsIntoItemOffer: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors);
  await acceptsOffer(venue, { nft, owner, bidder: drawOther(venue, actors, owner), quantity: 1n });
};

export const sellsEditionsIntoItemOffer: Episode = async (venue, actors) => {
  const { nft, owner } = await drawEdition(venue, actors, 3n);
  await acceptsOffer(venue, { nft, owner, bidder: drawOther(venue, actors, owner), quantity: 3n });
};

async function acceptsOffer(
  venue: Venue,
  deal: { nft: Nft; owner: Actor; bidder: Actor; quantity: bigint },
) {
  const { nft, owner, bidder, quantity } = deal;
  const priceWei = drawPriceWei(venue, nft.standard);
  await fund(bidder, priceWei * quantity);
  const bid = await bidder.offers(nft, { priceWei, quantity });
  await owner.accepts(bid, drawTag(venue));
}

/** Wraps and allows exactly what an offer needs. */
async function fund(bidder: Actor, wei: bigint) {
  await bidder.wraps(wei);
  await bidder.allows(wei);
}

/** An offer for two of a collection, filled by two sellers. */
export const sellsIntoCollectionOffer: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors, punkRun);
  const bidder = drawOther(venue, actors, owner);
  const priceWei = drawPriceWei(venue, "erc721");
  await fund(bidder, priceWei * 2n);
  const { standard, contract } = nft;
  const bid = await bidder.offersForCollection({ standard, contract, priceWei, quantity: 2n });
  await owner.acceptsForCollection(bid, { tokenId: nft.tokenId, ...through(venue) });
  const second = { ...nft, tokenId: BigInt(venue.random.below(1_000_000)) + 2_000_000n };
  const seller = drawOther(venue, actors, bidder);
  await seller.mints(second);
  await seller.acceptsForCollection(bid, { tokenId: second.tokenId, ...through(venue) });
};

/** Units of any edition. */
export const sellsEditionsIntoCollectionOffer: Episode = async (venue, actors) => {
  const { nft, owner } = await drawEdition(venue, actors, 2n);
  const bidder = drawOther(venue, actors, owner);
  const priceWei = drawPriceWei(venue, "erc1155");
  await fund(bidder, priceWei * 5n);
  const bid = await bidder.offersForCollection({
    standard: "erc1155",
    contract: contracts.editions,
    priceWei,
    quantity: 5n,
  });
  await owner.acceptsForCollection(bid, { tokenId: nft.tokenId, units: 2n, ...through(venue) });
};

/** An offer for any of five ids, as a trait offer is. */
export const sellsIntoCriteriaOffer: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors);
  const { standard, contract, tokenId } = nft;
  const tokenIds = [0n, 10n, 20n, 30n, 40n].map((distance) => tokenId + distance);
  const bidder = drawOther(venue, actors, owner);
  const priceWei = drawPriceWei(venue, "erc721");
  await fund(bidder, priceWei);
  const bid = await bidder.offersForCollection({ standard, contract, tokenIds, priceWei });
  await owner.acceptsForCollection(bid, { tokenId, tokenIds, ...through(venue) });
};
