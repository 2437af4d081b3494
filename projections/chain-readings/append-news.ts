import type { Database } from "../database.ts";
import { appendObservations } from "../log/append.ts";
import type { ChainReadings } from "./chain-reading.ts";
import { newReadings } from "./new-readings.ts";

/** Tells the log what a chain said, in one round or several, and it did not know. `head`: where it ends then. */
export async function appendNews(
  db: Database,
  rounds: readonly ChainReadings[],
  now: Date,
): Promise<{ readonly news: number; readonly head: bigint } | null> {
  const news = [];
  for (const round of rounds) news.push(...(await newReadings(db, round, now)));
  if (news.length === 0) return null;
  const { head } = await appendObservations(db, news);
  return { news: news.length, head };
}
