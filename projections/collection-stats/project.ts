import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { Projection } from "../engine/projection.ts";
import { holdsAny, readKinds } from "../engine/window.ts";
import { factKind } from "../log/fact-kind.ts";
import { moveClock } from "./clock.ts";
import { openTouched, storeContracts, touchAllContracts, touchContracts } from "./contracts.ts";
import { deriveFamilies, deriveFigures, touchTurning } from "./families.ts";
import { deriveAllListed, deriveListed } from "./listed.ts";
import { tables } from "./table.ts";
import { deriveAllTraded, deriveTraded } from "./traded.ts";

/** Figures of what people browse, ranked. It is made of the tables of `read`: when one derives other rows, so does it. */
export function collectionStatsProjection(read: readonly Projection[]): Projection {
  return {
    name: "collection_stats",
    version: 3,
    parameters: read
      .map(({ name, version, parameters }) => [name, version, parameters].join(" ").trim())
      .join(", "),
    reads: read.map(({ name }) => name),
    tables,
    // Before the first fact the tables are empty: all is derived from what it reads, which stands at the window's end.
    apply: (session, schema, { after, upTo }, kinds) =>
      after === 0n ? deriveAll(session, schema) : derive(session, schema, upTo, kinds),
  };
}

/** Of facts that call a collection something, or have it verified. */
const namingKinds = ["collection_registered", "contract_described"] as const;

async function derive(
  session: Session,
  schema: string,
  upTo: bigint,
  known?: ReadonlySet<number>,
): Promise<void> {
  const kinds = known ?? (await readKinds(session));
  if (kinds.size === 0) return;
  await openTouched(session);
  await deriveListed(session, schema, kinds, upTo);
  await deriveTraded(session, schema, kinds);
  if (kinds.has(factKind.floor_snapshotted)) await moveClock(session, schema);
  await touchContracts(session, schema, kinds, upTo);
  const isRegrouped = await storeContracts(session, schema, { all: false });
  if (kinds.has(factKind.clock_ticked)) await touchTurning(session, schema, upTo);
  // Only then may a collection come, go, or be called or made up otherwise.
  if (isRegrouped || holdsAny(kinds, namingKinds)) await deriveFamilies(session, schema);
  else await deriveFigures(session, schema);
}

/** All of it from the tables read alone. */
async function deriveAll(session: Session, schema: string): Promise<void> {
  await openTouched(session);
  await deriveAllListed(session, schema);
  await deriveAllTraded(session, schema);
  await moveClock(session, schema);
  await touchAllContracts(session);
  await sql`analyze pg_temp.touched_contract`.execute(session);
  await storeContracts(session, schema, { all: true });
  for (const table of ["token", "hour", "contract"]) {
    await sql`analyze ${sql.id(schema, table)}`.execute(session);
  }
  await deriveFamilies(session, schema);
}
