import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

/** The saved progress of a walk over a chain's blocks, from which an interrupted one continues. */
export type ResumePoint<State> = {
  read(): Promise<State | null>;
  save(state: State & { next: number | null; to: number }): Promise<void>;
  /** Called when the walk is complete. */
  clear(): Promise<void>;
};

/** `command` identifies the walk: the same command continues, another one starts from the beginning. */
export function openResumePoint<Findings>(
  db: Database,
  chainId: number,
  command: string,
): ResumePoint<Findings> {
  return {
    async read() {
      const { rows } = await sql<{ findings: Findings }>`
        select findings from ops.audit where chain_id = ${chainId} and command = ${command}`.execute(
        db,
      );
      return rows[0]?.findings ?? null;
    },
    async save(findings) {
      await sql`
        insert into ops.audit (chain_id, command, next_number, last_number, findings, updated_at)
        values (${chainId}, ${command}, ${findings.next}, ${findings.to}, ${JSON.stringify(findings)}, now())
        on conflict (chain_id, command) do update
          set next_number = excluded.next_number, findings = excluded.findings, updated_at = excluded.updated_at
      `.execute(db);
    },
    async clear() {
      await sql`delete from ops.audit where chain_id = ${chainId} and command = ${command}`.execute(
        db,
      );
    },
  };
}
