import pg from "pg";
import type { Logger } from "pino";
import { keptAlive } from "#projections/log/database.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";

export type Listener = {
  /** Subscribes to another channel. */
  listen(channel: string): Promise<void>;
  stop(): Promise<void>;
};

const RECONNECT_MS = 500;

/**
 * Listens for PostgreSQL notifications on a dedicated connection and reconnects when it is lost. Notifications sent
 * meanwhile are lost: callers also poll.
 */
export function openListener(options: {
  url: string;
  channels: readonly string[];
  onNotify: (channel: string) => void;
  logger: Logger;
}): Listener {
  const channels = new Set(options.channels);
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const connect = async () => {
    const next = new pg.Client({
      ...{ connectionString: options.url, application_name: "listener" },
      ...keptAlive,
    });
    next.on("notification", ({ channel }) => options.onNotify(channel));
    next.on("error", () => reconnect(next));
    next.on("end", () => reconnect(next));
    client = next;
    await next.connect();
    for (const channel of channels) await next.query(`listen ${pg.escapeIdentifier(channel)}`);
  };
  const reconnect = (lost: pg.Client) => {
    if (stopped || client !== lost) return;
    client = undefined;
    timer = setTimeout(begin, RECONNECT_MS);
  };
  const begin = () => {
    connect().catch((error: unknown) => {
      const err = new DatabaseUnavailable(error);
      options.logger.warn({ err }, "listening for notifications failed, retrying");
      if (client !== undefined) reconnect(client);
    });
  };
  begin();

  return {
    async listen(channel) {
      if (channels.has(channel)) return;
      channels.add(channel);
      await client?.query(`listen ${pg.escapeIdentifier(channel)}`);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await client?.end();
    },
  };
}
