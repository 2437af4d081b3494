import pg from "pg";
import type { Logger } from "pino";

const RETRY_MS = 500;

export type Leadership = {
  /** Rejects when the connection that holds the lock is lost: another process may lead now. */
  lost: Promise<never>;
  release(): Promise<void>;
};

/**
 * Waits until this process alone holds a role, by an advisory lock on a connection of its own.
 * It spares work done twice; what is written stays right without it (checkpoints, identities).
 */
export async function lead(options: {
  url: string;
  role: string;
  logger: Logger;
  signal: AbortSignal;
}): Promise<Leadership | null> {
  const { url, role, logger, signal } = options;
  let told = false;
  while (!signal.aborted) {
    const client = new pg.Client({ connectionString: url, application_name: `leader ${role}` });
    client.on("error", () => undefined);
    if (await tryLock(client, role)) return leadership(client, role);
    await client.end().catch(() => undefined);
    if (!told) logger.info(`another process leads ${role}, standing by`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return null;
}

async function tryLock(client: pg.Client, role: string): Promise<boolean> {
  try {
    await client.connect();
    const { rows } = await client.query<{ locked: boolean }>(
      "select pg_try_advisory_lock(hashtextextended($1, 0)) as locked",
      [`leader ${role}`],
    );
    return rows[0]?.locked === true;
  } catch {
    return false;
  }
}

function leadership(client: pg.Client, role: string): Leadership {
  const lost = new Promise<never>((_, reject) => {
    client.on("end", () => reject(new Error(`the lock of ${role} was lost with its connection`)));
  });
  lost.catch(() => undefined);
  return { lost, release: () => client.end() };
}
