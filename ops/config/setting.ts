import { isIP } from "node:net";
import { z } from "zod";
import { parseFeed } from "#jobs/prices/exchanges.ts";

/** The description of a setting, from which its documentation, `.env.example` and error messages are generated. */
type Setting = {
  /** Its purpose. */
  meaning: string;
  /** The form of a valid value, as text after "expected". */
  expectation: string;
  example: string;
  /** The default as text, where it is not a plain value. */
  fallback?: string;
  /** Printed masked: it may contain a key or a password. */
  secret?: boolean;
};

const registry = z.registry<Setting>();

/** Describes a setting where it is declared. */
export function setting<Schema extends z.ZodType>(schema: Schema, about: Setting): Schema {
  registry.add(schema, about);
  return schema;
}

export function aboutSetting(name: string, schema: z.ZodType): Setting {
  const about = registry.get(schema);
  if (about === undefined) throw new Error(`The setting ${name} is not described`);
  return about;
}

/** Splits at commas and drops empty parts. */
const parts = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .pipe(z.number().int().min(least).max(most));

export const urlOf = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol));

export const urlList = (...protocols: string[]) =>
  z
    .string()
    .transform(parts)
    .pipe(z.array(urlOf(...protocols)).min(1));

const reservedPaths = [
  "v1",
  "docs",
  "assets",
  "healthz",
  "readyz",
  "metrics",
  "developers",
  "pictures",
];

/** One path segment that no other route uses. */
export const pathSegment = z
  .string()
  .regex(/^[a-z0-9](-?[a-z0-9]){0,30}$/)
  .refine((text) => !reservedPaths.includes(text));

/** `none`, or exchanges as `name=url`, each once. */
export const priceFeedList = z
  .string()
  .transform((text) => (text === "none" ? [] : parts(text)))
  .transform((named, context) => {
    const feeds = named.map(parseFeed).filter((feed) => feed !== undefined);
    const distinct = new Set(feeds.map(({ name }) => name));
    if (distinct.size === named.length) return feeds;
    context.addIssue({ code: "custom", message: "must be known exchanges, each once" });
    return z.NEVER;
  });

/** `name@host`, or `Somebody <name@host>`. */
export const mailSender = z
  .string()
  .refine((text) => z.email().safeParse(/^[^<>\r\n]* <([^<>]+)>$/.exec(text)?.[1] ?? text).success);

export const addressSetting = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase() as `0x${string}`);

/** `*`, or addresses. */
export const collectionList = z.union([
  z.literal("*"),
  z.string().transform(parts).pipe(z.array(addressSetting)),
]);

/** `none`, the number of proxies in a chain, or their addresses and networks. */
export const trustedProxies = z.union([
  z.literal("none").transform((): string[] => []),
  wholeNumber(1, 32),
  z
    .string()
    .transform(parts)
    .pipe(z.array(z.string().refine(isNetwork)).min(1)),
]);

function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  );
}

export const onOff = z
  .enum(["on", "off", "true", "false"])
  .transform((text) => text === "on" || text === "true");

/** What addresses begin with; a password such as `correct:horse` is a URL by its form, too. */
const addressSchemes = /^(https?|wss?|postgres(ql)?|smtps?):\/\//i;

/** Masks user, path and query of an address, which may contain keys, and all of anything else. */
export function maskUrl(text: string): string {
  if (!addressSchemes.test(text) || !URL.canParse(text)) return "***";
  const { protocol, host, pathname, search, username } = new URL(text);
  if (protocol.startsWith("postgres")) return `${protocol}//***@${host}${pathname}`;
  const hidden = username !== "" || search !== "" || pathname.length > 1;
  return `${protocol}//${host}${hidden ? "/***" : ""}`;
}
