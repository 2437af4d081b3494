import type { Database } from "#projections/log/database.ts";
import { isQuarantined, type QuarantineEntry, readQuarantine } from "#projections/engine/quarantine.ts";
import { type PlacedFact, readFactsAfter } from "#projections/log/facts.ts";
import { presentFact } from "./present-fact.ts";

export type QuarantinedFact = { entry: QuarantineEntry; fact: PlacedFact | undefined };

/** Facts that a projection failed to apply and excludes. */
export async function readQuarantinedFacts(db: Database): Promise<QuarantinedFact[]> {
  const entries = (await readQuarantine(db)).filter(isQuarantined);
  const everything = { kinds: null, chainIds: null };
  return await Promise.all(
    entries.map(async (entry) => {
      const { fact } = entry;
      const [placed] = await readFactsAfter(db, { ...everything, after: fact - 1n }, fact, 1);
      return { entry, fact: placed };
    }),
  );
}

export function presentQuarantined({ entry, fact }: QuarantinedFact) {
  const { projection, error, recordedAt } = entry;
  return { projection, error, since: recordedAt.toISOString(), fact: fact && presentFact(fact) };
}
