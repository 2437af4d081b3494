import type { DevnetClient } from "./client.ts";

/**
 * Brings a node that lags behind the clock up to it. A node counts whole seconds from its start or its last set time:
 * when the second turns meanwhile, it is one behind for good, and refuses orders that begin now.
 */
export async function syncWithClock(client: DevnetClient): Promise<void> {
  const ahead = Number(await client.increaseTime({ seconds: 0 }));
  if (ahead < 0) await client.increaseTime({ seconds: -ahead });
}
