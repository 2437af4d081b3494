import { sql } from "kysely";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { FeedEventType } from "#projections/activity/feed-events.ts";
import type { Database } from "#projections/log/database.ts";
import type { WebhookProgress } from "./record-tries.ts";
import type { WebhookSecrets } from "./signature.ts";

/** Which events are sent: those of `GET /v1/events` with these parameters. */
export type WebhookFilter = {
  readonly type?: readonly FeedEventType[] | undefined;
  readonly collection?: Address | undefined;
  readonly wallet?: Address | undefined;
};

/** A webhook that is delivered to, by its present revision. */
export type DueWebhook = WebhookSecrets & {
  readonly id: number;
  readonly revision: number;
  readonly url: string;
  readonly chainId: ChainId;
  readonly delivery: "latest" | "final";
  readonly filter: WebhookFilter;
  readonly progress: WebhookProgress;
};

type Row = Omit<DueWebhook, "filter" | "progress"> &
  Pick<WebhookProgress, "failures" | "failingSince" | "retryAt"> & {
    readonly types: FeedEventType[] | null;
    readonly collection: Address | null;
    readonly wallet: Address | null;
    readonly position: bigint;
    readonly ordinal: number;
  };

/** Names of what is delivered to: a change of a webhook gives it another one. */
export async function readDueNames(db: Database, chainIds: readonly number[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select w.id || ':' || w.revision as name
    from access.webhook w join access.account a on a.id = w.account_id
    where w.disabled_at is null and a.suspended_at is null and w.chain_id = any (${chainIds}::int[])`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** The webhook of a name; null: it has changed since. */
export async function readDue(db: Database, name: string): Promise<DueWebhook | null> {
  const [id, revision] = name.split(":").map(Number);
  const { rows } = await sql<Row>`
    select id, revision, url, chain_id as "chainId", delivery, types, collection, wallet, secret,
           former_secret as "formerSecret", former_until as "formerUntil", position, ordinal, failures,
           failing_since as "failingSince", retry_at as "retryAt"
    from access.webhook where id = ${id} and revision = ${revision} and disabled_at is null`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { types, collection, wallet, position, ordinal, failures, failingSince, retryAt, ...rest } =
    row;
  return {
    ...rest,
    filter: {
      type: types ?? undefined,
      collection: collection ?? undefined,
      wallet: wallet ?? undefined,
    },
    progress: { place: { position, ordinal }, failures, failingSince, retryAt, disabledBy: null },
  };
}
