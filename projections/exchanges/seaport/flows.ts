import { type Address, zeroAddress } from "viem";
import type { NftStandard } from "../model/trade.ts";
import { type FulfilledOrder, isNft, type ReceivedItem, standardOf } from "./order-facts.ts";

/** Units of an NFT that changed hands in a settlement. */
export type Flow = {
  readonly token: Address;
  readonly identifier: string;
  readonly standard: NftStandard;
  units: bigint;
  /** The order that offers them; null: the fulfiller gave them. */
  readonly giver: FulfilledOrder | null;
  /** The order that asks for them; null: the fulfiller took them. */
  readonly taker: FulfilledOrder | null;
  readonly recipient: Address;
};

/** The orders of a settlement that share NFTs, and the flows of those NFTs. */
export type OrderGroup = {
  readonly orders: readonly FulfilledOrder[];
  readonly flows: readonly Flow[];
};

type Supply = {
  token: Address;
  identifier: string;
  standard: NftStandard;
  giver: FulfilledOrder;
  left: bigint;
};

/** NFTs of a settlement: what an order asks for is taken from the offered NFTs in log order, the rest from the fulfiller. */
function nftFlows(settlement: readonly FulfilledOrder[]): Flow[] {
  const flows: Flow[] = [];
  const supplies = settlement.flatMap(suppliesOf);
  for (const taker of settlement) {
    for (const item of taker.consideration) {
      if (isNft(item)) take(flows, supplies, taker, item);
    }
  }
  for (const { token, identifier, standard, giver, left } of supplies) {
    const { recipient } = giver;
    if (recipient === zeroAddress) continue; // in a match of 1.1 unclaimed NFTs stay with the offerer
    add(flows, { token, identifier, standard, units: left, giver, taker: null, recipient });
  }
  return flows;
}

function suppliesOf(giver: FulfilledOrder): Supply[] {
  return giver.offer.filter(isNft).map((item) => {
    const { token, identifier, amount } = item;
    return { token, identifier, standard: standardOf(item), giver, left: BigInt(amount) };
  });
}

function take(flows: Flow[], supplies: Supply[], taker: FulfilledOrder, item: ReceivedItem): void {
  const { token, identifier, recipient } = item;
  const standard = standardOf(item);
  let units = BigInt(item.amount);
  for (const supply of supplies) {
    const taken = takeFrom(supply, token, identifier, units);
    units -= taken;
    const { giver } = supply;
    add(flows, { token, identifier, standard, units: taken, giver, taker, recipient });
  }
  add(flows, { token, identifier, standard, units, giver: null, taker, recipient });
}

function takeFrom(supply: Supply, token: Address, identifier: string, units: bigint): bigint {
  if (supply.token !== token || supply.identifier !== identifier) return 0n;
  const taken = supply.left < units ? supply.left : units;
  supply.left -= taken;
  return taken;
}

/** Items that repeat an NFT between the same two orders and towards the same recipient are one flow. */
function add(flows: Flow[], flow: Flow): void {
  if (flow.units === 0n) return;
  const same = flows.find(
    ({ token, identifier, giver, taker, recipient }) =>
      token === flow.token &&
      identifier === flow.identifier &&
      giver === flow.giver &&
      taker === flow.taker &&
      recipient === flow.recipient,
  );
  if (same) same.units += flow.units;
  else flows.push(flow);
}

/**
 * Groups of a settlement's orders that share no NFT. Orders without any NFT belong to the group if there is only one.
 * Matched orders fill each other completely: where a fulfiller gave something, each order was filled separately.
 */
export function groupOrders(settlement: readonly FulfilledOrder[]): OrderGroup[] {
  const flows = nftFlows(settlement);
  if (settlement.length === 1) return flows.length > 0 ? [{ orders: settlement, flows }] : [];
  if (flows.some(({ giver }) => giver === null)) {
    return settlement.flatMap((order) => groupOrders([order]));
  }
  const groups: { orders: Set<FulfilledOrder>; flows: Flow[] }[] = [];
  for (const flow of flows) {
    const ends = [flow.giver, flow.taker].filter((order) => order !== null);
    const merged = { orders: new Set(ends), flows: [flow] };
    for (const group of groups.filter(({ orders }) => ends.some((end) => orders.has(end)))) {
      for (const order of group.orders) merged.orders.add(order);
      merged.flows.unshift(...group.flows);
      groups.splice(groups.indexOf(group), 1);
    }
    groups.push(merged);
  }
  if (groups.length === 1) return [{ orders: settlement, flows }];
  return groups.map((group) => ({
    orders: settlement.filter((order) => group.orders.has(order)),
    flows: flows.filter((flow) => group.flows.includes(flow)),
  }));
}
