import { type RawBuilder, sql } from "kysely";
import { type Address, concatHex, type Hex, keccak256, stringToHex, toHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { PartnerName } from "../domain/partners.ts";
import type { OrderComponents } from "../domain/seaport/order-components.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { type Observation, serializeBigints } from "../log/append.ts";
import type { Session } from "../log/database.ts";
import { versions } from "../log/versions.ts";

/** A cross-listing: the listing it belongs to, and the order signed for the partner. */
export type CrossListingKey = {
  marketplace: PartnerName;
  chainId: ChainId;
  contract: Address;
  /** Of our own listing. */
  orderHash: Hex;
  /** Of the order signed for the partner. */
  partnerOrderHash: Hex;
};

export type SubmittedCrossListing = CrossListingKey & {
  components: OrderComponents;
  signature: Hex;
  receivedAt: Date;
};

/** The fact that a maker submitted a cross-listing. Repeated submissions are one fact. */
export function crossListingSubmitted(crossListing: SubmittedCrossListing): Observation {
  const { marketplace, chainId, contract, orderHash, partnerOrderHash, components, signature } =
    crossListing;
  const [item] = components.offer;
  return {
    kind: "cross_listing_submitted",
    chainId,
    contract,
    orderHash,
    identity: identityOf("twin_submitted", crossListing),
    recordedAt: crossListing.receivedAt,
    fromAddress: components.offerer,
    ...(item && { tokenId: item.identifierOrCriteria, amount: item.startAmount }),
    payload: serializeBigints({
      marketplace,
      protocol: "seaport-1.6",
      twinHash: partnerOrderHash,
      components,
      signature,
    }),
  };
}

type CrossListingAnswer =
  | { status: "posted" }
  | { status: "rejected"; code: "partner_rejected"; message: string };

/** The fact of a partner's answer to a cross-listing. Only the first one is recorded. */
export function crossListingAnswered(
  crossListing: CrossListingKey,
  answer: CrossListingAnswer,
  answeredAt: Date,
): Observation {
  const { marketplace, chainId, contract, orderHash, partnerOrderHash } = crossListing;
  const { code, message } = answer.status === "posted" ? { code: null, message: null } : answer;
  return {
    kind: "cross_listing_answered",
    chainId,
    contract,
    orderHash,
    identity: identityOf("twin_answered", crossListing),
    recordedAt: answeredAt,
    payload: { marketplace, twinHash: partnerOrderHash, status: answer.status, code, message },
  };
}

/** Identities are stored: they keep the names that the kinds had first. */
function identityOf(
  name: "twin_submitted" | "twin_answered",
  { marketplace, chainId, orderHash, partnerOrderHash }: CrossListingKey,
): Hex {
  const parts = [stringToHex(`${name} ${marketplace}`), toHex(chainId, { size: 4 })];
  return keccak256(concatHex([...parts, orderHash, partnerOrderHash]));
}

/** Submitted cross-listings, and the partners' answers to them. */
function crossListingTables(schema: string): readonly string[] {
  const crossListing = `"${schema}"."cross_listing"`;
  const answer = `"${schema}"."answer"`;
  return [
    `create table ${crossListing} (
       position           bigint  primary key,
       chain_id           integer not null,
       order_hash         bytea   not null,
       partner_order_hash bytea   not null,
       marketplace        text    not null,
       end_time           numeric not null,
       is_queued          boolean not null
     )`,
    `comment on column ${crossListing}.order_hash is 'Of our own listing'`,
    `comment on column ${crossListing}.partner_order_hash is 'Of the order signed for the partner'`,
    `comment on column ${crossListing}.is_queued is 'Not answered by the partner'`,
    `create index on ${crossListing} (chain_id, order_hash)`,
    `create index on ${crossListing} (marketplace, position) where is_queued`,
    `create table ${answer} (
       position           bigint  primary key,
       chain_id           integer not null,
       order_hash         bytea   not null,
       partner_order_hash bytea   not null,
       marketplace        text    not null
     )`,
    `create index on ${answer} (chain_id, order_hash)`,
  ];
}

/** Cross-listings, and which of them have no answer from their partner. */
export const crossListingsProjection: Projection = {
  name: "cross_listings",
  version: versions.cross_listings.version,
  handles: ["cross_listing_submitted", "cross_listing_answered"],
  tables: crossListingTables,
  async apply(session, schema, window) {
    await applySubmissions(session, schema, window);
    await applyAnswers(session, schema, window);
    await updateQueue(session, schema, window);
  },
  deriveAll: [
    { name: "submissions", derive: applySubmissions },
    { name: "answers", derive: applyAnswers },
    { name: "queue", derive: updateQueue },
  ],
};

/** The hash of the order signed for the partner. The payload's key is older than the word cross-listing. */
const partnerOrderHash = sql`decode(substr(c.payload ->> 'twinHash', 3), 'hex')`;

async function applySubmissions(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const crossListing = sql.table(`${schema}.cross_listing`);
  const isSubmission = isObservation("cross_listing_submitted");
  await sql`
    delete from ${crossListing} t using ${window.changes} c
    where ${isSubmission} and c.weight < 0 and t.position = c.position`.execute(session);
  await sql`
    insert into ${crossListing}
    select c.position, k.chain_id, c.order_hash, ${partnerOrderHash}, c.payload ->> 'marketplace',
           (c.payload #>> '{components,endTime}')::numeric, true
    from ${window.changes} c join log.contract k using (contract_id)
    where ${isSubmission} and c.weight > 0`.execute(session);
}

async function applyAnswers(session: Session, schema: string, window: FactWindow): Promise<void> {
  const answer = sql.table(`${schema}.answer`);
  const isAnswer = isObservation("cross_listing_answered");
  await sql`
    delete from ${answer} a using ${window.changes} c
    where ${isAnswer} and c.weight < 0 and a.position = c.position`.execute(session);
  await sql`
    insert into ${answer}
    select c.position, k.chain_id, c.order_hash, ${partnerOrderHash}, c.payload ->> 'marketplace'
    from ${window.changes} c join log.contract k using (contract_id)
    where ${isAnswer} and c.weight > 0`.execute(session);
}

/** Queues what has no answer, among the cross-listings that the window's facts name. */
async function updateQueue(session: Session, schema: string, window: FactWindow): Promise<void> {
  const crossListing = sql.table(`${schema}.cross_listing`);
  await sql`
    update ${crossListing} t set is_queued = current.is_queued
    from (
      select w.position, not exists (
               select from ${sql.table(`${schema}.answer`)} a
               where a.chain_id = w.chain_id and a.order_hash = w.order_hash
                 and a.partner_order_hash = w.partner_order_hash and a.marketplace = w.marketplace
             ) as is_queued
      from (${affectedListings(window)}) affected
      join ${crossListing} w using (chain_id, order_hash)
    ) current
    where t.position = current.position and t.is_queued <> current.is_queued`.execute(session);
}

function affectedListings({ changes }: FactWindow): RawBuilder<unknown> {
  return sql`
    select distinct k.chain_id, c.order_hash
    from ${changes} c join log.contract k using (contract_id)
    where ${isObservation("cross_listing_submitted")} or ${isObservation("cross_listing_answered")}`;
}
