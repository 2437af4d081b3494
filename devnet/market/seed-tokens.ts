import type { Address } from "viem";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import type { Coin } from "#chains/coins.ts";
import { chainById } from "#chains/index.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { contracts } from "../contracts/addresses.ts";
import type { Actor, Actors } from "./actors.ts";
import type { MarketContext } from "./signer.ts";

/** Tokens that the initial setup mints and scenarios trade: ids `firstId` to `firstId + count - 1`. */
type TokenRange = { contract: Address; firstId: bigint; count: bigint };

export const punkRange: TokenRange = { contract: contracts.punks, firstId: 1n, count: 42n };
export const consecutiveRange: TokenRange = {
  contract: contracts.consecutive,
  firstId: 0n,
  count: 12n,
};
export const multiContractRanges: readonly [TokenRange, TokenRange] = [
  { contract: contracts.familyOne, firstId: 1n, count: 14n },
  { contract: contracts.familyTwo, firstId: 1n, count: 14n },
];
export const editionIds: readonly [bigint, ...bigint[]] = [1n, 2n, 3n, 4n, 5n, 6n];
export const editionUnits = 60n;

export const tradedRanges = [
  punkRange,
  punkRange,
  consecutiveRange,
  ...multiContractRanges,
] as const;

/** Unit of prices: APE is worth about a thousandth of ETH. */
const priceStepWei: Record<Coin, bigint> = { ethereum: 10n ** 15n, apecoin: 10n ** 18n };

export function drawPriceWei(
  { chainId, random }: MarketContext,
  standard: Nft["standard"],
): bigint {
  const [low, high] = standard === "erc721" ? [200n, 4_000n] : [10n, 300n];
  return random.between(low, high) * priceStepWei[chainById(chainId).coin];
}

/** Actors drawn at random; the smart wallet is used only by scenarios about it. */
const traders = (actors: Actors): readonly [Actor, ...Actor[]] => [
  actors.alice,
  actors.bob,
  actors.carol,
  actors.dave,
  actors.erin,
  actors.frank,
  actors.grace,
];

export const drawTrader = ({ random }: MarketContext, actors: Actors): Actor =>
  random.pick(traders(actors));

/** A random trader except these. */
export function drawOther({ random }: MarketContext, actors: Actors, ...except: Actor[]): Actor {
  const [first = actors.alice, ...rest] = traders(actors).filter(
    (actor) => !except.includes(actor),
  );
  return random.pick([first, ...rest]);
}

/** A random ERC-721 token and its owner, from `range` or from any traded range. */
export async function drawPunk(
  market: MarketContext,
  actors: Actors,
  range: TokenRange = market.random.pick(tradedRanges),
): Promise<{ nft: Nft; owner: Actor }> {
  const start = market.random.between(0n, range.count - 1n);
  for (let step = 0n; step < range.count; step++) {
    const tokenId = range.firstId + ((start + step) % range.count);
    const owner = await readOwner(market, actors, range.contract, tokenId);
    if (owner !== undefined)
      return { nft: { standard: "erc721", contract: range.contract, tokenId }, owner };
  }
  throw new Error(`No trader owns a token of ${range.contract}`);
}

async function readOwner(
  { client }: MarketContext,
  actors: Actors,
  contract: Address,
  tokenId: bigint,
) {
  const address = await client.readContract({
    address: contract,
    abi: erc721Abi,
    functionName: "ownerOf",
    args: [tokenId],
  });
  return traders(actors).find((actor) => actor.address === address);
}

/** A random edition and a trader who owns at least `units` of it. */
export async function drawEdition(
  market: MarketContext,
  actors: Actors,
  units: bigint,
): Promise<{ nft: Nft; owner: Actor }> {
  const nft: Nft = {
    standard: "erc1155",
    contract: contracts.editions,
    tokenId: market.random.pick(editionIds),
  };
  const candidates = traders(actors);
  const start = market.random.below(candidates.length);
  for (const owner of [...candidates.slice(start), ...candidates.slice(0, start)]) {
    if ((await readUnits(market, owner, nft)) >= units) return { nft, owner };
  }
  throw new Error(`No trader owns ${units} units of edition ${nft.tokenId}`);
}

function readUnits({ client }: MarketContext, owner: Actor, nft: Nft): Promise<bigint> {
  return client.readContract({
    address: nft.contract,
    abi: erc1155Abi,
    functionName: "balanceOf",
    args: [owner.address, nft.tokenId],
  });
}
