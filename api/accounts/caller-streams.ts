import { sql } from "kysely";
import type { Logger } from "pino";
import { sleep } from "#jobs/runner/back-off.ts";
import type { Job } from "#jobs/runner/job.ts";
import { openCounts } from "#jobs/runner/limits.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import type { Database } from "#projections/log/database.ts";
import { type Clock, currentTime } from "../keys/clock.ts";

/** What a stream was opened with, by its id. */
type StreamCredential = { readonly kind: "token" | "key"; readonly id: number };

/** Who opens a stream. `accountId` null: counted for the address. `credential` null: none that may end. */
export type StreamCaller = {
  readonly accountId: number | null;
  readonly address: string;
  readonly credential: StreamCredential | null;
};

/** The open streams of each caller in this process. */
export type CallerStreams = {
  /** Counts a stream. Null: its caller has as many as it may. `end` is called when its credential ends. */
  open(caller: StreamCaller, end: () => void): { close(): void } | null;
  /** Call this when a credential may have ended. */
  notify(): void;
  figures(): { open: number; refused: number; ended: number };
  stop(): Promise<void>;
};

type Options = {
  readonly db: Database;
  readonly clock?: Clock;
  readonly logger: Logger;
  /** Streams in this process of one account, and of one address for callers without an account. */
  readonly limits: { readonly account: number; readonly address: number };
  /** Milliseconds after which credentials are read when no notification arrives. */
  readonly pollMs?: number;
};

/** Milliseconds between two reads: nobody's notifications cost more than that. */
const pauseMs = 100;

export function openCallerStreams(options: Options): CallerStreams {
  const { db, clock = () => null, logger, limits, pollMs = 5_000 } = options;
  const streams = new Set<{ readonly credential: StreamCredential | null; end(): void }>();
  const counts = openCounts();
  const stopping = new AbortController();
  const wake = createSignal();
  let [refused, ended] = [0, 0];

  const endInvalid = async () => {
    const credentials = new Set([...streams].flatMap(({ credential }) => credential ?? []));
    if (credentials.size === 0) return undefined;
    const valid = await readValid(db, clock, [...credentials]);
    for (const { credential, end } of streams) {
      // One that was opened since is read in the next round.
      if (credential === null || !credentials.has(credential)) continue;
      if (valid.has(nameOf(credential))) continue;
      ended += 1;
      end();
    }
    return undefined;
  };
  const job: Job = {
    name: "stream credentials",
    every: pollMs,
    wakesOn: {
      async wait(atMostMs, signal) {
        await sleep(pauseMs, signal);
        await wake.wait(atMostMs, signal);
      },
    },
    retry: { firstMs: pollMs, mostMs: pollMs, isWoken: true },
    run: endInvalid,
  };
  const stopped = runJobs(job, { logger, signal: stopping.signal });
  return {
    open({ accountId, address, credential }, end) {
      const owner = accountId === null ? `address ${address}` : `account ${accountId}`;
      if (counts.of(owner) >= (accountId === null ? limits.address : limits.account)) {
        refused += 1;
        return null;
      }
      counts.add(owner, 1);
      const stream = { credential, end };
      streams.add(stream);
      // It may have ended between its check and here.
      wake.notify();
      return {
        close() {
          if (streams.delete(stream)) counts.add(owner, -1);
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

const nameOf = ({ kind, id }: StreamCredential): string => `${kind} ${id}`;

/** Names of the credentials that are valid. */
async function readValid(
  db: Database,
  clock: Clock,
  credentials: readonly StreamCredential[],
): Promise<ReadonlySet<string>> {
  const idsOf = (kind: StreamCredential["kind"]) => [
    ...new Set(credentials.filter((one) => one.kind === kind).map(({ id }) => id)),
  ];
  const { rows } = await sql<StreamCredential>`
    select 'token' as kind, t.id from access.bearer_token t join access.account a on a.id = t.account_id
    where t.id = any(${idsOf("token")}::int[]) and t.revoked_at is null
      and t.expires_at > ${currentTime(clock)} and a.suspended_at is null
    union all
    select 'key', k.id from access.key k left join access.account a on a.id = k.account_id
    where k.id = any(${idsOf("key")}::int[]) and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${currentTime(clock)}) and a.suspended_at is null`.execute(
    db,
  );
  return new Set(rows.map(nameOf));
}
