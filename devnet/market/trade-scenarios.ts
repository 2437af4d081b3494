import { zeroAddress } from "viem";
import { marketplaces } from "#projections/domain/marketplaces.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { contracts } from "../contracts/addresses.ts";
import type { Actor, Scenario } from "./actors.ts";
import { drawEdition, drawOther, drawPriceWei, drawPunk, punkRange } from "./seed-tokens.ts";
import { knownTags, type Tag } from "./selling.ts";
import type { MarketContext } from "./signer.ts";

/** Some fills carry the tag of the marketplace they come through. */
const drawTag = ({ random }: MarketContext): Tag | undefined =>
  random.pick([undefined, random.pick([undefined, ...knownTags])]);

const through = (market: MarketContext) => {
  const tag = drawTag(market);
  return tag === undefined ? {} : { through: tag };
};

export const sellsToken: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  const order = await owner.lists(nft, { priceWei: drawPriceWei(market, "erc721") });
  await drawOther(market, actors, owner).buys(order, through(market));
};

/** A listing of another marketplace: the fee goes there, or there is none. */
export const sellsElsewhere: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  const recipients = marketplaces.flatMap(({ feeRecipients }) => feeRecipients);
  const recipient = market.random.pick([zeroAddress, ...recipients]);
  const fee = { recipient, bps: recipient === zeroAddress ? 0 : 250 };
  const order = await owner.lists(nft, { priceWei: drawPriceWei(market, "erc721"), fee });
  await drawOther(market, actors, owner).buys(order, through(market));
};

/** A listing of six units sold as two, three and the last one. */
export const sellsEditionInParts: Scenario = async (market, actors) => {
  const { nft, owner } = await drawEdition(market, actors, 6n);
  const order = await owner.lists(nft, { priceWei: drawPriceWei(market, "erc1155"), quantity: 6n });
  const first = drawOther(market, actors, owner);
  await first.buys(order, { units: 2n, ...through(market) });
  await drawOther(market, actors, owner, first).buys(order, { units: 3n, ...through(market) });
  await first.buys(order, through(market));
};

/** A listing of eight units, two of them sold; it stays open. */
export const sellsPartOfEdition: Scenario = async (market, actors) => {
  const { nft, owner } = await drawEdition(market, actors, 8n);
  const order = await owner.lists(nft, { priceWei: drawPriceWei(market, "erc1155"), quantity: 8n });
  await drawOther(market, actors, owner).buys(order, { units: 2n, ...through(market) });
};

export const sellsBundle: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors, punkRange);
  const second = { ...nft, tokenId: BigInt(market.random.below(1_000_000)) + 1_000_000n };
  await owner.mints(second);
  const order = await owner.listsBundle([nft, second], drawPriceWei(market, "erc721") * 2n);
  await drawOther(market, actors, owner).buys(order, through(market));
};

/** Three listings in one bulk signature, one of them bought. */
export const sellsOneOfBulk: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  const { nft: edition } = await drawEdition(market, actors, 1n);
  const orders = await owner.listsInBulk([
    { nft: edition, priceWei: drawPriceWei(market, "erc1155") },
    { nft, priceWei: drawPriceWei(market, "erc721") },
    { nft: { ...edition, tokenId: 1n }, priceWei: drawPriceWei(market, "erc1155") },
  ]);
  const [, order] = orders;
  if (order !== undefined) await drawOther(market, actors, owner).buys(order, through(market));
};

/** The maker is a contract whose owner signs (EIP-1271). */
export const walletSells: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors, punkRange);
  await owner.transfers(nft, actors.wallet);
  const order = await actors.wallet.lists(nft, { priceWei: drawPriceWei(market, "erc721") });
  await drawOther(market, actors).buys(order, through(market));
};

export const sellsIntoItemOffer: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  await acceptsOffer(market, {
    nft,
    owner,
    bidder: drawOther(market, actors, owner),
    quantity: 1n,
  });
};

export const sellsEditionsIntoItemOffer: Scenario = async (market, actors) => {
  const { nft, owner } = await drawEdition(market, actors, 3n);
  await acceptsOffer(market, {
    nft,
    owner,
    bidder: drawOther(market, actors, owner),
    quantity: 3n,
  });
};

async function acceptsOffer(
  market: MarketContext,
  sale: { nft: Nft; owner: Actor; bidder: Actor; quantity: bigint },
) {
  const { nft, owner, bidder, quantity } = sale;
  const priceWei = drawPriceWei(market, nft.standard);
  await fund(bidder, priceWei * quantity);
  const bid = await bidder.offers(nft, { priceWei, quantity });
  await owner.accepts(bid, drawTag(market));
}

/** Wraps and allows exactly what a bid needs, beside what the bidder's other bids need. */
async function fund(bidder: Actor, wei: bigint) {
  await bidder.wraps(wei);
  await bidder.allowsMore(wei);
}

/** A collection bid for two tokens, filled by two sellers. */
export const sellsIntoCollectionOffer: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors, punkRange);
  const bidder = drawOther(market, actors, owner);
  const priceWei = drawPriceWei(market, "erc721");
  await fund(bidder, priceWei * 2n);
  const { standard, contract } = nft;
  const bid = await bidder.offersForCollection({ standard, contract, priceWei, quantity: 2n });
  await owner.acceptsForCollection(bid, { tokenId: nft.tokenId, ...through(market) });
  const second = { ...nft, tokenId: BigInt(market.random.below(1_000_000)) + 2_000_000n };
  const seller = drawOther(market, actors, bidder);
  await seller.mints(second);
  await seller.acceptsForCollection(bid, { tokenId: second.tokenId, ...through(market) });
};

/** A collection bid for units of any ERC-1155 token, partly filled. */
export const sellsEditionsIntoCollectionOffer: Scenario = async (market, actors) => {
  const { nft, owner } = await drawEdition(market, actors, 2n);
  const bidder = drawOther(market, actors, owner);
  const priceWei = drawPriceWei(market, "erc1155");
  await fund(bidder, priceWei * 5n);
  const bid = await bidder.offersForCollection({
    standard: "erc1155",
    contract: contracts.editions,
    priceWei,
    quantity: 5n,
  });
  await owner.acceptsForCollection(bid, { tokenId: nft.tokenId, units: 2n, ...through(market) });
};

/** A bid for any of five token ids, as trait bids are. */
export const sellsIntoCriteriaOffer: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  const { standard, contract, tokenId } = nft;
  const tokenIds = [0n, 10n, 20n, 30n, 40n].map((distance) => tokenId + distance);
  const bidder = drawOther(market, actors, owner);
  const priceWei = drawPriceWei(market, "erc721");
  await fund(bidder, priceWei);
  const bid = await bidder.offersForCollection({ standard, contract, tokenIds, priceWei });
  await owner.acceptsForCollection(bid, { tokenId, tokenIds, ...through(market) });
};
