import { sql } from "kysely";
import { appendRange, makeEvents } from "./facts.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { withDatabase } from "./server.ts";

/** Bytes of the log per transfer after appending, dead space included. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withDatabase(async (db) => {
    await makeEvents(db, { facts, mix: "transfers" });
    await appendRange(db, 0, facts);
    const { rows } = await sql<{ fact: bigint; dictionaries: bigint }>`
      select sum(pg_total_relation_size(oid)) filter (where relispartition) as fact,
             sum(pg_total_relation_size(oid)) filter (where not relispartition) as dictionaries
      from pg_class where relnamespace = 'log'::regnamespace and relkind = 'r'`.execute(db);
    const [sizes] = rows;
    if (sizes === undefined) throw new Error("an aggregate without a row");
    const each = (bytes: bigint) => [Number(bytes) / facts];
    const size = `${facts} ERC-721 transfers, 3 a transaction, 60 a block`;
    const limit = { unit: "B", atMost: 220 } as const;
    return [
      medianFigure("log, a transfer with its indexes", each(sizes.fact), limit, size),
      medianFigure(
        "log, its share of blocks, transactions, contracts",
        each(sizes.dictionaries),
        { unit: "B" },
        size,
      ),
      medianFigure("log, both together", each(sizes.fact + sizes.dictionaries), limit, size),
    ];
  });
}
