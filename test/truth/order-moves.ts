import type { Composed } from "../support/chain/trader.ts";
import type { Move } from "./move.ts";
import { bid, compose, drawUnits, list, listInBulk } from "./place-orders.ts";
import { drawFrom, drawHeld, drawOther, drawOwned, drawPlayer, ownerOf } from "./tokens.ts";

export const listsToken: Move = async (fixture) => {
  const found = await drawOwned(fixture);
  return found && list(fixture, found.owner, found.nft, 1n);
};

export const listsEdition: Move = async (fixture) => {
  const found = await drawHeld(fixture);
  return found && list(fixture, found.owner, found.nft, drawUnits(fixture, found.units));
};

/** One signature over several listings of one maker. */
export const listsInBulk: Move = async (fixture) => {
  const { random } = fixture;
  const owner = drawPlayer(fixture);
  const nfts = [];
  for (let drawn = 0; drawn < 5; drawn += 1) {
    const nft = random.pick(fixture.tokens);
    if ((await ownerOf(fixture, nft))?.name === owner.name) nfts.push(nft);
  }
  const orders: Composed[] = [];
  // One after the other: what is drawn must not depend on which answer comes first.
  for (const nft of nfts) {
    const order = await compose(fixture, owner, nft, 1n);
    if (typeof order !== "string") orders.push(order);
  }
  if (orders.length === 0) return undefined;
  return `${await listInBulk(fixture, owner, orders)} of ${orders.length}`;
};

export const bidsOnToken: Move = async (fixture) => {
  const found = await drawOwned(fixture);
  return found && bid(fixture, drawOther(fixture, found.owner), { ...found.nft, quantity: 1n });
};

export const bidsOnEdition: Move = async (fixture) => {
  const nft = drawFrom(fixture, fixture.editions);
  const quantity = drawUnits(fixture, 3n);
  return nft && bid(fixture, drawPlayer(fixture), { ...nft, quantity });
};

export const bidsOnCollection: Move = async (fixture) => {
  const nft = drawFrom(fixture, [...fixture.tokens, ...fixture.editions]);
  const quantity = drawUnits(fixture, 4n);
  return nft && bid(fixture, drawPlayer(fixture), { contract: nft.contract, quantity });
};

/** On some tokens of a collection, by chance one that nobody has, for as many as there are at most. */
export const bidsOnList: Move = async (fixture) => {
  const all = [...fixture.tokens, ...fixture.editions];
  const nft = drawFrom(fixture, all);
  if (nft === undefined) return undefined;
  const { contract } = nft;
  const others = all.filter((one) => one.contract === contract && fixture.random.below(3) === 0);
  const ids = [nft.tokenId, ...others.map(({ tokenId }) => tokenId)];
  const tokenIds = [...new Set(fixture.random.below(4) === 0 ? [...ids, nobodys] : ids)];
  const quantity = drawUnits(fixture, BigInt(Math.min(tokenIds.length, 3)));
  return bid(fixture, drawPlayer(fixture), { contract, tokenIds, quantity });
};

const nobodys = 10n ** 29n;
