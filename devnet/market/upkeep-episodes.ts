import { contracts } from "../contracts/addresses.ts";
import type { Episode } from "./episodes.ts";
import { drawEdition, drawOther, drawPriceWei, drawPunk, drawTrader, editionIds } from "./stock.ts";

const bigEnoughForNewIds = 1_000_000_000;

export const cancelsListings: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors);
  const orders = [
    await owner.lists(nft, { priceWei: drawPriceWei(venue, "erc721") }),
    await owner.lists(nft, { priceWei: drawPriceWei(venue, "erc721") }),
  ];
  await owner.cancels(...orders);
};

export const cancelsEverything: Episode = async (venue, actors) => {
  await drawTrader(venue, actors).incrementsCounter();
};

/** Validated ahead on chain, and bought later. */
export const validatesListing: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors);
  const order = await owner.lists(nft, { priceWei: drawPriceWei(venue, "erc721") });
  await owner.validates(order);
  await drawOther(venue, actors, owner).buys(order);
};

export const transfersToken: Episode = async (venue, actors) => {
  const { nft, owner } = await drawPunk(venue, actors);
  await owner.transfers(nft, drawOther(venue, actors, owner));
};

export const transfersEditions: Episode = async (venue, actors) => {
  const { nft, owner } = await drawEdition(venue, actors, 2n);
  const friend = drawOther(venue, actors, owner);
  await owner.transfers(nft, friend, 2n);
  await friend.transfersEditions(
    { contract: nft.contract, tokenIds: [nft.tokenId], units: 1n },
    owner,
  );
};

/** Mints a token of each kind and burns it, the editions by half. */
export const mintsAndBurns: Episode = async (venue, actors) => {
  const minter = drawTrader(venue, actors);
  const tokenId = BigInt(venue.random.below(bigEnoughForNewIds)) + 100n;
  const token = { standard: "erc721", contract: contracts.burnable, tokenId } as const;
  await minter.mints(token);
  await minter.burns(token);
  const edition = {
    standard: "erc1155",
    contract: contracts.editions,
    tokenId: venue.random.pick(editionIds),
  } as const;
  await minter.mints(edition, 4n);
  await minter.burns(edition, 2n);
};

export const revokesAndRestores: Episode = async (venue, actors) => {
  const trader = drawTrader(venue, actors);
  await trader.revokes(contracts.punks);
  await trader.approves(contracts.punks);
};

/** Wrapped currency comes, moves on and goes. */
export const movesWrapped: Episode = async (venue, actors) => {
  const trader = drawTrader(venue, actors);
  const friend = drawOther(venue, actors, trader);
  const wei = drawPriceWei(venue, "erc1155") * 2n;
  await trader.wraps(wei);
  await trader.sendsWrapped(friend, wei / 2n);
  await friend.unwraps(wei / 2n);
};
