import type { Address } from "viem";
import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { erc20Abi, erc721Abi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import {
  bulkOrderHash,
  bulkOrderTree,
  bulkSignature,
  exchangeDomain,
  orderHash,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import { type Answer, BlockedOrder, type Composed } from "../support/chain/trader.ts";
import type { Fixture } from "./fixture.ts";
import type { Player } from "./players.ts";
import { parseComponents, readStoredOrder } from "./stored-order.ts";
import { wrappedOf } from "./tokens.ts";

/** One of eight prices, so that equal prices are frequent. */
export const drawPriceWei = ({ random }: Fixture) => BigInt(random.below(8) + 1) * 10n ** 16n;
export const daySeconds = 86_400;
const shortestSeconds = 640;

export const drawUnits = ({ random }: Fixture, most: bigint) =>
  1n + BigInt(random.below(Number(most)));

export async function list(fixture: Fixture, owner: Player, nft: Nft, quantity: bigint) {
  const order = await compose(fixture, owner, nft, quantity);
  if (typeof order === "string") return order;
  const seaport = await owner.trader.sign(order);
  const { chainId } = fixture;
  const answer = await owner.trader.post("/v1/orders/asks", { chainId, seaport });
  return addIfStored(fixture, "listings", answer);
}

/** A listing of which some start or end soon; why there is none. */
export async function compose(
  fixture: Fixture,
  owner: Player,
  nft: Nft,
  quantity: bigint,
): Promise<Composed | string> {
  const { random, clock, marketContext } = fixture;
  const approved = await marketContext.client.readContract({
    address: nft.contract,
    abi: erc721Abi,
    functionName: "isApprovedForAll",
    args: [owner.address, commonConduit.address],
  });
  if (!approved && random.below(3) > 0) await owner.actor.approves(nft.contract);
  if (!approved && random.below(8) > 0) return "not approved";
  const input = { ...nft, unitPriceWei: drawPriceWei(fixture), quantity };
  const order = await owner.trader.compose(input).catch(blockedCode);
  if (typeof order === "string") return order;
  const startsAt = clock.now() + (random.below(6) === 0 ? random.below(50) : -1);
  const seconds = random.below(4) === 0 ? shortestSeconds + random.below(600) : daySeconds;
  order.components.startTime = `${startsAt}`;
  order.components.endTime = `${startsAt + seconds}`;
  return order;
}

function blockedCode(error: unknown): string {
  if (error instanceof BlockedOrder) return `refused ${error.code}`;
  throw error;
}

type Unsigned = { components: Record<string, unknown> };

const BulkResults = z.object({
  results: z.array(z.looseObject({ askId: z.string().optional() })),
});

/** One signature over several listings of one maker. Returns how many were stored. */
export async function listInBulk(
  fixture: Fixture,
  owner: Player,
  orders: readonly Unsigned[],
): Promise<number> {
  const { chainId, pipeline } = fixture;
  const components = orders.map((order) => parseComponents(order.components));
  const hashes = components.map(orderHash);
  const { root, height, proofs } = bulkOrderTree(hashes);
  const base = await owner.sign(
    signingDigest(bulkOrderHash(root, height), exchangeDomain(chainId)),
  );
  const signatures = orders.map((_, index) => bulkSignature(base, index, proofs[index] ?? []));
  const listings = orders.map(({ components }, index) => ({
    seaport: { parameters: components, signature: signatures[index] },
  }));
  const { body } = await owner.trader.post("/v1/orders/asks/bulk", { chainId, listings });
  const { results } = BulkResults.parse(body.data);
  const stored = results.flatMap(({ askId: id }, index) => {
    const [orderHash, of, signature] = [hashes[index], components[index], signatures[index]];
    if (id === undefined || !orderHash || !of || !signature) return [];
    return { side: "listings", id, orderHash, components: of, signature } as const;
  });
  const last = stored.at(-1);
  const source = { chainId, baseUrl: pipeline.baseUrl, db: fixture.db };
  if (last) await readStoredOrder(source, last.side, last.id);
  fixture.orders.push(...stored);
  return stored.length;
}

type BidTarget = {
  contract: Address;
  tokenId?: bigint;
  tokenIds?: readonly bigint[];
  quantity: bigint;
};

export async function bid(fixture: Fixture, bidder: Player, { quantity, ...target }: BidTarget) {
  const { random } = fixture;
  const unitPriceWei = drawPriceWei(fixture);
  const neededWei = unitPriceWei * quantity;
  if (random.below(3) > 0) await fundBid(fixture, bidder, neededWei);
  const seconds = random.below(4) === 0 ? shortestSeconds + random.below(600) : daySeconds;
  const answer = await bidder.trader.submitBid({ ...target, unitPriceWei, quantity, seconds });
  return addIfStored(fixture, "bids", answer);
}

async function fundBid(fixture: Fixture, bidder: Player, neededWei: bigint): Promise<void> {
  const { marketContext, chainId, random } = fixture;
  const heldWei = await wrappedOf(fixture, bidder);
  if (heldWei < neededWei) await bidder.actor.wraps(neededWei * BigInt(1 + random.below(3)));
  const allowedWei = await marketContext.client.readContract({
    address: wrappedNative[chainId],
    abi: erc20Abi,
    functionName: "allowance",
    args: [bidder.address, seaportAddresses["1.6"]],
  });
  if (allowedWei < neededWei) await bidder.actor.allows(neededWei * BigInt(4 + random.below(6)));
}

const Created = z.object({ askId: z.string().optional(), bidId: z.string().optional() });

async function addIfStored(
  fixture: Fixture,
  side: "listings" | "bids",
  answer: Answer,
): Promise<string> {
  if (answer.status !== 201) return `refused ${answer.status} ${answer.body.code}`;
  const { askId, bidId } = Created.parse(answer.body.data);
  await addStoredOrder(fixture, side, askId ?? bidId ?? "");
  return "stored";
}

async function addStoredOrder(
  fixture: Fixture,
  side: "listings" | "bids",
  id: string,
): Promise<void> {
  const { chainId, pipeline, db, orders } = fixture;
  orders.push(await readStoredOrder({ chainId, baseUrl: pipeline.baseUrl, db }, side, id));
}
