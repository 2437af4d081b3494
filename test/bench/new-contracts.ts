import { sql } from "kysely";
import type { Target } from "#projections/engine/checkpoint.ts";
import { appendStaged, openStage } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { project } from "../support/database/given.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { deriveTargets, projections, timed, withLog } from "./server.ts";

const CONTRACTS = 10_000;
const BLOCKS = 5;
/** Of the generated log: far above the blocks that it has. */
const FIRST_HEIGHT = 10_000_000;

/** Blocks of new contracts with one token each, as a stranger makes them in one transaction, at the end of a log. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withLog({ facts }, async (db) => {
    const each = new Map<string, number[]>();
    const targets = (await deriveTargets(db, projections)).map((target) => timing(target, each));
    const all: number[] = [];
    const walBytes: number[] = [];
    for (let block = 0; block < BLOCKS; block += 1) {
      await appendBlock(db, FIRST_HEIGHT + block);
      const before = await readWalPosition(db);
      all.push(await timed(() => project(db, targets)));
      walBytes.push(((await readWalPosition(db)) - before) / CONTRACTS);
    }
    const size = `${CONTRACTS} contracts in a block after ${facts} facts`;
    const ms = { unit: "ms" } as const;
    return [
      medianFigure("new contracts", all, { ...ms, atMost: 1_000 }, size),
      ...[...each].map(([name, taken]) => medianFigure(`new contracts, ${name}`, taken, ms, size)),
      medianFigure("new contracts, write-ahead log of each", walBytes, { unit: "B" }, size),
    ];
  });
}

/** Adds the milliseconds of each application to `each`. */
function timing({ schema, projection }: Target, each: Map<string, number[]>): Target {
  const { name, apply } = projection;
  return {
    schema,
    projection: {
      ...projection,
      async apply(...given) {
        const ms = await timed(() => apply(...given));
        each.set(name, [...(each.get(name) ?? []), ms]);
      },
    },
  };
}

async function appendBlock(db: Database, height: number): Promise<void> {
  await db.transaction().execute(async (session) => {
    await openStage(session);
    await sql`
      insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                          transaction_hash, log_index, sub_index, contract, token_id, from_address, to_address)
      select n, ${factKind.erc721_transfer}::smallint, 1, b.height, sha256(int8send(b.height)),
             to_timestamp(b.height + 1600000000), 0, sha256(int8send(-b.height)), n, 0,
             substr(sha256(int8send(b.height * ${CONTRACTS} + n)), 1, 20), 0, decode(repeat('00', 20), 'hex'),
             decode(repeat('aa', 20), 'hex')
      from (select ${height}::bigint as height) b cross join generate_series(1, ${CONTRACTS}::int) n`.execute(
      session,
    );
    await appendStaged(session);
  });
}

async function readWalPosition(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as bytes`.execute(db);
  return rows[0]?.bytes ?? Number.NaN;
}
