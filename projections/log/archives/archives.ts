import { sql } from "kysely";
import type { Session } from "../../database.ts";
import { archivedColumns } from "./archived-columns.ts";
import type { FactsDigest } from "./digest.ts";

/** A partition's file. */
export type Archive = FactsDigest & {
  readonly first: bigint;
  readonly last: bigint;
  /** Where the file was written. */
  readonly directory: string;
  readonly file: string;
  readonly bytes: bigint;
  /** Of the file. */
  readonly sha256: string;
};
export type NotedArchive = Archive & {
  /** Since when the file alone has some of its facts; null: the log has all. */
  readonly detachedAt: Date | null;
};

/** All that were noted, in the order of positions. */
export async function readArchives(session: Session): Promise<NotedArchive[]> {
  const { rows } = await sql<NotedArchive>`
    select first_position as first, last_position as last, facts, directory, file, bytes, sha256, digest,
           detached_at as "detachedAt"
    from log.archive order by first_position`.execute(session);
  return rows;
}

/** Those of which the log lacks facts. */
export async function readDetached(session: Session): Promise<NotedArchive[]> {
  return (await readArchives(session)).filter(({ detachedAt }) => detachedAt !== null);
}

/** Notes a file; where the partition has one that was noted, this is it from now on. */
export async function noteArchive(session: Session, archive: Archive): Promise<void> {
  const { first, last, facts, directory, file, bytes, sha256, digest } = archive;
  await sql`
    insert into log.archive (first_position, last_position, facts, directory, file, bytes, sha256, digest)
    values (${first}, ${last}, ${facts}, ${directory}, ${file}, ${bytes}, ${sha256}, ${digest})
    on conflict (first_position) do update set
      last_position = excluded.last_position, facts = excluded.facts, directory = excluded.directory, file = excluded.file,
      bytes = excluded.bytes, sha256 = excluded.sha256, digest = excluded.digest`.execute(session);
}

/** Throws where the log has other columns than an archive would: a fact could not be made again from it. */
export async function assertArchivable(session: Session): Promise<void> {
  const { rows } = await sql<{ names: string[] }>`
    select array_agg(attname::text order by attnum) as names from pg_attribute
    where attrelid = 'log.fact'::regclass and attnum > 0 and not attisdropped`.execute(session);
  const expected = archivedColumns.map(({ name }) => name);
  const found = rows[0]?.names ?? [];
  if (found.join() !== expected.join())
    throw new Error(
      `log.fact has the columns ${found.join(", ")}: this release archives ${expected.join(", ")}`,
    );
}
