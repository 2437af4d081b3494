import { isAddressEqual } from "viem";
import { wrappedNative } from "../../abis/deployments.ts";
import { erc20Abi, erc721Abi, erc1155Abi } from "../../abis/tokens.ts";
import type { Nft } from "../../projections/domain/seaport/listing-components.ts";
import type { Player } from "./players.ts";
import { everybody, type Stage } from "./stage.ts";

/** Whose a token is; undefined: burnt, or not a player's. */
export async function ownerOf(stage: Stage, { contract, tokenId }: Nft) {
  const { client } = stage.venue;
  const call = { address: contract, abi: erc721Abi, functionName: "ownerOf", args: [tokenId] };
  const owner = await client.readContract(call as never).catch(() => undefined);
  if (typeof owner !== "string") return undefined;
  return everybody(stage).find(({ address }) => isAddressEqual(address, owner as `0x${string}`));
}

export function unitsOf({ venue }: Stage, { address }: Player, nft: Nft): Promise<bigint> {
  return venue.client.readContract({
    address: nft.contract,
    abi: erc1155Abi,
    functionName: "balanceOf",
    args: [address, nft.tokenId],
  });
}

export function wrappedOf({ venue, chainId }: Stage, { address }: Player): Promise<bigint> {
  return venue.client.readContract({
    address: wrappedNative[chainId],
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [address],
  });
}

export const drawPlayer = (stage: Stage): Player => stage.random.pick(everybody(stage));

export function drawOther(stage: Stage, except: Player): Player {
  const [first = except, ...rest] = everybody(stage).filter(({ name }) => name !== except.name);
  return stage.random.pick([first, ...rest]);
}

export const drawFrom = <Item>({ random }: Stage, items: readonly Item[]): Item | undefined =>
  items[random.below(items.length)];

export const playerOf = (stage: Stage, address: string): Player | undefined =>
  everybody(stage).find((one) => one.address.toLowerCase() === address.toLowerCase());

/** A token with its owner; one that nobody has any more is minted again. */
export async function drawOwned(stage: Stage) {
  const nft = stage.random.pick(stage.tokens);
  const owner = await ownerOf(stage, nft);
  if (owner !== undefined) return { nft, owner };
  const minter = drawPlayer(stage);
  await minter.actor.mints(nft);
  return { nft, owner: minter };
}

/** An edition of which a player has units. */
export async function drawHeld(stage: Stage) {
  const nft = drawFrom(stage, stage.editions);
  const owner = drawPlayer(stage);
  if (nft === undefined) return undefined;
  const units = await unitsOf(stage, owner, nft);
  return units === 0n ? undefined : { nft, owner, units };
}
