import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";
import type { TradeFee, TradeTerms } from "../../domain/orders/trade-terms.ts";
import type {
  ConsiderationItem,
  OfferItem,
  OrderComponents,
} from "../../domain/seaport/order-components.ts";
import { factKind } from "../../log/fact-kind.ts";
import { bytes } from "./read-shown.ts";

/** An accepted order as its maker signed it. */
export type StoredOrder = {
  components: OrderComponents;
  signature: Hex;
  terms: TradeTerms;
};

/** The same of whichever marketplace tells of it; the signature is null where none told it. */
export type ToldOrder = {
  components: OrderComponents;
  signature: Hex | null;
  terms: Omit<TradeTerms, "fees">;
};

/** As `orderSubmitted` writes it: integers are text there. */
export type Plain<Value> = Value extends bigint
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : Value extends object
      ? { [Key in keyof Value]: Plain<Value[Key]> }
      : Value;

/** Those of the orders that were accepted on the chain, by hash. */
export async function readSignedOrder(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
): Promise<Map<Hex, StoredOrder>> {
  const { rows } = await sql<{ orderHash: Hex; payload: Plain<StoredOrder> }>`
    select f.order_hash as "orderHash", f.payload
    from log.fact f join log.contract k using (contract_id)
    where f.order_hash = any (${bytes(orderHashes)}) and f.kind = ${factKind.order_submitted}
      and k.chain_id = ${chainId}`.execute(db);
  return new Map(rows.map(({ orderHash, payload }) => [orderHash, storedOrder(payload)]));
}

/** Orders of the chain that the house accepted or a partner shows or showed, by hash; the house's own word is the first. */
export async function readToldOrders(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
): Promise<Map<Hex, ToldOrder>> {
  const kinds = sql`(${factKind.order_submitted}, ${factKind.partner_listing_seen})`;
  const { rows } = await sql<{ orderHash: Hex; payload: Plain<ToldOrder> }>`
    select distinct on (f.order_hash) f.order_hash as "orderHash", f.payload
    from log.fact f join log.contract k using (contract_id)
    where f.order_hash = any (${bytes(orderHashes)}) and f.kind in ${kinds} and k.chain_id = ${chainId}
    order by f.order_hash, f.kind desc, f.payload ->> 'signature' is null, f.position`.execute(db);
  return new Map(
    rows.map(({ orderHash, payload: { components, signature, terms } }) => [
      orderHash,
      { components: componentsOf(components), signature, terms: termsOf(terms) },
    ]),
  );
}

function storedOrder({ components, signature, terms }: Plain<StoredOrder>): StoredOrder {
  const fees = terms.fees.map((fee): TradeFee => ({ ...fee, unitWei: BigInt(fee.unitWei) }));
  return {
    signature,
    components: componentsOf(components),
    terms: { ...termsOf(terms), fees },
  };
}

export function componentsOf(components: Plain<OrderComponents>): OrderComponents {
  return {
    ...components,
    offer: components.offer.map(itemOf),
    consideration: components.consideration.map(legOf),
    startTime: BigInt(components.startTime),
    endTime: BigInt(components.endTime),
    salt: BigInt(components.salt),
    counter: BigInt(components.counter),
  };
}

function termsOf(terms: Plain<Omit<TradeTerms, "fees">>): Omit<TradeTerms, "fees"> {
  const { side, contract, standard, tokenId } = terms;
  return {
    ...{ side, contract, standard },
    tokenId: tokenId === null ? null : BigInt(tokenId),
    quantity: BigInt(terms.quantity),
    unitPriceWei: BigInt(terms.unitPriceWei),
    sellerNetWei: BigInt(terms.sellerNetWei),
  };
}

function itemOf(item: Plain<OfferItem>): OfferItem {
  return {
    ...item,
    identifierOrCriteria: BigInt(item.identifierOrCriteria),
    startAmount: BigInt(item.startAmount),
    endAmount: BigInt(item.endAmount),
  };
}

function legOf(leg: Plain<ConsiderationItem>): ConsiderationItem {
  return { ...itemOf(leg), recipient: leg.recipient };
}
