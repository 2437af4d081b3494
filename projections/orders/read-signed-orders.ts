import { sql } from "kysely";
import { concatHex, type Hex, keccak256, stringToHex, toHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { TradeFee, TradeTerms } from "../domain/orders/order-terms.ts";
import type {
  ConsiderationItem,
  OfferItem,
  OrderComponents,
} from "../domain/seaport/order-components.ts";
import { type Observation, type Serialized, serializeBigints } from "../log/append.ts";
import type { Database } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { byteaArray } from "../log/sql-values.ts";

type SubmittedOrder = {
  chainId: ChainId;
  orderHash: Hex;
  components: OrderComponents;
  signature: Hex;
  /** Whether the maker is a contract that confirms the signature (ERC-1271); absent: signed by the maker's key. */
  isContractSigned?: boolean;
  terms: TradeTerms;
  receivedAt: Date;
};

/** The fact of an accepted order. Repeated submissions are one fact, even with another signature. */
export function orderSubmitted(order: SubmittedOrder): Observation {
  const { chainId, orderHash, components, signature, terms } = order;
  return {
    kind: "order_submitted",
    chainId,
    contract: terms.contract,
    identity: keccak256(
      concatHex([stringToHex("order_submitted"), toHex(chainId, { size: 4 }), orderHash]),
    ),
    recordedAt: order.receivedAt,
    fromAddress: components.offerer,
    orderHash,
    amount: terms.quantity,
    ...(terms.tokenId === null ? {} : { tokenId: terms.tokenId }),
    payload: serializeBigints({
      protocol: "seaport-1.6",
      components,
      signature,
      terms,
      ...(order.isContractSigned ? { signedBy: "contract" } : {}),
    }),
  };
}

/** An order that we accepted, as its maker signed it. */
export type AcceptedOrder = {
  components: OrderComponents;
  signature: Hex;
  terms: TradeTerms;
};

/** An order of any marketplace; the signature is null where none published it. */
export type MarketplaceOrder = {
  components: OrderComponents;
  signature: Hex | null;
  terms: Omit<TradeTerms, "fees">;
};

/** Those of the orders that we accepted on the chain, by hash. */
export async function readAcceptedOrders(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
): Promise<Map<Hex, AcceptedOrder>> {
  const { rows } = await sql<{ orderHash: Hex; payload: Serialized<AcceptedOrder> }>`
    select f.order_hash as "orderHash", f.payload
    from log.fact f join log.contract k using (contract_id)
    where f.order_hash = any (${byteaArray(orderHashes)}) and f.kind = ${kindLiteral("order_submitted")}
      and k.chain_id = ${chainId}`.execute(db);
  return new Map(rows.map(({ orderHash, payload }) => [orderHash, acceptedOrder(payload)]));
}

/** Orders of the chain that we accepted or a partner has ever listed, by hash; our own record takes precedence. */
export async function readMarketplaceOrders(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
): Promise<Map<Hex, MarketplaceOrder>> {
  const kinds = kindList("order_submitted", "partner_listing_seen");
  const { rows } = await sql<{ orderHash: Hex; payload: Serialized<MarketplaceOrder> }>`
    select distinct on (f.order_hash) f.order_hash as "orderHash", f.payload
    from log.fact f join log.contract k using (contract_id)
    where f.order_hash = any (${byteaArray(orderHashes)}) and f.kind in ${kinds} and k.chain_id = ${chainId}
    order by f.order_hash, f.kind desc, f.payload ->> 'signature' is null, f.position`.execute(db);
  return new Map(
    rows.map(({ orderHash, payload: { components, signature, terms } }) => [
      orderHash,
      { components: componentsOf(components), signature, terms: termsOf(terms) },
    ]),
  );
}

function acceptedOrder({ components, signature, terms }: Serialized<AcceptedOrder>): AcceptedOrder {
  const fees = terms.fees.map((fee): TradeFee => ({ ...fee, unitWei: BigInt(fee.unitWei) }));
  return {
    signature,
    components: componentsOf(components),
    terms: { ...termsOf(terms), fees },
  };
}

export function componentsOf(components: Serialized<OrderComponents>): OrderComponents {
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

function termsOf(terms: Serialized<Omit<TradeTerms, "fees">>): Omit<TradeTerms, "fees"> {
  const { side, contract, standard, tokenId, criteria } = terms;
  return {
    side,
    contract,
    standard,
    ...(criteria && { criteria }),
    tokenId: tokenId === null ? null : BigInt(tokenId),
    quantity: BigInt(terms.quantity),
    unitPriceWei: BigInt(terms.unitPriceWei),
    sellerNetWei: BigInt(terms.sellerNetWei),
  };
}

function itemOf(item: Serialized<OfferItem>): OfferItem {
  return {
    ...item,
    identifierOrCriteria: BigInt(item.identifierOrCriteria),
    startAmount: BigInt(item.startAmount),
    endAmount: BigInt(item.endAmount),
  };
}

function legOf(leg: Serialized<ConsiderationItem>): ConsiderationItem {
  return { ...itemOf(leg), recipient: leg.recipient };
}
