import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { holdsAny, withKinds } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { factKind } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { addTimeAffected, deriveCollections, deriveFigures } from "./collections.ts";
import { addAllContracts, findAffectedContracts, openAffected, updateContracts } from "./contracts.ts";
import { deriveAllListedTokens, deriveListedTokens } from "./listed-tokens.ts";
import { deriveAllMinuteSales, deriveMinuteSales } from "./minute-sales.ts";
import { advancePeriodClock } from "./period-clock.ts";
import { advanceSnapshotClock } from "./snapshot-clock.ts";
import { tables } from "./tables.ts";
import { deriveAllWashTrades, deriveWashTrades } from "./wash-trades.ts";

/** Figures of collections. Derived from the tables of `read`: rebuilt when their versions or parameters change. */
export function collectionStatsProjection(read: readonly Projection[]): Projection {
  return {
    name: "collection_stats",
    version: versions.collection_stats.version,
    parameters: read
      .map(({ name, version, parameters }) => [name, version, parameters].join(" ").trim())
      .join(", "),
    reads: read.map(({ name }) => name),
    tables,
    // From position 0 the tables are empty: all is derived from the tables it reads, which are at the window's end.
    apply: (session, schema, window) =>
      window.after === 0n ? deriveAll(session, schema, window) : derive(session, schema, window),
  };
}

/** Kinds of facts that name or verify a collection. */
const namingKinds = ["collection_registered", "contract_described"] as const;

async function derive(session: Session, schema: string, opened: FactWindow): Promise<void> {
  const window = await withKinds(session, opened);
  const { kinds } = window;
  if (kinds.size === 0) return;
  await sendAhead(session, async (ahead) => {
    await openAffected(ahead);
    await deriveListedTokens(ahead, schema, window);
    await deriveMinuteSales(ahead, schema, window);
    await deriveWashTrades(ahead, schema, window);
  });
  if (holdsAny(kinds, ["clock_ticked", "floor_snapshotted"]))
    await advancePeriodClock(session, schema, window);
  if (kinds.has(factKind.floor_snapshotted)) await advanceSnapshotClock(session, schema);
  await findAffectedContracts(session, schema, window);
  const isRegrouped = await updateContracts(session, schema, window, { all: false });
  if (kinds.has(factKind.clock_ticked)) await addTimeAffected(session, schema, window);
  // Only then can a collection be added, removed, renamed or given other contracts.
  if (isRegrouped || holdsAny(kinds, namingKinds)) await deriveCollections(session, schema);
  else await deriveFigures(session, schema);
}

/** Derives everything from the tables that it reads. */
async function deriveAll(session: Session, schema: string, window: FactWindow): Promise<void> {
  await openAffected(session);
  await deriveAllListedTokens(session, schema);
  await deriveAllMinuteSales(session, schema);
  await deriveAllWashTrades(session, schema);
  await advancePeriodClock(session, schema, window);
  await advanceSnapshotClock(session, schema);
  await addAllContracts(session);
  await sql`analyze pg_temp.affected_contract`.execute(session);
  await updateContracts(session, schema, window, { all: true });
  for (const table of ["token", "minute_sales", "wash_trade", "contract"]) {
    await sql`analyze ${sql.id(schema, table)}`.execute(session);
  }
  await deriveCollections(session, schema);
}
