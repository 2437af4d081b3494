import { type Address, type Hex, numberToHex } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import type { Database } from "#projections/log/database.ts";
import { readTokenSets } from "#projections/orders/token-sets.ts";
import { getJson, until } from "../support/database/pipeline.ts";

/** An order that the API accepted, as its components endpoint shows it. */
export type StoredOrder = {
  side: "listings" | "bids";
  id: string;
  orderHash: Hex;
  components: OrderComponents;
  signature: Hex;
  /** Of a bid on a set of tokens, from the log. */
  tokenSet?: readonly bigint[];
  /** Number of the comparison that first showed it as ended; absent: it may be filled, now or again. */
  endedAt?: number | undefined;
  /** What the last comparison showed of it. */
  lastShown?: Shown;
};

/** What the API shows of an order. Units; `fillable` of listings only. */
export type Shown = {
  status: string;
  reason: string | null;
  filled: bigint;
  remaining: bigint;
  fillable: bigint;
};

const address = z.string().transform((text) => text as Address);
const hex = z.string().transform((text) => text as Hex);
const integer = z.string().transform(BigInt);
const item = {
  itemType: z.number(),
  token: address,
  identifierOrCriteria: integer,
  startAmount: integer,
  endAmount: integer,
};
const Components = z.object({
  offerer: address,
  zone: address,
  offer: z.array(z.object(item)),
  consideration: z.array(z.object({ ...item, recipient: address })),
  orderType: z.number(),
  startTime: integer,
  endTime: integer,
  zoneHash: hex,
  salt: integer,
  conduitKey: hex,
  counter: integer,
});
const Signed = z.object({ orderHash: hex, signature: hex, components: Components });

/** Components as they are on the wire. */
export const parseComponents = (wire: unknown): OrderComponents => Components.parse(wire);

const units = z.number().transform(BigInt);
const Row = z.object({
  status: z.string(),
  invalidReason: z.string().nullish(),
  inactiveReason: z.string().nullish(),
  quantityFilled: units,
  quantityRemaining: units,
  quantityFillable: units.optional(),
});

type Source = { baseUrl: string; chainId: ChainId };

/** `db` holds the tokens of sets, which no answer lists. */
export async function readStoredOrder(
  { baseUrl, chainId, db }: Source & { db: Database },
  side: StoredOrder["side"],
  id: string,
): Promise<StoredOrder> {
  const kind = side === "listings" ? "asks" : "bids";
  // The API may accept an order before the projections show it.
  const data = await until(`${id} to be shown`, async () => {
    const path = `/v1/orders/${kind}/${id}/components?chainId=${chainId}`;
    return (await getJson(baseUrl, path)).body.data;
  });
  const signed = Signed.parse(data);
  const { byCriteria, contract, tokenId } = nftOf(signed);
  if (!byCriteria || tokenId === 0n) return { side, id, ...signed };
  const root = numberToHex(tokenId, { size: 32 });
  const tokenSet = (await readTokenSets(db, { chainId, contract }, [root])).get(root);
  if (tokenSet === undefined) throw new Error(`${id} is for a set that the log does not have`);
  return { side, id, ...signed, tokenSet };
}

export async function readShown(
  { baseUrl, chainId }: Source,
  { side, id }: StoredOrder,
): Promise<Shown> {
  const { body } = await getJson(baseUrl, `/v1/${side}/${id}?chainId=${chainId}`);
  return parseShown(Row.parse(body.data));
}

const Page = z.object({
  data: z.array(Row.extend({ askId: z.string().optional(), bidId: z.string().optional() })),
  meta: z.object({ next_cursor: z.string().nullable() }),
});

/** What the lists show, by id. Orders of other statuses are absent. */
export async function readListed(
  { baseUrl, chainId }: Source,
  side: StoredOrder["side"],
  status: "active" | "inactive",
): Promise<Map<string, Shown>> {
  const shown = new Map<string, Shown>();
  let cursor: string | null = null;
  do {
    const from: string = cursor === null ? "" : `&cursor=${cursor}`;
    const path = `/v1/${side}?chainId=${chainId}&status=${status}&per_page=100${from}`;
    const { data, meta } = Page.parse((await getJson(baseUrl, path)).body);
    for (const row of data) shown.set(row.askId ?? row.bidId ?? "", parseShown(row));
    cursor = meta.next_cursor;
  } while (cursor !== null);
  return shown;
}

function parseShown(row: z.output<typeof Row>): Shown {
  return {
    status: row.status,
    reason: row.invalidReason ?? row.inactiveReason ?? null,
    filled: row.quantityFilled,
    remaining: row.quantityRemaining,
    fillable: row.quantityFillable ?? row.quantityRemaining,
  };
}

/** The NFT's item, and how many units of it were signed for. `tokenId` of a set is its root, of a collection 0. */
export function nftOf({ components }: Pick<StoredOrder, "components">) {
  const item = [...components.offer, ...components.consideration].find(
    ({ itemType }) => itemType >= 2,
  );
  if (item === undefined) throw new TypeError("an order without an NFT");
  const standard = item.itemType % 2 === 0 ? "erc721" : "erc1155";
  const byCriteria = item.itemType >= 4;
  return {
    standard,
    byCriteria,
    contract: item.token,
    tokenId: item.identifierOrCriteria,
    quantity: item.startAmount,
  } as const;
}
