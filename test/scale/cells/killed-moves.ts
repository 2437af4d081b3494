import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { z } from "zod";
import { seededRandom } from "../../../devnet/market/random.ts";
import type { Database } from "../../../projections/database.ts";
import { startOp } from "../../support/processes/op.ts";

const Moved = z.object({ chainId: z.int(), position: z.int(), pausedMs: z.int() });

export type KilledMoves = z.output<typeof Moved> & {
  /** Runs of the command that were killed, and how many of them while the log was closed for the chain. */
  readonly kills: number;
  readonly killsWhileClosed: number;
};

type Options = {
  readonly environment: Record<string, string>;
  readonly chainId: number;
  /** The database that the chain leaves. */
  readonly from: Database;
  /** How many runs are killed at any time, and then how many at the worst: when the log is closed. */
  readonly atAnyTime: number;
  readonly whileClosed: number;
};

/** Runs `op cells move` again and again: killed with SIGKILL some times, then to its end. */
export async function moveWithKills(options: Options): Promise<KilledMoves> {
  const random = seededRandom(Date.now() % 1_000_000);
  const { atAnyTime, whileClosed } = options;
  let [kills, killsWhileClosed] = [0, 0];
  for (;;) {
    const ending = new AbortController();
    const { signal } = ending;
    const isAtAnyTime = kills < atAnyTime;
    const isKilled = killsWhileClosed < whileClosed;
    const kill = async () => {
      if (isAtAnyTime) return await delay(Number(random.between(300n, 5_000n)), "kill", { signal });
      if (!isKilled) return await once(signal, "abort").then(() => "end");
      await untilClosed(options, signal);
      return await delay(Number(random.between(0n, 150n)), "kill", { signal });
    };
    const run = startMove(options);
    const outcome = await Promise.race([run.ended, kill().catch(() => "end")]);
    if (outcome === "kill") run.process.kill("SIGKILL");
    const { code, stdout, stderr } = await run.ended;
    ending.abort();
    if (code === 0) return { ...Moved.parse(JSON.parse(stdout)), kills, killsWhileClosed };
    if (code !== null) throw new Error(`op cells move ended with ${code}: ${stderr}`);
    kills += 1;
    if (!isAtAnyTime) killsWhileClosed += 1;
  }
}

function startMove({ environment, chainId }: Options) {
  const process = startOp(environment, ["cells", "move", "--chain", `${chainId}`, "--json"]);
  const output = Promise.all([text(process.stdout), text(process.stderr)]);
  const ended = once(process, "exit").then(async ([code]: (number | null)[]) => {
    const [stdout, stderr] = await output;
    return { code: code ?? null, stdout, stderr };
  });
  return { process, ended };
}

async function untilClosed({ from, chainId }: Options, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { rows } = await sql`
      select from ops.moved_chain
      where chain_id = ${chainId} and moved_at is null and closed_until > clock_timestamp()`.execute(
      from,
    );
    if (rows.length > 0) return;
    await delay(5, undefined, { signal });
  }
}
