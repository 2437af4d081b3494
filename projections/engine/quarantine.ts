import { sql } from "kysely";
import { keccak256, stringToHex } from "viem";
import { appendObservationsIn, type Observation } from "../log/append.ts";
import type { Database, Session } from "../log/database.ts";
import { factKind, kindList, kindLiteral } from "../log/fact-kinds.ts";
import { schemaNameOf, schemaOf } from "../log/versions.ts";
import {
  abortTicks,
  type Checkpoint,
  lockCheckpoints,
  readCheckpoints,
  type Target,
} from "./checkpoint.ts";
import type { DerivationFailed, Projection } from "./projection.ts";

/** The latest entry of the log about a fact that a projection failed on: quarantined or released. */
export type QuarantineEntry = {
  projection: string;
  /** Position of the fact. */
  fact: bigint;
  /** Position of the entry itself. */
  entryPosition: bigint;
  kind: number;
  error: string | null;
  recordedAt: Date;
};

/** Facts quarantined for one projection at most: more of them mean that the program is wrong, not the facts. */
const MAX_QUARANTINED = 100;

const latestEntries = sql<QuarantineEntry>`
  select distinct on (payload ->> 'projection', amount)
         payload ->> 'projection' as projection, amount::bigint as fact, position as "entryPosition", kind,
         payload ->> 'error' as error, recorded_at as "recordedAt"
  from log.fact where kind in ${kindList("fact_quarantined", "fact_released")}
  order by payload ->> 'projection', amount, position desc`;

/** Latest entries, of every fact that was ever quarantined: by projection, then by position. */
export async function readQuarantine(session: Session): Promise<QuarantineEntry[]> {
  return (await latestEntries.execute(session)).rows;
}

/** Facts excluded from a projection, of one chain. */
export type ExcludedFacts = {
  projection: string;
  /** Null for facts of no chain. */
  chainId: number | null;
  facts: number;
  /** When the oldest was quarantined. */
  since: Date;
};

/** Facts excluded from projections by chain, released ones included until their replay. */
export async function readExcludedFacts(session: Session): Promise<ExcludedFacts[]> {
  const { rows } = await sql<ExcludedFacts>`
    select q.projection, coalesce(b.chain_id, k.chain_id) as "chainId", count(*)::int as facts,
           min(q."recordedAt") as since
    from (${latestEntries}) q
    join log.fact f on f.position = q.fact
    left join log.block b on b.block_id = f.block_id
    left join log.contract k on k.contract_id = f.contract_id
    left join engine.checkpoint c on c.projection = ${schemaNameOf(sql`q.projection`)}
    where q.kind = ${kindLiteral("fact_quarantined")} or q.fact = any (c.excluded_positions)
    group by 1, 2 order by 1, 2`.execute(session);
  return rows;
}

/** For people. */
export function describeExcludedFacts({ facts, chainId, since }: ExcludedFacts): string {
  const which = `${facts} ${facts === 1 ? "fact" : "facts"}${chainId === null ? "" : ` of chain ${chainId}`}`;
  return `excludes ${which}, the oldest since ${since.toISOString()}`;
}

export const isQuarantined = ({ kind }: QuarantineEntry) => kind === factKind.fact_quarantined;

/**
 * Quarantines the only fact of a window for the projection that fails on it. Throws the failure where that is no remedy:
 * for the retraction of a block, which concerns other facts, and beyond the limit.
 */
export async function quarantineFact(db: Database, failure: DerivationFailed): Promise<void> {
  const { projection, window, cause } = failure;
  await db.transaction().execute(async (session) => {
    const schema = schemaOf(projection);
    await lockCheckpoints(session, [schema]);
    if ((await readCheckpoints(session)).get(schema)?.position !== window.after) return;
    const fact = window.upTo;
    if (await isBlockState(session, fact)) throw failure;
    const quarantined = (await readQuarantine(session)).filter(
      (one) => isQuarantined(one) && one.projection === projection,
    );
    if (quarantined.length >= MAX_QUARANTINED || quarantined.some((one) => one.fact === fact))
      throw failure;
    const error = cause instanceof Error ? cause.message : String(cause);
    await appendQuarantined(session, { projection, fact, error });
  });
}

