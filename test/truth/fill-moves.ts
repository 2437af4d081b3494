import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import type { Fixture } from "./fixture.ts";
import type { Move } from "./move.ts";
import type { Player } from "./players.ts";
import { nftOf, readShown, type StoredOrder } from "./stored-order.ts";
import {
  drawFrom,
  drawOther,
  drawOwned,
  drawPlayer,
  ownerOf,
  playerOf,
  unitsOf,
} from "./tokens.ts";

/** Buys through the API what it shows as active, sometimes a part. */
export const buys: Move = async (fixture) => {
  const order = await drawOrder(fixture, "listings", "active");
  const maker = order && playerOf(fixture, order.components.offerer);
  if (order === undefined || maker === undefined) return undefined;
  const buyer = drawPerson(fixture, maker);
  const { fillable } = await readShown(source(fixture), order);
  const amount =
    fixture.random.below(2) === 0 ? {} : { amount: Number(drawUnits(fixture, fillable)) };
  const { status, body } = await buyer.trader.buyData(order.id, amount);
  if (status !== 200) return `refused ${status} ${body.code}`;
  return (await buyer.trader.buys(order.id, amount)).status;
};

/** Sells through the API into a bid that it shows as active. */
export const accepts: Move = async (fixture) => {
  const order = await drawOrder(fixture, "bids", "active");
  const sold = order && (await drawSold(fixture, order));
  if (order === undefined || sold === undefined || sold.seller.name === "wallet") return undefined;
  const { trader } = sold.seller;
  const { status, body } = await trader.acceptData(order.id, sold.nft.tokenId);
  if (status !== 200) return `refused ${status} ${body.code}`;
  return (await trader.accepts(order.id, sold.nft.tokenId)).receipt.status;
};

/** Fills a stored listing without the API, whatever its status. */
export const buysElsewhere: Move = async (fixture) => {
  const order = drawFrom(
    fixture,
    fixture.orders.filter(({ side }) => side === "listings"),
  );
  if (order === undefined) return undefined;
  const units = drawUnits(fixture, nftOf(order).quantity);
  await drawPlayer(fixture).actor.buys(order, { units });
  return "filled";
};

/** Sells into a stored bid without the API. */
export const sellsElsewhere: Move = async (fixture) => {
  const order = drawFrom(
    fixture,
    fixture.orders.filter(({ side }) => side === "bids"),
  );
  const sold = order && (await drawSold(fixture, order));
  if (order === undefined || sold === undefined) return undefined;
  await sell(sold.seller, order, sold.nft);
  return "filled";
};

function sell({ actor }: Player, order: StoredOrder, { tokenId }: Nft) {
  return nftOf(order).byCriteria
    ? actor.acceptsForCollection(order, {
        tokenId,
        ...(order.tokenSet && { tokenIds: order.tokenSet }),
      })
    : actor.accepts(order);
}

/** A trade by orders that the API does not have: a bidder's allowance shrinks without an event. */
export const tradesUnknownOrder: Move = async (fixture) => {
  const found = await drawOwned(fixture);
  if (found === undefined) return undefined;
  const { nft, owner } = found;
  const other = drawOther(fixture, owner);
  const priceWei = BigInt(fixture.random.below(8) + 1) * 10n ** 16n;
  for (const { address } of [owner, other]) fixture.unknownTraders.add(address.toLowerCase());
  if (fixture.random.below(3) === 0) {
    await other.actor.buys(await owner.actor.lists(nft, { priceWei }));
    return "listing filled";
  }
  await owner.actor.accepts(await other.actor.offers(nft, { priceWei }));
  return "bid filled";
};

/** Buys a token and transfers it in the same block. */
export const buysAndMoves: Move = async (fixture) => {
  const order = await drawOrder(fixture, "listings", "active");
  const maker = order && playerOf(fixture, order.components.offerer);
  if (order === undefined || maker === undefined) return undefined;
  const buyer = drawPerson(fixture, maker);
  const nft = nftOf(order);
  return inOneBlock(fixture, [
    () => buyer.actor.buys(order, { units: 1n }),
    () => buyer.actor.transfers(nft, drawOther(fixture, buyer.name === maker.name ? buyer : maker)),
  ]);
};

