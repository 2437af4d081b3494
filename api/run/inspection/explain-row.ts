import type { Database } from "#projections/log/database.ts";
import { readCheckpoints } from "#projections/engine/checkpoint.ts";
import { type PlacedFact, readFactsBehind } from "#projections/log/facts.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { linksOf } from "./explorers.ts";
import type { Subject } from "./find-subject.ts";
import type { InspectedConfig } from "./inspected-config.ts";
import { presentFact } from "./present-fact.ts";

type Explained = { what: string; id: string; subject: Subject; most: number };

/** The facts that a row was derived from, in chain order: what `op explain` prints. */
export async function explainRow(
  db: Database,
  config: InspectedConfig,
  { what, id, subject, most }: Explained,
) {
  const position = (await readCheckpoints(db)).get(schemaOf(subject.projection))?.position ?? 0n;
  const { total, facts } = await readFactsBehind(db, subject.about, { position, most });
  const explained = facts.map((fact) => ({ fact, links: linksFor(config, fact) }));
  const content = {
    what,
    id,
    position: Number(position),
    rows: subject.rows,
    total: Number(total),
    facts: explained.map(({ fact, links }) => ({ ...presentFact(fact), links })),
  };
  return { content, facts: explained };
}

export type FactLinks = ReturnType<typeof linksOf>;

export function linksFor(config: InspectedConfig, { chainId, block, transactionHash }: PlacedFact) {
  if (chainId === null || block === null) return null;
  return linksOf(config, { chainId, block: block.number, transaction: transactionHash });
}

/** Whether a fact is effective, in words. */
export function verdictOf({ counts, droppedAt }: PlacedFact): string {
  if (counts) return "effective";
  return droppedAt === null ? "not read yet" : `retracted by ${droppedAt}`;
}
