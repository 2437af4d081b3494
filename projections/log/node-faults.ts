import { sql } from "kysely";
import type { Database } from "../database.ts";

/** Why an indexer cannot read a chain, or uses no answer of one of its nodes. */
export type NodeFault = {
  /** The node's host, or what waits: `newest block`, `finalized block`, `Ponder of core`. */
  readonly part: string;
  readonly reason: string;
  /** Hosts of the chain's nodes, which part and reason may name: for operators only. */
  readonly hosts: readonly string[];
  readonly since: Date;
};

export const describeNodeFault = ({ part, reason, since }: Omit<NodeFault, "hosts">): string =>
  `${part}: ${reason}, since ${since.toISOString()}`;

/** What was not said again for so long is over, or nobody is there to say it. */
const toldForSeconds = 30;

export async function readNodeFaults(db: Database, chainId: number): Promise<NodeFault[]> {
  const { rows } = await sql<NodeFault>`
    select part, reason, hosts, since from ops.node_fault
    where chain_id = ${chainId} and seen_at > clock_timestamp() - make_interval(secs => ${toldForSeconds})
    order by since, part`.execute(db);
  return rows;
}

/** Stores the faults that there are now in place of those that there were. */
export async function storeNodeFaults(
  db: Database,
  chainId: number,
  faults: readonly Pick<NodeFault, "part" | "reason">[],
  hosts: readonly string[],
): Promise<void> {
  await sql`
    with told as (
      select part, reason from jsonb_to_recordset(${JSON.stringify(faults)}::jsonb) as one (part text, reason text)
    ), over as (
      delete from ops.node_fault f
      where f.chain_id = ${chainId} and not exists (select from told t where t.part = f.part)
    )
    insert into ops.node_fault as known (chain_id, part, reason, hosts)
    select ${chainId}, part, reason, ${hosts}::text[] from told
    on conflict (chain_id, part) do update
      set reason = excluded.reason, hosts = excluded.hosts, seen_at = clock_timestamp(),
          since = case when known.seen_at > clock_timestamp() - make_interval(secs => ${toldForSeconds})
                       then known.since else clock_timestamp() end`.execute(db);
}
