import { setImmediate as turn } from "node:timers/promises";
import type { Hex } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { OrderStatus } from "../../../../projections/domain/orders/order-status.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import { orderHash } from "../../../../projections/domain/seaport/order-hash.ts";
import { type SubmittedTwin, twinSubmitted } from "../../../../projections/facts/twin-facts.ts";
import { appendObservations } from "../../../../projections/log/append.ts";
import {
  readTwins,
  type StoredTwin,
} from "../../../../projections/reads/cross-listings/read-twins.ts";
import { unixSeconds } from "../../../../projections/reads/orders/read-shown.ts";
import { readSignedOrder } from "../../../../projections/reads/orders/read-signed-order.ts";
import { parseOrder } from "../intake/order-body-schema.ts";
import type { Market } from "../market.ts";
import { examineTwin, type ParsedTwin, type Unmet } from "./examine-twin.ts";
import { twinPartner } from "./twin-terms.ts";

/** Why a twin is not at its partner. */
export const twinCodes = [
  "partner_rejected",
  "partner_unavailable",
  "partner_requirements_unmet",
] as const;
type TwinCode = (typeof twinCodes)[number];

/** How it stands with a twin. `queued`: it is posted as soon as the partner takes it. */
export type CrossListing = {
  status: StoredTwin["status"];
  /** The twin's; null where what was sent is no order. */
  orderHash: Hex | null;
  /** Null unless it is rejected. */
  code: TwinCode | null;
  message: string;
};

/** A listing that stands in the market's own book, and the order that came with it. */
export type SentTwin = { orderHash: Hex; status: OrderStatus; twin: unknown };

type Found = Rejection<TwinCode> | ParsedTwin;

/**
 * Takes in the twins of listings that are in the book, and tells how it stands with each, in the order given. One that
 * was taken in before is told as it stands now.
 */
export async function submitTwins(
  market: Market,
  { chainId, now }: { chainId: ChainId; now: Date },
  sent: readonly SentTwin[],
): Promise<CrossListing[]> {
  if (sent.length === 0) return [];
  const hashes = [...new Set(sent.map((one) => one.orderHash))];
  const db = market.writer;
  const [listings, before] = await Promise.all([
    readSignedOrder(db, chainId, hashes),
    readTwins(db, chainId, hashes),
  ]);
  const parsed = sent.map((one): Found => {
    const listing = listings.get(one.orderHash);
    if (listing === undefined) throw new Error(`the listing ${one.orderHash} is not in the log`);
    const body = parseOrder(one.twin, { chainId, envelope: {} });
    if (isRejection(body)) return reject("partner_requirements_unmet", body.message);
    const twinHash = orderHash(body.components);
    const { components } = listing;
    return { chainId, twinHash, body, now, listing: { orderHash: one.orderHash, components } };
  });
  const refused = await takeIn(market, sent, parsed, before);
  const stored = await readTwins(db, chainId, hashes);
  return sent.map((one, index) => {
    const twin = parsed[index];
    const twinHash = twin === undefined || isRejection(twin) ? null : twin.twinHash;
    const refusal = refused.get(index);
    if (refusal !== undefined) return rejected(twinHash, refusal);
    return told(one, stored, twinHash, now);
  });
}

/** Appends those that are new and meet what their partner requires. Returns why others do not, by their place. */
async function takeIn(
  market: Market,
  sent: readonly SentTwin[],
  parsed: readonly Found[],
  before: readonly StoredTwin[],
): Promise<Map<number, Rejection<TwinCode>>> {
  const found = await Promise.all(
    sent.map(async (one, index) => {
      const twin = parsed[index];
      if (twin === undefined || isRejection(twin)) return twin;
      if (before.some((known) => isTwin(known, twin))) return undefined;
      // To recover a signer takes a while: others have their turn between two.
      await turn();
      return examine(market, one, twin);
    }),
  );
  const facts = found.flatMap((one) =>
    one === undefined || isRejection(one) ? [] : [twinSubmitted(one)],
  );
  if (facts.length > 0) await appendObservations(market.writer, facts);
  return new Map(found.flatMap((one, index) => (isRejection(one) ? [[index, one]] : [])));
}

const isTwin = (known: StoredTwin, { twinHash, listing }: ParsedTwin): boolean =>
  known.twinHash === twinHash && known.orderHash === listing.orderHash;

async function examine(
  market: Market,
  { status }: SentTwin,
  twin: ParsedTwin,
): Promise<SubmittedTwin | Rejection<TwinCode>> {
  const partner = twinPartner(market.partners, twin.chainId);
  if (partner === null) {
    return reject("partner_unavailable", "Listings are not passed on to the partner here");
  }
  return isOpen(status) ? examineTwin(market, partner, twin) : endedWith(status);
}

const isOpen = (status: OrderStatus): boolean => status === "active" || status === "inactive";

const endedWith = (status: OrderStatus): Unmet =>
  reject("partner_requirements_unmet", `The listing is ${status}: its twin is not posted`);

function told(
  { orderHash: listed, status }: SentTwin,
  stored: readonly StoredTwin[],
  twinHash: Hex | null,
  now: Date,
): CrossListing {
  const own = stored.filter((one) => one.orderHash === listed);
  const twin = own.find((one) => one.twinHash === twinHash);
  if (twin === undefined) throw new Error(`the twin ${twinHash} is not in the log`);
  const { components, code, message } = twin;
  if (twin.status === "posted") {
    return { status: "posted", orderHash: twinHash, code: null, message: "At the partner" };
  }
  if (twin.status === "rejected") {
    const why = twinCodes.find((known) => known === code) ?? "partner_rejected";
    return rejected(twinHash, reject(why, message ?? ""));
  }
  if (!isOpen(status)) return rejected(twinHash, endedWith(status));
  if (components.endTime <= unixSeconds(now)) {
    return rejected(twinHash, reject("partner_requirements_unmet", "The twin has ended"));
  }
  if (own[0] !== twin) {
    const words = `The listing has a later twin, ${own[0]?.twinHash}`;
    return rejected(twinHash, reject("partner_requirements_unmet", words));
  }
  const words = "To be posted to the partner";
  return { status: "queued", orderHash: twinHash, code: null, message: words };
}

const rejected = (orderHash: Hex | null, why: Rejection<TwinCode>): CrossListing => ({
  ...{ status: "rejected", orderHash },
  ...{ code: why.rejected, message: why.message },
});
