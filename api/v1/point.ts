import type { Hex } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { mostFolded, TooMuchToFold } from "#projections/engine/fold-budget.ts";
import { type NamedPoint, type Point, resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import type { Moment } from "#projections/past/moment.ts";
import { chainIdValue, hash, time } from "./wire.ts";

/** Codes of endpoints that take `at`. */
export const pointRefusals = {
  ambiguous_chain: 422,
  block_unknown: 404,
  block_retracted: 409,
  point_not_covered: 422,
  point_not_reached: 422,
  too_much_to_fold: 422,
} as const;

const blockNumber = /^\d{1,18}$/;
const position = /^position:(\d{1,18})$/;
const moment = z.iso.datetime({ offset: true });

function namedPoint(text: string, context: z.RefinementCtx): NamedPoint {
  if (blockNumber.test(text)) return { block: BigInt(text) };
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return { hash: text.toLowerCase() as Hex };
  const [, digits] = position.exec(text) ?? [];
  if (digits !== undefined) return { position: BigInt(digits) };
  const parsed = moment.safeParse(text);
  const at = new Date(text);
  if (parsed.success && at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999)
    return { time: at };
  const message =
    "must be a block number, a block hash, an ISO 8601 time or position:<a position of the log>";
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}

/** Query parameter: the block at whose end the answer is true. */
export const at = z
  .string()
  .transform(namedPoint)
  .optional()
  .meta({
    description:
      "As it was at the end of a block of today's canonical chain: a block number (with `chainId`), a block hash, an ISO 8601 time (the last block up to it), or `position:<X-Position of an answer>` (the last block with events then). `meta.at` tells the block.",
    override: {
      type: "string",
      pattern:
        "^(\\d{1,18}|0x[0-9a-fA-F]{64}|position:\\d{1,18}|\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2}))$",
    },
  });

/** Heights differ by chain: where several are served a number alone names no block. `query` is parsed, `raw` as it came. */
export function rejectAmbiguousPoint(
  query: unknown,
  raw: unknown,
  chains: number,
): Rejection | undefined {
  const asked = asRecord(query);
  const field = ["at", "from", "to"].find((name) => "block" in asRecord(asked[name]));
  if (chains < 2 || field === undefined || "chainId" in asRecord(raw)) return;
  const message = "a block number needs chainId: several chains are served";
  return reject("ambiguous_chain", `${field}: ${message}`, [{ field, message }]);
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** `meta.at` of an answer about a point. */
export const pointMeta = z
  .object({
    chainId: chainIdValue,
    block: z.int().min(0),
    hash: hash
      .nullable()
      .meta({ description: "Null, as `time`: nothing that is indexed happened in the block." }),
    time: time.nullable(),
    position: z.string().meta({
      description:
        "Facts were read up to it: later ones change the answer only by a reorg, or by late events of the block.",
    }),
    isFinal: z.boolean().meta({ description: "No reorg can change it." }),
    clock: time.optional().meta({ description: "Of orders." }),
    partnersFrom: time.optional().meta({
      description:
        "Set: partners' listings are known from then on, so of listings it has only those signed here.",
    }),
  })
  .meta({ id: "PointInTime" });

/** A point as answers tell it. */
export function presentPoint({ block, hash, time, position, isFinal, ...point }: Point) {
  return {
    chainId: point.chainId as ChainId,
    block: Number(block),
    hash,
    time: time?.toISOString() ?? null,
    position: String(position),
    isFinal,
  };
}

export type PointRejection = Rejection<keyof typeof pointRefusals>;

/** The point that a request names; null: it asks about now. */
export async function pointOf(
  db: Database,
  { chainId, at }: { chainId: ChainId; at?: NamedPoint | undefined },
): Promise<Point | null | PointRejection> {
  return at === undefined ? null : await resolvePoint(db, chainId, at);
}

/** What a read of the past gives; refused where it costs more than an answer may. */
export async function foldPast<Value>(
  read: () => Promise<Value>,
): Promise<Value | Rejection<"too_much_to_fold">> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof TooMuchToFold)) throw error;
    return reject(
      "too_much_to_fold",
      `More than ${mostFolded} transfers or tokens lie between the point and what is stored: ask about a part, or a later point`,
    );
  }
}

/** Part of a cursor's scope: a page goes on at the point of the one before. */
export const pointScope = (point: Point | null) =>
  point === null ? {} : { at: point.block, branch: point.hash };

/** Parts of an answer about a point: until it is final it may become so without a fact. */
export const pointParts = (point: Point | null) =>
  point === null ? {} : { isVolatile: !point.isFinal };

/** `at` of the answer's meta; `moment`: of an answer about orders. */
export const metaAt = (point: Point | null, moment?: Moment) =>
  point === null
    ? {}
    : {
        at: {
          ...presentPoint(point),
          ...(moment && { clock: moment.clock.toISOString(), ...presentReach(moment) }),
        },
      };

/** Of which listings an answer is, where it is not of all. */
export const presentReach = ({ partnersFrom }: Partial<Moment>) =>
  partnersFrom === undefined ? {} : { partnersFrom: partnersFrom.toISOString() };
