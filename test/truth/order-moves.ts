import type { Address } from "viem";
import { z } from "zod";
import { commonConduit, seaport, wrappedNative } from "../../abis/deployments.ts";
import { erc20Abi, erc721Abi } from "../../abis/tokens.ts";
import {
  bulkOrderHash,
  bulkOrderTree,
  bulkSignature,
} from "../../projections/domain/seaport/bulk-order.ts";
import type { Nft } from "../../projections/domain/seaport/listing-components.ts";
import {
  exchangeDomain,
  orderHash,
  signingDigest,
} from "../../projections/domain/seaport/order-hash.ts";
import type { Answer } from "../support/chain/trader.ts";
import type { Move } from "./move.ts";
import type { Player } from "./players.ts";
import type { Stage } from "./stage.ts";
import { parseComponents, readStoredOrder } from "./stored-order.ts";
import {
  drawFrom,
  drawHeld,
  drawOther,
  drawOwned,
  drawPlayer,
  ownerOf,
  wrappedOf,
} from "./tokens.ts";

/** Prices that often meet, in steps of a millionth of the purse. */
const drawPriceWei = ({ random }: Stage) => BigInt(random.below(8) + 1) * 10n ** 16n;
const daySeconds = 86_400;
const shortestSeconds = 640;

export const listsToken: Move = async (stage) => {
  const found = await drawOwned(stage);
  return found && list(stage, found.owner, found.nft, 1n);
};

export const listsEdition: Move = async (stage) => {
  const found = await drawHeld(stage);
  return found && list(stage, found.owner, found.nft, drawUnits(stage, found.units));
};

const drawUnits = ({ random }: Stage, most: bigint) => 1n + BigInt(random.below(Number(most)));

async function list(stage: Stage, owner: Player, nft: Nft, quantity: bigint) {
  const order = await compose(stage, owner, nft, quantity);
  if (order === undefined) return "not approved";
  const seaport = await owner.trader.sign(order);
  const { chainId } = stage;
  const answer = await owner.trader.post("/v1/orders/asks", { chainId, seaport });
  return keep(stage, "listings", answer);
}

/** A listing with times of its own: some begin soon, some end soon. Undefined: the conduit is not approved. */
async function compose(stage: Stage, owner: Player, nft: Nft, quantity: bigint) {
  const { random, clock, venue } = stage;
  const approved = await venue.client.readContract({
    address: nft.contract,
    abi: erc721Abi,
    functionName: "isApprovedForAll",
    args: [owner.address, commonConduit.address],
  });
  if (!approved && random.below(3) > 0) await owner.actor.approves(nft.contract);
  if (!approved && random.below(8) > 0) return undefined;
  const wish = { ...nft, unitPriceWei: drawPriceWei(stage), quantity };
  const order = await owner.trader.compose(wish);
  const startsAt = clock.now() + (random.below(6) === 0 ? random.below(50) : -1);
  const seconds = random.below(4) === 0 ? shortestSeconds + random.below(600) : daySeconds;
  order.components.startTime = `${startsAt}`;
  order.components.endTime = `${startsAt + seconds}`;
  return order;
}

/** One signature over several listings of one maker. */
export const listsInBulk: Move = async (stage) => {
  const { random, chainId } = stage;
  const owner = drawPlayer(stage);
  const nfts = [];
  for (const nft of stage.tokens) {
    if (random.below(3) === 0 && (await ownerOf(stage, nft))?.name === owner.name) nfts.push(nft);
  }
  const found = await Promise.all(nfts.map((nft) => compose(stage, owner, nft, 1n)));
  const orders = found.flatMap((order) => order ?? []);
  if (orders.length === 0) return undefined;
  const hashes = orders.map(({ components }) => orderHash(parseComponents(components)));
  const { root, height, proofs } = bulkOrderTree(hashes);
  const base = await owner.sign(
    signingDigest(bulkOrderHash(root, height), exchangeDomain(chainId)),
  );
  const listings = orders.map(({ components }, index) => ({
    seaport: { parameters: components, signature: bulkSignature(base, index, proofs[index] ?? []) },
  }));
  const { body } = await owner.trader.post("/v1/orders/asks/bulk", { chainId, listings });
  const { results } = z
    .object({ results: z.array(z.looseObject({ askId: z.string().optional() })) })
    .parse(body.data);
  for (const { askId } of results)
    if (askId !== undefined) await remember(stage, "listings", askId);
  return `${results.filter(({ askId }) => askId !== undefined).length} of ${results.length}`;
};

export const bidsOnToken: Move = async (stage) => {
  const found = await drawOwned(stage);
  return found && bid(stage, drawOther(stage, found.owner), { ...found.nft, quantity: 1n });
};

export const bidsOnEdition: Move = async (stage) => {
  const nft = drawFrom(stage, stage.editions);
  const quantity = drawUnits(stage, 3n);
  return nft && bid(stage, drawPlayer(stage), { ...nft, quantity });
};

export const bidsOnCollection: Move = async (stage) => {
  const nft = drawFrom(stage, [...stage.tokens, ...stage.editions]);
  const quantity = drawUnits(stage, 4n);
  return nft && bid(stage, drawPlayer(stage), { contract: nft.contract, quantity });
};

type Wanted = { contract: Address; tokenId?: bigint; quantity: bigint };

async function bid(stage: Stage, bidder: Player, { quantity, ...wanted }: Wanted) {
  const { random } = stage;
  const unitPriceWei = drawPriceWei(stage);
  const neededWei = unitPriceWei * quantity;
  if (random.below(3) > 0) await affords(stage, bidder, neededWei);
  const seconds = random.below(4) === 0 ? shortestSeconds + random.below(600) : daySeconds;
  const answer = await bidder.trader.submitBid({ ...wanted, unitPriceWei, quantity, seconds });
  return keep(stage, "bids", answer);
}

async function affords(stage: Stage, bidder: Player, neededWei: bigint): Promise<void> {
  const { venue, chainId, random } = stage;
  const heldWei = await wrappedOf(stage, bidder);
  if (heldWei < neededWei) await bidder.actor.wraps(neededWei * BigInt(1 + random.below(3)));
  const allowedWei = await venue.client.readContract({
    address: wrappedNative[chainId],
    abi: erc20Abi,
    functionName: "allowance",
    args: [bidder.address, seaport["1.6"]],
  });
  if (allowedWei < neededWei) await bidder.actor.allows(neededWei * BigInt(4 + random.below(6)));
}

const Created = z.object({ askId: z.string().optional(), bidId: z.string().optional() });

async function keep(stage: Stage, side: "listings" | "bids", answer: Answer): Promise<string> {
  if (answer.status !== 201) return `refused ${answer.status} ${answer.body.code}`;
  const { askId, bidId } = Created.parse(answer.body.data);
  await remember(stage, side, askId ?? bidId ?? "");
  return "stored";
}

async function remember(stage: Stage, side: "listings" | "bids", id: string): Promise<void> {
  const { chainId, pipeline, orders } = stage;
  orders.push(await readStoredOrder({ chainId, baseUrl: pipeline.baseUrl }, side, id));
}
