import { sql } from "kysely";
import type { Address } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import type { Database } from "../database.ts";
import { type PartnerName, partnerNames } from "../facts/partner-listing.ts";

/** A contract whose listings are taken from a partner, and how far that is. */
export type PartnerCollectionState = {
  marketplace: PartnerName;
  chainId: ChainId;
  contract: Address;
  slug: string | null;
  /** Recipients of creator fees, whichever partner told them. */
  creators: Address[];
  describedAt: Date | null;
  /** When its turn was due. */
  dueAt: Date;
  /** The walk over its listings that is under way. */
  pass: "full" | "newest" | null;
  passNumber: bigint;
  passCursor: string | null;
  passPages: number;
  passBeganAt: Date | null;
  /** When a full pass ended last. */
  fullAt: Date | null;
};

/** Contracts of collections become due once they are known. Returns how many did, or changed whether they are registered. */
export async function enrolCollections(
  db: Database,
  marketplace: PartnerName,
  chainIds: readonly ChainId[],
  now: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into ops.partner_collection as p (marketplace, chain_id, contract, is_registered, due_at)
    select ${marketplace}, k.chain_id, k.address, c.registered, ${now}::timestamptz
    from collections.member m join log.contract k using (contract_id)
    join collections.collection c using (collection_id)
    where k.chain_id = any (${[...chainIds]}::int[])
    on conflict (marketplace, chain_id, contract) do update set is_registered = excluded.is_registered
      where p.is_registered <> excluded.is_registered`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** The contract that waits longest; each page puts it behind the others. Those of the registry may go first. */
export async function readDueCollection(
  db: Database,
  marketplace: PartnerName,
  chainIds: readonly ChainId[],
  { now, registeredFirst }: { now: Date; registeredFirst: boolean },
): Promise<PartnerCollectionState | null> {
  const { rows } = await sql<PartnerCollectionState>`
    select c.marketplace, c.chain_id as "chainId", c.contract, c.slug, c.described_at as "describedAt",
           c.due_at as "dueAt",
           c.pass, c.pass_number as "passNumber", c.pass_cursor as "passCursor", c.pass_pages as "passPages",
           c.pass_began_at as "passBeganAt", c.full_at as "fullAt",
           array(
             select distinct fee ->> 'recipient'
             from ops.partner_collection told cross join lateral jsonb_array_elements(told.fees) fee
             where told.marketplace = any (${[...partnerNames]}::text[]) and told.chain_id = c.chain_id
               and told.contract = c.contract and told.fees is not null
           ) as creators
    from ops.partner_collection c
    where c.marketplace = ${marketplace} and c.due_at <= ${now} and c.chain_id = any (${[...chainIds]}::int[])
    order by c.is_registered and ${registeredFirst}::boolean desc, c.due_at, c.chain_id, c.contract
    limit 1`.execute(db);
  return rows[0] ?? null;
}
