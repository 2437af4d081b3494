import { isAddressEqual } from "viem";
import { erc20Abi, erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { allPlayers, type Fixture } from "./fixture.ts";
import type { Player } from "./players.ts";

/** The owner of a token; undefined: burned, or not a player. */
export async function ownerOf(fixture: Fixture, { contract, tokenId }: Nft) {
  const { client } = fixture.marketContext;
  const call = { address: contract, abi: erc721Abi, functionName: "ownerOf", args: [tokenId] };
  const owner = await client.readContract(call as never).catch(() => undefined);
  if (typeof owner !== "string") return undefined;
  return allPlayers(fixture).find(({ address }) => isAddressEqual(address, owner as `0x${string}`));
}

export function unitsOf(
  { marketContext }: Fixture,
  { address }: Player,
  nft: Nft,
): Promise<bigint> {
  return marketContext.client.readContract({
    address: nft.contract,
    abi: erc1155Abi,
    functionName: "balanceOf",
    args: [address, nft.tokenId],
  });
}

export function wrappedOf(
  { marketContext, chainId }: Fixture,
  { address }: Player,
): Promise<bigint> {
  return marketContext.client.readContract({
    address: wrappedNative[chainId],
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [address],
  });
}

export const drawPlayer = (fixture: Fixture): Player => fixture.random.pick(allPlayers(fixture));

export function drawOther(fixture: Fixture, except: Player): Player {
  const [first = except, ...rest] = allPlayers(fixture).filter(({ name }) => name !== except.name);
  return fixture.random.pick([first, ...rest]);
}

export const drawFrom = <Item>({ random }: Fixture, items: readonly Item[]): Item | undefined =>
  items[random.below(items.length)];

export const playerOf = (fixture: Fixture, address: string): Player | undefined =>
  allPlayers(fixture).find((one) => one.address.toLowerCase() === address.toLowerCase());

/** A token with its owner; a burned one is minted again. */
export async function drawOwned(fixture: Fixture) {
  const nft = fixture.random.pick(fixture.tokens);
  const owner = await ownerOf(fixture, nft);
  if (owner !== undefined) return { nft, owner };
  const minter = drawPlayer(fixture);
  await minter.actor.mints(nft);
  return { nft, owner: minter };
}

/** A random edition and a player who owns units of it. */
export async function drawHeld(fixture: Fixture) {
  const nft = drawFrom(fixture, fixture.editions);
  const owner = drawPlayer(fixture);
  if (nft === undefined) return undefined;
  const units = await unitsOf(fixture, owner, nft);
  return units === 0n ? undefined : { nft, owner, units };
}
