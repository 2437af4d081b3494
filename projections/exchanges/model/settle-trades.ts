import { type Address, maxUint256 } from "viem";
import { burnAddresses } from "#projections/domain/burn-address.ts";
import {
  type Exchange,
  type Fill,
  isUnresolved,
  type NftStandard,
  type TokenTransfer,
  type Trade,
  type TradedItem,
  type UnresolvedEvent,
  type UnresolvedReason,
} from "./exchange.ts";

/** A fill with its exchange, and its place among that exchange's fills of the transaction. */
export type Placed<One> = {
  readonly exchange: Exchange;
  readonly place: number;
  /** Items of the exchange's fills before it. */
  readonly itemsBefore: number;
  readonly fill: One;
};

type SettledItem = Omit<TradedItem, "via" | "standard"> & {
  readonly standard: NftStandard;
  /** Who took the trade for the buyer, a router or an aggregator; null: the buyer did. */
  readonly via: Address | null;
};
export type SettledTrade = Omit<Trade, "items"> & { readonly items: readonly SettledItem[] };

/** A price beyond it is no price: more than there is of any currency that something is worth. */
export const MAX_WEI = 10n ** 27n;

/**
 * Decides which of a transaction's fills are sales: something was paid, the token moved as the event says, and no
 * other event told the same trade. The buyer of a sale is who has the token in the end, unless it was sold on.
 */
export function settleTrades(
  fills: readonly Placed<Fill>[],
  transfers: readonly TokenTransfer[],
): Placed<SettledTrade | UnresolvedEvent>[] {
  const delivered = new Map<TradedItem, TokenTransfer>();
  const used = new Set<TokenTransfer>();
  const checked = new Map<Fill, Fill>();
  for (const { exchange, fill } of fills.toSorted((a, b) => a.fill.logIndex - b.fill.logIndex)) {
    const unresolved = isUnresolved(fill)
      ? null
      : (unitsProblem(fill) ??
        priceProblem(exchange, fill) ??
        deliver(exchange, fill, { transfers, used, delivered }));
    checked.set(fill, unresolved === null ? fill : { unresolved, logIndex: fill.logIndex });
  }
  return fills.map(({ fill, ...placed }) => {
    const result = checked.get(fill) ?? fill;
    if (isUnresolved(result)) return { ...placed, fill: result };
    const items = result.items.map((item) =>
      withFinalBuyer(item, delivered.get(item), transfers, used),
    );
    return { ...placed, fill: { ...result, items } };
  });
}

/** Whoever deploys a token decides what its transfers say; the sum of several may be more than any token has. */
function unitsProblem({ items }: Trade): UnresolvedReason | null {
  return items.some(({ units }) => units <= 0n || units > maxUint256) ? "units_out_of_range" : null;
}

function priceProblem(exchange: Exchange, { totalWei, fees }: Trade): UnresolvedReason | null {
  if (totalWei === 0n) return "zero_price";
  if (!isEmittedAsIs(exchange)) return null;
  const feeWei = fees.reduce((sum, { wei }) => sum + wei, 0n);
  return totalWei < 0n || totalWei > MAX_WEI || feeWei > totalWei ? "price_out_of_range" : null;
}

/** Seaport settles what its events say, whatever the amounts; other exchanges' events are checked. */
const isEmittedAsIs = ({ factKinds }: Exchange) => factKinds === undefined;

const storesTransfers = ({ sources }: Exchange) =>
  sources.some(({ eventsWithTransfers = [] }) => eventsWithTransfers.length > 0);

type Deliveries = {
  readonly transfers: readonly TokenTransfer[];
  readonly used: Set<TokenTransfer>;
  readonly delivered: Map<TradedItem, TokenTransfer>;
};

/** Assigns a transfer to each item. An exchange whose transactions are stored with transfers sells nothing without. */
function deliver(
  exchange: Exchange,
  trade: Trade,
  deliveries: Deliveries,
): UnresolvedReason | null {
  const isStrict = storesTransfers(exchange);
  for (const [index, item] of trade.items.entries()) {
    const unresolved = deliverItem(item, trade.logIndex, deliveries);
    if (unresolved === null || !isStrict) continue;
    release(trade.items.slice(0, index), deliveries);
    return unresolved;
  }
  return null;
}

/** What an unresolved trade was given may be another's. */
function release(items: readonly TradedItem[], { used, delivered }: Deliveries): void {
  for (const item of items) {
    const transfer = delivered.get(item);
    if (transfer !== undefined) used.delete(transfer);
    delivered.delete(item);
  }
}

function deliverItem(
  item: TradedItem,
  logIndex: number,
  deliveries: Deliveries,
): UnresolvedReason | null {
  const { transfers, used, delivered } = deliveries;
  const transfer = item.transfer ?? transferOf(item, logIndex, deliveries);
  if (transfer === undefined) return undeliveredReason(item, transfers);
  if (used.has(transfer)) return "duplicate";
  used.add(transfer);
  delivered.set(item, transfer);
  return null;
}

function undeliveredReason(
  item: TradedItem,
  transfers: readonly TokenTransfer[],
): UnresolvedReason {
  return transfers.some((one) => isOf(one, item)) ? "transfer_mismatch" : "transfer_missing";
}

/** The transfer between the parties that is nearest to the event, an unused one first. */
function transferOf(
  item: TradedItem,
  logIndex: number,
  { transfers, used }: Pick<Deliveries, "transfers" | "used">,
): TokenTransfer | undefined {
  const between = transfers
    .filter((one) => isOf(one, item) && one.from === item.seller && one.to === item.buyer)
    .toSorted((a, b) => Math.abs(a.logIndex - logIndex) - Math.abs(b.logIndex - logIndex));
  return between.find((one) => !used.has(one)) ?? between[0];
}

function withFinalBuyer(
  item: TradedItem,
  delivery: TokenTransfer | undefined,
  transfers: readonly TokenTransfer[],
  used: ReadonlySet<TokenTransfer>,
): SettledItem {
  const standard = item.standard ?? (delivery?.standard === "erc1155" ? "erc1155" : "erc721");
  if (delivery === undefined || item.isHeldForBuyer) {
    return { ...item, standard, via: item.via ?? null };
  }
  const later = transfers.slice(transfers.indexOf(delivery) + 1).filter((one) => isOf(one, item));
  const buyer = finalHolder(delivery.to, later, used);
  const via = item.via ?? item.buyer;
  return { ...item, standard, buyer, via: via === buyer ? null : via };
}

/** Follows the token from hand to hand. A transfer that delivered another sale sold it on; a burn has no receiver. */
function finalHolder(
  first: Address,
  later: readonly TokenTransfer[],
  used: ReadonlySet<TokenTransfer>,
): Address {
  let holder = first;
  for (const one of later) {
    if (one.from !== holder) continue;
    if (used.has(one)) break;
    if (!burnAddresses.has(one.to)) holder = one.to;
  }
  return holder;
}

const isOf = ({ contract, tokenId }: TokenTransfer, item: TradedItem) =>
  contract === item.contract && tokenId === item.tokenId;
