import { sql } from "kysely";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { sleep } from "../../background/log-signal/back-off.ts";
import { createSignal } from "../../background/log-signal/signal.ts";
import { type Clock, currentTime } from "./clock.ts";

/** The token that a stream was opened with. */
export type StreamToken = { readonly id: number; readonly accountId: number };

/** The open streams of bearer tokens in this process. */
export type TokenStreams = {
  /** Counts a stream. Null: its account has as many as it may. `end` is called when its token ends. */
  open(token: StreamToken, end: () => void): { close(): void } | null;
  /** Call this when a token may have ended. */
  notify(): void;
  figures(): { open: number; refused: number; ended: number };
  stop(): Promise<void>;
};

type Options = {
  readonly db: Database;
  readonly clock?: Clock;
  readonly logger: Logger;
  /** Streams of one account in this process. */
  readonly maxPerAccount: number;
  /** Milliseconds after which tokens are read when no notification arrives. */
  readonly pollMs?: number;
};

/** Milliseconds between two reads: nobody's notifications cost more than that. */
const pauseMs = 100;

export function openTokenStreams(options: Options): TokenStreams {
  const { db, clock = () => null, logger, maxPerAccount, pollMs = 5_000 } = options;
  const streams = new Set<StreamToken & { end: () => void }>();
  const counts = new Map<number, number>();
  const stopping = new AbortController();
  const wake = createSignal();
  let [refused, ended] = [0, 0];

  const endInvalid = async () => {
    if (streams.size === 0) return;
    const valid = await readValid(db, clock, [...new Set([...streams].map(({ id }) => id))]);
    for (const stream of streams) {
      if (valid.has(stream.id)) continue;
      ended += 1;
      stream.end();
    }
  };
  const follow = async () => {
    while (!stopping.signal.aborted) {
      await wake.wait(pollMs, stopping.signal);
      await endInvalid().catch((error: unknown) =>
        logger.warn({ err: error }, "tokens of streams cannot be read"),
      );
      await sleep(pauseMs, stopping.signal);
    }
  };
  const stopped = follow();
  return {
    open(token, end) {
      const count = counts.get(token.accountId) ?? 0;
      if (count >= maxPerAccount) {
        refused += 1;
        return null;
      }
      counts.set(token.accountId, count + 1);
      const stream = { ...token, end };
      streams.add(stream);
      // It may have ended between its check and here.
      wake.notify();
      return {
        close() {
          if (!streams.delete(stream)) return;
          const left = (counts.get(token.accountId) ?? 1) - 1;
          if (left === 0) counts.delete(token.accountId);
          else counts.set(token.accountId, left);
        },
      };
    },
    notify: () => wake.notify(),
    figures: () => ({ open: streams.size, refused, ended }),
    async stop() {
      stopping.abort();
      await stopped;
    },
  };
}

async function readValid(
  db: Database,
  clock: Clock,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`
    select t.id from access.bearer_token t join access.account a on a.id = t.account_id
    where t.id = any(${ids}::int[]) and t.revoked_at is null and t.expires_at > ${currentTime(clock)}
      and a.suspended_at is null`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
