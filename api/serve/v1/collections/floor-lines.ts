import type { Hex } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { intervalMs, windowStart } from "#projections/domain/candles.ts";
import { readFloorLines } from "#projections/collections/read-floors.ts";
import { commaList } from "#api/http/query.ts";
import { timedCache } from "#api/http/reads/cache.ts";
import { windowFields } from "#api/serve/views/candle.ts";
import { displayAmount } from "#api/serve/views/money.ts";
import { address, time, uint256Text } from "#api/serve/views/wire.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, wallet } from "../routing/parameters.ts";

const maxDays = 30;
const maxCollections = 50;
const maxAgeSeconds = 60;

const addressLength = 43;
const addresses = commaList(maxCollections * addressLength)
  .pipe(z.array(wallet).max(maxCollections))
  .transform((all) => [...new Set(all)].sort())
  .meta({
    description: `Addresses of collections, comma-separated, at most ${maxCollections}.`,
    override: { type: "string", pattern: "^0x[a-fA-F0-9]{40}(,0x[a-fA-F0-9]{40})*$" },
  });

const FloorLine = z
  .object({
    address,
    points: z
      .array(z.object({ t: time, c: z.number(), wei: uint256Text }))
      .meta({ description: "The floor at the end of each interval in which there was one." }),
  })
  .meta({ id: "FloorLine" });

export const floorLines = route(
  {
    method: "get",
    path: "/v1/floor-lines",
    operationId: "listFloorLines",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "Floor prices of several collections over time, for rankings: what the candles of each closed at. At most a minute old",
    query: z.object({
      chainId,
      collections: addresses,
      days: windowFields({ max: maxDays, default: 7 }, "").days,
    }),
    data: z.array(FloorLine),
    refuses: chainRefusals,
    maxAgeSeconds,
  },
  async ({ query }, { db, now }) => {
    const key = JSON.stringify(query);
    const { value, maxAgeSeconds } = await linesOf(db, key, { ...query, now: now() });
    return { data: value, maxAgeSeconds };
  },
);

type Request = { chainId: ChainId; collections: readonly Hex[]; days: number; now: Date };

const linesOf = timedCache({ seconds: () => maxAgeSeconds, read: readLines, maxSize: 500 });

async function readLines(db: Database, { chainId, collections, days, now }: Request) {
  const lengthMs = intervalMs[days <= 2 ? "1h" : "4h"];
  const from = new Date(windowStart(now.getTime(), days, lengthMs));
  const lines = await readFloorLines(db, chainId, collections, from, lengthMs);
  return collections.map((one) => ({
    address: one,
    points: (lines.get(one) ?? []).map(({ start, close }) => ({
      t: new Date(start).toISOString(),
      c: displayAmount(close),
      wei: String(close),
    })),
  }));
}
