import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { openMagiceden } from "#jobs/partners/magiceden/client.ts";
import { openOpensea } from "#jobs/partners/opensea/client.ts";
import type { Partner, SkippedEntry } from "#jobs/partners/partner.ts";
import { runSyncStep, type StepOutcome } from "#jobs/partners/sync-step.ts";
import type { Timeouts, TransportClock } from "#jobs/partners/transport.ts";
import type { Database } from "#projections/log/database.ts";
import { kindList } from "#projections/log/fact-kinds.ts";

/** A clock that advances by `sleep` and `pass` only. Milliseconds. */
export function manualClock(): TransportClock & { pass(ms: number): void } {
  let now = 0;
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
    pass(ms) {
      now += ms;
    },
  };
}

const timeouts: Timeouts = { timeoutMs: 2_000, waitMs: 60_000, attempts: 2 };

type TestPartnerOptions = {
  url: string;
  key?: string;
  clock?: TransportClock;
  timeouts?: Partial<Timeouts>;
  requestsPerMinute?: number;
  stream?: { url: string; heartbeatMs?: number };
};

/** A partner adapter with a manual clock. */
export function openTestPartner(name: Partner["name"], opening: TestPartnerOptions): Partner {
  const { url, key = null, clock = manualClock(), requestsPerMinute = 120, stream } = opening;
  const options = {
    ...{ url, key, requestsPerMinute, clock, random: () => 0.5 },
    timeouts: { ...timeouts, ...opening.timeouts },
  };
  return name === "opensea" ? openOpensea({ ...options, stream }) : openMagiceden(options);
}

/** A sync whose clock advances by `pass` only. */
export function openSync(db: Database, partner: Partner, chainIds: readonly ChainId[] = [1]) {
  let now = Date.now();
  const skipped: SkippedEntry[] = [];
  const work = {
    ...{ db, partner, chainIds, now: () => new Date(now) },
    onSkipped: (some: readonly SkippedEntry[]) => void skipped.push(...some),
  };
  const step = (registeredFirst = false): Promise<StepOutcome> =>
    runSyncStep({ ...work, registeredFirst });
  return {
    skipped,
    step,
    pass(ms: number) {
      now += ms;
    },
    /** Steps until nothing is due or the partner fails; returns the last outcome. */
    async run(): Promise<StepOutcome> {
      for (;;) {
        const outcome = await step();
        if (outcome !== "done") return outcome;
      }
    },
    /** Makes contracts due, like the job does for known collections. */
    async enroll(...contracts: Address[]): Promise<void> {
      for (const contract of contracts) {
        await sql`insert into ops.partner_collection (marketplace, chain_id, contract, due_at)
          values (${partner.name}, ${chainIds[0]}, ${Buffer.from(contract.slice(2), "hex")}, ${new Date(now)})`.execute(
          db,
        );
      }
    },
  };
}

export type Told = { kind: "seen" | "withdrawn"; orderHash: Hex; payload: Record<string, unknown> };

/** The facts of a partner's listings, in order. */
export async function readTold(db: Database, marketplace: Partner["name"]): Promise<Told[]> {
  const { rows } = await sql<Told>`
    select case kind when 63 then 'seen' else 'withdrawn' end as kind, order_hash as "orderHash", payload
    from log.fact where kind in ${kindList("partner_listing_seen", "partner_listing_withdrawn")} and payload ->> 'marketplace' = ${marketplace}
    order by position`.execute(db);
  return rows;
}

/** Sorted hashes of the visible listings, by their last fact. */
export async function readShown(db: Database, marketplace: Partner["name"]): Promise<Hex[]> {
  const last = new Map<Hex, Told["kind"]>();
  for (const { orderHash, kind } of await readTold(db, marketplace)) last.set(orderHash, kind);
  return [...last.entries()]
    .filter(([, kind]) => kind === "seen")
    .map(([orderHash]) => orderHash)
    .toSorted();
}
