import { z } from "zod";
import { uint256, wallet } from "../v1/parameters.ts";

/** Numbers of blocks end below 2³². */
const maxBlock = 2n ** 32n - 1n;

/** Decimal, 0x hexadecimal, or `latest`: null, no bound. */
export const blockNumber = z
  .string()
  .regex(/^(latest|\d{1,10}|0x[0-9a-fA-F]{1,8})$/, "must be a block number or latest")
  .transform((text) => (text === "latest" ? null : BigInt(text)))
  .refine((number) => number === null || number <= maxBlock, "must be a block number")
  .meta({ description: "Decimal, 0x hexadecimal, or `latest`." });

/** Decimal, or 0x hexadecimal. */
export const alchemyTokenId = z
  .string()
  .regex(/^(\d{1,78}|0x[0-9a-fA-F]{1,64})$/, "must be a token id")
  .transform((text) => BigInt(text).toString())
  .pipe(uint256)
  .meta({ description: "Decimal, or 0x hexadecimal." });

export const contractAddress = wallet.meta({ description: "0x address of a contract." });

/** Rows of a page, by default as many as there may be; less than 1 and more than `most` are refused. */
export const rowLimit = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,3}$/, `must be a whole number from 1 to ${most}`)
    .transform(Number)
    .refine((rows) => rows <= most, `must be a whole number from 1 to ${most}`)
    .default(most);

export const yes = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .optional();

export const pageKey = z.string().optional().meta({ description: "`pageKey` of the page before." });

type TextSchema<Value> = z.ZodType<Value, string>;

const oneOrMany = <Value>(item: TextSchema<Value>, most: number) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat())
    .pipe(z.array(item).max(most));

/** `name[]=…&name[]=…`, as its client writes lists. */
export const listOf = <Value>(item: TextSchema<Value>, most: number) =>
  z
    .union([
      oneOrMany(item, most),
      z.object({ "": oneOrMany(item, most) }).transform((given) => given[""]),
    ])
    .optional();

/** Taken as the original's client sends them; without an effect here. */
export const ignored = z.unknown().optional();
