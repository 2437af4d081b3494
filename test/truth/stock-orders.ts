import { bytesToHex, concatHex } from "viem";
import { z } from "zod";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import type { Fixture } from "./fixture.ts";
import { bid, daySeconds, drawPriceWei, list, listInBulk } from "./place-orders.ts";
import type { Player } from "./players.ts";
import { drawFrom, unitsOf } from "./tokens.ts";

/** Orders of one signature and one request, at most. */
const perTree = 100;
/** Tokens minted by one transaction. */
const perMint = 20n;

/**
 * Tops the book up to a number of orders that have not ended: of thirteen, eight are listings of tokens (one in five a
 * second one of its token), one is of an edition and four are bids. Orders signed by a contract and of tokens that
 * restrict transfers come by random moves only, as they are few on a real chain.
 */
export async function stockOrders(fixture: Fixture, target: number): Promise<void> {
  const missing = target - fixture.orders.filter(({ endedAt }) => endedAt === undefined).length;
  // Some moves end hundreds at once; few need no new ones.
  if (missing < target / 10) return;
  for (const player of fixture.people) {
    const share = Math.ceil(missing / fixture.people.length);
    await enable(player);
    await listTokens(fixture, player, Math.ceil((share * 8) / 13));
    for (let left = share / 13; left > 0; left -= 1) await listEdition(fixture, player);
    for (let left = (share * 4) / 13; left > 0; left -= 1) await placeBid(fixture, player);
  }
}

/** Money and approvals for all of them. */
async function enable({ actor }: Player): Promise<void> {
  await actor.wraps(10n ** 19n);
  await actor.allows(10n ** 20n);
  for (const contract of [contracts.punks, contracts.editions]) await actor.approves(contract);
}

async function listTokens(fixture: Fixture, player: Player, count: number): Promise<void> {
  const nfts = await mintTokens(fixture, player, Math.ceil((count * 4) / 5));
  const composed = await composeAll(fixture, player, [...nfts, ...nfts.slice(nfts.length - count)]);
  for (let start = 0; start < composed.length; start += perTree) {
    await listInBulk(fixture, player, composed.slice(start, start + perTree));
  }
}

async function mintTokens(fixture: Fixture, { actor }: Player, count: number): Promise<Nft[]> {
  const minted: Nft[] = [];
  for (let left = BigInt(count); left > 0n; left -= perMint) {
    const some = left < perMint ? left : perMint;
    const first = fixture.nextId + 1n;
    fixture.nextId += some;
    await actor.mintsRange(contracts.punks, first, some);
    for (let tokenId = first; tokenId <= fixture.nextId; tokenId += 1n) {
      minted.push({ standard: "erc721", contract: contracts.punks, tokenId });
    }
  }
  fixture.tokens.push(...minted);
  return minted;
}

/** The parameters of a price hold for every token of a contract: they are fetched once. */
async function composeAll(fixture: Fixture, { trader }: Player, nfts: readonly Nft[]) {
  const templates = new Map<bigint, Awaited<ReturnType<typeof trader.compose>>>();
  const composed = [];
  for (const { contract, tokenId } of nfts) {
    const unitPriceWei = drawPriceWei(fixture);
    const template =
      templates.get(unitPriceWei) ?? (await trader.compose({ contract, tokenId, unitPriceWei }));
    templates.set(unitPriceWei, template);
    composed.push({ components: componentsFor(fixture, template.components, tokenId) });
  }
  return composed;
}

const Offer = z.array(z.looseObject({ identifierOrCriteria: z.string() }));

function componentsFor<Components extends { salt: string; offer: unknown }>(
  { random, clock }: Fixture,
  components: Components,
  tokenId: bigint,
) {
  const startTime = clock.now();
  const seconds = random.below(4) === 0 ? 900 + random.below(7_200) : daySeconds;
  return {
    ...components,
    offer: Offer.parse(components.offer).map((item) => ({
      ...item,
      identifierOrCriteria: `${tokenId}`,
    })),
    salt: saltLike(components.salt),
    startTime: `${startTime}`,
    endTime: `${startTime + seconds}`,
  };
}

/** The same prefix, followed by other random bytes. */
function saltLike(salt: string): string {
  const prefix = BigInt(salt).toString(16).padStart(64, "0").slice(0, 8);
  const random = bytesToHex(crypto.getRandomValues(new Uint8Array(28)));
  return `${BigInt(concatHex([`0x${prefix}`, random]))}`;
}

async function listEdition(fixture: Fixture, player: Player): Promise<void> {
  const nft = drawFrom(fixture, fixture.editions);
  if (nft === undefined) return;
  const units = await unitsOf(fixture, player, nft);
  if (units === 0n) await player.actor.mints(nft, 8n);
  await list(fixture, player, nft, units === 0n ? 2n : 1n);
}

async function placeBid(fixture: Fixture, player: Player): Promise<void> {
  const { random } = fixture;
  const quantity = 1n + BigInt(random.below(3));
  const edition = drawFrom(fixture, fixture.editions);
  const { contract, tokenId } = random.pick(fixture.tokens);
  const targets = [
    { contract, tokenId, quantity: 1n },
    { contract, quantity },
    ...(edition ? [{ contract: edition.contract, tokenId: edition.tokenId, quantity }] : []),
  ] as const;
  await bid(fixture, player, random.pick(targets));
}
