import { contracts } from "../contracts/addresses.ts";
import type { Scenario } from "./actors.ts";
import {
  drawEdition,
  drawOther,
  drawPriceWei,
  drawPunk,
  drawTrader,
  editionIds,
} from "./seed-tokens.ts";

const newIdBound = 1_000_000_000;

export const cancelsListings: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  const orders = [
    await owner.lists(nft, { priceWei: drawPriceWei(market, "erc721") }),
    await owner.lists(nft, { priceWei: drawPriceWei(market, "erc721") }),
  ];
  await owner.cancels(...orders);
};

export const cancelsEverything: Scenario = async (market, actors) => {
  await drawTrader(market, actors).incrementsCounter();
};

/** A listing validated on chain before it is bought. */
export const validatesListing: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  const order = await owner.lists(nft, { priceWei: drawPriceWei(market, "erc721") });
  await owner.validates(order);
  await drawOther(market, actors, owner).buys(order);
};

export const transfersToken: Scenario = async (market, actors) => {
  const { nft, owner } = await drawPunk(market, actors);
  await owner.transfers(nft, drawOther(market, actors, owner));
};

export const transfersEditions: Scenario = async (market, actors) => {
  const { nft, owner } = await drawEdition(market, actors, 2n);
  const recipient = drawOther(market, actors, owner);
  await owner.transfers(nft, recipient, 2n);
  await recipient.transfersEditions(
    { contract: nft.contract, tokenIds: [nft.tokenId], units: 1n },
    owner,
  );
};

/** Mints and burns an ERC-721 token; mints four units of an ERC-1155 token and burns two. */
export const mintsAndBurns: Scenario = async (market, actors) => {
  const minter = drawTrader(market, actors);
  const tokenId = BigInt(market.random.below(newIdBound)) + 100n;
  const token = { standard: "erc721", contract: contracts.burnable, tokenId } as const;
  await minter.mints(token);
  await minter.burns(token);
  const edition = {
    standard: "erc1155",
    contract: contracts.editions,
    tokenId: market.random.pick(editionIds),
  } as const;
  await minter.mints(edition, 4n);
  await minter.burns(edition, 2n);
};

export const revokesAndRestores: Scenario = async (market, actors) => {
  const trader = drawTrader(market, actors);
  await trader.revokes(contracts.punks);
  await trader.approves(contracts.punks);
};

/** Wraps, transfers and unwraps currency. */
export const movesWrapped: Scenario = async (market, actors) => {
  const trader = drawTrader(market, actors);
  const recipient = drawOther(market, actors, trader);
  const wei = drawPriceWei(market, "erc1155") * 2n;
  await trader.wraps(wei);
  await trader.sendsWrapped(recipient, wei / 2n);
  await recipient.unwraps(wei / 2n);
};
