import type { Address } from "viem";
import { z } from "zod";
import { type ListingViewContext, listingViewOf } from "#api/v1/orders/sides.ts";
import type { ChainId } from "#chains/index.ts";
import { readCollectionNames } from "#projections/collections/find-collection.ts";
import { burnAddresses } from "#projections/domain/burn-address.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Point } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { readPastTokens } from "#projections/tokens/read-past-token.ts";
import { readPastWalletTokens } from "#projections/tokens/read-past-wallet.ts";
import {
  readWalletTokenDetails,
  type WalletFilter,
  type WalletToken,
  type WalletTokenCursor,
  type WalletTokenDetails,
} from "#projections/tokens/read-wallet-tokens.ts";
import {
  type CursorScope,
  cursorInteger,
  cursorPageOf,
  cursorRefusals,
  cutPage,
  pageFields,
  type RowFields,
  rowFields,
  uncountedMeta,
  withFields,
} from "../http/page.ts";
import { contractsOfQuery } from "./collection-reference.ts";
import {
  presentOwnership,
  presentToken,
  Token,
  TokenOwnership,
  tokenPartsOf,
} from "./collections/token.ts";
import { route } from "./context.ts";
import type { MediaLinks } from "./media-links.ts";
import { chainId, chainRefusals, collectionKey, wallet } from "./parameters.ts";
import {
  at,
  foldPast,
  metaAt,
  pointMeta,
  pointOf,
  pointParts,
  pointRefusals,
  pointScope,
} from "./point.ts";
import { uint256Text } from "./wire.ts";

/** A token that a wallet holds. */
export const HeldToken = Token.extend({
  units: uint256Text.meta({ description: "Units that the wallet holds; 1 of an ERC-721 token." }),
}).meta({ id: "HeldToken" });

export function presentHeld(
  { held, collection, ...token }: WalletTokenDetails,
  { chainId, media, ...view }: ListingViewContext & { chainId: ChainId; media: MediaLinks },
): z.output<typeof HeldToken> {
  const named = {
    collection,
    chainId,
    view,
    media: { ...media, isList: true },
  };
  return { ...presentToken(token, named), units: String(held.units) };
}

const { per_page, cursor } = pageFields;
const fields = rowFields(HeldToken);
/** What transfers tell of a token. */
const toldAtPoint = [...Object.keys(TokenOwnership.shape), "units"];
const atWithFields = at.meta({
  ...at.meta(),
  description: `${at.meta()?.description} Needs ${"`fields`"}, of what transfers tell: ${toldAtPoint.join(", ")}.`,
});

export const walletTokens = route(
  {
    method: "get",
    path: "/v1/wallets/{wallet}/tokens",
    operationId: "listWalletTokens",
    tag: "Wallets",
    loadClass: "lists",
    summary: "Tokens that a wallet holds, of both standards, by contract and id",
    params: z.object({ wallet }),
    query: z.object({
      chainId,
      collection: collectionKey.optional(),
      at: atWithFields,
      fields,
      cursor,
      per_page,
    }),
    data: z.array(HeldToken),
    meta: uncountedMeta.extend({ at: pointMeta.optional() }).meta({ id: "WalletTokensMeta" }),
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals, ...pointRefusals },
    isCacheable: true,
  },
  async ({ params: { wallet }, query }, { db, siteUrl, media, market, now }) => {
    const { chainId, collection } = query;
    const filter = await walletFilterOf(db, { chainId, wallet, collection });
    if (isRejection(filter)) return filter;
    const point = await pointOf(db, query);
    if (isRejection(point)) return point;
    if (point !== null) return await answerPast(db, filter, point, { query, siteUrl });
    const request = cursorPageOf(query, walletScope(filter), heldKey);
    if (isRejection(request)) return request;
    const parts = tokenPartsOf(query.fields);
    const view = { ...(await listingViewOf({ siteUrl, market })), chainId, media };
    const [rows = []] = await readWalletTokenDetails(db, [filter], request.read, now(), parts);
    const { shown, meta } = cutPage(request, rows, keyOfHeld);
    return {
      data: withFields(
        shown.map((row) => presentHeld(row, view)),
        query.fields,
      ),
      meta: { chainId, per_page: meta.per_page, next_cursor: meta.next_cursor },
    };
  },
);

