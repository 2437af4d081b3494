import { z } from "zod";
import type { ListingViewContext } from "#api/v1/orders/sides.ts";
import type { WalletTokenDetails } from "#projections/tokens/read-wallet-tokens.ts";
import { ActivityItem, presentActivity } from "../v1/activity.ts";
import { Collection, presentCollection } from "../v1/collections/collections.ts";
import { presentToken, Token } from "../v1/collections/token.ts";
import { TraitTypes } from "../v1/collections/traits.ts";
import type { MediaLinks } from "../v1/media-links.ts";
import { WalletOffer } from "../v1/orders/wallet-offers.ts";
import { HeldToken, presentHeld } from "../v1/wallet-tokens.ts";
import type { NftDataView } from "./context.ts";

type SnakeKey<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${SnakeKey<Rest>}`
    : `_${Lowercase<First>}${SnakeKey<Rest>}`
  : Key;

/** The same fields with snake_case names. */
type Snake<Value> = Value extends readonly (infer Item)[]
  ? Snake<Item>[]
  : Value extends object
    ? { [Key in keyof Value as SnakeKey<Key & string>]: Snake<Value[Key]> }
    : Value;

/** Renames the fields of plain data, at any depth. */
export function snake<Value>(value: Value): Snake<Value> {
  return renamed(value) as Snake<Value>;
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [snakeKey(key), renamed(part)]),
  );
}

const snakeKey = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The schema of `snake`'s result for a schema of objects, arrays, nullable and optional values. */
function snakeSchema<Schema extends z.ZodType>(schema: Schema): z.ZodType<Snake<z.output<Schema>>> {
  return renamedSchema(schema) as unknown as z.ZodType<Snake<z.output<Schema>>>;
}

const made = new WeakMap<z.ZodType, z.ZodType>();

/** Each schema has one counterpart, so that the OpenAPI document has one component for it. */
function renamedSchema(schema: z.ZodType): z.ZodType {
  const known = made.get(schema) ?? makeSchema(schema);
  made.set(schema, known);
  return known;
}

function makeSchema(schema: z.ZodType): z.ZodType {
  const counterpart = restructured(schema);
  const meta = schema.meta();
  return meta === undefined || counterpart === schema ? counterpart : counterpart.meta(meta);
}

/** The schema itself when no name in it changes. */
function restructured(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) return restructuredObject(schema);
  const inner = innerOf(schema);
  const renamedInner = inner && renamedSchema(inner);
  if (renamedInner === undefined || renamedInner === inner) return schema;
  if (schema instanceof z.ZodArray) return z.array(renamedInner);
  return schema instanceof z.ZodNullable ? renamedInner.nullable() : renamedInner.optional();
}

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  const isWrapped = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional;
  return isWrapped ? (schema.unwrap() as z.ZodType) : undefined;
}

function restructuredObject(schema: z.ZodObject): z.ZodType {
  const fields = Object.entries<z.ZodType>(schema.shape).map(
    ([key, part]) => [key, snakeKey(key), part, renamedSchema(part)] as const,
  );
  const isSame = fields.every(([key, name, part, other]) => key === name && part === other);
  if (isSame) return schema;
  return z.object(Object.fromEntries(fields.map(([, name, , other]) => [name, other])));
}

/** The objects of /v1, field by field, under names in snake_case. */
export const NftCollection = snakeSchema(Collection);
export const NftToken = snakeSchema(Token);
export const NftAttributes = snakeSchema(TraitTypes);

export const NftActivityItem = snakeSchema(ActivityItem);
export const NftHeldToken = snakeSchema(HeldToken);
export const NftWalletOffer = snakeSchema(WalletOffer);

type CollectionRow = Parameters<typeof presentCollection>[0];

export function presentNftCollection(
  row: CollectionRow,
  { media, ...listingView }: ListingViewContext & { media: MediaLinks },
  { coinPriceE8, isList }: { coinPriceE8: bigint | null; isList: boolean },
): z.output<typeof NftCollection> {
  const periods = ["24h", "7d", "30d", "all"] as const;
  const view = { ...listingView, coinPriceE8, media: { ...media, isList } };
  return snake(presentCollection(row, periods, view));
}

export function presentNftToken(...given: Parameters<typeof presentToken>) {
  return snake(presentToken(...given));
}

export function presentNftActivity(...given: Parameters<typeof presentActivity>) {
  return snake(presentActivity(...given));
}

export function presentNftHeld(row: WalletTokenDetails, context: NftDataView) {
  return snake(presentHeld(row, context));
}
