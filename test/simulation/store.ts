import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { allProjections } from "#projections/all.ts";
import { dropTarget, readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { build } from "#projections/engine/rebuild.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import { createProjection, project } from "../support/database/given.ts";
import { openBookFollower, readBook } from "../support/orders/told-book.ts";
import { differenceOf, type Layout, type Place, readLayout } from "./contents.ts";
import { openSimulationDatabase } from "./database.ts";
import { feeRecipient } from "./events.ts";
import { type FaultyDatabase, openFaulty } from "./faults.ts";
import { noProgramFault, withProgramFault } from "./program-faults.ts";
import type { ProgramFault } from "./run-context.ts";

/** Facts in a window that takes all of a simulation's log. */
const EVERYTHING = 1_000_000_000;

/** A database for one run after the other. Its tables stay and are emptied, so that connections keep their plans. */
export type Store = {
  faulty: FaultyDatabase;
  /** Without faults, for what makes and drops tables: plans of the other connections do not fall with those. */
  db: Database;
  projections: readonly Projection[];
  /** OwnershipState step by step, by projections with program faults. */
  targets: readonly Target[];
  programFault: ProgramFault;
  /** OwnershipState in one window. */
  shadows: readonly Target[];
  layouts: ReadonlyMap<string, Layout>;
};

const shadowName = ({ name }: Projection) => `${name}_shadow`;
const inBulk = ({ name }: Projection) => `${name}_bulk`;

/** Makes the tables in a migrated database, in place of those of an earlier store. */
export async function openStore(url: string): Promise<Store> {
  const db = openSimulationDatabase(url);
  for (const schema of (await readCheckpoints(db)).keys()) await drop(db, schema);
  const projections = allProjections({ feeRecipient });
  const programFault = noProgramFault();
  const targets: Target[] = [];
  const shadows: Target[] = [];
  const layouts = new Map<string, Layout>();
  for (const one of projections) {
    targets.push(await createProjection(db, withProgramFault(one, programFault)));
    shadows.push(await createProjection(db, one, shadowName(one)));
    layouts.set(one.name, await readLayout(db, schemaOf(one.name)));
  }
  return { faulty: openFaulty(url), db, projections, targets, programFault, shadows, layouts };
}

export async function closeStore({ faulty, db }: Store): Promise<void> {
  await Promise.all([faulty.close(), db.destroy()]);
}

/** Deletes and does not truncate: that would invalidate every plan. */
export async function emptyStore({ db, targets, shadows, layouts }: Store): Promise<void> {
  const tables = [...targets, ...shadows].flatMap(({ projection, schema }) => {
    return [...(layouts.get(projection.name)?.keys() ?? [])].map((table) => `${schema}.${table}`);
  });
  const log = ["fact", "block", "transaction", "contract", "transaction_part"];
  const told = ["book", "book_order", "book_price", "order_event"].map(
    (table) => `engine.${table}`,
  );
  const statements = [
    ...[...tables, ...log.map((table) => `log.${table}`), ...told].map(
      (table) => `delete from ${table}`,
    ),
    "update log.head set position = 0",
    "update engine.checkpoint set position = 0, excluded_positions = '{}'",
  ];
  await sql.raw(statements.join("; ")).execute(db);
}

/** The tables of some projections as they stand, in the middle of the log or at its end, against the same in bulk. */
export async function compareInBulk(
  store: Store,
  projections: readonly Projection[],
): Promise<string[]> {
  const { db } = store;
  const checkpoints = await readCheckpoints(db);
  const positionOf = (name: string) => checkpoints.get(schemaOf(name))?.position ?? 0n;
  const position = positionOf("ownership");
  const broken: string[] = [];
  // A projection that was rebuilt to release a fact stands at the log's head, and others before it.
  const areAt = ({ name, reads = [] }: Projection) =>
    [name, ...reads].every((one) => positionOf(one) === position);
  for (const projection of projections.filter(areAt)) {
    const schema = inBulk(projection);
    await drop(db, schema);
    await build(db, { projection, schema }, { limit: position }, () => {});
    const bulk = { db, schema, layout: await readLayout(db, schema) };
    const what = `${projection.name} step by step and in bulk at ${position}`;
    broken.push(...(await compare(what, tablesOf(store, projection), bulk)));
    await drop(db, schema);
  }
  return broken;
}

/** The tables of some projections at the log's end against the same state in one window. */
export async function compareInOneWindow(
  store: Store,
  projections: readonly Projection[],
): Promise<string[]> {
  const chosen = store.shadows.filter(({ projection }) => projections.includes(projection));
  await project(store.faulty.projector, chosen, EVERYTHING);
  const broken: string[] = [];
  for (const { projection, schema } of chosen) {
    const stepwise = tablesOf(store, projection);
    const what = `${projection.name} step by step and in one window`;
    broken.push(...(await compare(what, stepwise, { ...stepwise, schema })));
  }
  return broken;
}

/** The order book by its events alone, against the tables at the log's end; not where a rebuild waits to be told. */
export async function compareToldBook({ db }: Store): Promise<string[]> {
  const { rows } = await sql`
    select from engine.book
    where listings = 'listings.listing'::regclass::oid::bigint and bids = 'bids.bid'::regclass::oid::bigint`.execute(
    db,
  );
  if (rows.length === 0) return [];
  const follower = openBookFollower(db);
  await follower.follow(await readOrderBookPosition(db));
  const book = await readBook(db);
  return (["orders", "prices"] as const).flatMap((part) => {
    const [told, held] = [follower.book[part], book[part]].map((one) =>
      [...one].map((entry) => entry.join(": ")).toSorted(),
    );
    return isDeepStrictEqual(told, held)
      ? []
      : [`${part} as told differ from the tables:\n${told?.join("\n")}\n—\n${held?.join("\n")}`];
  });
}

/** All tables of two stores that stand at the ends of their logs. */
export async function compareStores(one: Store, other: Store): Promise<string[]> {
  const broken: string[] = [];
  for (const projection of one.projections) {
    const what = `${projection.name} as watched and out of order`;
    broken.push(...(await compare(what, tablesOf(one, projection), tablesOf(other, projection))));
  }
  return broken;
}

/** Where a projection is state step by step. */
export function tablesOf({ db, layouts }: Store, { name }: Projection): Place {
  return { db, schema: schemaOf(name), layout: layouts.get(name) ?? new Map() };
}

async function compare(what: string, one: Place, other: Place): Promise<string[]> {
  const found = await differenceOf(one, other);
  return found === null ? [] : [`${what} differ:\n${found}`];
}

async function drop(db: Database, schema: string): Promise<void> {
  await db.transaction().execute((session) => dropTarget(session, schema));
}