/** Appends that a fact is quarantined for a projection, and why. */
export async function appendQuarantined(
  session: Session,
  { projection, fact, error }: Omit<EntryToAppend, "after">,
): Promise<void> {
  const last = (await readQuarantine(session)).find(
    (one) => one.projection === projection && one.fact === fact,
  );
  const entry = { projection, fact, error, after: last?.entryPosition ?? 0n };
  await appendObservationsIn(session, [quarantineObservation("fact_quarantined", entry)]);
}

/**
 * Appends that a fact is released for one projection, or for all that have it quarantined. Returns which. Ticks that
 * started before are aborted: they would still add the fact to the excluded positions of their checkpoint.
 */
export async function appendReleased(
  db: Database,
  fact: bigint,
  projection: string | null,
): Promise<string[]> {
  return await db.transaction().execute(async (session) => {
    const entries = (await readQuarantine(session)).filter(
      (one) =>
        isQuarantined(one) &&
        one.fact === fact &&
        (projection === null || one.projection === projection),
    );
    const names = entries.map((one) => one.projection);
    await abortTicks(session, names.map(schemaOf));
    await appendObservationsIn(
      session,
      entries.map((one) =>
        quarantineObservation("fact_released", { ...one, error: null, after: one.entryPosition }),
      ),
    );
    return names;
  });
}

/** Whether the fact retracts or readopts a block. */
async function isBlockState(session: Session, position: bigint): Promise<boolean> {
  const { rows } = await sql<{ kind: number }>`
    select kind from log.fact where position = ${position}`.execute(session);
  const kind = rows[0]?.kind;
  return kind === factKind.block_retracted || kind === factKind.block_readopted;
}

type EntryToAppend = { projection: string; fact: bigint; error: string | null; after: bigint };

/** `after`, the position of the previous entry, distinguishes repeated entries about one fact. */
function quarantineObservation(
  kind: "fact_quarantined" | "fact_released",
  { projection, fact, error, after }: EntryToAppend,
): Observation {
  return {
    kind,
    chainId: 0,
    identity: keccak256(stringToHex([kind, projection, fact, after].join("/"))),
    recordedAt: new Date(),
    amount: fact,
    payload: { projection, ...(error === null ? {} : { error }) },
  };
}

/** Every fact that was ever quarantined, and the facts that each schema's tables were derived without. */
export type QuarantineState = {
  entries: readonly QuarantineEntry[];
  checkpoints: Map<string, Checkpoint>;
};

export async function readQuarantineState(session: Session): Promise<QuarantineState> {
  return { entries: await readQuarantine(session), checkpoints: await readCheckpoints(session) };
}

/** Facts to exclude from a projection that is derived now: its own quarantined ones, and those excluded from tables it reads. */
export function factsToExclude(
  { name, reads = [] }: Projection,
  { entries, checkpoints }: QuarantineState,
): bigint[] {
  const own = entries.filter((one) => isQuarantined(one) && one.projection === name);
  const read = reads.flatMap((one) => checkpoints.get(schemaOf(one))?.excludedPositions ?? []);
  return [...new Set([...own.map(({ fact }) => fact), ...read])];
}

/** Facts that are excluded from the serving tables and no longer quarantined: a rebuild is to replay them. */
export function factsPendingReplay(projection: Projection, state: QuarantineState): bigint[] {
  const toExclude = factsToExclude(projection, state);
  const excluded = state.checkpoints.get(schemaOf(projection.name))?.excludedPositions ?? [];
  return excluded.filter((fact) => !toExclude.includes(fact));
}

/**
 * Facts excluded from a target from a position on: those it was derived without, also where they were released since,
 * and quarantined ones that still lie ahead. These are added to its checkpoint, which the caller has locked.
 */
export async function excludeFacts(
  session: Session,
  { projection, schema }: Target,
  after: bigint,
  state: QuarantineState,
): Promise<readonly bigint[]> {
  const checkpoint = state.checkpoints.get(schema);
  if (checkpoint === undefined) throw new Error(`projection ${schema} has no checkpoint`);
  const excluded = checkpoint.excludedPositions;
  const ahead = factsToExclude(projection, state).filter(
    (fact) => fact > after && !excluded.includes(fact),
  );
  if (ahead.length === 0) return excluded;
  const excludedPositions = [...excluded, ...ahead];
  await sql`
    update engine.checkpoint set excluded_positions = ${excludedPositions}::bigint[] where projection = ${schema}`.execute(
    session,
  );
  state.checkpoints.set(schema, { ...checkpoint, excludedPositions });
  return excludedPositions;
}
