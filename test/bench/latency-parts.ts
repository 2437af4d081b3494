import pg from "pg";
import { type Figure, percentileFigures } from "./figure.ts";

/** Parts of the time until a sale is served, in their order, and the notification that ends each but the last. */
const parts = [
  { name: "mined to stored by Ponder", channel: "stored" },
  { name: "stored to appended", channel: "log" },
  { name: "appended to applied", channel: "projected" },
  { name: "applied to answered", channel: null },
] as const;

type Watch = {
  /** Adds a sale that was mined and arrived, in milliseconds since 1970. */
  add(minedAt: number, arrivedAt: number): void;
  /** Of the last sales. */
  figures(name: string, size: string, sales: number): Figure[];
  stop(): Promise<void>;
};

/**
 * Times the notifications that each step of an indexer of chain 1 sends when it commits. Other chains send two of the
 * three as well, so that a part of a single sale may be too short, and the next too long.
 */
export async function watchParts(databaseUrl: string): Promise<Watch> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "bench" });
  await client.connect();
  const { rows } = await client.query<{ ponder_schema: string }>(
    "select ponder_schema from ops.indexer where chain_id = 1 and name = 'core'",
  );
  const stored = `${rows[0]?.ponder_schema}_live_query`;
  const times = new Map<string, number[]>([
    [stored, []],
    ["log", []],
    ["projected", []],
  ]);
  client.on("notification", ({ channel }) =>
    times.get(channel)?.push(performance.timeOrigin + performance.now()),
  );
  for (const channel of times.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
  const durations: number[][] = parts.map(() => []);
  return {
    add(minedAt, arrivedAt) {
      let since = minedAt;
      for (const [index, { channel }] of parts.entries()) {
        const heard = times.get(channel === "stored" ? stored : (channel ?? "")) ?? [];
        const until = heard.find((at) => at >= since && at <= arrivedAt) ?? arrivedAt;
        durations[index]?.push(until - since);
        since = until;
      }
    },
    figures: (name, size, sales) =>
      parts.flatMap((part, index) =>
        percentileFigures(
          `${name} ${part.name},`,
          (durations[index] ?? []).slice(-sales),
          [{ percent: 50, goalMs: null }],
          size,
        ),
      ),
    stop: () => client.end(),
  };
}