/** A fill and a transaction that invalidates the order, in the same block. */
export const racesFill: Move = async (fixture) => {
  const order = await drawOrder(fixture, "listings", "active");
  const maker = order && playerOf(fixture, order.components.offerer);
  if (order === undefined || maker === undefined) return undefined;
  const against = fixture.random.pick<() => Promise<unknown>>([
    () => maker.actor.cancels(order),
    () => maker.actor.transfers(nftOf(order), drawOther(fixture, maker)),
    () => maker.actor.revokes(nftOf(order).contract),
    () => maker.actor.incrementsCounter(),
  ]);
  const buy = () => drawPerson(fixture, maker).actor.buys(order, { units: 1n });
  return inOneBlock(fixture, fixture.random.below(2) === 0 ? [buy, against] : [against, buy]);
};

/** Sends without waiting and mines once; the later transaction may revert. */
async function inOneBlock(
  { marketContext }: Fixture,
  sends: readonly (() => Promise<unknown>)[],
): Promise<string> {
  const { client } = marketContext;
  const Pool = z.object({ pending: z.string() });
  const inPool = async () =>
    Number(Pool.parse(await client.request({ method: "txpool_status" } as never)).pending);
  await client.setAutomine(false);
  const sent: Promise<string>[] = [];
  let settled = 0;
  for (const send of sends) {
    const outcome = send().then(
      () => "filled",
      () => "reverted",
    );
    sent.push(outcome);
    void outcome.then(() => {
      settled += 1;
    });
    // A transaction that the node rejected is settled already.
    while ((await inPool()) + settled < sent.length) await delay(2);
  }
  await client.mine({ blocks: 1 });
  const outcomes = await Promise.all(sent);
  await client.setAutomine(true);
  return outcomes.join();
}

/** A random order that the API shows with this status. */
async function drawOrder(fixture: Fixture, side: StoredOrder["side"], status: string) {
  const orders = fixture.orders.filter((order) => order.side === side);
  const start = fixture.random.below(orders.length);
  for (const order of [...orders.slice(start), ...orders.slice(0, start)]) {
    if ((await readShown(source(fixture), order)).status === status) return order;
  }
  return undefined;
}

/** A token that the bid accepts, and its owner. */
async function drawSold(
  fixture: Fixture,
  order: StoredOrder,
): Promise<{ nft: Nft; seller: Player } | undefined> {
  const wanted = nftOf(order);
  const isWanted = (tokenId: bigint) =>
    order.tokenSet?.includes(tokenId) ?? (wanted.byCriteria || tokenId === wanted.tokenId);
  const some = [...fixture.tokens, ...fixture.editions].filter(
    ({ contract, tokenId }) => contract === wanted.contract && isWanted(tokenId),
  );
  const nft = drawFrom(fixture, some);
  if (nft === undefined) return undefined;
  const seller = nft.standard === "erc721" ? await ownerOf(fixture, nft) : drawPlayer(fixture);
  if (seller === undefined || seller.address.toLowerCase() === order.components.offerer)
    return undefined;
  if (nft.standard === "erc1155" && (await unitsOf(fixture, seller, nft)) === 0n) return undefined;
  return { nft, seller };
}

/** A player that is not the smart wallet. */
function drawPerson(fixture: Fixture, except: Player): Player {
  const [first = except, ...rest] = fixture.people.filter(({ name }) => name !== except.name);
  return fixture.random.pick([first, ...rest]);
}

const drawUnits = ({ random }: Fixture, most: bigint) => 1n + BigInt(random.below(Number(most)));

const source = ({ chainId, pipeline }: Fixture) => ({ chainId, baseUrl: pipeline.baseUrl });
