import { sql } from "kysely";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "../log/database.ts";
import { type PartnerName, partnerNames } from "../domain/marketplaces.ts";

/** A contract whose listings are synchronised from a partner, and how far that is. */
export type PartnerCollectionState = {
  marketplace: PartnerName;
  chainId: ChainId;
  contract: Address;
  slug: string | null;
  /** Recipients of creator fees according to any partner. */
  creators: Address[];
  describedAt: Date | null;
  /** When its next page is due. */
  dueAt: Date;
  /** The pass over its listings in progress. */
  pass: "full" | "newest" | null;
  passNumber: bigint;
  passCursor: string | null;
  passPages: number;
  passStartedAt: Date | null;
  /** When the last full pass ended. */
  fullAt: Date | null;
};

/** Adds contracts of known collections, due at once. Returns how many were added or changed `is_registered`. */
export async function enrollCollections(
  db: Database,
  marketplace: PartnerName,
  chainIds: readonly ChainId[],
  now: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into ops.partner_collection as p (marketplace, chain_id, contract, is_registered, due_at)
    select ${marketplace}, k.chain_id, k.address, c.registered, ${now}::timestamptz
    from collections.contract m join log.contract k using (contract_id)
    join collections.collection c using (collection_id)
    where k.chain_id = any (${[...chainIds]}::int[]) and not exists (
      select from ops.partner_collection known
      where known.marketplace = ${marketplace} and known.chain_id = k.chain_id and known.contract = k.address
        and known.is_registered = c.registered)
    on conflict (marketplace, chain_id, contract) do update set is_registered = excluded.is_registered
      where p.is_registered <> excluded.is_registered`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** The contract that is due the longest, optionally those of the registry first. */
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
           c.pass_started_at as "passStartedAt", c.full_at as "fullAt",
           array(
             select distinct fee ->> 'recipient'
             from ops.partner_collection source cross join lateral jsonb_array_elements(source.fees) fee
             where source.marketplace = any (${[...partnerNames]}::text[]) and source.chain_id = c.chain_id
               and source.contract = c.contract and source.fees is not null
           ) as creators
    from ops.partner_collection c
    where c.marketplace = ${marketplace} and c.due_at <= ${now} and c.chain_id = any (${[...chainIds]}::int[])
    order by c.is_registered and ${registeredFirst}::boolean desc, c.due_at, c.chain_id, c.contract
    limit 1`.execute(db);
  return rows[0] ?? null;
}
