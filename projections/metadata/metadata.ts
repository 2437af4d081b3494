import { sql } from "kysely";
import { withKinds } from "../engine/fact-window.ts";
import type { FactWindow, Projection, Step } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { applyChanges, deriveAllChanges } from "./changes.ts";
import { applyFetched, deriveAllFetched } from "./fetched-metadata.ts";
import {
  deriveAllPendingRanges,
  derivePending,
  derivePendingRanges,
  mayHaveUri,
} from "./pending-fetches.ts";

/** A single step: pending is what `ownership` holds in the snapshot without what was fetched. */
const metadataSteps: readonly Step[] = [{ name: "metadata", derive: deriveMetadata }];

async function deriveMetadata(session: Session, schema: string, window: FactWindow): Promise<void> {
  await deriveAllFetched(session, schema, window);
  for (const table of ["token", "contract"]) {
    await sql`analyze ${sql.id(schema, table)}`.execute(session);
  }
  await deriveAllChanges(session, schema, window);
  await insertPending(session, schema);
  await deriveAllPendingRanges(session, schema);
}

/** From the owners only, without facts. A token id may be held in both standards at once. */
async function insertPending(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.pending_token`)} (chain_id, contract_id, token_id)
    select k.chain_id, o.contract_id, o.token_id
    from ownership.token o join log.contract k using (contract_id)
    where ${mayHaveUri("o")} and not exists (
      select from ${sql.table(`${schema}.token`)} t
      where t.contract_id = o.contract_id and t.token_id = o.token_id
    ) and (o.standard = 721 or not exists (
      select from ownership.token same
      where same.contract_id = o.contract_id and same.token_id = o.token_id and same.standard = 721 and ${mayHaveUri("same")}
    ))`.execute(session);
  await sql`
    insert into ${sql.table(`${schema}.pending_contract`)} (chain_id, contract_id)
    select k.chain_id, o.contract_id
    from ownership.collection o join log.contract k using (contract_id)
    where not exists (
      select from ${sql.table(`${schema}.contract`)} c where c.contract_id = o.contract_id
    )`.execute(session);
}

/** Metadata of tokens and contracts, and what is to be fetched. */
function tables(schema: string): readonly string[] {
  const state = `
       chain_id      integer not null,
       attempt       integer not null,
       last_position bigint not null,
       due_at        timestamptz not null,
       read_at       bigint not null default -1`;
  return [
    `create table ${schema}.token (
       contract_id   integer not null,
       token_id      numeric(78,0) not null,
       position      bigint not null,
       status        text not null,
       name          text,
       description   text,
       image         text,
       animation     text,
       content_type  text,
       token_uri     text,
       attributes    jsonb not null,
       issue         text,
       updated_at    timestamptz not null,${state},
       primary key (contract_id, token_id)
     )`,
    `create index token_name on ${schema}.token (chain_id, (lower(left(name, 64)) collate "C")) where name is not null`,
    `create table ${schema}.contract (
       contract_id   integer primary key,
       position      bigint not null,
       status        text not null,
       name          text,
       description   text,
       image         text,
       banner        text,
       website       text,
       twitter       text,
       discord       text,
       uri           text,
       issue         text,
       updated_at    timestamptz not null,${state}
     )`,
    ...["token", "contract"].flatMap((table) => [
      `comment on column ${schema}.${table}.issue is 'Why there is no metadata, or what of the document was left out for a limit'`,
      `comment on column ${schema}.${table}.position is 'Of the fact that the row shows: the last successful one, else the last'`,
      `comment on column ${schema}.${table}.attempt is 'Failed attempts since the last success'`,
      `comment on column ${schema}.${table}.last_position is 'Of the last fact, successful or not'`,
      `comment on column ${schema}.${table}.due_at is 'When it is due to be fetched again'`,
      `comment on column ${schema}.${table}.read_at is 'Height of the block at which its URI was last read; -1: unknown'`,
      `create index on ${schema}.${table} (chain_id, due_at)`,
    ]),
    `create index on ${schema}.token (contract_id, read_at)`,
    `create table ${schema}.change (
       contract_id   integer not null,
       first_id      numeric(78,0) not null,
       last_id       numeric(78,0) not null,
       chain_id      integer not null,
       changed_at    bigint not null,
       is_pending    boolean not null,
       primary key (contract_id, first_id, last_id)
     )`,
    `create index on ${schema}.change (chain_id, contract_id, changed_at) where is_pending`,
    `create index on ${schema}.change (contract_id, changed_at) where last_id > first_id`,
    `comment on table ${schema}.change is 'Ids of which their contract said that metadata changed; -1: its own'`,
    `comment on column ${schema}.change.changed_at is 'Height of the last such event'`,
    `comment on column ${schema}.change.is_pending is 'Something of it that was fetched has not been since'`,
    `create table ${schema}.pending_token (
       chain_id      integer not null,
       contract_id   integer not null,
       token_id      numeric(78,0) not null,
       primary key (chain_id, contract_id, token_id)
     )`,
    `comment on table ${schema}.pending_token is 'Tokens with a row of their own, not burned or sent to 0x…dead, whose metadata was never fetched'`,
    `create table ${schema}.pending_range (
       contract_id   integer not null,
       chain_id      integer not null,
       first_id      numeric(78,0) not null,
       last_id       numeric(78,0) not null,
       primary key (contract_id, first_id)
     )`,
    `create index on ${schema}.pending_range (chain_id, contract_id, last_id)`,
    `comment on table ${schema}.pending_range is 'The same of tokens in ranges (ownership.token_range), as runs of ids'`,
    `create table ${schema}.pending_ranged_contract (
       chain_id      integer not null,
       contract_id   integer not null,
       primary key (chain_id, contract_id)
     )`,
    `comment on table ${schema}.pending_ranged_contract is 'Contracts with rows in pending_range, as long as few of their tokens were fetched'`,
    `create table ${schema}.pending_contract (
       chain_id      integer not null,
       contract_id   integer not null,
       primary key (chain_id, contract_id)
     )`,
    `comment on table ${schema}.pending_contract is 'Contracts with tokens whose metadata was never fetched'`,
  ];
}

/** Metadata of tokens and contracts as last fetched, and what is to be fetched. */
export const metadataProjection: Projection = {
  name: "metadata",
  version: versions.metadata.version,
  handles: [
    "erc721_transfer",
    "erc721_consecutive_transfer",
    "erc1155_transfer",
    "token_metadata_fetched",
    "contract_metadata_fetched",
    "metadata_confirmed",
    "metadata_changed",
  ],
  reads: ["ownership"],
  sample: {
    key: ["contract_id", "token_id"],
    where: sql`kind in ${kindList("token_metadata_fetched", "metadata_confirmed")}`,
    tables: ["token"],
  },
  tables,
  async apply(session, schema, window) {
    const withTheirKinds = await withKinds(session, window);
    await sendAhead(session, async (ahead) => {
      await applyFetched(ahead, schema, withTheirKinds);
      await applyChanges(ahead, schema, withTheirKinds);
      await derivePending(ahead, schema, window);
    });
    await derivePendingRanges(session, schema, window);
  },
  deriveAll: metadataSteps,
};
