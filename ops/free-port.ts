import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

type Range = readonly [first: number, last: number];

/** Above those of well-known servers. */
const usable: Range = [15_000, 32_767];
const attempts = 200;

/**
 * A port of `host` that nothing listens on: the preferred one, or any where that is taken. No outgoing connection takes
 * it by chance before its owner binds it, or while its owner restarts: a preferred port that one could take is not given.
 */
export async function findFreePort(
  host = "127.0.0.1",
  preferred = 0,
  outgoing = outgoingPorts(),
): Promise<number> {
  const isSafe = (port: number) => port < outgoing[0] || port > outgoing[1];
  const isPort = preferred > 0 && preferred <= 65_535;
  if (isPort && isSafe(preferred) && (await isFree(host, preferred))) return preferred;
  const [lowest, highest] = rangeBeside(outgoing);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(lowest, highest + 1);
    if (await isFree(host, port)) return port;
  }
  throw new Error(`No free port on ${host} between ${lowest} and ${highest}`);
}

/** The ports that this system gives to outgoing connections. */
export function outgoingPorts(): Range {
  try {
    const text = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
    const [first = Number.NaN, last = Number.NaN] = text.trim().split(/\s+/).map(Number);
    if (first <= last) return [first, last];
  } catch {
    // Not Linux: those that the standard reserves for them.
  }
  return [49_152, 65_535];
}

/** The usual ports, or where outgoing connections have these, those beside them; all, where they have nearly all. */
function rangeBeside([first, last]: Range): Range {
  const enough = 1_000;
  const below: Range = [usable[0], Math.min(usable[1], first - 1)];
  const under: Range = [2_000, first - 1];
  const above: Range = [last + 1, 65_535];
  return [below, above, under].find(([from, to]) => to - from >= enough) ?? usable;
}

/** Whether nothing listens there. */
export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, host, () => resolve(true));
  });
  await new Promise((resolve) => server.close(resolve));
  return isListening;
}