type PastRequest = {
  query: { fields?: RowFields; cursor?: string | undefined; per_page: number };
  siteUrl: string;
};

/** A wallet's tokens at a point, with what transfers say of each. */
async function answerPast(
  db: Database,
  filter: WalletFilter,
  point: Point,
  { query, siteUrl }: PastRequest,
) {
  const fields = pastFields(query.fields);
  if (isRejection(fields)) return fields;
  if (burnAddresses.has(filter.wallet as Address))
    return reject("invalid_parameters", "wallet: a burn address is asked about today only");
  const scope = { ...walletScope(filter), ...pointScope(point) };
  const request = cursorPageOf(query, scope, heldKey);
  if (isRejection(request)) return request;
  const held = await foldPast(() => readPastWalletTokens(db, filter, point, request.read));
  if (isRejection(held)) return held;
  const { shown, meta } = cutPage(request, held, keyOfToken);
  const rows = await foldPast(() => presentPast(db, shown, point, siteUrl));
  if (isRejection(rows)) return rows;
  const { per_page, next_cursor } = meta;
  return {
    data: withFields(rows, fields),
    meta: { chainId: point.chainId, per_page, next_cursor, ...metaAt(point) },
    ...pointParts(point),
  };
}

/** Of what is not told of a moment no field can be sent: so the caller names those wanted. */
function pastFields(asked: RowFields): RowFields | Rejection<"invalid_parameters"> {
  const other = [...(asked ?? ["all"])].find((name) => !toldAtPoint.includes(name));
  if (other === undefined) return asked;
  const message = `with \`at\` must name only fields that transfers tell: ${toldAtPoint.join(", ")}`;
  return reject("invalid_parameters", `fields: ${message}`, [{ field: "fields", message }]);
}

async function presentPast(
  db: Database,
  held: readonly WalletToken[],
  point: Point,
  siteUrl: string,
): Promise<z.output<typeof HeldToken>[]> {
  const contractIds = held.map(({ contractId }) => contractId);
  const names = await readCollectionNames(db, contractIds);
  const tokens = await readPastTokens(db, held, point);
  const chainId = point.chainId as ChainId;
  return held.map(({ contractId, tokenId, units }) => {
    const row = tokens.find((one) => one.contractId === contractId && one.tokenId === tokenId);
    const collection = names.get(contractId);
    if (row === undefined || collection === undefined)
      throw new Error(`token ${tokenId} of contract ${contractId} was not read`);
    const told = {
      ...presentOwnership(row, { collection, chainId, siteUrl }),
      units: String(units),
    };
    // As with `fields`, the document's other fields are absent.
    return told as z.output<typeof HeldToken>;
  });
}

type WalletQuery = { chainId: ChainId; wallet: Address; collection?: string | undefined };

/** What a query of a wallet's lists selects. */
export async function walletFilterOf(
  db: Database,
  { chainId, wallet, collection }: WalletQuery,
): Promise<WalletFilter | Rejection<"not_found">> {
  const contractIds = await contractsOfQuery(db, { chainId, collection });
  return isRejection(contractIds) ? contractIds : { chainId, wallet, contractIds };
}

/** Shared by the batch endpoint, whose cursors continue in the wallet's own list. */
export function walletScope(
  { chainId, wallet, contractIds }: WalletFilter,
  list = "wallet tokens",
): CursorScope {
  return { list, chainId, wallet, contractIds: contractIds?.join() ?? null };
}

/** Digits are those of the columns: integer, numeric(78,0). */
export const heldKey = z.tuple([cursorInteger(9), cursorInteger(78), cursorInteger(4)]).transform(
  ([contractId, tokenId, standard]): WalletTokenCursor => ({
    contractId: Number(contractId),
    tokenId,
    standard: standard === 721n ? 721 : 1155,
  }),
);

export function keyOfHeld({ held }: WalletTokenDetails) {
  return keyOfToken(held);
}

const keyOfToken = ({ contractId, tokenId, standard }: WalletToken) => [
  contractId,
  tokenId,
  standard,
];
