import type { Address } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import { erc721Abi, erc1155Abi } from "../../abis/tokens.ts";
import type { Nft } from "../../projections/domain/seaport/listing-components.ts";
import { contracts } from "../contracts/addresses.ts";
import type { Actor, Actors } from "./actors.ts";
import type { Venue } from "./party.ts";

/** Tokens that the opening day mints and later days trade: ids `firstId` to `firstId + count - 1`. */
type Run = { contract: Address; firstId: bigint; count: bigint };

export const punkRun: Run = { contract: contracts.punks, firstId: 1n, count: 42n };
export const consecutiveRun: Run = { contract: contracts.consecutive, firstId: 0n, count: 12n };
export const familyRuns: readonly [Run, Run] = [
  { contract: contracts.familyOne, firstId: 1n, count: 14n },
  { contract: contracts.familyTwo, firstId: 1n, count: 14n },
];
export const editionIds: readonly [bigint, ...bigint[]] = [1n, 2n, 3n, 4n, 5n, 6n];
export const editionUnits = 60n;

const tradedRuns = [punkRun, punkRun, consecutiveRun, ...familyRuns] as const;

/** Prices of a chain's currency: APE is worth about a thousandth of ETH. */
const priceStepWei: Record<ChainId, bigint> = { 1: 10n ** 15n, 33139: 10n ** 18n };

export function drawPriceWei({ chainId, random }: Venue, standard: Nft["standard"]): bigint {
  const [low, high] = standard === "erc721" ? [200n, 4_000n] : [10n, 300n];
  return random.between(low, high) * priceStepWei[chainId];
}

/** People who trade; the wallet is left to the trades that are about it. */
const traders = (actors: Actors): readonly [Actor, ...Actor[]] => [
  actors.alice,
  actors.bob,
  actors.carol,
  actors.dave,
  actors.erin,
  actors.frank,
  actors.grace,
];

export const drawTrader = ({ random }: Venue, actors: Actors): Actor =>
  random.pick(traders(actors));

/** Anybody but these. */
export function drawOther({ random }: Venue, actors: Actors, ...except: Actor[]): Actor {
  const [first = actors.alice, ...rest] = traders(actors).filter(
    (actor) => !except.includes(actor),
  );
  return random.pick([first, ...rest]);
}

/** A trader's ERC-721 token, of any traded contract or of the one given. */
export async function drawPunk(
  venue: Venue,
  actors: Actors,
  run: Run = venue.random.pick(tradedRuns),
): Promise<{ nft: Nft; owner: Actor }> {
  const start = venue.random.between(0n, run.count - 1n);
  for (let step = 0n; step < run.count; step++) {
    const tokenId = run.firstId + ((start + step) % run.count);
    const owner = await readOwner(venue, actors, run.contract, tokenId);
    if (owner !== undefined)
      return { nft: { standard: "erc721", contract: run.contract, tokenId }, owner };
  }
  throw new Error(`No trader owns a token of ${run.contract}`);
}

async function readOwner({ client }: Venue, actors: Actors, contract: Address, tokenId: bigint) {
  const address = await client.readContract({
    address: contract,
    abi: erc721Abi,
    functionName: "ownerOf",
    args: [tokenId],
  });
  return traders(actors).find((actor) => actor.address === address);
}

/** A trader with at least `units` of an edition. */
export async function drawEdition(
  venue: Venue,
  actors: Actors,
  units: bigint,
): Promise<{ nft: Nft; owner: Actor }> {
  const nft: Nft = {
    standard: "erc1155",
    contract: contracts.editions,
    tokenId: venue.random.pick(editionIds),
  };
  const everybody = traders(actors);
  const start = venue.random.below(everybody.length);
  for (const owner of [...everybody.slice(start), ...everybody.slice(0, start)]) {
    if ((await readUnits(venue, owner, nft)) >= units) return { nft, owner };
  }
  throw new Error(`No trader holds ${units} units of edition ${nft.tokenId}`);
}

function readUnits({ client }: Venue, owner: Actor, nft: Nft): Promise<bigint> {
  return client.readContract({
    address: nft.contract,
    abi: erc1155Abi,
    functionName: "balanceOf",
    args: [owner.address, nft.tokenId],
  });
}
